"""Records what became of attempts: hundreds in one statement, or those of a few milliseconds."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from time import perf_counter
from uuid import UUID

from tradewind.delivery import automatic_replay, sql, sql_expired_leases, sql_replays
from tradewind.delivery import metrics as figures
from tradewind.delivery.lanes import Lane
from tradewind.delivery.model import COUNTED, Ended, Outcome
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.storage.pool import Database

_CONTRACT = RetryPolicy()
_MOST = 500
_SECONDS = 0.02
# Health is written less often than attempts.
_HEALTH_SECONDS = 0.5
_BUCKETS = 15
_PLACES = {outcome: place for place, outcome in enumerate(COUNTED)}
# Longer than this without a record, or more than this to be recorded, and leases might end before
# what they hold is recorded: then it would be sent again, and there would be even more to record.
_BEHIND_SECONDS = 3.0
_BEHIND = 4 * _MOST
_LAST_TRIES = 5
# What we had no file descriptor for is left alone so long, until others are closed.
_STARVED_REST = timedelta(seconds=1)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


@dataclass(slots=True)
class Tally:
    """What was seen of one receiver since its health was last written.

    `lost_at` is when the first delivery failed for good, if nothing had been delivered before.
    """

    catches_up: bool = False
    delivered: int = 0
    failed: int = 0
    final: int = 0
    lost_at: float | None = None
    ends_well: bool = False
    buckets: list[int] = field(default_factory=lambda: [0] * _BUCKETS)
    outcomes: list[int] = field(default_factory=lambda: [0] * len(COUNTED))

    def add(self, ended: Ended) -> None:
        self.ends_well = ended.outcome is Outcome.DELIVERED
        if self.ends_well:
            self.delivered += 1
        else:
            self.failed += 1
            if ended.is_over:
                self.final += 1
                if not self.delivered and self.lost_at is None:
                    self.lost_at = ended.started
        self.buckets[bucket(ended.duration_ms or 0)] += 1
        self.outcomes[_PLACES[ended.outcome]] += 1


class Recorder:
    """Buffers attempts that are over, and writes them down.

    Until then nothing is lost: if it cannot be written, the leases end, and what they held is
    delivered again.
    """

    def __init__(
        self,
        db: Database,
        hurried: Database,
        lanes: Mapping[UUID, Lane],
        moment: Callable[[], float] = perf_counter,
        policy: RetryPolicy = _CONTRACT,
    ) -> None:
        self._db = db
        self._policy = policy
        self._hurried = hurried
        self._lanes = lanes
        self._moment = moment
        self._buffer: list[tuple[Ended, bool]] = []
        self._tallies: defaultdict[UUID, Tally] = defaultdict(Tally)
        self._tallied_at = self._moment()
        self._behind_since = self._moment()
        self._some = asyncio.Event()
        self._closing = False

    def add(self, ended: Ended, *, catches_up: bool = False) -> None:
        """Take an attempt that is over; `catches_up`: as its subscription wants to."""
        if not self._buffer:
            self._behind_since = self._moment()
            self._some.set()
        self._buffer.append((ended, catches_up))

    def close(self) -> None:
        """Let `run` end once everything is written."""
        self._closing = True
        self._some.set()

    @property
    def is_behind(self) -> bool:
        """Whether too much is over and not recorded, or for too long: nothing is begun then."""
        if len(self._buffer) > _BEHIND:
            return True
        return bool(self._buffer) and self._moment() - self._behind_since > _BEHIND_SECONDS

    async def run(self) -> None:
        """Write until closed and empty; whatever fails, it goes on."""
        pause = _FIRST_PAUSE
        tries = 0
        while not (self._closing and not self._buffer):
            await self._wait()
            batch, self._buffer = self._buffer[:_MOST], self._buffer[_MOST:]
            if batch and not await self._recorded(batch):
                tries += 1
                if self._closing and tries > _LAST_TRIES:
                    return
                self._buffer = batch + self._buffer
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            self._behind_since = self._moment()
            pause, tries = _FIRST_PAUSE, 0
            if self._moment() - self._tallied_at > _HEALTH_SECONDS:
                await self._write_health()
        await self._write_health()

    async def _recorded(self, batch: Sequence[tuple[Ended, bool]]) -> bool:
        """Record a batch; False: the database is away, try it again.

        A batch that can never be recorded is halved until the guilty one is found: its lease ends,
        and it is delivered again, by itself.
        """
        try:
            told = await self._write(batch)
        except TradewindError as error:
            log.warning("delivery.not_recorded", count=len(batch), error=str(error))
            return False
        except Exception as error:  # noqa: BLE001 - the rest must be recorded all the same
            if len(batch) == 1:
                log.exception("delivery.unrecordable", error=str(error))
                return True
            half = len(batch) // 2
            return await self._recorded(batch[:half]) and await self._recorded(batch[half:])
        await self._follow_up(told)
        return True

    async def _wait(self) -> None:
        """Until there is something to write: at once if it is much, else a moment later."""
        if not self._buffer and not self._closing:
            self._some.clear()
            try:
                async with asyncio.timeout(_HEALTH_SECONDS if self._tallies else None):
                    await self._some.wait()
            except TimeoutError:
                return
        if len(self._buffer) < _MOST and not self._closing:
            await asyncio.sleep(_SECONDS)

    async def _write(self, batch: Sequence[tuple[Ended, bool]]) -> Sequence[tuple[Ended, bool]]:
        """Write a batch; what of it counts. Who came too late is logged, and counts nowhere.

        What was not sent for want of something of ours is given back, and is not even logged.
        """
        starved = [one.claim for one, _ in batch if one.is_ours]
        if starved:
            await sql.give_back(self._hurried, starved, rest=_STARVED_REST)
            log.error("delivery.out_of_descriptors", count=len(starved))
            batch = [pair for pair in batch if not pair[0].is_ours]
        began = self._moment()
        late = await sql.record(self._hurried, [one for one, _ in batch], self._policy.delays)
        figures.FLUSH_SECONDS.observe(self._moment() - began)
        told = [pair for pair in batch if pair[0] not in late] if late else batch
        figures.attempted([one for one, _ in told])
        for one, catches_up in told:
            if one.outcome is not Outcome.CANCELLED:
                tally = self._tallies[one.claim.subscription_id]
                tally.catches_up = catches_up
                tally.add(one)
        if late and (count := await sql_expired_leases.log_late(self._db, late)):
            figures.LEASES_LOST.inc(count)
            log.warning("delivery.leases_lost", count=count)
        return told

    async def _follow_up(self, batch: Sequence[tuple[Ended, bool]]) -> None:
        """What else follows from attempts; they are recorded, whatever becomes of this."""
        jobs = [
            (one.claim.job_id, one.outcome is Outcome.DELIVERED)
            for one, _ in batch
            if one.claim.job_id is not None and one.is_over
        ]
        try:
            if jobs:
                await sql_replays.count_results(
                    self._db,
                    [job_id for job_id, _ in jobs],
                    [is_delivered for _, is_delivered in jobs],
                )
        except Exception as error:  # noqa: BLE001 - the next attempts must be recorded all the same
            log.warning("delivery.not_followed_up", error=str(error))

    async def _write_health(self) -> None:
        found, self._tallies = self._tallies, defaultdict(Tally)
        self._tallied_at = self._moment()
        if not found:
            return
        back = {one: it.lost_at for one, it in found.items() if it.catches_up and it.delivered}
        try:
            if back:
                await automatic_replay.replay_after_recovery(self._db, back)
            await self._save_health(found)
        except Exception as error:  # noqa: BLE001 - figures are not worth a delivery
            log.warning("delivery.health_not_saved", error=str(error))

    async def _save_health(self, found: Mapping[UUID, Tally]) -> None:
        await sql.save_health(
            self._db,
            list(found),
            [tally.delivered for tally in found.values()],
            [tally.failed for tally in found.values()],
            [tally.final for tally in found.values()],
            [tally.ends_well for tally in found.values()],
            [self._width(subscription_id) for subscription_id in found],
            [_array(tally.buckets) for tally in found.values()],
            [_array(tally.outcomes) for tally in found.values()],
        )

    def _width(self, subscription_id: UUID) -> int:
        lane = self._lanes.get(subscription_id)
        return lane.width if lane else 1


def _array(counts: Sequence[int]) -> str:
    return f"{{{','.join(map(str, counts))}}}"


def bucket(duration_ms: int) -> int:
    """Which bucket a duration belongs to: the n-th is for less than 2^n milliseconds."""
    return min(duration_ms.bit_length(), _BUCKETS - 1)
