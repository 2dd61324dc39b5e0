"""Approves and rejects payments: by another person than who requested them, at the amount seen."""

from collections.abc import Callable
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import ResourceNotFound
from tradewind.orders import advance, decide, sql, sql_lists
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.lifecycle import allowed
from tradewind.orders.model import Cause, Order, Who
from tradewind.orders.payments import four_eyes
from tradewind.orders.payments.wire import PaymentWithOrderOut
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import idempotency
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.response import Response


async def approve(
    db: Database,
    actor: Actor,
    by: Who,
    payment_id: UUID,
    seen_fen: int | None,
    once: IdempotencyKey | None,
) -> Response:
    """Let an order be paid, at the amount of its request."""

    def step(order: Order) -> Order:
        return decide.payment_approved(order, by, seen_fen, order.now)

    return await _decide(db, actor, by, payment_id, once, "approve", step)


async def reject(
    db: Database, actor: Actor, by: Who, payment_id: UUID, reason: str, once: IdempotencyKey | None
) -> Response:
    """Refuse to have an order paid, and say why."""

    def step(order: Order) -> Order:
        return decide.payment_rejected(order, by, reason, order.now)

    return await _decide(db, actor, by, payment_id, once, "reject", step)


async def _decide(
    db: Database,
    actor: Actor,
    by: Who,
    payment_id: UUID,
    once: IdempotencyKey | None,
    verb: str,
    step: Callable[[Order], Order],
) -> Response:
    found = await sql_lists.find_payment(db, payment_id)
    if found is None:
        raise ResourceNotFound(ids.PAYMENT)
    past = {"approve": "approved", "reject": "rejected"}[verb]
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        order = await sql.lock_order(tx, None, found[1].id)
        if order is None:
            raise ResourceNotFound(ids.PAYMENT)
        if order.payment is None or order.payment.id != payment_id:
            # It was decided, withdrawn or superseded; what the order waits for now is another.
            latest = await sql_lists.find_payment(tx, payment_id)
            request = latest[0] if latest else found[0]
            raise InvalidTransition(request.status, verb, allowed(order, by))
        decided = step(order)
        if verb == "approve":
            await four_eyes.check(
                tx,
                owner=order.account_id,
                requester=order.payment.requested_by.id,
                approver=by.id,
            )
        after = await advance.to(tx, order, decided, Cause(f"payment_{past}", by))
        request = after.payment or order.payment
        await record(
            tx,
            actor,
            f"payment.{past}",
            account_id=order.account_id,
            subject=ids.PAYMENT.show(payment_id),
            order=order.reference,
            amount_fen=request.amount_fen,
            reason=request.reason,
        )
        answer = Response(PaymentWithOrderOut.of_both(request, after), 200)
        return await idempotency.keep(tx, once, answer)
