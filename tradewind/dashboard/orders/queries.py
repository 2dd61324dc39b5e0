"""The queries of the order pages: orders by any ID, and the deliveries of their events."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from tradewind import ids
from tradewind.orders import sql_lists
from tradewind.orders.model import Order
from tradewind.orders.sql_lists import Filters
from tradewind.storage.pool import Database

_LONGEST_ID = 100


@dataclass(frozen=True, slots=True)
class EventDelivery:
    """The delivery of an event to a webhook.

    `state` is delivered, waiting, under_way, failed or cancelled; `at` is the time of the last
    attempt, or of the next one.
    """

    event_id: UUID
    webhook_id: UUID
    url: str
    state: str
    attempt: int
    at: datetime
    delivery_id: UUID | None = None
    error: str = ""


async def find_orders(db: Database, filters: Filters, text: str, *, limit: int) -> Sequence[Order]:
    """The orders with this ID, newest first: ours, the marketplace's, external, or tracking number.

    Only a parcel can hold several orders.
    """
    if not text or len(text) > _LONGEST_ID:
        return []
    order_id = ids.ORDER.read(text)
    if order_id is not None:
        order = await sql_lists.find_order(db, filters.account_id, order_id)
        return [order] if order else []
    orders: dict[UUID, Order] = {}
    for narrowed in (
        replace(filters, external_ids=[text]),
        replace(filters, order_ids=[text]),
        replace(filters, tracking_numbers=[text]),
    ):
        for order in await sql_lists.list_by_creation(db, narrowed, below=None, limit=limit):
            orders[order.id] = order
    return sorted(orders.values(), key=lambda order: order.id, reverse=True)[:limit]


async def event_types(
    db: Database, account_id: UUID, events: Sequence[UUID], *, since: datetime
) -> dict[UUID, str]:
    """The type of each event; events that are no longer stored are left out."""
    rows = await db.fetch(
        """
        SELECT id, type
          FROM event
         WHERE account_id = $1
           AND id = ANY ($2::uuid[])
           AND created_at >= $3::timestamptz
        """,
        account_id,
        events,
        since,
    )
    return {row["id"]: row["type"] for row in rows}


async def last_attempts(
    db: Database, account_id: UUID, events: Sequence[UUID], times: Sequence[datetime]
) -> Sequence[EventDelivery]:
    """The last attempt of each event at each webhook; the time of an event skips older days."""
    rows = await db.fetch(
        """
        SELECT event.id AS event_id, w.id AS webhook_id, w.url,
               CASE WHEN last.outcome IN ('delivered', 'cancelled') THEN last.outcome
                    ELSE 'failed' END AS state,
               last.attempt, last.started_at AS at, last.id AS delivery_id,
               CASE WHEN last.outcome = 'delivered' THEN ''
                    ELSE coalesce(last.error_message,
                                  'The endpoint responded with ' || last.status_code || '.', '')
                    END AS error
          FROM webhook_subscription AS w
         CROSS JOIN unnest($2::uuid[], $3::timestamptz[]) AS event (id, at)
         CROSS JOIN LATERAL (
               SELECT a.id, a.attempt, a.outcome, a.status_code, a.error_message, a.started_at
                 FROM delivery_attempt AS a
                WHERE a.subscription_id = w.id
                  AND a.event_id = event.id
                  AND a.started_at >= event.at - interval '1 minute'
                ORDER BY a.started_at DESC, a.id DESC
                LIMIT 1) AS last
         WHERE w.account_id = $1
        """,
        account_id,
        events,
        times,
    )
    return [EventDelivery(**row) for row in rows]


async def pending_deliveries(
    db: Database, account_id: UUID, events: Sequence[UUID]
) -> Sequence[EventDelivery]:
    """The deliveries of these events that have not ended."""
    rows = await db.fetch(
        """
        SELECT q.event_id, w.id AS webhook_id, w.url, q.attempt, q.due_at AS at,
               CASE WHEN q.under_way THEN 'under_way' ELSE 'waiting' END AS state
          FROM webhook_subscription AS w
          JOIN queued_delivery AS q ON q.subscription_id = w.id
         WHERE w.account_id = $1
           AND q.is_pending
           AND q.event_id = ANY ($2::uuid[])
        """,
        account_id,
        events,
    )
    return [EventDelivery(**row) for row in rows]
