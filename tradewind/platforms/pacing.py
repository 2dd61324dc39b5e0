"""Pacing: all processes together stay within a marketplace's rate, changes first."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from time import perf_counter
from uuid import UUID

from tradewind.platforms.failures import BudgetUsedUp
from tradewind.platforms.paced_client import Pace
from tradewind.storage.pool import Database
from tradewind.web import limits
from tradewind.web.limits import Budget, Rate

_SECOND = 1_000_000
# A change is several calls: an order is previewed, created and read. If at least half of the burst
# was free within the last second, calls of the next second are taken from the budget together: this
# share of the burst, of what is free above its half. Those that are not made are lost.
_TOGETHER_SHARE = 1 / 16
_FEWEST_TOGETHER = 4
_MOST_TOGETHER = 100
_TOGETHER_SECONDS = 1.0


class Purpose(StrEnum):
    """The purpose of a call, which decides how much of the marketplace's budget it may use."""

    CHANGE = "change"
    SYNC = "sync"
    REFRESH = "refresh"
    BROWSE = "browse"


@dataclass(frozen=True, slots=True)
class _Limit:
    """How much of a marketplace's budget one purpose may use.

    It may use `share` of the rate, and leaves `reserve` of the burst to purposes with a smaller
    reserve: while it is at its limit, their calls still start immediately. Without `waits`, a call
    that exceeds the budget fails immediately. With `together`, one statement takes several calls.
    """

    share: float
    reserve: float
    waits: bool = True
    together: bool = False


_LIMITS: Mapping[Purpose, _Limit] = {
    Purpose.CHANGE: _Limit(share=1, reserve=0, together=True),
    Purpose.SYNC: _Limit(share=1 / 2, reserve=1 / 8),
    Purpose.REFRESH: _Limit(share=1 / 2, reserve=1 / 4, waits=False),
    Purpose.BROWSE: _Limit(share=1 / 2, reserve=1 / 4),
}
# The share of the marketplace's rate that the refreshes of a single account may use.
_ACCOUNT_SHARE = 1 / 4


class _Taken:
    """Calls that were taken from the budget and not made yet."""

    def __init__(self, together: int) -> None:
        self._together = together
        self._next = 1
        self._is_half_free = False
        self._is_asking = False
        self._calls = 0
        self._until = 0.0

    def use_one(self) -> bool:
        """Use one of the calls; False: there is none."""
        if perf_counter() > self._until:
            self._calls = 0
            self._is_half_free = False
        if self._calls == 0:
            return False
        self._calls -= 1
        return True

    @contextmanager
    def asking(self) -> Iterator[int]:
        """How many calls to ask for: several, unless somebody else is asking for several now."""
        if not self._is_half_free or self._is_asking:
            yield 1
            return
        self._is_asking = True
        try:
            yield self._next
        finally:
            self._is_asking = False

    def add(self, calls: int, budget: Budget) -> None:
        spare = budget.remaining - budget.rate.burst // 2
        self._is_half_free = spare >= 0
        self._next = max(1, min(self._together, spare))
        self._calls += calls
        self._until = perf_counter() + _TOGETHER_SECONDS


def paced(db: Database, platform: str, rate: Rate, purpose: Purpose) -> Pace:
    """Return a function that waits for the shared budget until the caller's deadline."""
    limit = _LIMITS[purpose]
    burst = max(1, rate.burst - int(rate.burst * limit.reserve))
    budgets = [(f"platform:{platform}", Rate(rate.per_minute, burst))]
    if limit.share < 1:
        budgets.insert(0, (f"platform:{platform}:{purpose}", _part(rate, limit.share)))
    taken = _Taken(_together(rate) if limit.together else 1)

    async def wait(seconds: float) -> None:
        deadline = perf_counter() + (seconds if limit.waits else 0)
        for subject, budget_rate in budgets:
            await _take(db, platform, subject, budget_rate, taken, deadline)

    return wait


async def may_refresh(db: Database, platform: str, rate: Rate, account_id: UUID) -> bool:
    """Whether an account may have another order refreshed now; if so, it is counted."""
    subject = f"platform:{platform}:{Purpose.REFRESH}:{account_id}"
    granted, _ = await limits.take(db, subject, _part(rate, _ACCOUNT_SHARE))
    return granted


async def _take(
    db: Database, platform: str, subject: str, rate: Rate, taken: _Taken, deadline: float
) -> None:
    """Use a call that was taken, or take one; BudgetUsedUp if none is free before the deadline."""
    while not taken.use_one():
        with taken.asking() as number:
            granted, budget = await limits.take_several(db, subject, rate, number)
        if granted:
            taken.add(granted - 1, budget)
            return
        missing = budget.debt + rate.step - rate.burst * rate.step
        pause = max(missing / _SECOND, 0.001)
        if perf_counter() + pause > deadline:
            raise BudgetUsedUp(platform, retry_after=pause)
        await asyncio.sleep(pause)


def _together(rate: Rate) -> int:
    """How many calls one statement takes."""
    return min(max(_FEWEST_TOGETHER, int(rate.burst * _TOGETHER_SHARE)), _MOST_TOGETHER)


def _part(rate: Rate, share: float) -> Rate:
    return Rate(max(1, int(rate.per_minute * share)), max(1, int(rate.burst * share)))
