"""The engine: claims what is due, fairly; sends it; records what came of it, in batches."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter
from urllib.parse import urlsplit
from uuid import UUID

from tradewind.delivery import figures, judge, sql, sql_jobs
from tradewind.delivery.attempt import SECONDS, Clock, send
from tradewind.delivery.lanes import Bounds, Lane, share_out
from tradewind.delivery.model import Cancelled, Claim, Destination, Ended, Outcome
from tradewind.delivery.recorder import Recorder
from tradewind.egress.sender import Sender
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal
from tradewind.webhooks.secret import Opener

# An attempt, and the flush behind it, with room to spare.
LEASE = timedelta(seconds=SECONDS + 10)
_POLL_SECONDS = 0.2
# While it is busy: how often it looks for subscriptions with something due, and, after a claim of
# many, how long it waits for more room before it claims only a few.
_LOOK_SECONDS = 0.05
_GATHER_SECONDS = 0.01
_FEW = 128
_MOST_LANES = 20_000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_REST_SECONDS = 30.0
# What was claimed so long ago is given back: its lease may not last for a whole attempt.
_LATE_SECONDS = 5.0


class Engine:
    """One worker's part of all deliveries. Any number of workers share the queue."""

    def __init__(
        self, db: Database, keyring: Keyring, sender: Sender, *, bounds: Bounds | None = None
    ) -> None:
        self._db = db
        self._sender = sender
        self._bounds = bounds or Bounds()
        self._open = Opener(keyring)
        self._lanes: OrderedDict[UUID, Lane] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Event()
        self._recorder = Recorder(db, self._lanes)
        self._due: list[UUID] = []
        # Subscriptions that cannot be signed for, and until when they are left alone.
        self._resting: dict[UUID, float] = {}
        # Of the claims at hand, those whose sending has begun.
        self._begun: set[UUID] = set()
        self._idle = _POLL_SECONDS
        self._look_at = float("-inf")
        self._last = 0

    async def run(self, stop: asyncio.Event, wake: asyncio.Event) -> None:
        """Deliver until told to stop; then finish what is under way, and give back the rest."""
        recording = asyncio.create_task(self._recorder.run())
        pause = _FIRST_PAUSE
        try:
            while not stop.is_set():
                if wake.is_set():
                    self._look_at = float("-inf")  # somebody new may have something due
                wake.clear()
                self._room.clear()
                try:
                    busy = not self._recorder.is_behind and await self._round(stop)
                    pause = _FIRST_PAUSE
                except Exception as error:  # noqa: BLE001 - whatever it is, the others are delivered
                    expected = isinstance(error, TradewindError)
                    (log.warning if expected else log.exception)(
                        "delivery.paused", error=str(error), pause=pause
                    )
                    await _first(pause, stop)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                    continue
                if not busy:
                    await _first(self._idle, stop, wake, self._room)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=SECONDS + 1)
        finally:
            self._recorder.close()
            await recording

    async def _round(self, stop: asyncio.Event) -> bool:
        """Claim as much as there is room for, and begin to send it; whether there may be more."""
        shares = await self._shares()
        if not shares:
            return False
        began = perf_counter()
        claims, now = await sql.claim(self._db, shares, lease=LEASE)
        figures.CLAIM_SECONDS.observe(perf_counter() - began)
        self._last = len(claims)
        self._forget_emptied(shares, claims)
        if not claims or now is None:
            return bool(self._due)
        try:
            await self._send(claims, Clock(now), stop)
        except BaseException:
            await sql.give_back(self._db, [one for one in claims if one.id not in self._begun])
            raise
        finally:
            self._begun.clear()
        self._forget_idle_lanes()
        return True

    async def _send(self, claims: Sequence[Claim], clock: Clock, stop: asyncio.Event) -> None:
        """Begin to send what was claimed, by what the subscriptions are right before it."""
        began = perf_counter()
        jobs = {claim.job_id for claim in claims if claim.job_id is not None}
        ended = await sql_jobs.cancelled(self._db, jobs) if jobs else frozenset()
        destinations = await self._load({claim.subscription_id for claim in claims})
        late = perf_counter() - began > _LATE_SECONDS
        unsent = []
        for claim in claims:
            if late or stop.is_set() or claim.subscription_id in self._resting:
                unsent.append(claim)
            else:
                self._begun.add(claim.id)
                destination = destinations.get(claim.subscription_id)
                self._begin(claim, destination, clock, cancelled=claim.job_id in ended)
        if unsent:
            await sql.give_back(self._db, unsent)

    async def _shares(self) -> dict[UUID, int]:
        """How much to claim for whom. While much is under way, a little room is left to grow."""
        if not self._due or perf_counter() > self._look_at:
            began = perf_counter()
            found = await sql.due_subscriptions(self._db)
            took = perf_counter() - began
            # A look that is dear is made less often.
            self._look_at = began + took + max(_LOOK_SECONDS, 10 * took)
            self._idle = max(_POLL_SECONDS, 5 * took)
            self._resting = {o: at for o, at in self._resting.items() if at > began}
            self._due = [one.id for one in found if one.id not in self._resting]
            for one in found:
                if one.id not in self._lanes:
                    self._lanes[one.id] = Lane.beginning(
                        _host(one.url), one.account_id, failing=one.failing
                    )
        shares = share_out(self._due, self._lanes, self._bounds)
        if self._last > _FEW // 4 and sum(shares.values()) < _FEW:
            await asyncio.sleep(_GATHER_SECONDS)
            shares = share_out(self._due, self._lanes, self._bounds)
        return shares

    def _forget_emptied(self, shares: dict[UUID, int], claims: Sequence[Claim]) -> None:
        """Who gave less than was asked for has nothing more that is due now."""
        got = dict.fromkeys(shares, 0)
        for claim in claims:
            got[claim.subscription_id] += 1
        emptied = {one for one, share in shares.items() if got[one] < share}
        self._due = [one for one in self._due if one not in emptied]

    async def _load(self, ids: set[UUID]) -> dict[UUID, Destination]:
        found = {}
        for row in await sql.load_destinations(self._db, list(ids)):
            try:
                secret = self._open.secret(row["id"], row["secret"])
            except CannotUnseal as error:
                self._resting[row["id"]] = perf_counter() + _REST_SECONDS
                log.error("delivery.cannot_sign", error=str(error))
                continue
            lane = self._lanes.setdefault(row["id"], Lane())
            lane.host = _host(row["url"])
            found[row["id"]] = Destination(
                row["id"],
                row["account_id"],
                row["url"],
                frozenset(row["events"]),
                row["is_active"],
                row["generation"],
                secret,
                row["catch_up"],
                row["failing_since"],
            )
        return found

    def _begin(
        self, claim: Claim, destination: Destination | None, clock: Clock, *, cancelled: bool
    ) -> None:
        reason = judge.reason_not_to_send(claim, destination)
        if cancelled:
            reason = reason or Cancelled.JOB
        if reason is not None or destination is None:
            at = clock.at(perf_counter())
            self._recorder.add(Ended(claim, Outcome.CANCELLED, at, cancelled=reason), None)
            return
        self._lanes[claim.subscription_id].in_flight += 1
        task = asyncio.create_task(self._attempt(claim, destination, clock))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attempt(self, claim: Claim, destination: Destination, clock: Clock) -> None:
        lane = self._lanes[claim.subscription_id]
        began = perf_counter()
        try:
            ended = await send(self._sender, claim, destination, clock)
        finally:
            lane.in_flight -= 1
            if not self._room.is_set():
                self._room.set()
        now = perf_counter()
        lane.heard(ended.outcome, ended.status, (now - began) * 1000, began=began, now=now)
        self._recorder.add(ended, destination)

    def _forget_idle_lanes(self) -> None:
        while len(self._lanes) > _MOST_LANES:
            oldest, lane = next(iter(self._lanes.items()))
            if lane.in_flight or oldest in self._due:
                self._lanes.move_to_end(oldest)
                return
            del self._lanes[oldest]


def _host(url: str) -> str:
    """Whom a URL leads to, however it is spelled."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or ''}".removesuffix(":443")


async def _first(seconds: float, *events: asyncio.Event) -> None:
    """Wait for the first of these events, so long at the most."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
