"""The two tables by which an order moves, and what callers may do with it when. Pure."""

from collections.abc import Mapping
from enum import StrEnum

from tradewind.auth.model import Role
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import Order, PaymentStatus, Status, Who, Work

_FROM_THE_PLATFORM = frozenset(Status) - {Status.CREATING, Status.CREATE_FAILED}

# Where each status may lead. A platform may have gone several steps since we last looked; it may
# never come back from an end, nor go backwards: such news is stale, or a mistake of somebody's.
FOLLOWS: Mapping[Status, frozenset[Status]] = {
    Status.CREATING: _FROM_THE_PLATFORM | {Status.CREATE_FAILED},
    Status.CREATE_FAILED: frozenset(),
    Status.PENDING_PAYMENT: _FROM_THE_PLATFORM - {Status.PENDING_PAYMENT},
    Status.PAID: frozenset(
        {
            Status.PARTIALLY_SHIPPED,
            Status.SHIPPED,
            Status.RECEIVED,
            Status.COMPLETED,
            Status.CLOSED,
            Status.UNKNOWN,
        }
    ),
    Status.PARTIALLY_SHIPPED: frozenset(
        {Status.SHIPPED, Status.RECEIVED, Status.COMPLETED, Status.CLOSED, Status.UNKNOWN}
    ),
    Status.SHIPPED: frozenset({Status.RECEIVED, Status.COMPLETED, Status.CLOSED, Status.UNKNOWN}),
    Status.RECEIVED: frozenset({Status.COMPLETED, Status.CLOSED, Status.UNKNOWN}),
    Status.COMPLETED: frozenset(),
    Status.CANCELLED: frozenset(),
    Status.CLOSED: frozenset(),
    Status.UNKNOWN: _FROM_THE_PLATFORM - {Status.UNKNOWN},
}

ENDED = frozenset(status for status, following in FOLLOWS.items() if not following)


class Trigger(StrEnum):
    """What can move the payment status: commands of people, steps of ours, facts there."""

    REQUEST = "request_payment"
    WITHDRAW = "withdraw_payment"
    APPROVE = "approve"
    REJECT = "reject"
    SUBMIT = "submit"
    AMOUNT_CHANGED = "amount_changed"
    PAID = "paid"
    REFUSED = "refused"
    CLOSED = "closed"
    PARTLY_REFUNDED = "partly_refunded"
    REFUNDED = "refunded"


_P = PaymentStatus
_NOT_SENT = (_P.UNPAID, _P.PENDING_APPROVAL, _P.APPROVED, _P.REJECTED, _P.FAILED)

MOVES: Mapping[tuple[PaymentStatus, Trigger], PaymentStatus] = {
    **{(s, Trigger.REQUEST): _P.PENDING_APPROVAL for s in (_P.UNPAID, _P.REJECTED, _P.FAILED)},
    (_P.PENDING_APPROVAL, Trigger.WITHDRAW): _P.UNPAID,
    (_P.PENDING_APPROVAL, Trigger.APPROVE): _P.APPROVED,
    (_P.PENDING_APPROVAL, Trigger.REJECT): _P.REJECTED,
    (_P.APPROVED, Trigger.SUBMIT): _P.PROCESSING,
    **{(s, Trigger.AMOUNT_CHANGED): _P.UNPAID for s in (_P.PENDING_APPROVAL, _P.APPROVED)},
    (_P.PROCESSING, Trigger.PAID): _P.PAID,
    (_P.PROCESSING, Trigger.REFUSED): _P.FAILED,
    **{(s, Trigger.PAID): _P.PAID for s in _NOT_SENT},
    **{(s, Trigger.CLOSED): _P.CANCELLED for s in (*_NOT_SENT, _P.PROCESSING)},
    **{
        (s, Trigger.PARTLY_REFUNDED): _P.PARTIALLY_REFUNDED
        for s in (_P.PAID, _P.PARTIALLY_REFUNDED)
    },
    **{(s, Trigger.REFUNDED): _P.REFUNDED for s in (_P.PAID, _P.PARTIALLY_REFUNDED)},
}

_PAYABLE = frozenset({Status.PENDING_PAYMENT})
_DECISIONS = frozenset({Trigger.APPROVE.value, Trigger.REJECT.value})
_TAKES_BACK = frozenset({Trigger.WITHDRAW, Trigger.REJECT})
CANCELLABLE = frozenset({Status.CREATING, Status.PENDING_PAYMENT, Status.UNKNOWN})
_UNDER_WAY = frozenset({_P.PROCESSING, _P.PAID, _P.PARTIALLY_REFUNDED, _P.REFUNDED, _P.CANCELLED})
_REFUNDABLE = frozenset({_P.PAID, _P.PARTIALLY_REFUNDED})


def commands(order: Order) -> list[str]:
    """What the state of an order allows, whoever asks."""
    payable = order.status in _PAYABLE and not order.cancel_requested
    found = [
        trigger.value
        for trigger in (Trigger.REQUEST, Trigger.WITHDRAW, Trigger.APPROVE, Trigger.REJECT)
        if (order.payment_status, trigger) in MOVES and (payable or trigger in _TAKES_BACK)
    ]
    if may_cancel(order):
        found.append("cancel")
    if order.payment_status in _REFUNDABLE:
        found.append("refund")
    return found


def allowed(order: Order, by: Who | None) -> list[str]:
    """What this caller may do with an order as it stands; None is nobody outside.

    Buyers command their own orders. Approvers decide about requests of others.
    """
    if by is None:
        return []
    owns = Role.BUYER in by.roles and by.id == order.account_id
    decides = (
        Role.APPROVER in by.roles
        and order.payment is not None
        and order.payment.requested_by.id != by.id
    )
    return [name for name in commands(order) if (decides if name in _DECISIONS else owns)]


def may_cancel(order: Order) -> bool:
    """An order can be cancelled until its money may have left."""
    return (
        order.status in CANCELLABLE
        and order.payment_status not in _UNDER_WAY
        and order.paid_fen == 0
    )


def moved(order: Order, trigger: Trigger, by: Who | None = None) -> PaymentStatus:
    """Where `trigger` leads from here, or InvalidTransition; `by` is the caller, if any."""
    to = MOVES.get((order.payment_status, trigger))
    if to is None:
        raise InvalidTransition(order.payment_status, trigger.value, allowed(order, by))
    return to


def must_await_payment(order: Order, trigger: Trigger, by: Who) -> None:
    """Money is only asked for and promised while the platform waits for it."""
    if order.status not in _PAYABLE or order.total_fen is None:
        raise InvalidTransition(order.status, trigger.value, allowed(order, by))


def must_be_refundable(order: Order, by: Who) -> None:
    if order.payment_status not in _REFUNDABLE:
        raise InvalidTransition(order.payment_status, "refund", allowed(order, by))


def must_be_cancellable(order: Order, by: Who) -> None:
    """After payment there is no cancelling: a refund is asked for instead."""
    if not may_cancel(order):
        paid = order.payment_status in _UNDER_WAY
        current = order.payment_status if paid else order.status
        raise InvalidTransition(current, "cancel", allowed(order, by))


def next_work(order: Order) -> Work:
    """What is to be done at the platform next."""
    if order.status is Status.CREATING and not order.order_ids:
        return Work.CREATE
    if order.cancel_requested and order.status not in ENDED:
        return Work.CANCEL
    if order.payment_status is PaymentStatus.PROCESSING:
        return Work.PAY
    if order.payment_status is PaymentStatus.APPROVED:
        has_link = order.payment is not None and order.payment.pay_url is not None
        return Work.FOLLOW if has_link else Work.PAY
    if order.status in (Status.CREATE_FAILED, Status.CANCELLED):
        return Work.NONE
    return Work.FOLLOW


def waiting_for(order: Order) -> str:
    """Whom or what the order waits for, in one word for callers."""
    if order.status is Status.CREATING:
        return "platform_create"
    if order.status is Status.PENDING_PAYMENT:
        return _waiting_for_money(order)
    if order.status in (Status.PAID, Status.PARTIALLY_SHIPPED):
        return "seller_shipment"
    return "receipt" if order.status is Status.SHIPPED else "none"


def _waiting_for_money(order: Order) -> str:
    if order.payment_status is PaymentStatus.PENDING_APPROVAL:
        return "approval"
    if order.payment_status is PaymentStatus.PROCESSING:
        return "payment_result"
    if order.payment_status is PaymentStatus.APPROVED:
        return "payment" if order.payment and order.payment.pay_url else "payment_result"
    return "payment"
