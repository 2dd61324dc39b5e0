"""Explains why an event was, or was not, delivered to a subscription. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from tradewind import clock
from tradewind.delivery.model import CANCEL_MESSAGES
from tradewind.webhooks.model import Subscription

Verdict = Literal[
    "delivered", "waiting", "under_way", "failed", "cancelled", "created_later", "filtered",
    "inactive", "not_queued",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happened, in one word and one sentence."""

    verdict: Verdict
    sentence: str


def explain(
    subscription: Subscription,
    kind: str,
    created_at: datetime,
    queued: Any | None,
    attempts: Sequence[Any],
) -> Explanation:
    """The answer, from what is queued, what was tried, and what the subscription is like now.

    `queued` is the queue's row of the event, which may be one that will never be sent.
    """
    return (
        _from_attempts(attempts, final_only=False)
        or _from_queue(queued)
        or _from_attempts(attempts, final_only=True)
        or _from_subscription(subscription, kind, created_at)
    )


def _from_attempts(attempts: Sequence[Any], *, final_only: bool) -> Explanation | None:
    """What attempts tell: first of all whether one delivered, and last how it ended."""
    delivered = [one for one in attempts if one["outcome"] == "delivered"]
    if delivered:
        at = clock.show(delivered[-1]["started_at"])
        return Explanation("delivered", f"It was delivered at {at}.")
    if not final_only or not attempts:
        return None
    last = attempts[0]
    why = last["error_message"] or last["outcome"]
    if last["outcome"] == "cancelled":
        return Explanation("cancelled", f"It was cancelled: {why}")
    return Explanation("failed", f"Attempt {last['attempt']} was the last, and failed: {why}")


def _from_queue(queued: Any | None) -> Explanation | None:
    if queued is None:
        return None
    if queued["under_way"]:
        return Explanation("under_way", f"Attempt {queued['attempt']} is being made now.")
    if queued["cancel_reason"] is not None:
        why = CANCEL_MESSAGES[queued["cancel_reason"]]
        return Explanation("cancelled", f"It was cancelled: {why}")
    at = clock.show(queued["due_at"])
    return Explanation("waiting", f"It waits for attempt {queued['attempt']}, due at {at}.")


def _from_subscription(subscription: Subscription, kind: str, created_at: datetime) -> Explanation:
    """Why nothing was ever queued, as far as it can be told now."""
    if created_at < subscription.created_at:
        at = clock.show(subscription.created_at)
        return Explanation("created_later", f"The subscription was made later, at {at}.")
    if kind not in subscription.events:
        return Explanation("filtered", f"The subscription does not list {kind}.")
    if not subscription.is_active:
        return Explanation("inactive", "The subscription is switched off.")
    return Explanation(
        "not_queued",
        "It was not queued: the subscription was switched off, or did not list it, at the time.",
    )
