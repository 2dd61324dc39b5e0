"""How many deliveries may be under way: to one receiver, to one host, and together. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tradewind.delivery.model import Outcome

FIRST = 16.0
MOST = 256.0
_FAST_MS = 1000
_SLOW_MS = 3000
# Answers that say nothing bad about how much the receiver can bear.
_HARMLESS_STATUSES = range(300, 500)
_TOO_MANY = 429


@dataclass(slots=True)
class Lane:
    """One receiver's lane: as wide as it answers well.

    It doubles from round to round until the first trouble. Trouble narrows it, once for all that
    was sent before; then it doubles once more, and grows by one a round. A receiver that answers
    nothing keeps one.
    """

    limit: float = FIRST
    in_flight: int = 0
    host: str = ""
    account: UUID | None = None
    failing: bool = False
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

    def heard(
        self, outcome: Outcome, status: int | None, took_ms: float, *, began: float, now: float
    ) -> None:
        """Learn from an attempt that began and ended at these moments."""
        if outcome is Outcome.DELIVERED:
            self.failing = False
            if took_ms <= _FAST_MS:
                step = 1.0 if self.limit < self._calm_from else 1.0 / self.limit
                self.limit = min(MOST, self.limit + step)
            elif took_ms > _SLOW_MS and began > self._shrunk_at:
                self._shrink(0.7, now)
            return
        self.failing = True
        if outcome is Outcome.HTTP_ERROR and status in _HARMLESS_STATUSES and status != _TOO_MANY:
            return
        if began > self._shrunk_at:
            self._shrink(0.25 if outcome is Outcome.TIMEOUT else 0.5, now)

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


def share_out(due: Sequence[UUID], lanes: Mapping[UUID, Lane], bounds: Bounds) -> dict[UUID, int]:
    """How many deliveries to take for each subscription that has some due.

    Everyone gets one before anyone gets two, up to the width of their lane; so a backlog takes
    what the others leave, and nothing from them.
    """
    left = bounds.together - sum(lane.in_flight for lane in lanes.values())
    failing_left = bounds.failing - sum(one.in_flight for one in lanes.values() if one.failing)
    on_host: dict[str, int] = {}
    of_account: dict[UUID | None, int] = {}
    for lane in lanes.values():
        on_host[lane.host] = on_host.get(lane.host, 0) + lane.in_flight
        of_account[lane.account] = of_account.get(lane.account, 0) + lane.in_flight
    shares: dict[UUID, int] = {}
    due = sorted(due, key=lambda one: lanes[one].in_flight)  # who has least comes first
    wants = {one: lanes[one].free for one in due}
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
            room = min(step, left)
            if lane.host:
                room = min(room, bounds.host - on_host[lane.host])
            if lane.account:
                room = min(room, bounds.account - of_account[lane.account])
            if lane.failing:
                room = min(room, failing_left)
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
