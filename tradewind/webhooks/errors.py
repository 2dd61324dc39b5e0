"""The errors of subscriptions."""

from tradewind.errors import ApiError, Conflict, Invalid


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


class SigningSecretUnreadable(ApiError):
    """The signing secret of the subscription cannot be opened, so nothing was sent.

    This is a fault on our side, neither yours nor the endpoint's, and it is in the operator's log.
    Deliveries wait until the secret can be opened again, and use up no attempt. `rotate-secret`
    issues a new secret, with which they go on.
    """

    code = "signing_secret_unreadable"
    title = "The signing secret cannot be read"
    status = 500
    detail = (
        "The signing secret of this subscription cannot be read, so nothing was sent. This is "
        "an error on our side, and it was logged. A new secret (rotate-secret) works at once."
    )
