"""What callers send about events: the filters of the journal; and events of a stream as text."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.errors import ValidationFailed
from tradewind.events.catalogue import EventKind
from tradewind.events.sql import JournalEvent
from tradewind.web.inputs import Input


class EventFilters(Input):
    """Which events."""

    order: Annotated[
        Annotated[str, Meta(pattern=ids.ORDER.pattern)] | None,
        Meta(description="Events of this order only."),
    ] = None
    event: Annotated[list[EventKind] | None, Meta(description="Only these kinds, by comma.")] = None

    @property
    def order_id(self) -> UUID | None:
        if self.order is None:
            return None
        order_id = ids.ORDER.read(self.order)
        if order_id is None:
            raise ValidationFailed("?order", "This is not the id of an order.")
        return order_id


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
