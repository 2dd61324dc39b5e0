"""Resends the event of one attempt: the same bytes, as a delivery of its own."""

from uuid import UUID

from tradewind import ids
from tradewind.delivery import log, sql_replays
from tradewind.delivery.errors import NotActive
from tradewind.delivery.model import PendingDelivery
from tradewind.errors import ResourceNotFound
from tradewind.events.journal import DELIVERIES
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.webhooks.subscribe import get_subscription


async def resend(
    db: Database, account_id: UUID, subscription_id: UUID, delivery_id: UUID
) -> PendingDelivery:
    """Queue the event of an attempt once more. A test has no event, so it cannot be resent."""
    attempt = await log.get_attempt(db, account_id, subscription_id, delivery_id)
    subscription = await get_subscription(db, account_id, subscription_id)
    if not subscription.is_active:
        raise NotActive
    async with transaction(db) as tx:
        queued = await sql_replays.queue_event(tx, account_id, subscription_id, attempt.event_id)
        if queued is None:
            raise ResourceNotFound(ids.EVENT)
        tx.wake(DELIVERIES)
    return queued
