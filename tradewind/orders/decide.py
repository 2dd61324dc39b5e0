"""The next state of an order after a command or an internal step, or the error. Pure."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from tradewind.orders import lifecycle
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import NewOrder, Order, OrderStatus
from tradewind.orders.payments.decide import moved
from tradewind.orders.payments.lifecycle import Trigger
from tradewind.orders.payments.model import Failure
from tradewind.orders.person import Person
from tradewind.platforms.model import CloseReason, PaymentState


def accepted(
    order_id: UUID, account_id: UUID, wanted: NewOrder, at: datetime, *, previewed: bool
) -> Order:
    """Make a new order. Its creation on the marketplace counts as sent from now on."""
    at = at.replace(microsecond=at.microsecond // 1000 * 1000)
    return Order(
        id=order_id,
        account_id=account_id,
        platform=wanted.platform,
        lines=wanted.lines,
        address=wanted.address,
        remark=wanted.remark,
        external_id=wanted.external_id,
        metadata=wanted.metadata,
        expected_fen=wanted.expected_fen,
        previewed=previewed,
        created_at=at,
        updated_at=at,
        next_sync_at=at,
        create_sent_at=at,
        now=at,
    )


def placed(order: Order, order_ids: Sequence[str]) -> Order:
    """The marketplace created it under these ids."""
    return replace(order, order_ids=list(order_ids))


def create_rejected(order: Order, failure: Failure) -> Order:
    """The marketplace will never create it."""
    if order.status is not OrderStatus.CREATING:
        raise InvalidTransition(order.status, "create_failed", [])
    return replace(order, status=OrderStatus.CREATE_FAILED, failure=failure, cancel_requested=False)


def dropped(order: Order) -> Order:
    """It was cancelled before it was sent to the marketplace."""
    if order.status is not OrderStatus.CREATING or order.order_ids:
        raise InvalidTransition(order.status, "cancel", [])
    return replace(
        order,
        status=OrderStatus.CANCELLED,
        payment_status=moved(order, Trigger.CLOSED),
        platform_payment_status=PaymentState.CLOSED,
        close_reason=CloseReason.BUYER,
        cancel_requested=False,
    )


def cancel_requested(order: Order, by: Person) -> Order:
    lifecycle.must_be_cancellable(order, by)
    return replace(order, cancel_requested=True)


def cancel_rejected(order: Order) -> Order:
    return replace(order, cancel_requested=False)
