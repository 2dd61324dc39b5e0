"""The statements that read orders for people."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from uuid import UUID

import msgspec

from tradewind.orders import rows
from tradewind.orders.model import Cause, Order
from tradewind.orders.person import Person
from tradewind.orders.rows import COLUMNS
from tradewind.orders.sql import WITH_PAYMENT
from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class Filters:
    """Which orders to list; None: any."""

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


@dataclass(frozen=True, slots=True)
class OrderChange:
    """One entry of a timeline: each field that changed, as it was and as it became."""

    version: int
    at: datetime
    cause: Cause
    changes: Mapping[str, Mapping[str, object]]
    events: Sequence[UUID]


_MATCHES = """
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
    db: Database, filters: Filters, *, below: UUID | None, limit: int
) -> Sequence[Order]:
    """List orders, newest first, below the id that the last page ended with."""
    records = await db.fetch(
        f"""
        SELECT {COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE {_MATCHES}
           AND ($12::uuid IS NULL OR o.id < $12)
         ORDER BY o.id DESC
         LIMIT $13
        """,  # noqa: S608 - the parts are our own constants
        *astuple(filters),
        below,
        limit,
    )
    return [rows.read_order(record) for record in records]


async def list_by_change(
    db: Database, filters: Filters, *, below: tuple[datetime, UUID] | None, limit: int
) -> Sequence[Order]:
    """List orders, the last changed first."""
    records = await db.fetch(
        f"""
        SELECT {COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE {_MATCHES}
           AND ($12::timestamptz IS NULL OR (o.updated_at, o.id) < ($12, $13::uuid))
         ORDER BY o.updated_at DESC, o.id DESC
         LIMIT $14
        """,  # noqa: S608 - the parts are our own constants
        *astuple(filters),
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )
    return [rows.read_order(record) for record in records]


async def find_order(db: Database, account_id: UUID | None, order_id: UUID) -> Order | None:
    """Find an order of the account; with no account, of anybody."""
    row = await db.fetchrow(
        f"""
        SELECT {COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE ($1::uuid IS NULL OR o.account_id = $1) AND o.id = $2
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        order_id,
    )
    return None if row is None else rows.read_order(row)


async def find_many(db: Database, account_id: UUID, order_ids: Sequence[UUID]) -> Sequence[Order]:
    records = await db.fetch(
        f"""
        SELECT {COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE o.account_id = $1 AND o.id = ANY ($2::uuid[])
         ORDER BY o.id DESC
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        order_ids,
    )
    return [rows.read_order(record) for record in records]


async def known_times(
    db: Database, account_id: UUID, order_ids: Sequence[UUID]
) -> dict[UUID, datetime]:
    """Return when each of these orders changed last, as far as they exist."""
    records = await db.fetch(
        "SELECT id, updated_at FROM purchase_order WHERE account_id = $1 AND id = ANY ($2::uuid[])",
        account_id,
        order_ids,
    )
    return {record["id"]: record["updated_at"] for record in records}


async def list_changes(
    db: Database, account_id: UUID, order_id: UUID, *, below: int | None, limit: int
) -> Sequence[OrderChange]:
    """List what happened to an order, newest first."""
    records = await db.fetch(
        """
        SELECT version, at, cause, actor_id, actor, changes, events, agent
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
    return [
        OrderChange(
            version=record["version"],
            at=record["at"],
            cause=Cause(
                record["cause"],
                record["actor_id"]
                and Person(record["actor_id"], record["actor"], agent=record["agent"]),
            ),
            changes=msgspec.json.decode(record["changes"]),
            events=record["events"],
        )
        for record in records
    ]
