"""The catalogue of event types: what each means, its causes, and an example of each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tradewind import clock
from tradewind.events.catalogue import (
    ORDER_UPDATED,
    PAYMENT_UPDATED,
    EventBody,
    EventData,
    EventKind,
    OrderNews,
)

_ID = "06EJ4KQZC5T9XN4R5ZJ2V7M8Q"
_FIRST = datetime(2026, 11, 15, 1, 2, 3, 4000, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EventCause:
    """Something that causes an event, with the body that is sent then."""

    name: str
    description: str
    example: EventBody


@dataclass(frozen=True, slots=True)
class EventType:
    """A kind of event."""

    name: EventKind
    description: str
    causes: Sequence[EventCause]


def _causes(event: EventKind, first: int, *causes: tuple[str, str, str]) -> Sequence[EventCause]:
    """Causes by name, description, and the three statuses of the order in the example."""
    return [
        EventCause(name, description, _example(event, first + index, *statuses.split()))
        for index, (name, description, statuses) in enumerate(causes)
    ]


def _example(
    event: EventKind, number: int, status: str, payment_status: str, platform_payment_status: str
) -> EventBody:
    at = clock.show(_FIRST + timedelta(minutes=number))
    news = OrderNews(
        id=f"ORD{_ID}W",
        platform="sandbox",
        order_id="1688000000000000001",
        status=status,
        payment_status=payment_status,
        platform_payment_status=platform_payment_status,
        total_amount_cny=128.5,
        updated_at=at,
    )
    event_id = f"evt_{_ID}{number:X}"
    return EventBody(id=event_id, event=event, created_at=at, data=EventData(order=news))


EVENT_TYPES: Sequence[EventType] = (
    EventType(
        ORDER_UPDATED,
        "The `status` of an order changed.",
        _causes(
            ORDER_UPDATED,
            0,
            (
                "sync",
                "The status was read from the platform: when it was created, read or notified.",
                "pending_payment unpaid unpaid",
            ),
            (
                "scheduled_sync",
                "The same, found by the sync that runs on a schedule.",
                "shipped paid paid",
            ),
            (
                "cancellation",
                "The platform confirmed the cancellation. `payment.updated` comes with it.",
                "cancelled cancelled closed",
            ),
        ),
    ),
    EventType(
        PAYMENT_UPDATED,
        "The `payment_status` of an order changed.",
        _causes(
            PAYMENT_UPDATED,
            3,
            (
                "payment_requested",
                "Somebody requested the payment; it awaits approval.",
                "pending_payment pending_approval unpaid",
            ),
            (
                "request_withdrawn",
                "The request was withdrawn.",
                "pending_payment unpaid unpaid",
            ),
            (
                "approved",
                "Somebody else approved the payment.",
                "pending_payment approved unpaid",
            ),
            ("rejected", "The request was rejected.", "pending_payment rejected unpaid"),
            (
                "payment_started",
                "The platform is being asked to debit the amount.",
                "pending_payment processing unpaid",
            ),
            (
                "payment_succeeded",
                "The platform has the money. `order.updated` comes with it.",
                "paid paid paid",
            ),
            (
                "payment_failed",
                "The platform refused the payment; it can be requested again.",
                "pending_payment failed failed",
            ),
            (
                "refund",
                "The seller paid money back: a part, as here, or all of it (`refunded`).",
                "shipped partially_refunded partially_refunded",
            ),
            (
                "cancellation",
                "The order was cancelled before it was paid.",
                "cancelled cancelled closed",
            ),
        ),
    ),
)
