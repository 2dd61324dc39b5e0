"""Ids that never repeat, not even after a reset or a restart."""

import time
from collections.abc import Callable

_PER_MILLISECOND = 1_000_000
_STRIDE = 977  # odd, so that neighbours differ in more than their last digit


def _milliseconds() -> int:
    return time.time_ns() // _PER_MILLISECOND


class Ids:
    """Numbers of 19 digits, above 2^53: read as a JavaScript number, they come out wrong."""

    def __init__(self, last: int = 0, clock: Callable[[], int] = _milliseconds) -> None:
        self.last = last
        self._clock = clock

    def next(self) -> int:
        """Above every id issued before, and above every id that an earlier run could issue.

        An id carries the real time at which it was issued, so a run that remembers nothing
        still begins above the runs before it.
        """
        self.last = max(self.last + _STRIDE, self._clock() * _PER_MILLISECOND + 1)
        return self.last
