"""Reads the journal in the order of its numbers, and reports expired cursors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from uuid import UUID

from tradewind.errors import Gone
from tradewind.events import sql
from tradewind.events.sql import JournalEvent, JournalHead
from tradewind.storage.pool import Database

# Events are numbered in nearly the order of their times: a day is far more than the difference.
# Only speed depends on it.
_DAY = timedelta(days=1)


class EventsExpired(Gone):
    """Events that follow your cursor are no longer kept.

    Begin without a cursor, and compare your orders with `POST /v1/orders/diff`.
    """

    code = "events_expired"
    title = "The cursor is older than the journal"

    def __init__(self, cursor: int, dropped_through: int) -> None:
        super().__init__(
            f"The cursor stands after event number {cursor}, and the events up to number"
            f" {dropped_through} are no longer kept; begin without a cursor.",
            dropped_through=dropped_through,
        )


class EventsRewound(Gone):
    """The event at your cursor is not in your journal.

    Unless the cursor is another account's, the database went back to an earlier state: it was
    restored from a backup, or a standby took over that had not received the last changes. Numbers
    after that state are given out again, to other events. Begin without a cursor, skip events whose
    `id` you have seen, and compare your orders with `POST /v1/orders/diff`: they may have gone back
    as well.
    """

    code = "events_rewound"
    title = "The event at the cursor is not in the journal"

    def __init__(self, cursor: int, last_number: int) -> None:
        super().__init__(
            f"The cursor stands after an event with number {cursor}, which your journal does not"
            " have: the database went back to an earlier state, or the cursor is another account's."
            " Begin without a cursor.",
            last_number=last_number,
        )


@dataclass(frozen=True, slots=True)
class Retention:
    """How long events are kept."""

    events: timedelta


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place right after the event with this number and id; before the first: 0 and None.

    The id may be None elsewhere, if it is not known: then nothing shows that the database went
    back to an earlier state and gave the number out again.
    """

    number: int
    event_id: UUID | None


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Events with the bodies as they were sent, and where the page ends.

    `through` is the number of the last event of the journal when the page was read.
    """

    events: Sequence[JournalEvent]
    end: Cursor
    has_more: bool
    through: int

    @property
    def bodies(self) -> Sequence[bytes]:
        return [event.body for event in self.events]

    @property
    def numbers(self) -> Sequence[int]:
        return [event.number for event in self.events]

    @property
    def first_number(self) -> int | None:
        return self.events[0].number if self.events else None

    @property
    def last_number(self) -> int | None:
        return self.events[-1].number if self.events else None


async def read(
    db: Database,
    account_id: UUID,
    cursor: Cursor | None,
    *,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    limit: int,
    kept: timedelta,
    through: int | None = None,
) -> JournalPage:
    """Return the events after a cursor, or without one the oldest that are kept.

    It ends at the last event of the journal, also where filters leave that out; or at the one with
    the number `through`, for a reader that does not want what was added since its first page.
    """
    head = await sql.find_head(db, account_id, cursor.number if cursor else 0)
    if cursor is not None:
        _check(cursor, head)
    if head is None:
        return JournalPage([], Cursor(0, None), has_more=False, through=0)
    after = await _oldest(db, account_id, head, kept) if cursor is None else cursor.number
    if through is None or through >= head.last_number:
        last = Cursor(head.last_number, head.last_event_id)
    else:
        last = Cursor(through, None)
    rows = await _rows(db, account_id, head, after, last.number, order_id, kinds, limit + 1)
    shown, has_more = rows[:limit], len(rows) > limit
    end = Cursor(shown[-1].number, shown[-1].id) if has_more else last
    return JournalPage(shown, end, has_more, last.number)


async def start(db: Database, account_id: UUID, cursor: Cursor | None) -> Cursor:
    """Where to begin to follow the journal: at the cursor, or without one after the last event."""
    head = await sql.find_head(db, account_id, cursor.number if cursor else 0)
    if cursor is not None:
        _check(cursor, head)
        return cursor
    return Cursor(0, None) if head is None else Cursor(head.last_number, head.last_event_id)


def _check(cursor: Cursor, head: JournalHead | None) -> None:
    """Raise if events between the cursor and the end are missing, or are not what they were."""
    last = 0 if head is None else head.last_number
    if cursor.number > last:
        raise EventsRewound(cursor.number, last)
    if head is None:
        return
    if cursor.number < head.dropped_through:
        raise EventsExpired(cursor.number, head.dropped_through)
    at_end = cursor.number == last
    stored = head.last_event_id if at_end else head.cursor_event_id
    # None: it is the last one that was dropped, or there is none because the number is 0.
    if stored is not None and cursor.event_id is not None and stored != cursor.event_id:
        raise EventsRewound(cursor.number, last)


async def _oldest(db: Database, account_id: UUID, head: JournalHead, kept: timedelta) -> int:
    """Return the number before the oldest event that a new reader gets.

    Events are kept a day longer than new readers see them, so that readers can continue.
    """
    too_old = await sql.last_number_before(db, account_id, kept=kept)
    return max(too_old, head.dropped_through)


async def _rows(
    db: Database,
    account_id: UUID,
    head: JournalHead,
    after: int,
    through: int,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    limit: int,
) -> Sequence[JournalEvent]:
    """Read the rows of a page, without a look at the days before the cursor where that is safe.

    It is safe if the numbers are complete, which can be seen when nothing is filtered out.
    """
    if after >= through:
        return []
    read_rows = partial(
        sql.read_journal,
        db,
        account_id,
        after=after,
        through=through,
        order_id=order_id,
        kinds=kinds,
        limit=limit,
    )
    if order_id is None and kinds is None and head.cursor_event_at is not None:
        rows = await read_rows(not_before=head.cursor_event_at - _DAY, not_after=head.now + _DAY)
        if len(rows) == min(limit, through - after) == rows[-1].number - after:
            return rows
    return await read_rows()
