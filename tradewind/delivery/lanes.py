"""How many deliveries may be under way: to one receiver, to one host, and together. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from uuid import UUID

from tradewind.delivery.model import Outcome

FIRST = 16.0
MOST = 256.0
# So many are enough for a receiver that is near: more wait for each other, in its memory and ours.
NEAR = 96.0
_NEAR_MS = 25
_FAST_MS = 1000
_SLOW_MS = 3000
# A receiver that answers so soon is claimed for ahead of time.
_AT_ONCE_MS = 100
_TIMES_AHEAD = 3
_FEW_AHEAD = 8
# A receiver that only fails, and fails at once, would otherwise keep us busy with its failures.
REST_SECONDS = 0.02
# Answers that say nothing bad about how much the receiver can bear.
_HARMLESS_STATUSES = range(300, 500)
_TOO_MANY = 429


@dataclass(slots=True, eq=False)
class Lane:
    """One receiver's lane: as wide as it answers well.

    It doubles from round to round until the first trouble. Trouble narrows it, once for all that
    was sent before; then it doubles once more, and grows by one a round. A receiver that answers
    nothing keeps one, and rests a moment after each failure.
    """

    limit: float = FIRST
    in_flight: int = 0
    host: str = ""
    account: UUID | None = None
    failing: bool = False
    # Claimed, and waiting for its turn.
    held: int = 0
    _answers_at_once: bool = False
    _rests_until: float = float("-inf")
    _calm_from: float = float("inf")
    _shrunk_at: float = float("-inf")

    @staticmethod
    def beginning(host: str, account: UUID | None, *, failing: bool) -> "Lane":
        """The lane of a receiver that we have not sent to; one that is known to fail gets one."""
        return Lane(1.0 if failing else FIRST, 0, host, account, failing)

    @property
    def width(self) -> int:
        return int(self.limit)

    @property
    def free(self) -> int:
        return max(0, int(self.limit) - self.in_flight)

    def rests(self, now: float) -> bool:
        """Whether nothing is begun yet, because it failed just now and is down to one."""
        return now < self._rests_until

    @property
    def taken(self) -> int:
        """How much of it is ours, under way or not."""
        return self.in_flight + self.held

    def turns(self, now: float) -> int:
        """How many of those that wait may begin now."""
        return 0 if self.rests(now) else min(self.held, self.free)

    @property
    def ahead(self) -> int:
        """How much is claimed beyond what may be under way, so that no turn waits for a claim."""
        if not self._answers_at_once:
            return 0
        return _FEW_AHEAD if self.failing else _TIMES_AHEAD * self.width

    @property
    def wanted(self) -> int:
        """How much more to claim: nothing while enough waits, so that a claim is worth it."""
        ahead = self.ahead
        if self.held > ahead // 2:
            return 0
        return max(0, int(self.limit) + ahead - self.in_flight - self.held)

    def heard(
        self, outcome: Outcome, status: int | None, took_ms: float, *, began: float, now: float
    ) -> None:
        """Learn from an attempt that began and ended at these moments."""
        self._answers_at_once = took_ms <= _AT_ONCE_MS
        if outcome is Outcome.DELIVERED:
            self.failing = False
            if took_ms <= _FAST_MS:
                most = NEAR if took_ms <= _NEAR_MS else MOST
                if self.limit < most:
                    step = 1.0 if self.limit < self._calm_from else 1.0 / self.limit
                    self.limit = min(most, self.limit + step)
            elif took_ms > _SLOW_MS and began > self._shrunk_at:
                self._shrink(0.7, now)
            return
        self.failing = True
        if outcome is Outcome.HTTP_ERROR and status in _HARMLESS_STATUSES and status != _TOO_MANY:
            return
        if began > self._shrunk_at:
            self._shrink(0.25 if outcome is Outcome.TIMEOUT else 0.5, now)
        if self.width == 1:
            self._rests_until = now + REST_SECONDS

    def _shrink(self, factor: float, now: float) -> None:
        self.limit = max(1.0, self.limit * factor)
        self._calm_from = self.limit * 2
        self._shrunk_at = now


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one worker has under way at the most: in all, to one host, of one account, in vain."""

    together: int = 1000
    host: int = 256
    account: int = 500
    failing: int = 500

    @property
    def claimed(self) -> "Bounds":
        """What it has claimed at the most, under way or not."""
        times = 1 + _TIMES_AHEAD
        return Bounds(
            times * self.together, times * self.host, times * self.account, times * self.failing
        )


class _Left(dict[str, int]):
    """How many each host has room for; of a host not yet asked about, as many as it may have."""

    def __init__(self, width: Callable[[str], int]) -> None:
        self._width = width

    def __missing__(self, host: str) -> int:
        self[host] = self._width(host)
        return self[host]


class _Rooms:
    """What is left of the bounds, beside what lanes have taken."""

    def __init__(
        self,
        bounds: Bounds,
        busy: Iterable[Lane],
        taken: Callable[[Lane], int],
        width: Callable[[str], int] | None,
    ) -> None:
        self.left, self.failing = bounds.together, bounds.failing
        self.hosts = _Left(lambda host: min(bounds.host, width(host) if width else bounds.host))
        self._accounts: defaultdict[UUID | None, int] = defaultdict(lambda: bounds.account)
        for lane in busy:
            self.take(lane, taken(lane))
        # Of what is nobody's there is as much as there is at all.
        self.hosts[""] = self._accounts[None] = bounds.together

    def of(self, lane: Lane) -> int:
        room = min(self.left, self.hosts[lane.host], self._accounts[lane.account])
        return min(room, self.failing) if lane.failing else room

    def take(self, lane: Lane, number: int) -> None:
        self.left -= number
        self.hosts[lane.host] -= number
        self._accounts[lane.account] -= number
        if lane.failing:
            self.failing -= number

    def even(self, hungry: Sequence[Lane]) -> int:
        """How many each may take so that all on the same host, and all that fail, get as many."""
        hosts = Counter(lane.host for lane in hungry if lane.host)
        failing = sum(lane.failing for lane in hungry)
        rooms = [self.left // len(hungry)]
        rooms += [self.hosts[host] // guests for host, guests in hosts.items()]
        if failing:
            rooms.append(self.failing // failing)
        return min(rooms)


def share_out(
    lanes: Iterable[Lane],
    wanted: Callable[[Lane], int],
    busy: Iterable[Lane],
    bounds: Bounds,
    taken: Callable[[Lane], int] = attrgetter("in_flight"),
    *,
    host_width: Callable[[str], int] | None = None,
) -> dict[Lane, int]:
    """How many of what is `wanted` lanes get, beside what the `busy` ones have `taken`.

    Everyone gets one before anyone gets two, up to the width of their lane; so a backlog takes
    what the others leave, and nothing from them. Who has least comes first. `host_width` is how
    many a host may have, if that is less than its bound.
    """
    rooms = _Rooms(bounds, busy, taken, host_width)
    shares: dict[Lane, int] = {}
    hungry: dict[Lane, int] = {}
    for lane in sorted(lanes, key=taken):
        # Of a thousand on one host, most end here.
        if rooms.hosts[lane.host] > 0 and rooms.of(lane) > 0 and (wants := wanted(lane)) > 0:
            rooms.take(lane, 1)
            shares[lane] = 1
            if wants > 1:
                hungry[lane] = wants
    while hungry and rooms.left > 0:
        # As many rounds at once as everybody can take, else one round of ones.
        least = min(wants - shares[lane] for lane, wants in hungry.items())
        step = max(1, min(least, rooms.even(list(hungry))))
        for lane, wants in list(hungry.items()):
            room = min(step, rooms.of(lane))
            if room > 0:
                rooms.take(lane, room)
                shares[lane] += room
            if room <= 0 or shares[lane] == wants:
                del hungry[lane]
    return shares
