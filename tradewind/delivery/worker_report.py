"""Reports what this worker did in the last ten seconds: attempts, latencies and its CPU."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from time import process_time, time

from tradewind import ids
from tradewind.delivery import metrics, sql_performance
from tradewind.errors import TradewindError
from tradewind.storage.pool import Database

# A report that is due in the middle of a sample is counted in it, also if the clocks of the worker
# and of the database differ by a few seconds. So each sample has one report of every worker.
_MIDDLE = sql_performance.SAMPLE_SECONDS / 2
_LAST_SECONDS = 2.0


class WorkerReport:
    """The reports of one worker process. What could not be reported is part of the next report."""

    def __init__(self, db: Database, clock: Callable[[], float] = time) -> None:
        self._db = db
        self._clock = clock
        self._id = ids.new()
        self._host = socket.gethostname()
        self._totals = metrics.totals()
        self._cpu_seconds = process_time()
        self._reported_at = clock()
        self._last_sample: int | None = None

    async def report_if_due(self) -> bool:
        """Report at first, then once in every sample; always False: there is no more to do now."""
        sample = int((self._clock() + _MIDDLE) // sql_performance.SAMPLE_SECONDS)
        if sample != self._last_sample:
            await self._report()
            self._last_sample = sample
        return False

    async def close(self) -> None:
        """Report what is left, and that this worker has stopped, unless the database is away."""
        with suppress(TradewindError, TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                await self._report()
                await sql_performance.delete_worker(self._db, self._id)

    async def _report(self) -> None:
        now, totals, cpu_seconds = self._clock(), metrics.totals(), process_time()
        done = totals.since(self._totals)
        used = cpu_seconds - self._cpu_seconds
        # The time right after the start, or of a clock that was set back, would make a huge rate.
        elapsed = max(now - self._reported_at, _MIDDLE)
        await sql_performance.add_to_sample(self._db, done, cpu_seconds=used)
        self._totals, self._cpu_seconds, self._reported_at = totals, cpu_seconds, now
        await sql_performance.save_worker(
            self._db,
            self._id,
            host=self._host,
            pid=os.getpid(),
            cpu_share=used / elapsed,
            attempts_per_second=done.attempts / elapsed,
        )
