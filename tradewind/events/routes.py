"""The journal over HTTP: what happened, in the exact bytes that endpoints get."""

from contextlib import AsyncExitStack
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind import ids
from tradewind.auth.gate import Authenticator
from tradewind.auth.model import Buyer, Role
from tradewind.errors import InsufficientPermissions, Malformed, existing
from tradewind.events import sql
from tradewind.events.catalogue import EventBody
from tradewind.events.event_types import EVENT_TYPES
from tradewind.events.read import Cursor, EventsExpired, EventsRewound, Retention, read
from tradewind.events.stream import EventStreams
from tradewind.events.stream_slots import TooManyStreams
from tradewind.events.wire import EventFilters, EventTypeOut
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output
from tradewind.web.paging import MalformedCursor, Page, read_cursor, write_cursor
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.scopes import Scope

routes = Routes("/v1/events", tag="Events")
event_types = Routes("/v1/event-types", tag="Events")

# The name of the list, which its cursors carry.
_LIST = "events"
_LAST_EVENT_ID = "Last-Event-ID"
_DIGITS = 18
_EXAMPLE = (
    'id: 42\nevent: order.updated\ndata: {"id":"evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW","event":'
    '"order.updated","created_at":"2026-11-15T05:34:42.021Z","data":{"order":{"id":'
    '"ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW","platform":"sandbox","order_id":"1688001","status":'
    '"paid","payment_status":"paid","platform_payment_status":"paid","total_amount_cny":'
    '128.5,"updated_at":"2026-11-15T05:34:42.021Z"}}}\n\n'
)
_EventStream = Annotated[
    str,
    Meta(
        description="Server-sent events: `id` is the number of the event in your journal, `event` "
        "its kind, and `data` the exact body that webhooks get.",
        examples=[_EXAMPLE],
    ),
]


class OutdatedCursor(Malformed):
    """The cursor was made by an earlier version of Tradewind, and cannot be translated.

    Begin without a cursor, and skip events whose `id` you have seen.
    """

    code = "outdated_cursor"
    title = "The cursor is of an earlier version"
    detail = (
        "The cursor was made by an earlier version; begin without a cursor, and skip events"
        " whose id you have seen."
    )


class MalformedEventNumber(Malformed):
    """`Last-Event-ID` is not a number of an event.

    Send the `id` of the last event that you got from the stream, as it came.
    """

    code = "malformed_event_number"
    title = "Last-Event-ID is malformed"
    detail = "Last-Event-ID is the number of an event: digits alone, such as 42."


class StreamQuery(EventFilters):
    """Which events to send, and after which one to begin."""

    after: Annotated[
        str | None,
        Meta(
            description="`next_cursor` of a page of `GET /v1/events`: begin there. Left out: begin "
            "with what is new. `Last-Event-ID` outranks it."
        ),
    ] = None


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
    scope=Scope.READ,
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


@routes.get(
    "/stream",
    scope=Scope.READ,
    returns=_EventStream,
    media_type="text/event-stream",
    errors=(
        EventsExpired,
        EventsRewound,
        MalformedCursor,
        MalformedEventNumber,
        OutdatedCursor,
        TooManyStreams,
    ),
    request_headers={
        _LAST_EVENT_ID: "The `id` of the last event that you got: the stream resumes after it. "
        "`0` is before the first event."
    },
)
async def stream_events(
    request: Request,
    caller: Buyer,
    query: StreamQuery,
    streams: EventStreams,
    gate: Authenticator,
) -> Response:
    """Receive your events as they happen, as server-sent events.

    No public address is needed. The response does not end by itself: each event is sent when it
    was committed, in the order of the journal. When the connection is lost, connect again with
    `Last-Event-ID`: no event is skipped or repeated. The first block has an `id` and no event, so
    that you can resume before you got one. A comment is sent every 15 seconds. Your account may
    have 8 streams open. A stream ends within a second when its key is revoked, its session ends or
    the account is locked, and when the server stops: connect again.
    """

    async def recheck() -> None:
        if Role.BUYER not in (await gate.recheck(request)).roles:
            raise InsufficientPermissions.role(Role.BUYER)

    cursor = _read_number(request.single_header(_LAST_EVENT_ID.lower()))
    async with AsyncExitStack() as held:
        stream = await held.enter_async_context(
            streams.open(
                caller.account_id,
                cursor or _read_cursor(query.after),
                order_id=query.order_id,
                kinds=query.event,
                recheck=recheck,
            )
        )
        return Response(
            headers=[NO_STORE, (b"x-accel-buffering", b"no")],
            content_type=b"text/event-stream",
            stream=streams.chunks(stream),
            held=held.pop_all(),
            abandoned=stream.abandoned,
        )


@routes.get("/{id}", scope=Scope.READ, returns=EventBody)
async def get_event(event_id: ids.EventId, caller: Buyer, db: Database) -> Response:
    """Look at one event, in the exact bytes that webhooks get."""
    body = existing(await sql.find_event(db, caller.account_id, event_id), ids.EVENT)
    return Response(body)


@event_types.get(scope=Scope.READ)
async def list_event_types(caller: Buyer) -> Page[EventTypeOut]:
    """List the event types: what each means, its causes, and the body that is sent for each cause.

    An example has the fields, their order and the spelling of a real delivery.
    """
    items = [EventTypeOut.of(event_type) for event_type in EVENT_TYPES]
    return Page(items=items, has_more=False, next_cursor=None)


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


def _read_number(text: str | None) -> Cursor | None:
    """The place after an event by its number alone. An empty text is none, as in browsers."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise MalformedEventNumber
    return Cursor(int(text), None)
