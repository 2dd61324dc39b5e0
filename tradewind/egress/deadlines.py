"""One timer for the deadlines of all calls under way."""

import asyncio
from time import perf_counter
from typing import Protocol


class Timed(Protocol):
    """What has a deadline, by `perf_counter`."""

    deadline: float

    def time_out(self) -> None: ...


class Deadlines:
    """Calls `time_out` of what is still under way at its deadline.

    Most calls end long before, so a timer of its own for each would be set and cancelled in vain.
    """

    def __init__(self) -> None:
        self._under_way: set[Timed] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = float("inf")

    def add(self, timed: Timed) -> None:
        self._under_way.add(timed)
        if timed.deadline < self._timer_at:
            self._set_timer(timed.deadline)

    def remove(self, timed: Timed) -> None:
        self._under_way.discard(timed)

    def close(self) -> None:
        self._under_way.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        delay = max(0.0, at - perf_counter())
        self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer, self._timer_at = None, float("inf")
        now = perf_counter()
        for timed in [each for each in self._under_way if each.deadline <= now]:
            timed.time_out()
        if self._under_way:
            self._set_timer(min(each.deadline for each in self._under_way))
