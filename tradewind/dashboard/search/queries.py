"""The statements of the search box: the object that an ID belongs to.

Without an account they search in all accounts, for operators.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class NamedImport:
    """An import, by the name of its file."""

    id: UUID
    file_name: str
    status: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RecentOrder:
    """An order, and whether one of its texts contains what is searched for."""

    id: UUID
    matches: bool


async def recent_orders(
    db: Database, account_id: UUID | None, text: str, *, limit: int
) -> Sequence[RecentOrder]:
    """The latest orders, newest first, compared with a part of a text in any case.

    Compared are the IDs that others gave to them, and the titles and sellers of their goods.
    `strpos` finds the text itself, also if it contains wildcards of LIKE.
    """
    # Two statements, so that each has an index to read from the end.
    owner = "$1::uuid IS NULL" if account_id is None else "account_id = $1"
    rows = await db.fetch(
        f"""
        SELECT id,
               strpos(lower(concat_ws(E'\\n', external_id, array_to_string(order_ids, E'\\n'),
                                      array_to_string(tracking_numbers, E'\\n'),
                                      goods.texts)), $2) > 0
                   AS matches
          FROM (SELECT id, external_id, order_ids, tracking_numbers, items
                  FROM purchase_order
                 WHERE {owner}
                 ORDER BY id DESC
                 LIMIT $3) AS latest
         CROSS JOIN LATERAL (
               SELECT string_agg(concat_ws(E'\\n', item -> 'goods' ->> 'title',
                                           item -> 'goods' ->> 'title_translated',
                                           item -> 'goods' ->> 'seller_name'), E'\\n') AS texts
                 FROM json_array_elements(latest.items) AS item) AS goods
         ORDER BY id DESC
        """,  # noqa: S608 - the part is our own constant
        account_id,
        text.lower(),
        limit,
    )
    return [RecentOrder(**row) for row in rows]


async def imports_by_name(
    db: Database, account_id: UUID, text: str, *, limit: int
) -> Sequence[NamedImport]:
    """The imports of an account whose file name contains the text in any case, newest first."""
    rows = await db.fetch(
        """
        SELECT id, file_name, status, created_at
          FROM import
         WHERE account_id = $1 AND strpos(lower(file_name), $2) > 0
         ORDER BY id DESC
         LIMIT $3
        """,
        account_id,
        text.lower(),
        limit,
    )
    return [NamedImport(**row) for row in rows]


async def order_of_event(db: Database, account_id: UUID | None, event_id: UUID) -> UUID | None:
    order_id: UUID | None = await db.fetchval(
        """
        SELECT purchase_order_id
          FROM event
         WHERE ($1::uuid IS NULL OR account_id = $1) AND id = $2
         LIMIT 1
        """,
        account_id,
        event_id,
    )
    return order_id


async def payment_of_order(db: Database, order_id: UUID) -> UUID | None:
    """The latest payment request of an order of any account, for approvers."""
    payment_id: UUID | None = await db.fetchval(
        """
        SELECT id
          FROM payment_request
         WHERE purchase_order_id = $1
         ORDER BY id DESC
         LIMIT 1
        """,
        order_id,
    )
    return payment_id


async def order_of_refund(
    db: Database, account_id: UUID | None, refund_id: UUID, *, requested_at: datetime
) -> UUID | None:
    """The order of a refund; the order changed when the refund was requested, or later."""
    order_id: UUID | None = await db.fetchval(
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
        requested_at,
    )
    return order_id


async def webhook_of_delivery(
    db: Database, account_id: UUID, delivery_id: UUID, *, about: datetime, within: timedelta
) -> UUID | None:
    """The subscription of an attempt, whose id contains about when it was made."""
    subscription_id: UUID | None = await db.fetchval(
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
    return subscription_id


async def webhook_of_replay(db: Database, account_id: UUID | None, replay_id: UUID) -> UUID | None:
    subscription_id: UUID | None = await db.fetchval(
        """
        SELECT subscription_id
          FROM replay
         WHERE ($1::uuid IS NULL OR account_id = $1) AND id = $2
        """,
        account_id,
        replay_id,
    )
    return subscription_id
