"""Pacing: all processes together stay within a marketplace's rate, changes first."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from time import perf_counter
from uuid import UUID

from tradewind.platforms.failures import BudgetUsedUp
from tradewind.platforms.paced_client import Pace
from tradewind.storage.pool import Database
from tradewind.web import limits
from tradewind.web.limits import Rate

_SECOND = 1_000_000


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
    that exceeds the budget fails immediately.
    """

    share: float
    reserve: float
    waits: bool = True


_LIMITS: Mapping[Purpose, _Limit] = {
    Purpose.CHANGE: _Limit(share=1, reserve=0),
    Purpose.SYNC: _Limit(share=1 / 2, reserve=1 / 8),
    Purpose.REFRESH: _Limit(share=1 / 2, reserve=1 / 4, waits=False),
    Purpose.BROWSE: _Limit(share=1 / 2, reserve=1 / 4),
}
# The share of the marketplace's rate that the refreshes of a single account may use.
_ACCOUNT_SHARE = 1 / 4


def paced(db: Database, platform: str, rate: Rate, purpose: Purpose) -> Pace:
    """Return a function that waits for the shared budget until the caller's deadline."""
    limit = _LIMITS[purpose]
    burst = max(1, rate.burst - int(rate.burst * limit.reserve))
    budgets = [(f"platform:{platform}", Rate(rate.per_minute, burst))]
    if limit.share < 1:
        budgets.insert(0, (f"platform:{platform}:{purpose}", _part(rate, limit.share)))

    async def wait(seconds: float) -> None:
        deadline = perf_counter() + (seconds if limit.waits else 0)
        for subject, budget_rate in budgets:
            await _take(db, platform, subject, budget_rate, deadline)

    return wait


async def may_refresh(db: Database, platform: str, rate: Rate, account_id: UUID) -> bool:
    """Whether an account may have another order refreshed now; if so, it is counted."""
    subject = f"platform:{platform}:{Purpose.REFRESH}:{account_id}"
    granted, _ = await limits.take(db, subject, _part(rate, _ACCOUNT_SHARE))
    return granted


async def _take(db: Database, platform: str, subject: str, rate: Rate, deadline: float) -> None:
    """Take one call from a budget; BudgetUsedUp if none is free before the deadline."""
    while True:
        granted, budget = await limits.take(db, subject, rate)
        if granted:
            return
        missing = budget.debt + rate.step - rate.burst * rate.step
        pause = max(missing / _SECOND, 0.001)
        if perf_counter() + pause > deadline:
            raise BudgetUsedUp(platform, retry_after=pause)
        await asyncio.sleep(pause)


def _part(rate: Rate, share: float) -> Rate:
    return Rate(max(1, int(rate.per_minute * share)), max(1, int(rate.burst * share)))
