"""Claimed deliveries that wait for capacity; starts them in turn."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from tradewind.delivery.host_limits import HostLimits
from tradewind.delivery.lanes import EngineLimits, Lane, Usage
from tradewind.delivery.model import ClaimedDelivery

# More than there ever is.
MANY = 1_000_000_000


class ClaimBuffer:
    """Claimed deliveries by lane. Lanes take turns; a lane that was served goes to the end."""

    def __init__(self, lanes: Mapping[UUID, Lane]) -> None:
        self._lanes = lanes
        self._number = 0
        self._queues: dict[Lane, deque[ClaimedDelivery]] = {}
        # The lanes in their order, by host: of a host that is full, none has to be looked at.
        self._hosts: dict[str, dict[Lane, None]] = {}
        # The host under which a lane stands: its URL may change meanwhile.
        self._host_of: dict[Lane, str] = {}

    def __len__(self) -> int:
        return self._number

    @property
    def lanes(self) -> Collection[Lane]:
        """The lanes with something in the buffer."""
        return self._queues.keys()

    def add(self, deliveries: Iterable[ClaimedDelivery]) -> None:
        for delivery in deliveries:
            self._queue(delivery).append(delivery)

    def put_back(self, deliveries: Sequence[ClaimedDelivery]) -> None:
        """Let these wait again, in front of the others."""
        for delivery in reversed(deliveries):
            self._queue(delivery).appendleft(delivery)

    def take(
        self, limits: EngineLimits, in_flight: Usage, hosts: HostLimits, now: float
    ) -> tuple[list[ClaimedDelivery], float | None]:
        """Those that may begin now, beside what is `in_flight`: one of each lane, then another.

        Returns also when the first rest ends of a lane that only waits for that.
        """
        usage = Usage(
            in_flight.total, in_flight.failing, defaultdict(int), in_flight.accounts.copy()
        )
        shares: dict[Lane, int] = {}
        free = {
            host: min(limits.host, hosts.limit(host, now)) - in_flight.hosts[host] if host else MANY
            for host in self._hosts
        }
        # A lane that nobody competes with is served at once.
        step = MANY if len(self._queues) == 1 else 1
        rests_until: float | None = None
        groups: list[tuple[str, Iterable[Lane]]] = list(self._hosts.items())
        while groups and usage.total < limits.total:
            hungry: list[tuple[str, Iterable[Lane]]] = []
            for host, lanes in groups:
                again = []
                room = free[host]
                for lane in lanes:
                    if room <= 0:
                        break
                    if now < lane.rests_until:
                        rests_until = min(rests_until or MANY, lane.rests_until)
                        continue
                    share = shares.get(lane, 0)
                    left = min(int(lane.limit) - lane.in_flight, lane.waiting) - share
                    if left <= 0:
                        continue
                    number = usage.take(lane, min(step, left, room), limits)
                    if number:
                        room -= number
                        shares[lane] = share + number
                        if left > number:
                            again.append(lane)
                free[host] = room
                if again:
                    hungry.append((host, again))
            groups = hungry
        taken = [
            delivery for lane, number in shares.items() for delivery in self._pop(lane, number)
        ]
        return taken, rests_until

    def take_older(self, than: float) -> list[ClaimedDelivery]:
        """Those that were claimed before a moment."""
        late = [lane for lane, queue in self._queues.items() if queue[0].claimed_at < than]
        taken: list[ClaimedDelivery] = []
        for lane in late:
            number = sum(delivery.claimed_at < than for delivery in self._queues[lane])
            taken += self._pop(lane, number)
        return taken

    def _queue(self, delivery: ClaimedDelivery) -> deque[ClaimedDelivery]:
        lane = self._lanes[delivery.subscription_id]
        lane.waiting += 1
        self._number += 1
        queue = self._queues.get(lane)
        if queue is None:
            queue = self._queues[lane] = deque()
            self._host_of[lane] = lane.host
            self._hosts.setdefault(lane.host, {})[lane] = None
        return queue

    def _pop(self, lane: Lane, number: int) -> Sequence[ClaimedDelivery]:
        """Take deliveries out of a lane; if more wait, the lane goes behind the others."""
        queue = self._queues[lane]
        lane.waiting -= number
        self._number -= number
        taken = [queue.popleft() for _ in range(number)]
        host = self._host_of[lane]
        lanes = self._hosts[host]
        del lanes[lane]
        if queue:
            lanes[lane] = None
        else:
            del self._queues[lane], self._host_of[lane]
            if not lanes:
                del self._hosts[host]
        return taken
