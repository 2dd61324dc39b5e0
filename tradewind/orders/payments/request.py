"""Asks for an order to be paid, and takes it back."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import ResourceNotFound
from tradewind.orders import advance, decide, sql
from tradewind.orders.model import Cause, Order, Who
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.wire import PaymentOut
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web import idempotency
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.response import Response, location

_CREATED = 201


async def request_payment(
    db: Database,
    actor: Actor,
    by: Who,
    order_id: UUID,
    modes: PayModes,
    seen_fen: int | None,
    once: IdempotencyKey | None,
) -> Response:
    """A request for what the order costs now, to be decided by somebody else."""
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        order = await _mine(tx, by, order_id)
        step = decide.payment_requested(
            order, ids.new(), by, modes.of(order.platform), seen_fen, order.now
        )
        after = await advance.to(tx, order, step, Cause("payment_requested", by))
        return await _told(tx, actor, "payment.requested", after, _CREATED, once)


async def withdraw_payment(
    db: Database, actor: Actor, by: Who, order_id: UUID, once: IdempotencyKey | None
) -> Response:
    """Take a request back while nobody has decided about it."""
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        order = await _mine(tx, by, order_id)
        step = decide.payment_withdrawn(order, by, order.now)
        after = await advance.to(tx, order, step, Cause("payment_withdrawn", by))
        return await _told(tx, actor, "payment.withdrawn", after, 200, once)


async def _mine(tx: Tx, by: Who, order_id: UUID) -> Order:
    order = await sql.lock_order(tx, by.id, order_id)
    if order is None:
        raise ResourceNotFound(ids.ORDER)
    return order


async def _told(
    tx: Tx, actor: Actor, action: str, order: Order, status: int, once: IdempotencyKey | None
) -> Response:
    request = order.payment
    if request is None:
        raise ResourceNotFound(ids.PAYMENT)
    await record(
        tx,
        actor,
        action,
        account_id=order.account_id,
        subject=ids.PAYMENT.show(request.id),
        order=order.reference,
        amount_fen=request.amount_fen,
    )
    where = [location("orders", order.reference, "payments")] if status == _CREATED else []
    return await idempotency.keep(tx, once, Response(PaymentOut.of(request), status, where))
