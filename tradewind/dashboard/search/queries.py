"""The statements of the search box: what an id belongs to, with the account in hand.

An account of None is an operator's look at all of them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def order_of_event(db: Database, account_id: UUID | None, event_id: UUID) -> UUID | None:
    found: UUID | None = await db.fetchval(
        """
        SELECT purchase_order_id
          FROM event
         WHERE ($1::uuid IS NULL OR account_id = $1) AND id = $2
         LIMIT 1
        """,
        account_id,
        event_id,
    )
    return found


async def order_of_payment(db: Database, account_id: UUID, payment_id: UUID) -> UUID | None:
    found: UUID | None = await db.fetchval(
        "SELECT purchase_order_id FROM payment_request WHERE account_id = $1 AND id = $2",
        account_id,
        payment_id,
    )
    return found


async def payment_of_order(db: Database, order_id: UUID) -> UUID | None:
    """The latest request to pay an order, of any account: for who decides about it."""
    found: UUID | None = await db.fetchval(
        """
        SELECT id
          FROM payment_request
         WHERE purchase_order_id = $1
         ORDER BY id DESC
         LIMIT 1
        """,
        order_id,
    )
    return found


async def order_of_refund(
    db: Database, account_id: UUID | None, refund_id: UUID, *, asked_at: datetime
) -> UUID | None:
    """The order that has a refund. It has changed since that was asked for, at the least then."""
    found: UUID | None = await db.fetchval(
        """
        SELECT id
          FROM purchase_order
         WHERE ($1::uuid IS NULL OR account_id = $1)
           AND updated_at >= $3
           AND EXISTS (SELECT 1 FROM json_array_elements(refunds) AS refund
                        WHERE refund ->> 'id' = $2)
         LIMIT 1
        """,
        account_id,
        str(refund_id),
        asked_at,
    )
    return found


async def webhook_of_delivery(
    db: Database, account_id: UUID, delivery_id: UUID, *, about: datetime, within: timedelta
) -> UUID | None:
    """The subscription that an attempt was made for; its id tells about when that was."""
    found: UUID | None = await db.fetchval(
        """
        SELECT s.id
          FROM webhook_subscription AS s
          JOIN delivery_attempt AS a ON a.subscription_id = s.id AND a.account_id = s.account_id
         WHERE s.account_id = $1
           AND a.id = $2
           AND a.started_at >= $3::timestamptz - $4::interval
           AND a.started_at <= $3::timestamptz + $4::interval
         LIMIT 1
        """,
        account_id,
        delivery_id,
        about,
        within,
    )
    return found


async def webhook_of_job(db: Database, account_id: UUID | None, job_id: UUID) -> UUID | None:
    found: UUID | None = await db.fetchval(
        """
        SELECT subscription_id
          FROM replay
         WHERE ($1::uuid IS NULL OR account_id = $1) AND id = $2
        """,
        account_id,
        job_id,
    )
    return found


async def orders_named(
    db: Database, account_id: UUID | None, text: str, *, limit: int
) -> Sequence[asyncpg.Record]:
    """Orders by what others call them: the platform's id, one's own id, a tracking number."""
    return await db.fetch(
        """
        SELECT o.id, o.account_id, o.platform, o.status, o.external_id, o.order_ids,
               o.total_fen, o.created_at, a.email
          FROM purchase_order AS o
          JOIN account AS a ON a.id = o.account_id
         WHERE o.id IN (
                   SELECT p.purchase_order_id FROM platform_order AS p WHERE p.order_id = $2
                   UNION
                   SELECT t.id FROM purchase_order AS t WHERE t.tracking_numbers && ARRAY[$2]
                   UNION
                   SELECT e.id FROM purchase_order AS e
                    WHERE e.external_id = $2 AND ($1::uuid IS NULL OR e.account_id = $1))
           AND ($1::uuid IS NULL OR o.account_id = $1)
         ORDER BY o.id DESC
         LIMIT $3
        """,
        account_id,
        text,
        limit,
    )
