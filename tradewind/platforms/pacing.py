"""Pacing: all processes together call a marketplace no faster than it bears."""

import asyncio
from time import perf_counter

from tradewind.platforms.failures import TryLater
from tradewind.platforms.link import Pace
from tradewind.storage.pool import Database
from tradewind.web import limits
from tradewind.web.limits import Rate

_SECOND = 1_000_000


def paced(db: Database, platform: str, rate: Rate) -> Pace:
    """Wait for a place in the budget that all processes share, as long as the caller has time."""

    async def wait(seconds: float) -> None:
        deadline = perf_counter() + seconds
        while True:
            granted, budget = await limits.take(db, f"platform:{platform}", rate)
            if granted:
                return
            missing = budget.debt + rate.step - rate.burst * rate.step
            pause = max(missing / _SECOND, 0.001)
            if perf_counter() + pause > deadline:
                raise TryLater(
                    platform, "paced", "Our budget for calls is used up.", retry_after=pause
                )
            await asyncio.sleep(pause)

    return wait
