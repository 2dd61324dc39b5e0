"""The table by which the payment status of an order moves. Pure."""

from collections.abc import Mapping
from enum import StrEnum

from tradewind.orders.payments.model import PaymentStatus


class Trigger(StrEnum):
    """What can move the payment status: commands of people, our own steps, facts there."""

    REQUEST = "request_payment"
    WITHDRAW = "withdraw_payment"
    APPROVE = "approve"
    REJECT = "reject"
    SUBMIT = "submit"
    AMOUNT_CHANGED = "amount_changed"
    PAID = "paid"
    FAILED = "failed"
    CLOSED = "closed"
    PARTLY_REFUNDED = "partly_refunded"
    REFUNDED = "refunded"


COMMANDS = (Trigger.REQUEST, Trigger.WITHDRAW, Trigger.APPROVE, Trigger.REJECT)
APPROVALS = frozenset({Trigger.APPROVE.value, Trigger.REJECT.value})
# These end a request, so that they need no order that can still be paid.
ENDS_REQUEST = frozenset({Trigger.WITHDRAW, Trigger.REJECT})

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
    (_P.PROCESSING, Trigger.FAILED): _P.FAILED,
    **{(s, Trigger.PAID): _P.PAID for s in _NOT_SENT},
    **{(s, Trigger.CLOSED): _P.CANCELLED for s in (*_NOT_SENT, _P.PROCESSING)},
    **{
        (s, Trigger.PARTLY_REFUNDED): _P.PARTIALLY_REFUNDED
        for s in (_P.PAID, _P.PARTIALLY_REFUNDED)
    },
    **{(s, Trigger.REFUNDED): _P.REFUNDED for s in (_P.PAID, _P.PARTIALLY_REFUNDED)},
}

# The money may have left: the order can no longer be cancelled.
SENT = frozenset({_P.PROCESSING, _P.PAID, _P.PARTIALLY_REFUNDED, _P.REFUNDED, _P.CANCELLED})
REFUNDABLE = frozenset({_P.PAID, _P.PARTIALLY_REFUNDED})
