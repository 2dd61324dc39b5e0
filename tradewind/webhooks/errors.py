"""What can be refused about subscriptions."""

from tradewind.errors import Conflict, Invalid


class WebhookUrlRejected(Invalid):
    """The URL may not be called.

    In production it begins with `https://`, has a port that is allowed, carries no credentials,
    and its name resolves to public addresses only. What it resolves to is not told.
    """

    code = "webhook_url_rejected"
    title = "The URL is rejected"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The URL is rejected: {why}",
            errors=[{"pointer": "/url", "code": "webhook_url_rejected", "message": why}],
        )


class SubscriptionLimitReached(Conflict):
    """The account has as many subscriptions as it may. Delete one first."""

    code = "subscription_limit_reached"
    title = "No more subscriptions"

    def __init__(self, most: int) -> None:
        super().__init__(f"An account has {most} subscriptions at the most.", limit=most)
