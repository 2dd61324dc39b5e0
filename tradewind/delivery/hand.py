"""What a worker has claimed and not begun to send; each subscription's waits for its turn."""

from collections import deque
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

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
        self._waiting: dict[UUID, deque[Held]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def lanes(self) -> Mapping[UUID, Lane]:
        """The lanes that something waits for."""
        return {one: self._lanes[one] for one in self._waiting}

    def add(self, claims: Sequence[Claim], since: float) -> None:
        for claim in claims:
            one = claim.subscription_id
            if one not in self._waiting:
                self._waiting[one] = deque()
            self._waiting[one].append(Held(claim, since))
            self._lanes[one].held += 1

    def rests(self, now: float) -> bool:
        """Whether something waits only for the end of its lane's rest."""
        return any(self._lanes[one].rests(now) for one in self._waiting)

    def take(self, bounds: Bounds, busy: Mapping[UUID, Lane], now: float) -> list[Held]:
        """Those whose turn has come, beside what is under way in the `busy` lanes."""
        lanes = {**busy, **self.lanes}
        wants = {
            one: min(len(queue), lanes[one].free)
            for one, queue in self._waiting.items()
            if not lanes[one].rests(now)
        }
        taken = []
        for one, share in share_out(wants, lanes, bounds).items():
            queue = self._waiting[one]
            taken += [queue.popleft() for _ in range(share)]
            self._let_go(one, share)
        return taken

    def put_back(self, held: Sequence[Held]) -> None:
        """Let these wait again, in front of the others."""
        for one in reversed(held):
            self._waiting.setdefault(one.claim.subscription_id, deque()).appendleft(one)
            self._lanes[one.claim.subscription_id].held += 1

    def take_older(self, than: float) -> list[Claim]:
        """Those that have waited since before a moment."""
        taken = []
        for one, queue in list(self._waiting.items()):
            old = 0
            while queue and queue[0].since < than:
                taken.append(queue.popleft().claim)
                old += 1
            self._let_go(one, old)
        return taken

    def _let_go(self, one: UUID, number: int) -> None:
        self._lanes[one].held -= number
        if not self._waiting[one]:
            del self._waiting[one]
