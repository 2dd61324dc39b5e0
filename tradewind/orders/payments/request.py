"""Requests the payment of an order, and withdraws the request."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import ResourceNotFound
from tradewind.orders import advance
from tradewind.orders.commands import carry_out
from tradewind.orders.idempotency import CommandIdempotency
from tradewind.orders.model import Cause, Order
from tradewind.orders.payments import decide
from tradewind.orders.payments.model import PaymentRequest
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.person import Person
from tradewind.orders.sql import order_of_account
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def request_payment(
    db: Database,
    actor: Actor,
    by: Person,
    order_id: UUID,
    modes: PayModes,
    seen_fen: int | None,
    idempotency: CommandIdempotency[PaymentRequest],
    *,
    note: str | None = None,
) -> PaymentRequest:
    """Request what the order costs now; somebody else has to approve it."""

    def act(tx: Tx, order: Order) -> PaymentRequest:
        mode = modes.of(order.platform)
        step = decide.payment_requested(order, ids.new(), by, mode, seen_fen, order.now, note)
        order = advance.to(tx, order, step, Cause("payment_requested", by))
        return _record(tx, actor, "payment.requested", order)

    which = order_of_account(by.id, order_id)
    return await carry_out(db, which, ids.ORDER, idempotency, act)


async def withdraw_payment(
    db: Database,
    actor: Actor,
    by: Person,
    order_id: UUID,
    idempotency: CommandIdempotency[PaymentRequest],
) -> PaymentRequest:
    """Withdraw a request that nobody has approved or rejected yet."""

    def act(tx: Tx, order: Order) -> PaymentRequest:
        step = decide.payment_withdrawn(order, by, order.now)
        order = advance.to(tx, order, step, Cause("payment_withdrawn", by))
        return _record(tx, actor, "payment.withdrawn", order)

    which = order_of_account(by.id, order_id)
    return await carry_out(db, which, ids.ORDER, idempotency, act)


def _record(tx: Tx, actor: Actor, action: str, order: Order) -> PaymentRequest:
    request = order.payment
    if request is None:
        raise ResourceNotFound(ids.PAYMENT)
    record(
        tx,
        actor,
        action,
        account_id=order.account_id,
        subject=ids.PAYMENT.show(request.id),
        order=order.reference,
        amount_fen=request.amount_fen,
    )
    return request
