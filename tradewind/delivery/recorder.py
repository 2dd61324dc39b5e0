"""Records what became of attempts: hundreds in one statement, or those of a few milliseconds."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from uuid import UUID

from tradewind.delivery import catch_up, figures, judge, sql, sql_jobs
from tradewind.delivery.lanes import Lane
from tradewind.delivery.model import MOST_ATTEMPTS, Destination, Ended, Outcome
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.storage.pool import Database

_MOST = 500
_SECONDS = 0.01
_BUCKETS = 15
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


@dataclass(slots=True)
class _Tally:
    """What a batch saw of one receiver."""

    delivered: int = 0
    failed: int = 0
    final: int = 0
    ends_well: bool = False
    buckets: list[int] = field(default_factory=lambda: [0] * _BUCKETS)


class Recorder:
    """Buffers attempts that are over, and writes them down.

    Until then nothing is lost: if it cannot be written, the leases end, and what they held is
    delivered again.
    """

    def __init__(self, db: Database, lanes: Mapping[UUID, Lane]) -> None:
        self._db = db
        self._lanes = lanes
        self._buffer: list[tuple[Ended, Destination | None]] = []
        self._some = asyncio.Event()
        self._closing = False

    def add(self, ended: Ended, destination: Destination | None) -> None:
        self._buffer.append((ended, destination))
        self._some.set()

    async def run(self) -> None:
        """Write until closed and empty."""
        pause = _FIRST_PAUSE
        while not (self._closing and not self._buffer):
            await self._some.wait()
            if len(self._buffer) < _MOST and not self._closing:
                await asyncio.sleep(_SECONDS)
            self._some.clear()
            batch, self._buffer = self._buffer[:_MOST], self._buffer[_MOST:]
            if self._buffer or self._closing:
                self._some.set()
            if not batch:
                continue
            try:
                await self._write(batch)
                pause = _FIRST_PAUSE
            except TradewindError as error:
                log.warning("delivery.not_recorded", count=len(batch), error=str(error))
                if self._closing:
                    return
                self._buffer = batch + self._buffer
                self._some.set()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def close(self) -> None:
        self._closing = True
        self._some.set()

    async def _write(self, batch: Sequence[tuple[Ended, Destination | None]]) -> None:
        began = perf_counter()
        ended = [one for one, _ in batch]
        kept = await sql.record(self._db, ended, judge.DELAYS, most=MOST_ATTEMPTS)
        figures.FLUSH_SECONDS.observe(perf_counter() - began)
        if kept < len(ended):
            figures.LEASES_LOST.inc(len(ended) - kept)
            log.warning("delivery.leases_lost", count=len(ended) - kept)
        await self._tally(ended)
        jobs = [one for one in ended if one.claim.job_id is not None and one.is_over]
        if jobs:
            await sql_jobs.count_results(self._db, jobs)
        await catch_up.where_it_answers_again(self._db, batch)

    async def _tally(self, ended: Sequence[Ended]) -> None:
        """Add the batch to the health of its receivers. What was not sent says nothing of them."""
        tallies: dict[UUID, _Tally] = {}
        for one in sorted(ended, key=lambda one: one.started_at):
            if one.outcome is Outcome.CANCELLED:
                continue
            tally = tallies.setdefault(one.claim.subscription_id, _Tally())
            tally.ends_well = one.outcome is Outcome.DELIVERED
            tally.delivered += tally.ends_well
            tally.failed += not tally.ends_well
            tally.final += one.is_over and not tally.ends_well
            tally.buckets[bucket(one.duration_ms or 0)] += 1
        if tallies:
            found = list(tallies.items())
            await sql.save_health(
                self._db,
                [subscription_id for subscription_id, _ in found],
                [tally.delivered for _, tally in found],
                [tally.failed for _, tally in found],
                [tally.final for _, tally in found],
                [tally.ends_well for _, tally in found],
                [self._width(subscription_id) for subscription_id, _ in found],
                [f"{{{','.join(map(str, tally.buckets))}}}" for _, tally in found],
            )

    def _width(self, subscription_id: UUID) -> int:
        lane = self._lanes.get(subscription_id)
        return lane.width if lane else 1


def bucket(duration_ms: int) -> int:
    """Which bucket a duration belongs to: the n-th is for less than 2^n milliseconds."""
    return min(duration_ms.bit_length(), _BUCKETS - 1)
