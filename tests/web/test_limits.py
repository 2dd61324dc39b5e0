"""Rate limits as numbers: the rate of a plan, and what the headers show."""

import pytest

from tradewind.web.limits import Budget, Rate, RateLimited, plan_rate

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("per_minute", "burst", "step"),
    [
        (1, 20, 60 * SECOND),
        (120, 20, SECOND // 2),
        (200, 20, 300_000),
        (210, 21, 285_714),
        (1_200, 120, 50_000),
        (12_000, 1_200, 5_000),
        (6_000_000, 600_000, 10),
    ],
)
def test_a_plan_has_a_burst_of_a_tenth_of_its_minute_and_at_least_20(
    per_minute: int, burst: int, step: int
) -> None:
    rate = plan_rate(per_minute)

    assert rate == Rate(per_minute, burst)
    assert rate.step == step


@pytest.mark.parametrize(
    ("debt", "remaining", "reset", "retry"),
    [
        (0, 20, 0, 1),
        (1, 19, 1, 1),  # a part of a request is none
        (SECOND // 2, 19, 1, 1),
        (SECOND, 18, 1, 1),
        (SECOND + 1, 17, 2, 1),
        (9_500_000, 1, 10, 1),
        (9_500_001, 0, 10, 1),
        (10 * SECOND, 0, 10, 1),
        (30 * SECOND, 0, 30, 21),  # a smaller plan than the debt was made on
    ],
)
def test_a_budget_tells_what_is_left_and_when_all_is_back(
    debt: int, remaining: int, reset: int, retry: int
) -> None:
    budget = Budget(plan_rate(120), debt)

    assert (budget.remaining, budget.reset_seconds, budget.retry_seconds) == (
        remaining,
        reset,
        retry,
    )
    assert budget.headers() == [
        (b"ratelimit-policy", b'"default";q=120;w=60'),
        (b"ratelimit", b'"default";r=%d;t=%d' % (remaining, reset)),
    ]


def test_who_waits_as_long_as_told_has_a_request_to_spend() -> None:
    for rate in (plan_rate(1), plan_rate(120), plan_rate(7), Rate(30, 30)):
        for debt in range(0, 3 * rate.burst * rate.step, rate.step // 3 + 1):
            waited = max(0, debt - Budget(rate, debt).retry_seconds * SECOND)
            assert Budget(rate, waited).remaining >= 1


def test_a_rejection_says_what_to_do_and_how_long_to_wait() -> None:
    error = RateLimited(Budget(plan_rate(1), 20 * 60 * SECOND))

    assert error.detail == "Your plan allows 1 requests a minute: slow down, or upgrade it."
    assert error.facts == {"retry_after": 60}
