"""Rate limits: budgets that all processes share, and the headers that show them."""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from tradewind.errors import TooMany
from tradewind.storage.pool import Database
from tradewind.web import sql

_SECOND = 1_000_000
_MINUTE = 60 * _SECOND


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests a minute, and how many of them at once (GCRA; times in microseconds)."""

    per_minute: int
    burst: int

    @property
    def step(self) -> int:
        """The time in which one more request is earned."""
        return _MINUTE // self.per_minute


def plan_rate(per_minute: int) -> Rate:
    """A plan's rate: a burst of a tenth of its minute, and at least 20."""
    return Rate(per_minute, max(20, per_minute // 10))


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left of a rate after a request: `debt` is the time until all of it is restored."""

    rate: Rate
    debt: int

    @property
    def remaining(self) -> int:
        return max(0, (self.rate.burst * self.rate.step - self.debt) // self.rate.step)

    @property
    def reset_seconds(self) -> int:
        return ceil(self.debt / _SECOND)

    @property
    def retry_seconds(self) -> int:
        """How long until one request fits again."""
        missing = self.debt + self.rate.step - self.rate.burst * self.rate.step
        return max(1, ceil(missing / _SECOND))

    def headers(self) -> list[tuple[bytes, bytes]]:
        return [
            (b"ratelimit-policy", b'"default";q=%d;w=60' % self.rate.per_minute),
            (b"ratelimit", b'"default";r=%d;t=%d' % (self.remaining, self.reset_seconds)),
        ]


class CarriesBudget:
    """An error that names a known account, whose budget the response shows."""

    budget: Budget | None = None


class RateLimited(CarriesBudget, TooMany):
    """Your account, or for logins your address, sent more requests than its limit allows.

    Wait for the seconds in `Retry-After`, then slow down: the `RateLimit` header of every response
    says what is left. An account that needs more can get a larger plan.
    """

    code = "rate_limited"
    title = "Too many requests"

    def __init__(self, budget: Budget, detail: str | None = None) -> None:
        per_minute = budget.rate.per_minute
        super().__init__(
            detail or f"Your plan allows {per_minute} requests a minute: slow down, or upgrade it.",
            retry_after=budget.retry_seconds,
        )
        self.budget = budget


async def take_once(db: Database, subject: str, *, within: timedelta) -> bool:
    """Whether this is the first call for `subject` within this time, in any process."""
    step = int(within.total_seconds() * _SECOND)
    granted, _ = await sql.take(db, subject, step=step, burst=1)
    return granted > 0


async def take(db: Database, subject: str, rate: Rate) -> tuple[bool, Budget]:
    """Take one request from the budget of `subject`; whether it fits, and what is left."""
    granted, budget = await take_several(db, subject, rate, 1)
    return granted > 0, budget


async def take_several(db: Database, subject: str, rate: Rate, number: int) -> tuple[int, Budget]:
    """Take up to `number` requests from the budget of `subject`; how many fit, and what is left."""
    granted, debt = await sql.take(db, subject, step=rate.step, burst=rate.burst, number=number)
    return granted, Budget(rate, debt)
