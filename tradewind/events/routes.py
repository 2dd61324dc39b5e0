"""The journal over HTTP: what happened, in the exact bytes that endpoints get."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.errors import Malformed, ResourceNotFound
from tradewind.events import sql
from tradewind.events.catalogue import EventBody
from tradewind.events.read import Cursor, EventsExpired, EventsRewound, Retention, read
from tradewind.events.wire import EventFilters
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output
from tradewind.web.paging import MalformedCursor, read_cursor, write_cursor
from tradewind.web.response import Response

routes = Routes("/v1/events", tag="Events")

# The name of the list, which its cursors carry.
_LIST = "events"


class OutdatedCursor(Malformed):
    """The cursor was made by an earlier version of Tradewind, and cannot be translated.

    Begin without a cursor, and skip events whose `id` you have seen.
    """

    code = "outdated_cursor"
    title = "The cursor is of an earlier version"

    def __init__(self) -> None:
        super().__init__(
            "The cursor was made by an earlier version; begin without a cursor, and skip events"
            " whose id you have seen."
        )


class EventsQuery(EventFilters):
    """Which events to read."""

    after: Annotated[
        str | None, Meta(description="`next_cursor` of the page before; left out: from the start.")
    ] = None
    limit: Annotated[int, Meta(ge=1, le=100, description="How many items at the most.")] = 20


class EventPage(Output):
    """A stretch of the journal, oldest first."""

    items: list[EventBody]
    first_number: Annotated[
        int | None,
        Meta(description="The number of the first item in your journal; null if there is none."),
    ]
    last_number: Annotated[
        int | None,
        Meta(
            description="The number of the last item. Numbers rise by exactly one: without filters "
            "a page is complete if `last_number - first_number + 1` is the number of its items."
        ),
    ]
    has_more: Annotated[bool, Meta(description="Whether more are there already.")]
    next_cursor: Annotated[
        str, Meta(description="Send it as `after` to go on from here, now or later.")
    ]


@routes.get(
    returns=EventPage,
    errors=(EventsExpired, EventsRewound, MalformedCursor, OutdatedCursor),
    expensive=True,
)
async def list_events(
    caller: Buyer, query: EventsQuery, db: Database, retention: Retention
) -> Response:
    """Read your journal, oldest first.

    Each item is the exact body that webhooks get. The events of your account are numbered without
    gaps, in the order in which they were committed, and the cursor is the number of the last one
    you got. So it never skips an event, not even one that was being written while you read, and
    you can prove that you have them all: without filters, `first_number` of a page is one more
    than `last_number` of the page before. Events are kept for 30 days unless the operator set
    another time.
    """
    page = await read(
        db,
        caller.account_id,
        _read_cursor(query.after),
        order_id=query.order_id,
        kinds=query.event,
        limit=query.limit,
        kept=retention.events,
    )
    rest = {
        "first_number": page.first_number,
        "last_number": page.last_number,
        "has_more": page.has_more,
        "next_cursor": write_cursor(_LIST, (page.end.number, page.end.event_id)),
    }
    tail = msgspec.json.encode(rest)
    return Response(b'{"items":[' + b",".join(page.bodies) + b"]," + tail[1:])


@routes.get("/{id}", returns=EventBody, errors=(ResourceNotFound,))
async def get_event(event_id: ids.EventId, caller: Buyer, db: Database) -> Response:
    """Look at one event, in the exact bytes that webhooks get."""
    body = await sql.find_event(db, caller.account_id, event_id)
    if body is None:
        raise ResourceNotFound(ids.EVENT)
    return Response(body)


def _read_cursor(text: str | None) -> Cursor | None:
    try:
        key = read_cursor(_LIST, text, tuple[int, UUID | None])
    except MalformedCursor:
        # Transaction id, event id and time: what a cursor was made of before events had numbers.
        read_cursor(_LIST, text, tuple[int, UUID, datetime])
        raise OutdatedCursor from None
    if key is None:
        return None
    number, event_id = key
    if number < 0 or (number == 0) != (event_id is None):
        raise MalformedCursor
    return Cursor(number, event_id)
