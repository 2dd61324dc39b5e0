"""Approves and rejects payments: by another person than the requester, at the amount seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import ApiError, ResourceNotFound
from tradewind.orders import advance
from tradewind.orders.commands import carry_out
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.idempotency import CommandIdempotency
from tradewind.orders.lifecycle import allowed
from tradewind.orders.model import Cause, Order
from tradewind.orders.payments import decide, four_eyes, sql
from tradewind.orders.payments.lifecycle import Trigger
from tradewind.orders.payments.sql import OrderPayment
from tradewind.orders.person import Person
from tradewind.orders.sql import order_of_payment
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

# The most payments that are approved with one form.
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class SeenPayment:
    """A payment, and the amount at which somebody saw it."""

    id: UUID
    amount_fen: int


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """What became of one of several approvals; without an error it was approved."""

    payment: SeenPayment
    error: ApiError | None


async def approve(
    db: Database,
    actor: Actor,
    by: Person,
    payment_id: UUID,
    seen_fen: int | None,
    idempotency: CommandIdempotency[OrderPayment],
) -> OrderPayment:
    """Approve that an order is paid, at the amount of its request."""

    def step(order: Order) -> Order:
        return decide.payment_approved(order, by, seen_fen, order.now)

    return await _decide(db, actor, by, payment_id, idempotency, Trigger.APPROVE, step)


async def approve_many(
    db: Database,
    actor: Actor,
    by: Person,
    payments: Sequence[SeenPayment],
    idempotency: CommandIdempotency[OrderPayment],
) -> Sequence[ApprovalResult]:
    """Approve payments one after another, each in its own transaction and at the amount seen.

    An error of one does not stop the others. A payment that is named twice is approved once.
    """
    results = []
    for payment in dict.fromkeys(payments):
        error = None
        try:
            await approve(db, actor, by, payment.id, payment.amount_fen, idempotency)
        except ApiError as raised:
            error = raised
        results.append(ApprovalResult(payment, error))
    return results


async def reject(
    db: Database,
    actor: Actor,
    by: Person,
    payment_id: UUID,
    reason: str,
    idempotency: CommandIdempotency[OrderPayment],
) -> OrderPayment:
    """Reject the payment of an order, with a reason."""

    def step(order: Order) -> Order:
        return decide.payment_rejected(order, by, reason, order.now)

    return await _decide(db, actor, by, payment_id, idempotency, Trigger.REJECT, step)


async def _decide(
    db: Database,
    actor: Actor,
    by: Person,
    payment_id: UUID,
    idempotency: CommandIdempotency[OrderPayment],
    command: Trigger,
    step: Callable[[Order], Order],
) -> OrderPayment:
    approves = command is Trigger.APPROVE
    cause = "payment_approved" if approves else "payment_rejected"
    checked = False

    async def check(db: Database | Tx, order: Order) -> None:
        request = order.payment
        if request is None or request.id != payment_id:
            raise await _already_ended(db, payment_id, order, by, command)
        step(order)  # its errors come first
        if approves and isinstance(db, Tx):
            nonlocal checked
            await four_eyes.check(db, order, request, by.id)
            checked = True

    def act(tx: Tx, order: Order) -> OrderPayment:
        relying = four_eyes.relied_on(order, by.id, checked=checked) if approves else None
        order = advance.to(tx, order, step(order), Cause(cause, by), relying)
        request = order.payment
        if request is None:
            raise ResourceNotFound(ids.PAYMENT)
        record(
            tx,
            actor,
            cause.replace("_", "."),
            account_id=order.account_id,
            subject=ids.PAYMENT.show(payment_id),
            order=order.reference,
            amount_fen=request.amount_fen,
            reason=request.reason,
        )
        return OrderPayment(request, order)

    return await carry_out(db, order_of_payment(payment_id), ids.PAYMENT, idempotency, act, check)


async def _already_ended(
    db: Database | Tx, payment_id: UUID, order: Order, by: Person, command: Trigger
) -> InvalidTransition:
    """The error for a request that was approved, rejected, withdrawn or superseded before."""
    payment = await sql.find_payment(db, payment_id)
    status = payment.request.status if payment else order.payment_status
    return InvalidTransition(status, command.value, allowed(order, by))
