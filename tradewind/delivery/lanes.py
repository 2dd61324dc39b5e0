"""Lanes: one per subscription; limits on deliveries in flight per endpoint and host. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from uuid import UUID

from tradewind.egress.result import Outcome

FIRST = 16.0
MOST = 256.0
# Enough for an endpoint that is near: more would only wait for each other.
NEAR = 96.0
_NEAR_MS = 25
_FAST_MS = 1000
_SLOW_MS = 3000
# For an endpoint that answers so fast, deliveries are claimed ahead of time.
_AHEAD_MS = 100
_TIMES_AHEAD = 3
_FEW_AHEAD = 16
# How many times as much as may be in flight is claimed. Where a thousand lanes lead to one host,
# each of them gets several rows from a claim: to find the rows of a lane costs more than a row.
_TIMES_CLAIMED = 16
# A lane claims again when no more than this part of its share waits: a quarter.
_PARTS_USED = 4
# How long a claim waits for more room.
GATHER_SECONDS = 0.01
# While so many wait to be sent, a claim is not urgent. With a thousand lanes it is not cheap.
_ENOUGH = 512
_MOST_TIMES = 2
# A claim for fewer than these may wait for more room.
_FEW = 64
# The limits of the pause after a claim of everything that was due: a multiple of the time that the
# claim took, seconds for each delivery in it, and a maximum.
_PAUSE_TIMES = 4
_PAUSE_SECONDS_EACH = 0.002
_MAX_PAUSE_SECONDS = 0.01
# An endpoint that fails at once would otherwise keep the engine busy with its failures. It rests
# after several of them, so that they share a claim, a look at the subscription and a record.
FAILURES_BEFORE_REST = 16
REST_SECONDS = FAILURES_BEFORE_REST * 0.02
# Statuses that do not mean that the endpoint is overloaded.
_HARMLESS_STATUSES = range(300, 500)
_TOO_MANY_REQUESTS = 429
_HOST = attrgetter("host")
_ACCOUNT = attrgetter("account")


@dataclass(slots=True, eq=False)
class Lane:
    """The concurrency limit of one subscription, and how much of it is used.

    The limit doubles from round to round until the first failure. A failure reduces it, once for
    all attempts that were begun before; then it doubles once more, and grows by one a round. An
    endpoint that never answers keeps a limit of one, and rests a moment after several failures.
    """

    limit: float = FIRST
    in_flight: int = 0
    host: str = ""
    account: UUID | None = None
    failing: bool = False
    # Claimed, and not begun.
    waiting: int = 0
    # Until when nothing is begun, because it failed and is down to one.
    rests_until: float = float("-inf")
    _failures: int = 0
    _answers_fast: bool = False
    _slow_growth_from: float = float("inf")
    _reduced_at: float = float("-inf")

    @staticmethod
    def beginning(host: str, account: UUID | None, *, failing: bool) -> "Lane":
        """The lane of an endpoint that nothing was sent to; one that is known to fail gets one."""
        return Lane(1.0 if failing else FIRST, 0, host, account, failing)

    @property
    def width(self) -> int:
        return int(self.limit)

    @property
    def claimed(self) -> int:
        """How many deliveries this worker has claimed, in flight or not."""
        return self.in_flight + self.waiting

    def wanted(self, share: int) -> int:
        """How many more to claim: none while enough wait, because a claim has a price.

        Some are claimed beyond the limit, so that an attempt never waits for a claim. `share` is
        the lane's equal part of what may be claimed: where it is small, a lane waits until most of
        it is used up, and then gets several rows at once instead of one with every claim.
        """
        limit, waiting, ahead = int(self.limit), self.waiting, 0
        if self._answers_fast:
            ahead = _FEW_AHEAD if self.failing else _TIMES_AHEAD * limit
        if waiting > min(ahead // 2, share // _PARTS_USED):
            return 0
        return max(0, limit + ahead - self.in_flight - waiting)

    def learn(
        self, outcome: Outcome, status: int | None, took_ms: float, *, began: float, now: float
    ) -> None:
        """Adapt the limit to the result of an attempt."""
        self._answers_fast = took_ms <= _AHEAD_MS
        if outcome is Outcome.DELIVERED:
            self.failing = False
            if took_ms <= _FAST_MS:
                most = NEAR if took_ms <= _NEAR_MS else MOST
                if self.limit < most:
                    step = 1.0 if self.limit < self._slow_growth_from else 1.0 / self.limit
                    self.limit = min(most, self.limit + step)
            elif took_ms > _SLOW_MS and began > self._reduced_at:
                self._reduce(0.7, now)
            return
        self.failing = True
        harmless = status in _HARMLESS_STATUSES and status != _TOO_MANY_REQUESTS
        if outcome is Outcome.HTTP_ERROR and harmless:
            return
        if began > self._reduced_at:
            self._reduce(0.25 if outcome is Outcome.TIMEOUT else 0.5, now)
        if self.width == 1:
            self._failures += 1
            if self._failures == FAILURES_BEFORE_REST:
                self._failures = 0
                self.rests_until = now + REST_SECONDS

    def _reduce(self, factor: float, now: float) -> None:
        self.limit = max(1.0, self.limit * factor)
        self._slow_growth_from = self.limit * 2
        self._reduced_at = now


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """How much one worker has in flight: in all, to one host, of one account, to failing ones."""

    total: int = 1000
    host: int = 256
    account: int = 500
    failing: int = 500

    @property
    def claimed(self) -> "EngineLimits":
        """How much it has claimed, in flight or not."""
        times = _TIMES_CLAIMED
        return EngineLimits(
            times * self.total, times * self.host, times * self.account, times * self.failing
        )


@dataclass(slots=True)
class Usage:
    """What lanes use of the limits."""

    total: int = 0
    failing: int = 0
    hosts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    accounts: defaultdict[UUID | None, int] = field(default_factory=lambda: defaultdict(int))

    @staticmethod
    def of_claimed(lanes: Iterable[Lane]) -> "Usage":
        """What these lanes have claimed, in flight or not."""
        usage = Usage()
        hosts, accounts = usage.hosts, usage.accounts
        for lane in lanes:
            number = lane.in_flight + lane.waiting
            usage.total += number
            hosts[lane.host] += number
            accounts[lane.account] += number
            if lane.failing:
                usage.failing += number
        return usage

    def add(self, lane: Lane, number: int) -> None:
        """Count `number` more of a lane, or fewer if it is negative."""
        self.total += number
        self.hosts[lane.host] += number
        self.accounts[lane.account] += number
        if lane.failing:
            self.failing += number

    def take(self, lane: Lane, number: int, limits: EngineLimits) -> int:
        """Count as many more of a lane as the limits allow, up to `number`, and return how many.

        No host and no account are not limited.
        """
        if (room := limits.total - self.total) < number:
            number = room
        if lane.host and (room := limits.host - self.hosts[lane.host]) < number:
            number = room
        if lane.account and (room := limits.account - self.accounts[lane.account]) < number:
            number = room
        if lane.failing and (room := limits.failing - self.failing) < number:
            number = room
        if number <= 0:
            return 0
        # Written out instead of `add`: with a thousand lanes it is called for every delivery.
        self.total += number
        self.hosts[lane.host] += number
        self.accounts[lane.account] += number
        if lane.failing:
            self.failing += number
        return number


def share_out(
    due: Collection[Lane], busy: Iterable[Lane], limits: EngineLimits
) -> tuple[dict[Lane, int], bool]:
    """How many deliveries to claim for each lane that has some due.

    `busy` are all lanes that have something claimed. Every lane gets one before any gets two, up to
    what it wants, and lanes with the fewest claimed come first. So a backlog takes what the others
    leave, and nothing from them. Returns also whether a lane got less than it wants: then it waits
    for room that others make.
    """
    # Of a thousand lanes, most have enough waiting: only the others are worth a closer look.
    equal_share, largest = _equal_shares(due, limits)
    enough = largest // _PARTS_USED
    wanting = [
        (lane, wanted)
        for lane in due
        if lane.waiting <= enough and (wanted := lane.wanted(equal_share(lane))) > 0
    ]
    if not wanting:
        return {}, False
    usage = Usage.of_claimed(busy)
    shares: dict[Lane, int] = {}
    hungry: dict[Lane, int] = {}
    for lane, wanted in sorted(wanting, key=lambda pair: pair[0].claimed):
        if usage.take(lane, 1, limits):
            shares[lane] = 1
            if wanted > 1:
                hungry[lane] = wanted
    while hungry and usage.total < limits.total:
        step = _even_step(list(hungry), usage, limits)
        for lane, wanted in list(hungry.items()):
            taken = usage.take(lane, min(step, wanted - shares[lane]), limits)
            shares[lane] += taken
            if not taken or shares[lane] == wanted:
                del hungry[lane]
    return shares, any(shares.get(lane, 0) < wanted for lane, wanted in wanting)


def gather_seconds(waiting: int, shares: Mapping[Lane, int], last_claim: int) -> float:
    """How long a claim of these shares may wait for more room, while attempts are in flight.

    Longer while much is `waiting` to be sent. If not much is, a claim of a few waits after a larger
    one: responses make room one at a time. Not at all if one of the lanes has nothing claimed: it
    has room, and the others must not delay it.
    """
    if any(lane.claimed == 0 for lane in shares):
        return 0.0
    few = last_claim > _FEW // 4 and sum(shares.values()) < _FEW
    return max(min(_MOST_TIMES, waiting // _ENOUGH), few) * GATHER_SECONDS


def pause_after_claim(took: float, claimed: int) -> float:
    """How long to wait when everything that was due has been claimed.

    What comes meanwhile is claimed together, which costs less: so the wait is longer while much
    comes. Where little comes, the next delivery must not wait for others.
    """
    return min(_PAUSE_TIMES * took, _PAUSE_SECONDS_EACH * claimed, _MAX_PAUSE_SECONDS)


def _equal_shares(due: Collection[Lane], limits: EngineLimits) -> tuple[Callable[[Lane], int], int]:
    """A function that returns how many a lane may have claimed if all have as many; the most."""
    total = limits.total // max(1, len(due))
    hosts = Counter(map(_HOST, due))
    accounts = Counter(map(_ACCOUNT, due))
    by_host = {host: limits.host // n if host else total for host, n in hosts.items()}
    by_account = {
        account: limits.account // n if account else total for account, n in accounts.items()
    }
    largest = min(total, max(by_host.values(), default=0), max(by_account.values(), default=0))
    return lambda lane: min(total, by_host[lane.host], by_account[lane.account]), largest


def _even_step(hungry: Sequence[Lane], usage: Usage, limits: EngineLimits) -> int:
    """How many each can take at once so that all of them get as many; at least one."""
    rooms = [(limits.total - usage.total) // len(hungry)]
    hosts = Counter(lane.host for lane in hungry if lane.host)
    rooms += [(limits.host - usage.hosts[host]) // count for host, count in hosts.items()]
    accounts = Counter(lane.account for lane in hungry if lane.account)
    rooms += [
        (limits.account - usage.accounts[account]) // count for account, count in accounts.items()
    ]
    if failing := sum(lane.failing for lane in hungry):
        rooms.append((limits.failing - usage.failing) // failing)
    return max(1, min(rooms))
