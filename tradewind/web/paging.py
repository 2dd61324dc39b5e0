"""Paging: lists with cursors, newest first, stable while rows are added."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Protocol, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind.errors import Malformed
from tradewind.web.inputs import Input, Output, in_the_calendar

Row = TypeVar("Row")
Row_co = TypeVar("Row_co", covariant=True)
Item = TypeVar("Item")
Key = TypeVar("Key")


class MalformedCursor(Malformed):
    """A cursor must be the unchanged `next_cursor` of the same list."""

    code = "malformed_cursor"
    title = "The cursor is malformed"
    detail = "The cursor is not a `next_cursor` of this list."


PageLimit = Annotated[int, Meta(ge=1, le=100, description="The largest number of items.")]
PageCursor = Annotated[
    str | None,
    Meta(description="`next_cursor` of the previous page; omit it for the first page."),
]


class PageQuery(Input):
    """The parameters of every list with cursors.

    A list whose filters have a type of their own, because its export takes them as well, derives
    from that type and adds these two.
    """

    limit: PageLimit = 20
    cursor: PageCursor = None


def has_pages(query: type[Input]) -> bool:
    """Whether it is the query of a list with cursors."""
    return {*PageQuery.__struct_fields__} <= {*query.__struct_fields__}


class Page(Output, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    has_more: Annotated[bool, Meta(description="Whether there is another page.")]
    next_cursor: Annotated[
        str | None, Meta(description="Send it as `cursor` to get the next page; null on the last.")
    ]


def read_cursor(name: str, cursor: str | None, kind: type[Key]) -> Key | None:
    """The sort key of the last row of the previous page; None for the first page.

    Only a cursor exactly as `write_cursor` writes it for this list is accepted, with a key that
    PostgreSQL can compare. Anything else is MalformedCursor.
    """
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        list_name, key = msgspec.msgpack.decode(raw, type=tuple[str, kind])  # type: ignore[valid-type]
    # A time after the year 9999 is a plain ValueError, of which the others are subclasses.
    except (ValueError, RecursionError):
        raise MalformedCursor from None
    decoded: Any = key
    values = decoded if isinstance(decoded, tuple) else (decoded,)
    if list_name != name or not all(_can_be_stored(value) for value in values):
        raise MalformedCursor
    if write_cursor(name, key) != cursor:
        raise MalformedCursor
    result: Key = key
    return result


def _can_be_stored(value: Any) -> bool:
    """Whether PostgreSQL can compare with it. Other types are in no cursor."""
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
    """A page from the rows of a query with a limit of `limit + 1`."""
    shown = rows[:limit]
    more = len(rows) > limit
    return Page(
        items=[show(row) for row in shown],
        has_more=more,
        next_cursor=write_cursor(name, key(shown[-1])) if more else None,
    )


class ReadRows(Protocol[Row_co]):
    """Reads at most `limit` rows: those below the row with the sort key `below`, or the first."""

    def __call__(self, *, below: Any, limit: int) -> Awaitable[Sequence[Row_co]]: ...


@dataclass(frozen=True, slots=True)
class CursorList(Generic[Row]):
    """A list with cursors: its name, which its cursors contain, and the sort key of its rows."""

    name: str
    key_type: Any
    key: Callable[[Row], object]

    async def rows(self, cursor: str | None, limit: int, read: ReadRows[Row]) -> Page[Row]:
        """The page after a cursor, with the rows as they were read."""
        return await self.page(cursor, limit, read, lambda row: row)

    async def page(
        self, cursor: str | None, limit: int, read: ReadRows[Row], show: Callable[[Row], Item]
    ) -> Page[Item]:
        """The page after a cursor, with each row as `show` shows it."""
        below = read_cursor(self.name, cursor, self.key_type)
        rows = await read(below=below, limit=limit + 1)
        return page(self.name, rows, limit, key=self.key, show=show)

    async def every_page(self, read: ReadRows[Row], limit: int) -> AsyncIterator[Sequence[Row]]:
        """All rows, `limit` at a time, each page read when it is asked for; at least one page."""
        below = None
        while True:
            rows = await read(below=below, limit=limit)
            yield rows
            if len(rows) < limit:
                return
            below = self.key(rows[-1])
