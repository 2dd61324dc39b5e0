"""The engine: claims what is due, fairly; sends it; records what came of it, in batches."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from operator import attrgetter
from time import perf_counter
from urllib.parse import urlsplit
from uuid import UUID

from tradewind import ids
from tradewind.delivery import metrics as figures
from tradewind.delivery import retry_policy, sql, sql_replays
from tradewind.delivery.attempt import SECONDS, Attempt, Clock, Network
from tradewind.delivery.claim_buffer import Hand
from tradewind.delivery.host_limits import Hosts
from tradewind.delivery.lanes import REST_SECONDS, Bounds, Lane, share_out
from tradewind.delivery.model import Cancelled, Claim, Destination, Ended, Outcome
from tradewind.delivery.recorder import Recorder
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal
from tradewind.webhooks.secret import Opener

# An attempt, and the flush behind it, with room to spare.
LEASE = timedelta(seconds=SECONDS + 10)
# A claim need not wait for the disk: if the server crashes, what it had not written is sent
# again, never lost. (A record does wait, by itself.) And the engine's few statements are planned
# once for all: planning them for every batch, over all partitions, took longer than the work. What
# was planned while the queue was empty must serve when it is long: never by reading a whole table;
# and what was planned for the rows of three subscriptions must serve a thousand: each by its own
# part of the index, never by all that is due, sorted.
HURRIED = {
    "synchronous_commit": "off",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_sort": "off",
    "enable_incremental_sort": "off",
}
HURRIED_CONNECTIONS = 4
# How often it looks for subscriptions with something due, unless it is woken.
_POLL_SECONDS = 0.2
_RAREST_SECONDS = 0.5
# While it is busy: after a claim of many, how long it waits for more room before it claims only a
# few.
_GATHER_SECONDS = 0.01
_FEW = 64
# While so many are under way: for so long it gathers what ended, before others take their turn.
_MANY = 48
_TURN_SECONDS = 0.002
_MOST_LANES = 20_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_REST_SECONDS = 30.0
# What was claimed so long ago is given back: its lease may not last for a whole attempt.
_LATE_SECONDS = 5.0


_CONTRACT = RetryPolicy()


class Engine:
    """One worker's part of all deliveries. Any number of workers share the queue.

    Two loops: one claims, a little ahead of what may be under way; the other sends what was
    claimed, as its turn comes, by what the subscriptions are right before it.
    """

    def __init__(
        self,
        db: Database,
        keyring: Keyring,
        network: Network,
        *,
        hurried: Database | None = None,
        bounds: Bounds | None = None,
        policy: RetryPolicy = _CONTRACT,
        moment: Callable[[], float] = perf_counter,
    ) -> None:
        """`hurried` has connections with the settings of HURRIED, for claims and records.

        `moment` tells how time passes, in seconds from any beginning.
        """
        self._db = hurried or db
        self._network = network
        self._moment = moment
        self._bounds = bounds or Bounds()
        self._open = Opener(keyring)
        self._lanes: OrderedDict[UUID, Lane] = OrderedDict()
        # The lanes in which something is under way.
        self._busy: dict[UUID, Lane] = {}
        self._under_way = 0
        self._stopping = False
        self._hosts = Hosts()
        self._hand = Hand(self._lanes)
        self._claimed = asyncio.Event()
        self._room = asyncio.Event()
        self._recorder = Recorder(db, self._db, self._lanes, moment, policy)
        # The lanes for which more may be due.
        self._due: dict[UUID, Lane] = {}
        # Where the last claims ended. Until the next look, what came to be due before is not seen.
        self._marks: dict[UUID, tuple[float, UUID]] = {}
        # Subscriptions that cannot be signed for, and until when they are left alone.
        self._resting: dict[UUID, float] = {}
        self._idle = _POLL_SECONDS
        self._look_at = float("-inf")
        self._last = 0

    async def run(self, stop: asyncio.Event, wake: asyncio.Event) -> None:
        """Deliver until told to stop; then finish what is under way, and give back the rest."""
        recording = asyncio.create_task(self._recorder.run())
        sending = asyncio.create_task(self._send_in_turn())
        try:
            await self._claim_until(stop, wake)
        finally:
            self._stopping = True
            self._claimed.set()
            await sending
            await self._all_over()
            self._recorder.close()
            await recording

    async def _claim_until(self, stop: asyncio.Event, wake: asyncio.Event) -> None:
        pause = _FIRST_PAUSE
        while not stop.is_set():
            if wake.is_set():
                self._look_at = float("-inf")  # somebody new may have something due
            wake.clear()
            self._room.clear()
            try:
                busy = not self._recorder.is_behind and await self._claim()
                pause = _FIRST_PAUSE
            except Exception as error:  # noqa: BLE001 - whatever it is, the others are delivered
                _report("delivery.paused", error, pause)
                await _first(pause, stop)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            if not busy:
                # An attempt that ended makes room; that is news only if somebody waits for it.
                room = [self._room] if self._due else []
                if not await _first(self._idle, stop, wake, *room):
                    self._look_at = float("-inf")  # time has passed: something may be due by now

    async def _claim(self) -> bool:
        """Claim as much as there is room for; whether there may be more."""
        shares = await self._shares()
        if not shares:
            return False
        began = self._moment()
        claims = await sql.claim(self._db, shares, lease=LEASE, after=self._marks)
        figures.CLAIM_SECONDS.observe(self._moment() - began)
        self._last = len(claims)
        self._forget_emptied(shares, claims)
        self._mark(claims)
        if not claims:
            return bool(self._due)
        self._hand.add(claims, began)
        self._claimed.set()
        self._forget_idle_lanes()
        return True

    async def _shares(self) -> dict[UUID, int]:
        """How much to claim for whom. While much is under way, a little room is left to grow."""
        if not self._due or self._moment() > self._look_at:
            await self._look()
        shares = self._share_out()
        if self._under_way and self._last > _FEW // 4 and sum(shares.values()) < _FEW:
            await asyncio.sleep(_GATHER_SECONDS)
            shares = self._share_out()
        return shares

    async def _look(self) -> None:
        """Who has something due."""
        began = self._moment()
        self._marks.clear()
        found = await sql.due_subscriptions(self._db)
        took = self._moment() - began
        # A look that is dear is made less often, but never so that a retry would be late.
        self._look_at = began + took + min(max(_POLL_SECONDS, 10 * took), _RAREST_SECONDS)
        self._idle = min(max(_POLL_SECONDS, 5 * took), _RAREST_SECONDS)
        self._resting = {one: at for one, at in self._resting.items() if at > began}
        for one in found:
            if one.id not in self._lanes:
                self._lanes[one.id] = Lane.beginning(
                    _host(one.url), one.account_id, failing=one.failing
                )
        self._due = {o.id: self._lanes[o.id] for o in found if o.id not in self._resting}

    def _share_out(self) -> dict[UUID, int]:
        busy = [lane for lane in self._busy.values() if not lane.held]
        shares = share_out(
            self._due.values(),
            attrgetter("wanted"),
            [*busy, *self._hand.lanes],
            self._bounds.claimed,
            attrgetter("taken"),
        )
        return {one: shares[lane] for one, lane in self._due.items() if lane in shares}

    def _forget_emptied(self, shares: dict[UUID, int], claims: Sequence[Claim]) -> None:
        """Who gave less than was asked for has nothing more that is due now."""
        got = Counter(claim.subscription_id for claim in claims)
        emptied = [one for one, share in shares.items() if got[one] < share]
        for one in emptied:
            del self._due[one]

    def _mark(self, claims: Sequence[Claim]) -> None:
        """Let the next claims go on where these ended."""
        for claim in claims:
            one, place = claim.subscription_id, (claim.due, claim.id)
            if one not in self._marks or place > self._marks[one]:
                self._marks[one] = place

    async def _send_in_turn(self) -> None:
        """Send what was claimed, as lanes have room for it; what waits too long is given back.

        So is, at the end, what has not begun. If that fails, leases end by themselves.
        """
        while not self._stopping:
            await self._claimed.wait()
            self._claimed.clear()
            try:
                await self._give_back(self._hand.take_older(self._moment() - _LATE_SECONDS))
                if await self._send_some():
                    self._claimed.set()
            except Exception as error:  # noqa: BLE001 - whatever it is, the others are delivered
                _report("delivery.not_sent", error, _FIRST_PAUSE)
                await asyncio.sleep(_FIRST_PAUSE)
                self._claimed.set()
        try:
            await self._give_back(self._hand.take_older(float("inf")))
        except Exception as error:  # noqa: BLE001 - what is under way must be recorded all the same
            _report("delivery.not_given_back", error, 0.0)

    async def _send_some(self) -> bool:
        """Begin to send, by what the subscriptions are right before it.

        Whether none of those whose turn it was is under way: then no end of one calls the next.
        """
        if self._under_way > _MANY:
            await asyncio.sleep(_TURN_SECONDS)  # for more room, so that it is worth a look
        if self._stopping:
            return False
        now = self._moment()
        held = self._hand.take(self._bounds, self._busy.values(), self._hosts, now)
        if self._hand.rests(now):
            asyncio.get_running_loop().call_later(REST_SECONDS, self._claimed.set)
        if not held:
            return False
        jobs = {one.claim.job_id for one in held if one.claim.job_id is not None}
        try:
            ended = await sql_replays.list_cancelled(self._db, jobs) if jobs else frozenset()
            destinations, clock = await self._load({one.claim.subscription_id for one in held})
        except TradewindError:
            self._hand.put_back(held)
            raise
        except Exception:
            await self._give_back([one.claim for one in held])
            raise
        before = self._under_way
        latest = self._moment() - _LATE_SECONDS
        unsent = []
        for one in held:
            claim = one.claim
            if one.since < latest or claim.subscription_id in self._resting:
                unsent.append(claim)
            else:
                destination = destinations.get(claim.subscription_id)
                self._begin(claim, destination, clock, cancelled=claim.job_id in ended)
        nobody = before == self._under_way
        await self._give_back(unsent)
        return nobody

    async def _give_back(self, claims: Sequence[Claim]) -> None:
        if claims:
            await sql.give_back(self._db, claims)

    async def _all_over(self) -> None:
        """Wait for what is under way; each attempt ends by itself in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS + 1):
                while self._under_way:
                    self._room.clear()
                    await self._room.wait()

    async def _load(self, subscription_ids: set[UUID]) -> tuple[Mapping[UUID, Destination], Clock]:
        """The subscriptions as they are, and the database's clock."""
        found = {}
        rows, now = await sql.load_destinations(self._db, list(subscription_ids))
        for row in rows:
            try:
                secret = self._open.secret(row["account_id"], row["id"], row["secret"])
            except CannotUnseal as error:
                self._resting[row["id"]] = self._moment() + _REST_SECONDS
                log.error(
                    "delivery.cannot_sign",
                    subscription=ids.SUBSCRIPTION.show(row["id"]),
                    error=str(error),
                )
                continue
            one, account, url, events, active, generation, _, catch_up, _ = row
            if one not in self._lanes:
                self._lanes[one] = Lane()
            self._lanes[one].host = _host(url)
            found[one] = Destination(
                one,
                account,
                url,
                frozenset(events),
                active,
                generation,
                secret,
                catch_up,
            )
        return found, Clock(now, self._moment)

    def _begin(
        self, claim: Claim, destination: Destination | None, clock: Clock, *, cancelled: bool
    ) -> None:
        reason = retry_policy.reason_not_to_send(claim, destination)
        if cancelled:
            reason = reason or Cancelled.JOB
        if reason is not None or destination is None:
            at = clock.at(self._moment())
            self._recorder.add(Ended(claim, Outcome.CANCELLED, at, cancelled=reason))
            return
        lane = self._busy[claim.subscription_id] = self._lanes[claim.subscription_id]
        lane.in_flight += 1
        self._under_way += 1
        attempt = Attempt(claim, destination, clock, self._over, self._moment())
        try:
            attempt.send(self._network)
        except Exception as error:  # noqa: BLE001 - its lease ends, and it is tried again
            log.exception("delivery.not_begun", delivery=claim.delivery_id, error=str(error))
            self._leave(claim.subscription_id, lane)

    def _over(self, attempt: Attempt, ended: Ended) -> None:
        one = attempt.claim.subscription_id
        lane = self._lanes[one]
        self._leave(one, lane)
        if not ended.is_ours:
            now, took = self._moment(), ended.duration_ms or 0
            lane.heard(ended.outcome, ended.status, took, began=attempt.began, now=now)
            if ended.status is not None:
                self._hosts.heard(lane.host, now)
        self._recorder.add(ended, catches_up=attempt.destination.catch_up)

    def _leave(self, one: UUID, lane: Lane) -> None:
        lane.in_flight -= 1
        if not lane.in_flight:
            del self._busy[one]
        self._under_way -= 1
        self._room.set()
        if self._hand:
            self._claimed.set()

    def _forget_idle_lanes(self) -> None:
        while len(self._lanes) > _MOST_LANES:
            oldest, lane = next(iter(self._lanes.items()))
            if lane.in_flight or lane.held or oldest in self._due:
                self._lanes.move_to_end(oldest)
                return
            del self._lanes[oldest]


def _report(event: str, error: Exception, pause: float) -> None:
    expected = isinstance(error, TradewindError)
    (log.warning if expected else log.exception)(event, error=str(error), pause=pause)


@lru_cache(maxsize=4096)
def _host(url: str) -> str:
    """Whom a URL leads to, however it is spelled."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or ''}".removesuffix(":443")


async def _first(seconds: float, *events: asyncio.Event) -> bool:
    """Wait for the first of these events, so long at the most; whether there was one."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for wait in waits:
            wait.cancel()
