"""The statements that read orders and payments for people; nothing is changed here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg

from tradewind.orders import rows
from tradewind.orders.model import Order, PaymentRequest
from tradewind.orders.sql import COLUMNS, PAYMENT_COLUMNS, WITH_PAYMENT
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


@dataclass(frozen=True, slots=True)
class Filters:
    """Which orders to list; None where it does not matter."""

    account_id: UUID | None = None
    statuses: Sequence[str] | None = None
    payment_statuses: Sequence[str] | None = None
    platforms: Sequence[str] | None = None
    external_ids: Sequence[str] | None = None
    order_ids: Sequence[str] | None = None
    tracking_numbers: Sequence[str] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None


_WANTED = """
       ($1::uuid IS NULL OR o.account_id = $1)
   AND ($2::text[] IS NULL OR o.status = ANY ($2))
   AND ($3::text[] IS NULL OR o.payment_status = ANY ($3))
   AND ($4::text[] IS NULL OR o.platform = ANY ($4))
   AND ($5::text[] IS NULL OR o.external_id = ANY ($5))
   AND ($6::text[] IS NULL OR o.id = ANY (ARRAY(
           SELECT purchase_order_id FROM platform_order WHERE order_id = ANY ($6))))
   AND ($7::text[] IS NULL OR o.id = ANY (ARRAY(
           SELECT id FROM purchase_order WHERE tracking_numbers && $7)))
   AND ($8::timestamptz IS NULL OR o.created_at >= $8)
   AND ($9::timestamptz IS NULL OR o.created_at < $9)
   AND ($10::timestamptz IS NULL OR o.updated_at >= $10)
   AND ($11::timestamptz IS NULL OR o.updated_at < $11)
"""


async def list_by_creation(
    db: Database, wanted: Filters, *, below: UUID | None, limit: int
) -> Sequence[Order]:
    """Orders, the latest first, below the id that the last page ended with."""
    found = await db.fetch(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE {_WANTED}
           AND ($12::uuid IS NULL OR o.id < $12)
         ORDER BY o.id DESC
         LIMIT $13
        """,  # noqa: S608 - the parts are our own constants
        *_values(wanted),
        below,
        limit,
    )
    return [rows.order(row) for row in found]


async def list_by_change(
    db: Database, wanted: Filters, *, below: tuple[datetime, UUID] | None, limit: int
) -> Sequence[Order]:
    """Orders, those first that changed last."""
    found = await db.fetch(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE {_WANTED}
           AND ($12::timestamptz IS NULL OR (o.updated_at, o.id) < ($12, $13::uuid))
         ORDER BY o.updated_at DESC, o.id DESC
         LIMIT $14
        """,  # noqa: S608 - the parts are our own constants
        *_values(wanted),
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )
    return [rows.order(row) for row in found]


def _values(wanted: Filters) -> Sequence[object]:
    return (
        wanted.account_id,
        wanted.statuses,
        wanted.payment_statuses,
        wanted.platforms,
        wanted.external_ids,
        wanted.order_ids,
        wanted.tracking_numbers,
        wanted.created_after,
        wanted.created_before,
        wanted.updated_after,
        wanted.updated_before,
    )


async def find_order(db: Database, account_id: UUID | None, order_id: UUID) -> Order | None:
    """An order of the account; with no account, of anybody."""
    row = await db.fetchrow(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE ($1::uuid IS NULL OR o.account_id = $1) AND o.id = $2
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        order_id,
    )
    return None if row is None else rows.order(row)


async def find_many(db: Database, account_id: UUID, order_ids: Sequence[UUID]) -> Sequence[Order]:
    found = await db.fetch(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE o.account_id = $1 AND o.id = ANY ($2::uuid[])
         ORDER BY o.id DESC
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        order_ids,
    )
    return [rows.order(row) for row in found]


async def known_times(
    db: Database, account_id: UUID, order_ids: Sequence[UUID]
) -> dict[UUID, datetime]:
    """When those of these orders that exist changed last."""
    found = await db.fetch(
        "SELECT id, updated_at FROM purchase_order WHERE account_id = $1 AND id = ANY ($2::uuid[])",
        account_id,
        order_ids,
    )
    return {row["id"]: row["updated_at"] for row in found}


async def list_changes(
    db: Database, account_id: UUID, order_id: UUID, *, below: int | None, limit: int
) -> Sequence[asyncpg.Record]:
    """What happened to an order, the latest first."""
    return await db.fetch(
        """
        SELECT version, at, cause, actor_id, actor, changes, events
          FROM order_change
         WHERE account_id = $1
           AND purchase_order_id = $2
           AND ($3::bigint IS NULL OR version < $3)
         ORDER BY version DESC
         LIMIT $4
        """,
        account_id,
        order_id,
        below,
        limit,
    )


async def list_payments_of(
    db: Database, account_id: UUID, order_id: UUID, *, below: UUID | None, limit: int
) -> Sequence[PaymentRequest]:
    """Every request to pay an order, the latest first."""
    found = await db.fetch(
        """
        SELECT id, status, amount_fen, sums, mode, requested_by, requested_email, requested_at,
               decided_by, decided_email, decided_at, reason, pay_url, sent_at, failure
          FROM payment_request
         WHERE account_id = $1
           AND purchase_order_id = $2
           AND ($3::uuid IS NULL OR id < $3)
         ORDER BY id DESC
         LIMIT $4
        """,
        account_id,
        order_id,
        below,
        limit,
    )
    return [rows.payment(row) for row in found]


_ANY_PAYMENT = "payment_request AS pay JOIN purchase_order AS o ON o.id = pay.purchase_order_id"


async def list_queue(
    db: Database, *, after: tuple[datetime, UUID] | None, limit: int
) -> Sequence[tuple[PaymentRequest, Order]]:
    """Payments that wait for a decision, those first that have the least time left."""
    found = await db.fetch(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {_ANY_PAYMENT}
         WHERE pay.status = 'pending_approval'
           AND ($1::timestamptz IS NULL
                OR (coalesce(o.pay_before, '9998-01-01Z'), pay.id) > ($1, $2::uuid))
         ORDER BY coalesce(o.pay_before, '9998-01-01Z'), pay.id
         LIMIT $3
        """,  # noqa: S608 - the parts are our own constants
        None if after is None else after[0],
        None if after is None else after[1],
        limit,
    )
    return [(rows.payment(row, "pay_"), rows.order(row)) for row in found]


async def list_payments(
    db: Database,
    statuses: Sequence[str] | None,
    order_id: UUID | None = None,
    *,
    below: UUID | None,
    limit: int,
) -> Sequence[tuple[PaymentRequest, Order]]:
    """List payments of all accounts, the latest first."""
    found = await db.fetch(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {_ANY_PAYMENT}
         WHERE ($1::text[] IS NULL OR pay.status = ANY ($1))
           AND ($2::uuid IS NULL OR pay.purchase_order_id = $2)
           AND ($3::uuid IS NULL OR pay.id < $3)
         ORDER BY pay.id DESC
         LIMIT $4
        """,  # noqa: S608 - the parts are our own constants
        statuses,
        order_id,
        below,
        limit,
    )
    return [(rows.payment(row, "pay_"), rows.order(row)) for row in found]


async def find_payment(db: Database | Tx, payment_id: UUID) -> tuple[PaymentRequest, Order] | None:
    row = await db.fetchrow(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {_ANY_PAYMENT}
         WHERE pay.id = $1
        """,  # noqa: S608 - the parts are our own constants
        payment_id,
    )
    return None if row is None else (rows.payment(row, "pay_"), rows.order(row))
