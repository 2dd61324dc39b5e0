"""The event types and their body. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind import clock, ids
from tradewind.money import Cny
from tradewind.web.inputs import Output, id_text

EventKind = Literal["order.updated", "payment.updated"]
ORDER_UPDATED: EventKind = "order.updated"
PAYMENT_UPDATED: EventKind = "payment.updated"
_Time = clock.Timestamp


class OrderNews(Output):
    """The order as it was right after the change."""

    id: Annotated[str, id_text(ids.ORDER)]
    platform: Annotated[str, Meta(examples=["sandbox"])]
    order_id: Annotated[
        str | None,
        Meta(description="Its id on the platform; null before it has one.", examples=["1688001"]),
    ]
    status: Annotated[str, Meta(examples=["paid"])]
    payment_status: Annotated[str, Meta(examples=["paid"])]
    platform_payment_status: Annotated[str, Meta(examples=["paid"])]
    total_amount_cny: Cny | None
    updated_at: Annotated[
        _Time,
        Meta(description="Rises with every change: of two events the one with the later is newer."),
    ]


class EventData(Output):
    """What the event is about."""

    order: OrderNews


class EventBody(Output):
    """The body of every delivery, and of an item of the journal."""

    id: Annotated[
        str,
        Meta(
            pattern=ids.EVENT.pattern,
            description="The same in every delivery of this event: de-duplicate by it.",
            examples=["evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"],
        ),
    ]
    event: EventKind
    created_at: _Time
    data: EventData


class FilteredOrder(msgspec.Struct, frozen=True):
    """What a subscription can filter by, of the order that an event is about."""

    platform: str = ""
    status: str = ""


class _FilteredData(msgspec.Struct, frozen=True):
    order: FilteredOrder = FilteredOrder()


class _FilteredBody(msgspec.Struct, frozen=True):
    data: _FilteredData = _FilteredData()


_FILTERED = msgspec.json.Decoder(_FilteredBody)


def order_of(body: bytes) -> FilteredOrder:
    """What a subscription can filter by, from the body of an event; the rest is not read."""
    return _FILTERED.decode(body).data.order


@dataclass(frozen=True, slots=True)
class Event:
    """An event to be written. `body` is what endpoints get, byte for byte."""

    id: UUID
    account_id: UUID
    order_id: UUID
    kind: str
    at: datetime
    body: bytes


def compose(
    account_id: UUID, order_id: UUID, kind: EventKind, news: OrderNews, at: datetime
) -> Event:
    """A new event that tells `news`."""
    event_id = ids.new()
    body = EventBody(
        id=ids.EVENT.show(event_id),
        event=kind,
        created_at=clock.show(at),
        data=EventData(order=news),
    )
    return Event(event_id, account_id, order_id, kind, at, msgspec.json.encode(body))
