"""The errors of deliveries: what a subscription cannot do now, and how often it can be tested."""

from tradewind.errors import Conflict, TooMany
from tradewind.web.limits import Budget


class NotActive(Conflict):
    """The subscription is switched off. Switch it on first."""

    code = "subscription_inactive"
    title = "The subscription is switched off"
    detail = "The subscription is switched off; switch it on first."


class ReplayRunning(Conflict):
    """A replay of this subscription is running. Wait for its end, or cancel it first."""

    code = "recovery_running"
    title = "A replay is running"
    detail = "A replay of this subscription is running; cancel it first."


class TestDeliveriesLimited(TooMany):
    """A subscription can be sent 10 test deliveries a minute, on every plan.

    Wait for the seconds in `Retry-After`. Other subscriptions have limits of their own, and other
    requests of your account are not affected.
    """

    code = "test_deliveries_limited"
    title = "Too many test deliveries"

    def __init__(self, budget: Budget) -> None:
        seconds = budget.retry_seconds
        super().__init__(
            f"Test deliveries are limited to {budget.rate.per_minute} a minute per subscription. "
            f"The next one is possible in {seconds} seconds.",
            retry_after=seconds,
        )
