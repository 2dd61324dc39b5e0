"""Events as JSON and as text: filters of the journal, event types, and events of a stream."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.events.catalogue import EventBody, EventKind
from tradewind.events.event_types import EventCause, EventType
from tradewind.events.sql import JournalEvent
from tradewind.web.inputs import Input, Output, read_id


class EventFilters(Input):
    """Which events."""

    order: Annotated[
        Annotated[str, Meta(pattern=ids.ORDER.pattern)] | None,
        Meta(description="Events of this order only."),
    ] = None
    event: Annotated[list[EventKind] | None, Meta(description="Only these kinds, by comma.")] = None

    @property
    def order_id(self) -> UUID | None:
        return read_id(ids.ORDER, "?order", self.order)


def message(event: JournalEvent) -> bytes:
    """An event of a stream, as server-sent events are written."""
    data = event.body.replace(b"\n", b"\ndata: ")
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.number, event.kind.encode(), data)


def position(number: int) -> bytes:
    """The number to resume after, without an event."""
    return b"id: %d\n\n" % number


def comment(text: str) -> bytes:
    """A line that clients ignore."""
    return f": {text}\n\n".encode()


class EventCauseOut(Output):
    """Something that causes an event."""

    cause: Annotated[str, Meta(examples=["sync"])]
    description: Annotated[str, Meta(examples=["The order was read from its platform."])]
    example: Annotated[EventBody, Meta(description="The body of a delivery for this cause.")]

    @staticmethod
    def of(cause: EventCause) -> "EventCauseOut":
        return EventCauseOut(cause=cause.name, description=cause.description, example=cause.example)


class EventTypeOut(Output):
    """A kind of event."""

    event: EventKind
    description: Annotated[str, Meta(examples=["The `status` of an order changed."])]
    causes: list[EventCauseOut]

    @staticmethod
    def of(event_type: EventType) -> "EventTypeOut":
        return EventTypeOut(
            event=event_type.name,
            description=event_type.description,
            causes=[EventCauseOut.of(cause) for cause in event_type.causes],
        )
