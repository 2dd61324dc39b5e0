"""Requests the payment of an order, and withdraws the request."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import ResourceNotFound
from tradewind.orders import advance
from tradewind.orders.get_order import lock_order
from tradewind.orders.idempotency import Idempotency
from tradewind.orders.model import Cause, Order
from tradewind.orders.payments import decide
from tradewind.orders.payments.model import PaymentRequest
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.person import Person
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction


async def request_payment(
    db: Database,
    actor: Actor,
    by: Person,
    order_id: UUID,
    modes: PayModes,
    seen_fen: int | None,
    idempotency: Idempotency[PaymentRequest],
    *,
    note: str | None = None,
) -> PaymentRequest:
    """Request what the order costs now; somebody else has to approve it."""
    async with transaction(db) as tx:
        await idempotency.claim(tx)
        order = await lock_order(tx, by.id, order_id)
        mode = modes.of(order.platform)
        step = decide.payment_requested(order, ids.new(), by, mode, seen_fen, order.now, note)
        order = advance.to(tx, order, step, Cause("payment_requested", by))
        return await _record(tx, actor, "payment.requested", order, idempotency)


async def withdraw_payment(
    db: Database,
    actor: Actor,
    by: Person,
    order_id: UUID,
    idempotency: Idempotency[PaymentRequest],
) -> PaymentRequest:
    """Withdraw a request that nobody has approved or rejected yet."""
    async with transaction(db) as tx:
        await idempotency.claim(tx)
        order = await lock_order(tx, by.id, order_id)
        step = decide.payment_withdrawn(order, by, order.now)
        order = advance.to(tx, order, step, Cause("payment_withdrawn", by))
        return await _record(tx, actor, "payment.withdrawn", order, idempotency)


async def _record(
    tx: Tx, actor: Actor, action: str, order: Order, idempotency: Idempotency[PaymentRequest]
) -> PaymentRequest:
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
    idempotency.store(tx, request)
    return request
