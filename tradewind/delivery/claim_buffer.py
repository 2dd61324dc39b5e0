"""What a worker has claimed and not begun to send; each subscription's waits for its turn."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import msgspec

from tradewind.delivery.host_limits import Hosts
from tradewind.delivery.lanes import Bounds, Lane, share_out
from tradewind.delivery.model import Claim


class Held(msgspec.Struct, frozen=True, gc=False):
    """A claim that waits for its turn, and since when it is ours."""

    claim: Claim
    since: float


class Hand:
    """Claims that wait for room in their lanes."""

    def __init__(self, lanes: Mapping[UUID, Lane]) -> None:
        self._lanes = lanes
        self._waiting: dict[Lane, deque[Held]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def lanes(self) -> Collection[Lane]:
        """The lanes that something waits for."""
        return self._waiting.keys()

    def add(self, claims: Iterable[Claim], since: float) -> None:
        for claim in claims:
            lane = self._lanes[claim.subscription_id]
            self._queue(lane).append(Held(claim, since))
            lane.held += 1

    def rests(self, now: float) -> bool:
        """Whether something waits only for the end of its lane's rest."""
        return any(lane.rests(now) for lane in self._waiting)

    def take(self, bounds: Bounds, busy: Iterable[Lane], hosts: Hosts, now: float) -> list[Held]:
        """Those whose turn has come, beside what is under way in the `busy` lanes."""
        shares = share_out(
            self._waiting,
            lambda lane: lane.turns(now),
            busy,
            bounds,
            host_width=lambda host: hosts.width(host, now),
        )
        return [held for lane, share in shares.items() for held in self._let_go(lane, share)]

    def put_back(self, held: Sequence[Held]) -> None:
        """Let these wait again, in front of the others."""
        for one in reversed(held):
            lane = self._lanes[one.claim.subscription_id]
            self._queue(lane).appendleft(one)
            lane.held += 1

    def take_older(self, than: float) -> list[Claim]:
        """Those that have waited since before a moment."""
        late = [lane for lane, queue in self._waiting.items() if queue[0].since < than]
        taken = []
        for lane in late:
            number = sum(one.since < than for one in self._waiting[lane])
            taken += [held.claim for held in self._let_go(lane, number)]
        return taken

    def _queue(self, lane: Lane) -> deque[Held]:
        if lane not in self._waiting:
            self._waiting[lane] = deque()
        return self._waiting[lane]

    def _let_go(self, lane: Lane, number: int) -> Sequence[Held]:
        """Take so many out of a queue; if more wait, they do so behind the other lanes."""
        queue = self._waiting.pop(lane)
        lane.held -= number
        taken = [queue.popleft() for _ in range(number)]
        if queue:
            self._waiting[lane] = queue
        return taken
