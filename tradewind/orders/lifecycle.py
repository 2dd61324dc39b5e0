"""The allowed status changes of an order, and the commands that each status allows. Pure."""

from collections.abc import Mapping

from tradewind.auth.model import Role
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import Order, OrderStatus, PlatformJob
from tradewind.orders.payments import lifecycle as payments
from tradewind.orders.payments.four_eyes import is_requester
from tradewind.orders.payments.model import PaymentStatus
from tradewind.orders.person import Person

_FROM_PLATFORM = frozenset(OrderStatus) - {OrderStatus.CREATING, OrderStatus.CREATE_FAILED}

# The statuses that may follow each status. A marketplace may have gone several steps since the last
# sync. It never goes backwards or leaves an end: a state that says so is stale or wrong.
FOLLOWS: Mapping[OrderStatus, frozenset[OrderStatus]] = {
    OrderStatus.CREATING: _FROM_PLATFORM | {OrderStatus.CREATE_FAILED},
    OrderStatus.CREATE_FAILED: frozenset(),
    OrderStatus.PENDING_PAYMENT: _FROM_PLATFORM - {OrderStatus.PENDING_PAYMENT},
    OrderStatus.PAID: frozenset(
        {
            OrderStatus.PARTIALLY_SHIPPED,
            OrderStatus.SHIPPED,
            OrderStatus.RECEIVED,
            OrderStatus.COMPLETED,
            OrderStatus.CLOSED,
            OrderStatus.UNKNOWN,
        }
    ),
    OrderStatus.PARTIALLY_SHIPPED: frozenset(
        {
            OrderStatus.SHIPPED,
            OrderStatus.RECEIVED,
            OrderStatus.COMPLETED,
            OrderStatus.CLOSED,
            OrderStatus.UNKNOWN,
        }
    ),
    OrderStatus.SHIPPED: frozenset(
        {OrderStatus.RECEIVED, OrderStatus.COMPLETED, OrderStatus.CLOSED, OrderStatus.UNKNOWN}
    ),
    OrderStatus.RECEIVED: frozenset(
        {OrderStatus.COMPLETED, OrderStatus.CLOSED, OrderStatus.UNKNOWN}
    ),
    OrderStatus.COMPLETED: frozenset(),
    OrderStatus.CANCELLED: frozenset(),
    OrderStatus.CLOSED: frozenset(),
    OrderStatus.UNKNOWN: _FROM_PLATFORM - {OrderStatus.UNKNOWN},
}

ENDED = frozenset(status for status, following in FOLLOWS.items() if not following)


CANCELLABLE = frozenset({OrderStatus.CREATING, OrderStatus.PENDING_PAYMENT, OrderStatus.UNKNOWN})


def commands(order: Order) -> list[str]:
    """List what the state of an order allows, whoever asks."""
    payable = is_payable(order) and not order.cancel_requested
    names = [
        trigger.value
        for trigger in payments.COMMANDS
        if (order.payment_status, trigger) in payments.MOVES
        and (payable or trigger in payments.ENDS_REQUEST)
    ]
    if may_cancel(order):
        names.append("cancel")
    if order.payment_status in payments.REFUNDABLE:
        names.append("refund")
    return names


def allowed(order: Order, by: Person | None) -> list[str]:
    """List what this caller may do with an order as it stands; None is a job of ours.

    Buyers command their own orders. Approvers decide about requests of others.
    """
    if by is None:
        return []
    owns = Role.BUYER in by.roles and by.id == order.account_id
    approves = (
        Role.APPROVER in by.roles
        and order.payment is not None
        and not is_requester(order.payment, by.id)
    )
    return [name for name in commands(order) if (approves if name in payments.APPROVALS else owns)]


def is_payable(order: Order) -> bool:
    """Whether the marketplace waits for the money."""
    return order.status is OrderStatus.PENDING_PAYMENT


def may_cancel(order: Order) -> bool:
    """Whether an order can be cancelled: until its money may have left."""
    return (
        order.status in CANCELLABLE
        and order.payment_status not in payments.SENT
        and order.paid_fen == 0
    )


def must_be_cancellable(order: Order, by: Person) -> None:
    """Raise InvalidTransition after payment: a refund is requested instead."""
    if not may_cancel(order):
        paid = order.payment_status in payments.SENT
        current = order.payment_status if paid else order.status
        raise InvalidTransition(current, "cancel", allowed(order, by))


def next_job(order: Order) -> PlatformJob:
    """Say what is to be done next at the marketplace."""
    if order.status is OrderStatus.CREATING and not order.order_ids:
        return PlatformJob.CREATE
    if order.cancel_requested and order.status not in ENDED:
        return PlatformJob.CANCEL
    if order.payment_status is PaymentStatus.PROCESSING:
        return PlatformJob.PAY
    if order.payment_status is PaymentStatus.APPROVED:
        has_link = order.payment is not None and order.payment.pay_url is not None
        return PlatformJob.SYNC if has_link else PlatformJob.PAY
    if order.status in (OrderStatus.CREATE_FAILED, OrderStatus.CANCELLED):
        return PlatformJob.NONE
    return PlatformJob.SYNC


def waiting_for(order: Order) -> str:
    """Say what the order waits for, as one of the API's codes."""
    if order.status is OrderStatus.CREATING:
        return "platform_create"
    if order.status is OrderStatus.PENDING_PAYMENT:
        return _waiting_for_money(order)
    if order.status in (OrderStatus.PAID, OrderStatus.PARTIALLY_SHIPPED):
        return "seller_shipment"
    return "receipt" if order.status is OrderStatus.SHIPPED else "none"


def _waiting_for_money(order: Order) -> str:
    if order.payment_status is PaymentStatus.PENDING_APPROVAL:
        return "approval"
    if order.payment_status is PaymentStatus.PROCESSING:
        return "payment_result"
    if order.payment_status is PaymentStatus.APPROVED:
        return "payment" if order.payment and order.payment.pay_url else "payment_result"
    return "payment"
