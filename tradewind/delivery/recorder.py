"""Records the results of attempts in batches."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from time import perf_counter
from uuid import UUID

from tradewind.delivery import automatic_replay, metrics, sql, sql_expired_leases, sql_replays
from tradewind.delivery.lanes import Lane
from tradewind.delivery.model import COUNTED, ClaimedDelivery
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.delivery.trace_attempts import trace_attempts
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.errors import TradewindError
from tradewind.observability import tracing
from tradewind.observability.logs import log
from tradewind.storage.pool import Database

_BATCH = 500
_BATCH_SECONDS = 0.02
# Health is saved less often than attempts, and the more it costs, the less often.
_HEALTH_SECONDS = 0.5
_HEALTH_COST = 20
_HEALTH_MAX_SECONDS = 5.0
_BUCKETS = 15
_INDEXES = {outcome: index for index, outcome in enumerate(COUNTED)}
# Beyond these, leases might expire before their results are recorded: then deliveries would be sent
# again, and there would be even more to record.
_BEHIND_SECONDS = 3.0
_BEHIND = 4 * _BATCH
_LAST_TRIES = 5
# How long a delivery rests that could not be sent for want of a file descriptor.
_STARVED_REST = timedelta(seconds=1)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0

Attempts = Sequence[tuple[ClaimedDelivery, AttemptResult]]


@dataclass(slots=True)
class Tally:
    """The attempts of one subscription since its health was last saved.

    `failed_at` is when the first delivery failed for good, if nothing had been delivered before.
    """

    catch_up: bool = False
    delivered: int = 0
    failed: int = 0
    final: int = 0
    failed_at: float | None = None
    last_delivered: bool = False
    buckets: list[int] = field(default_factory=lambda: [0] * _BUCKETS)
    outcomes: list[int] = field(default_factory=lambda: [0] * len(COUNTED))

    def add(self, delivery: ClaimedDelivery, outcome: Outcome, *, is_over: bool) -> None:
        self.catch_up = delivery.catch_up
        self.last_delivered = outcome is Outcome.DELIVERED
        if self.last_delivered:
            self.delivered += 1
        else:
            self.failed += 1
            if is_over:
                self.final += 1
                if not self.delivered and self.failed_at is None:
                    self.failed_at = delivery.started
        self.buckets[bucket(delivery.duration_ms or 0)] += 1
        self.outcomes[_INDEXES[outcome]] += 1


class Recorder:
    """Buffers the results of attempts, and writes them in batches.

    Nothing is lost until then: if results cannot be written, the leases expire, and the deliveries
    are sent again.
    """

    def __init__(
        self,
        db: Database,
        engine_db: Database,
        lanes: Mapping[UUID, Lane],
        policy: RetryPolicy,
        monotonic: Callable[[], float] = perf_counter,
    ) -> None:
        self._db = db
        self._engine_db = engine_db
        self._lanes = lanes
        self._policy = policy
        self._monotonic = monotonic
        self._buffer: list[tuple[ClaimedDelivery, AttemptResult]] = []
        self._tallies: defaultdict[UUID, Tally] = defaultdict(Tally)
        self._save_health_at = monotonic() + _HEALTH_SECONDS
        self._behind_since = monotonic()
        self._filled = asyncio.Event()
        self._closing = False

    def add(self, delivery: ClaimedDelivery, result: AttemptResult) -> None:
        if not self._buffer:
            self._behind_since = self._monotonic()
            self._filled.set()
        self._buffer.append((delivery, result))

    def close(self) -> None:
        """Let `run` end once everything is written."""
        self._closing = True
        self._filled.set()

    @property
    def is_behind(self) -> bool:
        """Whether too much waits to be recorded, or for too long: nothing is claimed then."""
        if len(self._buffer) > _BEHIND:
            return True
        return bool(self._buffer) and self._monotonic() - self._behind_since > _BEHIND_SECONDS

    async def run(self) -> None:
        """Write until closed and empty; whatever fails, it goes on."""
        pause = _FIRST_PAUSE
        tries = 0
        while not (self._closing and not self._buffer):
            await self._wait()
            batch, self._buffer = self._buffer[:_BATCH], self._buffer[_BATCH:]
            if batch and not await self._record(batch):
                tries += 1
                if self._closing and tries > _LAST_TRIES:
                    return
                self._buffer = batch + self._buffer
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            self._behind_since = self._monotonic()
            pause, tries = _FIRST_PAUSE, 0
            if self._monotonic() >= self._save_health_at:
                await self._save_health()
        await self._save_health()

    async def _record(self, batch: Attempts) -> bool:
        """Record a batch; False: the database is away, try again.

        A batch that can never be recorded is halved until the attempt that causes it is found. Its
        lease expires, and it is made again.
        """
        try:
            recorded = await self._write(batch)
        except TradewindError as error:
            log.warning("delivery.not_recorded", count=len(batch), error=str(error))
            return False
        except Exception as error:  # noqa: BLE001 - the rest must be recorded all the same
            if len(batch) == 1:
                log.exception("delivery.unrecordable", error=str(error))
                return True
            half = len(batch) // 2
            return await self._record(batch[:half]) and await self._record(batch[half:])
        await self._count_for_replays(recorded)
        return True

    async def _wait(self) -> None:
        """Wait until there is something to write: at once if it is much, else a moment later."""
        if not self._buffer and not self._closing:
            self._filled.clear()
            wait = self._save_health_at - self._monotonic() if self._tallies else None
            try:
                async with asyncio.timeout(wait):
                    await self._filled.wait()
            except TimeoutError:
                return
        if len(self._buffer) < _BATCH and not self._closing:
            await asyncio.sleep(_BATCH_SECONDS)

    async def _write(self, batch: Attempts) -> Attempts:
        """Write a batch, and return the attempts that count.

        An attempt whose lease expired is logged and does not count. An attempt without a free file
        descriptor was not sent: its delivery is given back, and it is not logged.
        """
        starved = [delivery for delivery, result in batch if result.is_ours]
        if starved:
            await sql.give_back(self._engine_db, starved, rest=_STARVED_REST)
            log.error("delivery.out_of_descriptors", count=len(starved))
            batch = [attempt for attempt in batch if not attempt[1].is_ours]
        began = self._monotonic()
        late = await sql.record(self._engine_db, batch, self._policy)
        metrics.RECORD_SECONDS.observe(self._monotonic() - began)
        if late:
            late_ids = {delivery.delivery_id for delivery, _ in late}
            batch = [attempt for attempt in batch if attempt[0].delivery_id not in late_ids]
        metrics.attempted(batch)
        if (traces := tracing.current()) is not None:
            trace_attempts(traces, batch)
        for delivery, result in batch:
            if result.outcome is not Outcome.CANCELLED:
                is_over = self._policy.is_over(delivery.attempt, result.outcome)
                tally = self._tallies[delivery.subscription_id]
                tally.add(delivery, result.outcome, is_over=is_over)
        if late and (count := await sql_expired_leases.log_late(self._db, late)):
            metrics.LEASES_EXPIRED.inc(count)
            log.warning("delivery.leases_expired", count=count)
        return batch

    async def _count_for_replays(self, batch: Attempts) -> None:
        """Count the deliveries of replays that are over; a failure of this loses no record."""
        ended = [
            (delivery.replay_id, result.delivered)
            for delivery, result in batch
            if delivery.replay_id is not None
            and self._policy.is_over(delivery.attempt, result.outcome)
        ]
        if not ended:
            return
        try:
            await sql_replays.count_results(
                self._db, [replay_id for replay_id, _ in ended], [ok for _, ok in ended]
            )
        except Exception as error:  # noqa: BLE001 - the next attempts must be recorded all the same
            log.warning("delivery.replay_not_counted", error=str(error))

    async def _save_health(self) -> None:
        tallies, self._tallies = self._tallies, defaultdict(Tally)
        began = self._monotonic()
        if tallies:
            recovered = {
                subscription_id: tally.failed_at
                for subscription_id, tally in tallies.items()
                if tally.catch_up and tally.delivered
            }
            try:
                if recovered:
                    await automatic_replay.replay_after_recovery(self._db, recovered)
                await self._save(tallies)
            except Exception as error:  # noqa: BLE001 - health is not worth a delivery
                log.warning("delivery.health_not_saved", error=str(error))
        now = self._monotonic()
        pause = min(max(_HEALTH_SECONDS, _HEALTH_COST * (now - began)), _HEALTH_MAX_SECONDS)
        self._save_health_at = now + pause

    async def _save(self, tallies: Mapping[UUID, Tally]) -> None:
        await sql.save_health(
            self._db,
            list(tallies),
            [tally.delivered for tally in tallies.values()],
            [tally.failed for tally in tallies.values()],
            [tally.final for tally in tallies.values()],
            [tally.last_delivered for tally in tallies.values()],
            [self._width(subscription_id) for subscription_id in tallies],
            [_array(tally.buckets) for tally in tallies.values()],
            [_array(tally.outcomes) for tally in tallies.values()],
        )

    def _width(self, subscription_id: UUID) -> int:
        lane = self._lanes.get(subscription_id)
        return lane.width if lane else 1


def _array(counts: Sequence[int]) -> str:
    return f"{{{','.join(map(str, counts))}}}"


def bucket(duration_ms: int) -> int:
    """Which bucket a duration belongs to: bucket n counts what took less than 2^n milliseconds."""
    return min(duration_ms.bit_length(), _BUCKETS - 1)
