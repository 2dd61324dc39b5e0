"""The statements that read payment requests."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from tradewind.orders.model import Order
from tradewind.orders.payments.model import PaymentRequest
from tradewind.orders.payments.rows import COLUMNS as PAYMENT_COLUMNS
from tradewind.orders.payments.rows import read_payment
from tradewind.orders.rows import COLUMNS, read_order
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_NO_DEADLINE = datetime(9998, 1, 1, tzinfo=UTC)


class OrderPayment(NamedTuple):
    """A payment request, with the order that it is about."""

    request: PaymentRequest
    order: Order

    @property
    def queue_key(self) -> tuple[datetime, UUID]:
        """Its place in the queue for approval; an order without a deadline comes last."""
        return self.order.pay_before or _NO_DEADLINE, self.request.id


async def list_payments_of(
    db: Database, account_id: UUID, order_id: UUID, *, below: UUID | None, limit: int
) -> Sequence[PaymentRequest]:
    """List every request to pay an order, newest first."""
    records = await db.fetch(
        f"""
        SELECT {PAYMENT_COLUMNS}
          FROM payment_request AS pay
         WHERE account_id = $1
           AND purchase_order_id = $2
           AND ($3::uuid IS NULL OR id < $3)
         ORDER BY id DESC
         LIMIT $4
        """,  # noqa: S608 - the part is our own constant
        account_id,
        order_id,
        below,
        limit,
    )
    return [read_payment(record) for record in records]


_ANY_PAYMENT = "payment_request AS pay JOIN purchase_order AS o ON o.id = pay.purchase_order_id"


async def list_queue(
    db: Database, *, below: tuple[datetime, UUID] | None, limit: int
) -> Sequence[OrderPayment]:
    """List payments that wait for approval, those with the least time left first."""
    records = await db.fetch(
        f"""
        SELECT {COLUMNS}
          FROM {_ANY_PAYMENT}
         WHERE pay.status = 'pending_approval'
           AND ($1::timestamptz IS NULL
                OR (coalesce(o.pay_before, '9998-01-01Z'), pay.id) > ($1, $2::uuid))
         ORDER BY coalesce(o.pay_before, '9998-01-01Z'), pay.id
         LIMIT $3
        """,  # noqa: S608 - the parts are our own constants
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )
    return [OrderPayment(read_payment(record), read_order(record)) for record in records]


async def list_payments(
    db: Database,
    statuses: Sequence[str] | None,
    order_id: UUID | None = None,
    *,
    below: UUID | None,
    limit: int,
) -> Sequence[OrderPayment]:
    """List payments of all accounts, newest first."""
    records = await db.fetch(
        f"""
        SELECT {COLUMNS}
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
    return [OrderPayment(read_payment(record), read_order(record)) for record in records]


async def find_payment(db: Database | Tx, payment_id: UUID) -> OrderPayment | None:
    row = await db.fetchrow(
        f"""
        SELECT {COLUMNS}
          FROM {_ANY_PAYMENT}
         WHERE pay.id = $1
        """,  # noqa: S608 - the parts are our own constants
        payment_id,
    )
    return None if row is None else OrderPayment(read_payment(row), read_order(row))
