"""The delivery engine: claims due deliveries fairly, sends them, passes results to the recorder."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from time import perf_counter
from urllib.parse import urlsplit
from uuid import UUID

from tradewind import ids
from tradewind.delivery import attempt, metrics, sql, sql_replays
from tradewind.delivery.attempt import SECONDS, MoreHeaders, Network
from tradewind.delivery.claim_buffer import ClaimBuffer
from tradewind.delivery.host_limits import HostLimits
from tradewind.delivery.lanes import (
    EngineLimits,
    Lane,
    Usage,
    gather_seconds,
    pause_after_claim,
    share_out,
)
from tradewind.delivery.model import CANCELLED_RESULTS, Cancelled, ClaimedDelivery, Destination
from tradewind.delivery.quiet_lanes import QuietLanes
from tradewind.delivery.recorder import Recorder
from tradewind.delivery.retry_policy import RetryPolicy, reason_not_to_send
from tradewind.egress.result import AttemptResult
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.observability.metrics import LOOP_FAILURES
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal
from tradewind.storage.wakeups import Wakeup
from tradewind.webhooks.secret import unsealed, unsealed_headers

# An attempt, and its record, with room to spare.
LEASE = timedelta(seconds=SECONDS + 10)
# Claims do not wait for the disk: if the server crashes, what it had not written is sent again,
# never lost. (Records do wait, by themselves.) The engine's few statements are planned once:
# planning them for every batch, over all partitions, took longer than the work. A plan that was
# made while the queue was empty must serve when it is long, so it never reads a whole table; and a
# plan made for three subscriptions must serve a thousand, so it reads each one's part of the index
# and never sorts everything that is due.
ENGINE_SESSION_SETTINGS = {
    "synchronous_commit": "off",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_sort": "off",
    "enable_incremental_sort": "off",
}
ENGINE_CONNECTIONS = 4
# How often it looks for subscriptions with something due, unless it is woken.
_POLL_SECONDS = 0.2
_MAX_POLL_SECONDS = 0.5
# Within this time after a claim or a look, what it said of its subscriptions is not asked again.
_CURRENT_SECONDS = 0.01
# While more than _MANY are in flight to endpoints that do not fail, results are gathered before
# other attempts are begun.
_MANY = 48
_TURN_SECONDS = 0.002
_MOST_LANES = 20_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
# How long a subscription is left alone whose secret cannot be opened.
_UNREADABLE_SECONDS = 30.0
# A claim that has waited longer is given back: its lease may not last for a whole attempt.
_LATE_SECONDS = 5.0
_LATE_CHECK_SECONDS = 0.5
_CONTRACT = RetryPolicy()
_NEVER = float("-inf")
_FAILURES = LOOP_FAILURES.labels("deliveries")


class Engine:
    """One worker's part of all deliveries. Any number of workers share the queue.

    Two loops: one claims, a little more than may be in flight; the other sends what was claimed, in
    turn, to subscriptions as they are right before it.
    """

    def __init__(
        self,
        db: Database,
        keyring: Keyring,
        network: Network,
        *,
        engine_db: Database | None = None,
        limits: EngineLimits | None = None,
        policy: RetryPolicy = _CONTRACT,
        monotonic: Callable[[], float] = perf_counter,
    ) -> None:
        """`engine_db` has connections with ENGINE_SESSION_SETTINGS, for claims and records."""
        self._db = engine_db or db
        self._network = network
        self._monotonic = monotonic
        self._limits = limits or EngineLimits()
        self._keyring = keyring
        self._lanes: OrderedDict[UUID, Lane] = OrderedDict()
        # The lanes with something in flight.
        self._busy: dict[UUID, Lane] = {}
        self._in_flight = Usage()
        # Subscriptions as they were at their last attempt, with their secrets and headers.
        self._destinations: dict[UUID, tuple[Destination, str, MoreHeaders | None]] = {}
        # When they were last looked at, and the database's time less our own.
        self._looked_at: dict[UUID, float] = {}
        self._clock_offset = 0.0
        self._stopping = False
        self._hosts = HostLimits()
        self._buffer = ClaimBuffer(self._lanes)
        self._claimed = asyncio.Event()
        self._room = asyncio.Event()
        # When the first rest of a lane ends.
        self._timer: asyncio.TimerHandle | None = None
        self._recorder = Recorder(db, self._db, self._lanes, policy, monotonic)
        # The lanes for which more may be due; whether one waits for room that others make.
        self._due: dict[UUID, Lane] = {}
        self._is_crowded = False
        self._quiet = QuietLanes()
        # Where the last claims ended. Rows that fell due before that are seen after the next poll.
        self._marks: dict[UUID, tuple[float, UUID]] = {}
        # Subscriptions whose secret cannot be opened, and until when they are left alone.
        self._unreadable: dict[UUID, float] = {}
        self._idle = _POLL_SECONDS
        self._poll_at = _NEVER
        self._late_check_at = _NEVER
        self._last_claim = 0

    async def run(self, stop: asyncio.Event, wake: Wakeup) -> None:
        """Deliver until `stop`; then finish what is in flight, and give back the rest."""
        recording = asyncio.create_task(self._recorder.run())
        sending = asyncio.create_task(self._send_until_stopped())
        try:
            await self._claim_until(stop, wake)
        finally:
            self._stopping = True
            self._claimed.set()
            await sending
            await self._finish_attempts()
            self._recorder.close()
            await recording

    async def _claim_until(self, stop: asyncio.Event, wake: Wakeup) -> None:
        pause = _FIRST_PAUSE
        announced: dict[UUID, Lane] = {}
        while not stop.is_set():
            if wake.is_set():
                self._poll_at = _NEVER  # another subscription may have something due
            wake.clear()
            self._room.clear()
            try:
                if announced:
                    await self._claim_announced(announced, stop)
                began = self._monotonic()
                busy = not self._recorder.is_behind and await self._claim(wake)
                pause = _FIRST_PAUSE
                if busy and not self._due:
                    await self._pause_after_claim(began, stop)
            except Exception as error:  # noqa: BLE001 - whatever it is, the others are delivered
                _report("delivery.paused", error, pause)
                await _first(pause, stop)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            finally:
                announced = {}
            if not busy:
                # The end of an attempt may make room, which matters only if more is due.
                room = [self._room] if self._due else []
                if not await _first(self._idle, stop, wake, *room):
                    self._poll_at = _NEVER  # time has passed: something may be due by now
                announced = self._quiet.take(wake.subjects)

    async def _claim_announced(self, lanes: Mapping[UUID, Lane], stop: asyncio.Event) -> None:
        """Claim for lanes whose account was announced, and pause until these are sent.

        The poll that follows would delay them, and finds whoever else has something due.
        """
        began = self._monotonic()
        self._due |= {key: lane for key, lane in lanes.items() if key not in self._unreadable}
        if not self._recorder.is_behind and await self._claim_shares(self._share_out()):
            await self._pause_after_claim(began, stop)

    async def _pause_after_claim(self, began: float, stop: asyncio.Event) -> None:
        took = self._monotonic() - began
        await _first(pause_after_claim(took, self._last_claim), stop)

    async def _claim(self, wake: Wakeup) -> bool:
        """Claim as much as there is room for; return whether there may be more."""
        shares = await self._shares(wake)
        if not shares:
            return False
        return await self._claim_shares(shares) or bool(self._due)

    async def _claim_shares(self, shares: Mapping[UUID, int]) -> bool:
        """Claim these shares; return whether there was anything."""
        if not shares:
            return False
        began = self._monotonic()
        deliveries = await sql.claim(
            self._db, shares, lease=LEASE, after=self._marks, claimed_at=began
        )
        metrics.CLAIM_SECONDS.observe(self._monotonic() - began)
        self._last_claim = len(deliveries)
        self._forget_emptied(shares, deliveries)
        self._mark(deliveries)
        if not deliveries:
            return False
        self._buffer.add(deliveries)
        self._claimed.set()
        self._forget_idle_lanes()
        return True

    async def _shares(self, wake: Wakeup) -> dict[UUID, int]:
        """How much to claim for whom. While much is in flight, it waits a little for more room.

        Something new ends the wait: it may be for others, who have room.
        """
        if not self._due or self._monotonic() > self._poll_at:
            await self._poll()
        shares = self._share_out()
        if self._in_flight.total:
            lanes = {self._lanes[key]: share for key, share in shares.items()}
            if gather := gather_seconds(len(self._buffer), lanes, self._last_claim):
                if await _first(gather, wake):
                    wake.clear()
                    await self._poll()
                shares = self._share_out()
        return shares

    async def _poll(self) -> None:
        """Find the subscriptions with something due."""
        began = self._monotonic()
        self._marks.clear()
        due = await sql.due_subscriptions(self._db)
        took = self._monotonic() - began
        # A poll that costs much is made less often, but never so that a retry would be late.
        self._poll_at = began + took + min(max(_POLL_SECONDS, 10 * took), _MAX_POLL_SECONDS)
        self._idle = min(max(_POLL_SECONDS, 5 * took), _MAX_POLL_SECONDS)
        self._unreadable = {key: until for key, until in self._unreadable.items() if until > began}
        if unknown := [key for key in due if key not in self._lanes]:
            for row in await sql.load_due_subscriptions(self._db, unknown):
                host = _host(row.url)
                self._lanes[row.id] = Lane.beginning(host, row.account_id, failing=row.failing)
        self._due = {key: self._lanes[key] for key in due if key not in self._unreadable}

    def _share_out(self) -> dict[UUID, int]:
        busy = [lane for lane in self._busy.values() if not lane.waiting]
        claimed = [*busy, *self._buffer.lanes]
        shares, self._is_crowded = share_out(self._due.values(), claimed, self._limits.claimed)
        if len(shares) == len(self._due) == 1:
            return dict(zip(self._due, shares.values(), strict=True))
        return {key: shares[lane] for key, lane in self._due.items() if lane in shares}

    def _forget_emptied(
        self, shares: Mapping[UUID, int], deliveries: Sequence[ClaimedDelivery]
    ) -> None:
        """Forget subscriptions that had less due than was asked for, until they are announced."""
        claimed = Counter(delivery.subscription_id for delivery in deliveries)
        for subscription_id, share in shares.items():
            if claimed[subscription_id] < share:
                lane = self._due.pop(subscription_id)
                if claimed[subscription_id]:
                    self._quiet.add(subscription_id, lane)

    def _mark(self, deliveries: Sequence[ClaimedDelivery]) -> None:
        """Let the next claims go on where these ended."""
        for delivery in deliveries:
            key, mark = delivery.subscription_id, (delivery.due, delivery.id)
            if key not in self._marks or mark > self._marks[key]:
                self._marks[key] = mark

    async def _send_until_stopped(self) -> None:
        """Send what was claimed as lanes have room for it; give back what waits too long.

        At the end, give back everything that has not begun. If that fails, the leases expire.
        """
        while not self._stopping:
            await self._claimed.wait()
            self._claimed.clear()
            try:
                now = self._monotonic()
                if now >= self._late_check_at:
                    self._late_check_at = now + _LATE_CHECK_SECONDS
                    await self._give_back(self._buffer.take_older(now - _LATE_SECONDS))
                if await self._send_some():
                    self._claimed.set()
            except Exception as error:  # noqa: BLE001 - whatever it is, the others are delivered
                _report("delivery.not_sent", error, _FIRST_PAUSE)
                await asyncio.sleep(_FIRST_PAUSE)
                self._claimed.set()
        try:
            await self._give_back(self._buffer.take_older(float("inf")))
        except Exception as error:  # noqa: BLE001 - what is in flight must be recorded all the same
            _report("delivery.not_given_back", error, 0.0)

    async def _send_some(self) -> bool:
        """Begin the attempts whose turn it is.

        Returns whether there were some and none was begun: then no result starts the next turn.
        """
        if self._in_flight.total - self._in_flight.failing > _MANY:
            await asyncio.sleep(_TURN_SECONDS)  # for more room, so that the turn is worth its price
        if self._stopping:
            return False
        now = self._monotonic()
        taken, rests_until = self._buffer.take(self._limits, self._in_flight, self._hosts, now)
        self._wake_in(None if rests_until is None else rests_until - now)
        if not taken:
            return False
        replays = {delivery.replay_id for delivery in taken if delivery.replay_id is not None}
        try:
            cancelled = await sql_replays.list_cancelled(self._db, replays) if replays else ()
            await self._update_destinations(taken)
        except TradewindError:
            # Another server may give out the same versions again.
            self._destinations.clear()
            self._looked_at.clear()
            self._buffer.put_back(taken)
            raise
        except Exception:
            await self._give_back(taken)
            raise
        before, now = self._in_flight.total, self._monotonic()
        unsent = []
        for delivery in taken:
            key = delivery.subscription_id
            if delivery.claimed_at < now - _LATE_SECONDS or key in self._unreadable:
                unsent.append(delivery)
                continue
            delivery.began = self._monotonic()
            delivery.started = self._clock_offset + delivery.began
            destination, secret, more = self._destinations.get(key, (None, "", None))
            self._begin_or_cancel(delivery, destination, secret, more, cancelled)
        none_begun = before == self._in_flight.total
        await self._give_back(unsent)
        return none_begun

    def _wake_in(self, seconds: float | None) -> None:
        """Take another turn then, and only then, if nothing else starts one before."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            delay = max(seconds, _TURN_SECONDS)
            self._timer = asyncio.get_running_loop().call_later(delay, self._claimed.set)

    def _begin_or_cancel(
        self,
        delivery: ClaimedDelivery,
        destination: Destination | None,
        secret: str,
        more: MoreHeaders | None,
        cancelled_replays: Container[UUID | None],
    ) -> None:
        reason = reason_not_to_send(delivery, destination)
        if reason is None and delivery.replay_id in cancelled_replays:
            reason = Cancelled.REPLAY
        if reason is not None or destination is None:
            self._recorder.add(delivery, CANCELLED_RESULTS[reason or Cancelled.DELETED])
        else:
            self._begin(delivery, destination, secret, more)

    async def _give_back(self, deliveries: Sequence[ClaimedDelivery]) -> None:
        if deliveries:
            await sql.give_back(self._db, deliveries)

    async def _finish_attempts(self) -> None:
        """Wait for what is in flight; each attempt ends by itself in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS + 1):
                while self._in_flight.total:
                    self._room.clear()
                    await self._room.wait()

    async def _update_destinations(self, deliveries: Sequence[ClaimedDelivery]) -> None:
        """Have the destinations of these as they are now, and the time of the database.

        Those that were looked at just now, or claimed just now for a destination as we know it,
        need no other look.
        """
        now = self._monotonic()
        since = now - _CURRENT_SECONDS
        versions: dict[UUID, int] = {}
        for delivery in deliveries:
            key, current_at = delivery.subscription_id, delivery.claimed_at
            looked_at = self._looked_at.get(key, _NEVER)
            version = self._destinations[key][0].version if key in self._destinations else 0
            if looked_at > current_at:
                current_at = looked_at
            elif delivery.version == version:
                self._clock_offset = delivery.leased_at - delivery.claimed_at
            else:
                current_at = _NEVER
            if current_at < since:
                versions[key] = version
        if versions:
            changed, database_now = await sql.load_changed_destinations(self._db, versions)
            self._looked_at.update(dict.fromkeys(versions, now))
            self._clock_offset = database_now.timestamp() - self._monotonic()
            self._keep_destinations(changed)

    def _keep_destinations(self, changed: Mapping[UUID, Destination | None]) -> None:
        """Keep the destinations whose secrets can be opened, with them; forget the deleted ones."""
        for key, destination in changed.items():
            self._destinations.pop(key, None)
            if destination is None:
                continue
            try:
                subscription = (self._keyring, destination.account_id, key)
                secret = unsealed(*subscription, destination.sealed_secret)
                own_headers = unsealed_headers(*subscription, destination.sealed_headers)
            except CannotUnseal as error:
                self._unreadable[key] = self._monotonic() + _UNREADABLE_SECONDS
                shown = ids.SUBSCRIPTION.show(key)
                log.error("delivery.cannot_sign", subscription=shown, error=str(error))
                continue
            lane = self._lanes.setdefault(key, Lane())
            host = _host(destination.url)
            if host != lane.host:
                self._in_flight.add(lane, -lane.in_flight)
                lane.host = host
                self._in_flight.add(lane, lane.in_flight)
            more = MoreHeaders.of(own_headers, secret, standard=destination.standard_webhooks)
            self._destinations[key] = (destination, secret, more)

    def _begin(
        self,
        delivery: ClaimedDelivery,
        destination: Destination,
        secret: str,
        more: MoreHeaders | None,
    ) -> None:
        key = delivery.subscription_id
        lane = self._busy[key] = self._lanes[key]
        lane.in_flight += 1
        self._in_flight.add(lane, 1)
        delivery.catch_up = destination.catch_up
        try:
            attempt.send(self._network, delivery, destination.url, secret, self._done, more)
        except Exception as error:  # noqa: BLE001 - its lease expires, and it is tried again
            log.exception("delivery.not_begun", delivery=delivery.delivery_id, error=str(error))
            self._leave(key, lane)

    def _done(self, delivery: ClaimedDelivery, result: AttemptResult) -> None:
        key = delivery.subscription_id
        lane = self._lanes[key]
        self._leave(key, lane)
        now = self._monotonic()
        delivery.duration_ms = took_ms = round((now - delivery.began) * 1000)
        if not result.is_ours:
            failing = lane.failing
            lane.learn(result.outcome, result.status, took_ms, began=delivery.began, now=now)
            if lane.failing != failing:
                self._in_flight.failing += lane.in_flight if lane.failing else -lane.in_flight
            if result.status is not None:
                self._hosts.answered(lane.host, now)
        self._recorder.add(delivery, result)

    def _leave(self, key: UUID, lane: Lane) -> None:
        lane.in_flight -= 1
        if not lane.in_flight:
            del self._busy[key]
        self._in_flight.add(lane, -1)
        # The end of any other attempt makes no room that somebody waits for.
        if key in self._due or self._is_crowded or self._stopping:
            self._room.set()
        if self._buffer:
            self._claimed.set()

    def _forget_idle_lanes(self) -> None:
        while len(self._lanes) > _MOST_LANES:
            oldest, lane = next(iter(self._lanes.items()))
            if lane.in_flight or lane.waiting or oldest in self._due:
                self._lanes.move_to_end(oldest)
                return
            del self._lanes[oldest]
            self._quiet.discard(oldest, lane)
            self._destinations.pop(oldest, None)
            self._looked_at.pop(oldest, None)


def _report(event: str, error: Exception, pause: float) -> None:
    _FAILURES.inc()
    expected = isinstance(error, TradewindError)
    (log.warning if expected else log.exception)(event, error=str(error), pause=pause)


@lru_cache(maxsize=4096)
def _host(url: str) -> str:
    """The host that a URL leads to, however it is spelled."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or ''}".removesuffix(":443")


async def _first(seconds: float, *events: asyncio.Event) -> bool:
    """Wait for the first of these events, or for the timeout; return whether there was one."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for wait in waits:
            wait.cancel()
