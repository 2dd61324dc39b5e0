"""Reads the delivery log and the queue of a subscription."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.delivery import sql_log
from tradewind.delivery.model import AttemptDetail, LoggedAttempt, PendingDelivery
from tradewind.delivery.sql_log import AttemptFilters
from tradewind.errors import ResourceNotFound
from tradewind.storage.pool import Database
from tradewind.webhooks.subscribe import get_subscription

# An attempt starts soon after its id is made; clocks differ a little.
_CLOCK_MARGIN = timedelta(hours=1)


async def list_attempts(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    filters: AttemptFilters,
    *,
    below: tuple[datetime, UUID] | None = None,
    limit: int,
) -> Sequence[LoggedAttempt]:
    """Attempts of a subscription, the latest first; `below` is where the page before ended."""
    await get_subscription(db, account_id, subscription_id)
    return await sql_log.list_attempts(
        db, account_id, subscription_id, filters, below=below, limit=limit
    )


async def list_pending(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    *,
    below: tuple[datetime, UUID] | None = None,
    limit: int,
) -> Sequence[PendingDelivery]:
    """Deliveries that are not over, by when they are due; `below`: where the last page ended."""
    await get_subscription(db, account_id, subscription_id)
    return await sql_log.list_pending(db, account_id, subscription_id, below=below, limit=limit)


async def get_attempt(
    db: Database, account_id: UUID, subscription_id: UUID, delivery_id: UUID
) -> AttemptDetail:
    """One attempt with what was sent and what came back, or ResourceNotFound."""
    await get_subscription(db, account_id, subscription_id)
    try:
        about = datetime.fromtimestamp((delivery_id.int >> 80) / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        raise ResourceNotFound(ids.DELIVERY) from None
    attempt = await sql_log.find_attempt(
        db, account_id, subscription_id, delivery_id, about=about, within=_CLOCK_MARGIN
    )
    if attempt is None:
        raise ResourceNotFound(ids.DELIVERY)
    return attempt
