"""How many deliveries may be under way: to one receiver, to one host, and together. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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


@dataclass(slots=True)
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
        return max(1, int(self.limit))

    @property
    def free(self) -> int:
        return max(0, self.width - self.in_flight)

    def rests(self, now: float) -> bool:
        """Whether nothing is begun yet, because it failed just now and is down to one."""
        return now < self._rests_until

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
        return max(0, self.width + ahead - self.in_flight - self.held)

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


def share_out(
    wants: Mapping[UUID, int],
    lanes: Mapping[UUID, Lane],
    bounds: Bounds,
    taken: Callable[[Lane], int] = attrgetter("in_flight"),
) -> dict[UUID, int]:
    """How many of what they want subscriptions get, beside what each lane has `taken`.

    Everyone gets one before anyone gets two, up to the width of their lane; so a backlog takes
    what the others leave, and nothing from them.
    """
    left, failing_left = bounds.together, bounds.failing
    on_host: dict[str, int] = {}
    of_account: dict[UUID | None, int] = {}
    for lane in lanes.values():
        has = taken(lane)
        left -= has
        failing_left -= has if lane.failing else 0
        on_host[lane.host] = on_host.get(lane.host, 0) + has
        of_account[lane.account] = of_account.get(lane.account, 0) + has
    shares: dict[UUID, int] = {}
    full = {host for host, has in on_host.items() if host and has >= bounds.host}
    wants = {one: some for one, some in wants.items() if some > 0 and lanes[one].host not in full}
    due = sorted(wants, key=lambda one: taken(lanes[one]))  # who has least comes first
    while left > 0:
        hungry = [one for one in due if shares.get(one, 0) < wants[one]]
        if not hungry:
            break
        # As many rounds at once as everybody can take, else one round of ones.
        room = min(wants[one] - shares.get(one, 0) for one in hungry)
        room = min(
            room, *_even_rooms([lanes[one] for one in hungry], bounds, on_host, failing_left)
        )
        step = max(1, min(left // len(hungry), room))
        for one in hungry:
            lane = lanes[one]
            room = min(
                step,
                left,
                bounds.host - on_host[lane.host] if lane.host else step,
                bounds.account - of_account[lane.account] if lane.account else step,
                failing_left if lane.failing else step,
            )
            if room <= 0:
                wants[one] = shares.get(one, 0)
                continue
            shares[one] = shares.get(one, 0) + room
            left -= room
            on_host[lane.host] += room
            of_account[lane.account] += room
            failing_left -= room if lane.failing else 0
    return {one: share for one, share in shares.items() if share > 0}


def _even_rooms(
    hungry: Sequence[Lane], bounds: Bounds, on_host: Mapping[str, int], failing_left: int
) -> Sequence[int]:
    """How many each may take so that all on the same host, and all that fail, get as many."""
    hosts = Counter(lane.host for lane in hungry if lane.host)
    failing = sum(lane.failing for lane in hungry)
    rooms = [(bounds.host - on_host[host]) // guests for host, guests in hosts.items()]
    return [*rooms, failing_left // failing if failing else bounds.together]
