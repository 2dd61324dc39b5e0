"""Explains why an event was, or was not, delivered to subscriptions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from tradewind import clock, ids
from tradewind.delivery import sql_log
from tradewind.delivery.model import CANCEL_MESSAGES, Cancelled, LoggedAttempt, QueuedDelivery
from tradewind.egress.result import Outcome
from tradewind.errors import ResourceNotFound
from tradewind.events.catalogue import order_of
from tradewind.storage.pool import Database
from tradewind.webhooks.model import Subscription

Verdict = Literal[
    "delivered", "waiting", "under_way", "failed", "cancelled", "created_later", "filtered",
    "inactive", "not_queued",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happened, in one word and one sentence, and the attempts that were made."""

    verdict: Verdict
    sentence: str
    attempts: Sequence[LoggedAttempt] = ()


async def explain_event(
    db: Database, account_id: UUID, subscriptions: Sequence[Subscription], event_id: UUID | None
) -> Sequence[Explanation]:
    """Explain what became of an event at each of these subscriptions of the account.

    It takes three statements, however many subscriptions there are. ResourceNotFound if the account
    has no such event.
    """
    event = None if event_id is None else await sql_log.find_event(db, account_id, event_id)
    if event_id is None or event is None:
        raise ResourceNotFound(ids.EVENT)
    event_type, created_at, body = event
    subscription_ids = [subscription.id for subscription in subscriptions]
    rows = await sql_log.list_queued_of_event(db, account_id, subscription_ids, event_id)
    queued = {row.subscription_id: row for row in rows}
    attempts: defaultdict[UUID, list[LoggedAttempt]] = defaultdict(list)
    for attempt in await sql_log.list_attempts_of_event(db, account_id, subscription_ids, event_id):
        attempts[attempt.subscription_id].append(attempt)
    return [
        explain(
            subscription,
            event_type,
            created_at,
            body,
            queued.get(subscription.id),
            attempts[subscription.id],
        )
        for subscription in subscriptions
    ]


def explain(
    subscription: Subscription,
    event_type: str,
    created_at: datetime,
    body: bytes,
    queued: QueuedDelivery | None,
    attempts: Sequence[LoggedAttempt],
) -> Explanation:
    """Explain from what is queued, what was tried, and what the subscription is now.

    `queued` may be a row that will never be sent. `attempts` come latest first.
    """
    verdict, sentence = (
        _success(attempts)
        or _from_queue(queued)
        or _last_failure(attempts)
        or _from_subscription(subscription, event_type, created_at, body)
    )
    return Explanation(verdict, sentence, attempts)


def _success(attempts: Sequence[LoggedAttempt]) -> tuple[Verdict, str] | None:
    delivered = [attempt for attempt in attempts if attempt.outcome is Outcome.DELIVERED]
    if not delivered:
        return None
    return "delivered", f"It was delivered at {clock.show(delivered[-1].started_at)}."


def _last_failure(attempts: Sequence[LoggedAttempt]) -> tuple[Verdict, str] | None:
    if not attempts:
        return None
    last = attempts[0]
    why = last.error_message or last.outcome
    if last.outcome is Outcome.CANCELLED:
        return "cancelled", f"It was cancelled: {why}"
    return "failed", f"Attempt {last.attempt} was the last, and failed: {why}"


def _from_queue(queued: QueuedDelivery | None) -> tuple[Verdict, str] | None:
    if queued is None:
        return None
    if queued.under_way:
        return "under_way", f"Attempt {queued.attempt} is being made now."
    if queued.cancel_reason is not None:
        return "cancelled", f"It was cancelled: {CANCEL_MESSAGES[Cancelled(queued.cancel_reason)]}"
    due_at = clock.show(queued.due_at)
    return "waiting", f"It waits for attempt {queued.attempt}, due at {due_at}."


def _from_subscription(
    subscription: Subscription, event_type: str, created_at: datetime, body: bytes
) -> tuple[Verdict, str]:
    """Why nothing was ever queued, as far as it can be told now."""
    if created_at < subscription.created_at:
        shown = clock.show(subscription.created_at)
        return "created_later", f"The subscription was created later, at {shown}."
    if event_type not in subscription.events:
        return "filtered", f"The subscription does not list {event_type}."
    if subscription.filter is not None:
        order = order_of(body)
        reason = subscription.filter.reason_against(order.platform, order.status)
        if reason is not None:
            return "filtered", f"The subscription's filter leaves it out: {reason}."
    if not subscription.is_active:
        return "inactive", "The subscription is switched off."
    return (
        "not_queued",
        "It was not queued: the subscription was off, did not list it, or filtered it out then.",
    )
