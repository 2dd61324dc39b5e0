"""Pages: lists by cursor, newest first, stable while rows are added."""

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind.errors import Malformed
from tradewind.web.inputs import Input, Output, in_the_calendar

Row = TypeVar("Row")
Item = TypeVar("Item")
Key = TypeVar("Key")


class MalformedCursor(Malformed):
    """A cursor is taken as it is from `next_cursor` of the same list, never made by hand."""

    code = "malformed_cursor"
    title = "The cursor is malformed"

    def __init__(self) -> None:
        super().__init__("The cursor is not one that this list gave out.")


class PageQuery(Input):
    """The parameters that every list by cursor takes."""

    limit: Annotated[int, Meta(ge=1, le=100, description="How many items at the most.")] = 20
    cursor: Annotated[
        str | None,
        Meta(description="`next_cursor` of the page before; leave it out for the first."),
    ] = None


class Page(Output, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    has_more: Annotated[bool, Meta(description="Whether there is another page.")]
    next_cursor: Annotated[
        str | None, Meta(description="Send it as `cursor` to get the next page; null on the last.")
    ]


def read_cursor(name: str, cursor: str | None, kind: type[Key]) -> Key | None:
    """Where the page before ended: the sort key of its last row. None: this is the first page.

    Only what `write_cursor` writes is taken, to the letter: its key can be stored and compared by
    PostgreSQL, and its list is this one. Anything else is MalformedCursor, in every list.
    """
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        listed, key = msgspec.msgpack.decode(raw, type=tuple[str, kind])  # type: ignore[valid-type]
    # A time just after the year 9999 is a plain ValueError, which the others are as well.
    except (ValueError, RecursionError):
        raise MalformedCursor from None
    decoded: Any = key
    values = decoded if isinstance(decoded, tuple) else (decoded,)
    if listed != name or not all(_can_be_stored(value) for value in values):
        raise MalformedCursor
    if write_cursor(name, key) != cursor:
        raise MalformedCursor
    result: Key = key
    return result


def _can_be_stored(value: Any) -> bool:
    """Whether PostgreSQL can compare with it. What is of another type is in no cursor."""
    if value is None:
        return True
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, datetime):
        return in_the_calendar(value)
    return isinstance(value, UUID) or (isinstance(value, str) and "\0" not in value)


def write_cursor(name: str, key: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((name, key))).decode()


def page(
    name: str,
    rows: Sequence[Row],
    limit: int,
    *,
    key: Callable[[Row], Any],
    show: Callable[[Row], Item],
) -> Page[Item]:
    """A page from the rows of a query that asked for one more than `limit`."""
    shown = rows[:limit]
    more = len(rows) > limit
    return Page(
        items=[show(row) for row in shown],
        has_more=more,
        next_cursor=write_cursor(name, key(shown[-1])) if more else None,
    )
