"""An order for people: its next step, its parcels, and the actions that it allows. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from tradewind.dashboard.orders.queries import EventDelivery
from tradewind.dashboard.shell import labels
from tradewind.dashboard.shell.labels import yuan
from tradewind.errors import ApiError
from tradewind.orders import lifecycle
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments import decide
from tradewind.orders.payments.errors import AmountChanged
from tradewind.orders.payments.lifecycle import Trigger
from tradewind.orders.payments.model import PaymentStatus
from tradewind.orders.rollup import unpaid
from tradewind.orders.shipments import pieces_per_parcel
from tradewind.platforms.model import RefundState
from tradewind.web.idempotency import IdempotencyKeyReused, RequestInFlight

_NEXT_STEPS: Mapping[str, str] = {
    "platform_create": "Waiting for the marketplace to create the order",
    "approval": "Waiting for approval",
    "payment_result": "Waiting for the payment result",
    "seller_shipment": "Waiting for the seller to ship",
    "receipt": "Waiting for the parcel to be received",
}
_FINAL_STEPS: Mapping[OrderStatus, str] = {
    OrderStatus.CREATE_FAILED: "None: the order could not be created",
    OrderStatus.RECEIVED: "Received. Waiting for the marketplace to complete it",
    OrderStatus.COMPLETED: "None: the order is completed",
    OrderStatus.CANCELLED: "None: the order is cancelled",
    OrderStatus.CLOSED: "None: the order is closed",
    OrderStatus.UNKNOWN: "Unknown marketplace status",
}
_SIMULATED_EVENTS: Mapping[OrderStatus, Sequence[tuple[str, str]]] = {
    OrderStatus.PENDING_PAYMENT: (
        ("paid", "Mark as paid"),
        ("cancelled", "Close by seller"),
        ("expired", "Expire payment"),
    ),
    OrderStatus.PAID: (
        ("partially_shipped", "Ship partially"),
        ("shipped", "Ship"),
        ("closed", "Close by seller"),
    ),
    OrderStatus.PARTIALLY_SHIPPED: (("shipped", "Ship the rest"),),
    OrderStatus.SHIPPED: (("received", "Mark as received"), ("completed", "Complete")),
    OrderStatus.RECEIVED: (("completed", "Complete"),),
}
_SIMULATED_REFUND_EVENTS: Mapping[RefundState, Sequence[tuple[str, str]]] = {
    RefundState.REQUESTED: (
        ("refund_agreed", "Approve refund"),
        ("refund_refused", "Reject refund"),
    ),
    RefundState.APPROVED: (("refund_completed", "Pay out refund"),),
}


@dataclass(frozen=True, slots=True)
class OrderActions:
    """The actions that an order allows now; amounts in fen."""

    request_fen: int | None
    withdraw: bool
    cancel: bool
    refund_fen: int | None


@dataclass(frozen=True, slots=True)
class ParcelView:
    """A parcel. Its items are quantity, product and SKU.

    An item without a quantity is spread over several parcels.
    """

    order_id: str
    carrier: str | None
    tracking_number: str | None
    shipped_at: datetime | None
    items: Sequence[tuple[int | None, str, str | None]]


def next_step(order: Order) -> str:
    """The next step of an order, and who must take it."""
    if order.cancel_requested and order.status not in lifecycle.ENDED:
        return "Waiting for the marketplace to cancel"
    code = lifecycle.waiting_for(order)
    if code != "payment":
        return _NEXT_STEPS.get(code) or _FINAL_STEPS.get(order.status, "None")
    if order.payment is not None and order.payment.pay_url:
        return "Pay with the payment link below"
    if order.payment_status is PaymentStatus.UNPAID:
        return "Payment not requested yet"
    return "Request the payment again"


def waiting_note(order: Order) -> str:
    """The next step for a row of a list; empty if the status says it already."""
    return _NEXT_STEPS.get(lifecycle.waiting_for(order), "")


def parcels(order: Order) -> Sequence[ParcelView]:
    """Every parcel of an order, with the items in it as far as they are known."""
    views = []
    for part in order.parts:
        pieces = pieces_per_parcel(part)
        products = {item.id: (item.product_id or "", item.sku_id) for item in part.items}
        views += [
            ParcelView(
                order_id=part.id,
                carrier=parcel.carrier,
                tracking_number=parcel.tracking_number,
                shipped_at=parcel.shipped_at,
                items=[
                    (pieces[item_id], *products[item_id])
                    for item_id in dict.fromkeys(parcel.item_ids)
                    if item_id in products
                ],
            )
            for parcel in part.shipments
        ]
    return views


def merge_deliveries(
    attempts: Sequence[EventDelivery], pending: Sequence[EventDelivery]
) -> Mapping[UUID, Sequence[EventDelivery]]:
    """The deliveries by event: a pending one replaces the last attempt, and keeps its error."""
    merged = {(attempt.event_id, attempt.webhook_id): attempt for attempt in attempts}
    for delivery in pending:
        key = (delivery.event_id, delivery.webhook_id)
        last = merged.get(key)
        merged[key] = (
            replace(delivery, delivery_id=last.delivery_id, error=last.error) if last else delivery
        )
    by_event: dict[UUID, list[EventDelivery]] = {}
    for delivery in merged.values():
        by_event.setdefault(delivery.event_id, []).append(delivery)
    return by_event


def actions(order: Order) -> OrderActions:
    """The actions that a page offers: those that would be rejected now are left out."""
    commands = lifecycle.commands(order)
    can_request = Trigger.REQUEST.value in commands and order.total_fen is not None
    refundable = decide.refundable(order)
    return OrderActions(
        request_fen=sum(part.total_fen for part in unpaid(order.parts)) if can_request else None,
        withdraw=Trigger.WITHDRAW.value in commands,
        cancel="cancel" in commands and not order.cancel_requested,
        refund_fen=refundable if "refund" in commands and refundable > 0 else None,
    )


def simulated_events(order: Order) -> Sequence[tuple[str, str]]:
    """What a simulated marketplace can do next with an order: a code and its label."""
    if not order.order_ids:
        return ()
    is_single = sum(line.quantity for line in order.lines) == 1
    events = [
        event
        for event in _SIMULATED_EVENTS.get(order.status, ())
        if not (is_single and event[0] == "partially_shipped")
    ]
    for refund in order.refunds:
        follow = _SIMULATED_REFUND_EVENTS.get(refund.state, ())
        events += [event for event in follow if event not in events]
    return events


def error_message(error: ApiError) -> str:
    """An error for somebody whose page may be older than the order."""
    if isinstance(error, InvalidTransition):
        status = labels.label(error.facts["current"])
        return f"Not possible: the status is now “{status}”. Nothing was changed."
    if isinstance(error, AmountChanged):
        amount = yuan(error.facts["current_amount_cny"])
        return f"The amount is now {amount}. Nothing was requested. Check it and request again."
    if isinstance(error, IdempotencyKeyReused):
        return (
            "This page already sent a different request, so nothing was changed. "
            "Submit it again from the current page."
        )
    if isinstance(error, RequestInFlight):
        return "The same request is already being processed."
    return error.detail
