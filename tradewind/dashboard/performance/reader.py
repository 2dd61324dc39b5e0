"""Reads the performance of this installation once for all open pages, and keeps it for seconds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from tradewind.dashboard.performance import queries
from tradewind.dashboard.performance.queries import (
    DatabaseUse,
    HourTotals,
    LatencyCounts,
    MinuteCounts,
    PaymentTimes,
    WorkerProcess,
)
from tradewind.delivery.sql import QueueDepth
from tradewind.storage.pool import Database

_KEPT_SECONDS = 5.0
_MOST_WORKERS = 200


@dataclass(frozen=True, slots=True)
class Performance:
    """The samples of this installation, and its queue, as they were at `hour.now`."""

    hour: HourTotals
    latencies: LatencyCounts
    minutes: Sequence[MinuteCounts]
    database: DatabaseUse | None
    workers: Sequence[WorkerProcess]
    queue: QueueDepth
    payments: PaymentTimes


class PerformanceReader:
    """The performance as this process last read it.

    It is the same for every operator. Pages that are opened together share one reading, and a page
    that failed to get it does not keep the others from getting theirs.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._latest: Performance | None = None
        self._read_at = 0.0
        self._reading: asyncio.Task[Performance] | None = None

    async def read(self) -> Performance:
        """The performance, at most five seconds old."""
        if self._latest is not None and monotonic() - self._read_at < _KEPT_SECONDS:
            return self._latest
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        return await asyncio.shield(self._reading)  # a page that is closed does not end it

    async def _read(self) -> Performance:
        db = self._db
        self._latest = Performance(
            hour=await queries.sum_hour(db),
            latencies=await queries.sum_latencies(db),
            minutes=await queries.list_minutes(db),
            database=await queries.measure_database(db),
            workers=await queries.list_workers(db, limit=_MOST_WORKERS),
            queue=await queries.measure_queue(db),
            payments=await queries.measure_payments(db),
        )
        self._read_at = monotonic()
        return self._latest
