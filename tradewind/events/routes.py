"""The journal over HTTP: what happened, in the exact bytes that receivers get."""

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind import ids
from tradewind.accounts.model import Buyer
from tradewind.events import sql
from tradewind.events.catalogue import EventBody, EventKind
from tradewind.events.read import EventsExpired, Place, read
from tradewind.storage.pool import Database
from tradewind.web.answer import Answer
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, Output
from tradewind.web.paging import MalformedCursor, read_cursor, write_cursor
from tradewind.web.problems import NoSuch, ValidationFailed

routes = Routes("/v1/events", tag="Events")


class Retention(msgspec.Struct, frozen=True):
    """How long events are kept."""

    events: timedelta


class EventsQuery(Input):
    """Which events to read."""

    after: Annotated[
        str | None, Meta(description="`next_cursor` of the page before; left out: from the start.")
    ] = None
    order: Annotated[
        Annotated[str, Meta(pattern=ids.ORDER.pattern)] | None,
        Meta(description="Events of this order only."),
    ] = None
    event: Annotated[list[EventKind] | None, Meta(description="Only these kinds, by comma.")] = None
    limit: Annotated[int, Meta(ge=1, le=100, description="How many items at the most.")] = 20


class EventPage(Output):
    """A stretch of the journal, oldest first."""

    items: list[EventBody]
    has_more: Annotated[bool, Meta(description="Whether more are there already.")]
    next_cursor: Annotated[
        str, Meta(description="Send it as `after` to go on from here, now or later.")
    ]


@routes.get(answers=EventPage, errors=(EventsExpired, MalformedCursor))
async def list_events(
    caller: Buyer, query: EventsQuery, db: Database, retention: Retention
) -> Answer:
    """Read your journal, oldest first.

    Each item is the exact body that webhooks get. The cursor never skips an event, not even one
    that was being written while you read, so you can prove that you have them all, and catch up
    by pulling. Events are kept for 30 days unless the operator set another time.
    """
    found = await read(
        db,
        caller.account_id,
        _place(query.after),
        order_id=_order(query.order),
        kinds=query.event,
        limit=query.limit,
        kept=retention.events,
    )
    cursor = write_cursor("events", (found.end.xid, found.end.event_id, found.end.at))
    tail = msgspec.json.encode({"has_more": found.more, "next_cursor": cursor})
    return Answer(b'{"items":[' + b",".join(found.bodies) + b"]," + tail[1:])


@routes.get("/{event_id}", answers=EventBody, errors=(NoSuch,))
async def get_event(event_id: ids.EventId, caller: Buyer, db: Database) -> Answer:
    """Look at one event, in the exact bytes that webhooks get."""
    body = await sql.find_event(db, caller.account_id, event_id)
    if body is None:
        raise NoSuch(ids.EVENT)
    return Answer(body)


def _place(cursor: str | None) -> Place | None:
    found = read_cursor("events", cursor, tuple[int, UUID, datetime])
    if found is None:
        return None
    xid, event_id, at = found
    if not 0 <= xid < 2**63 or at.tzinfo is None:
        raise MalformedCursor
    return Place(xid, event_id, at)


def _order(text: str | None) -> UUID | None:
    if text is None:
        return None
    found = ids.ORDER.read(text)
    if found is None:
        raise ValidationFailed("?order", "This is not the id of an order.")
    return found
