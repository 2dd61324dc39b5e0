"""Grows the journal: append, read the oldest and the newest page, deliver, and drop a day."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from uuid import UUID

from bench.appender import Appender
from bench.growth import deliveries, sql_fill
from bench.growth.model import Figure
from bench.growth.series import JOURNAL_ROWS, Effort
from bench.growth.stage import Site
from tradewind.events import read, retention
from tradewind.events.read import Cursor

APPEND = "append an event"
_PAGE = 100
_KEPT = timedelta(days=sql_fill.DAYS)
_ACCOUNTS = 10
# How many days less than all are kept at each call. The first call, which is not counted, drops
# the oldest day too, which is not whole.
_DROPPED_AFTER = (3, 4, 5, 6, 7)


async def measure(site: Site, size: int, effort: Effort) -> AsyncIterator[Figure]:
    """The rows are of ten accounts, over the 30 days that the journal is kept."""
    account_id = site.template.account_id
    await site.subscribe(f"{site.endpoints.metered}/0")
    await _fill(site, size)
    appender = Appender(site.db, [account_id])
    measured = partial(site.meter.measure, JOURNAL_ROWS, size)
    often = partial(measured, times=effort.times, at_most=effort.seconds, rounds=effort.rounds)
    newest = await _cursor(site, account_id, _PAGE)

    async def read_page(cursor: Cursor | None) -> None:
        page = await read.read(
            site.db, account_id, cursor, order_id=None, kinds=None, limit=_PAGE, kept=_KEPT
        )
        if len(page.events) != _PAGE:
            raise RuntimeError(f"A page had {len(page.events)} events.")

    yield await often("read the oldest page of 100", lambda: read_page(None))
    yield await often("read the newest page of 100", lambda: read_page(newest))
    yield await often(APPEND, appender.append)
    await site.connection.execute("TRUNCATE delivery_queue")  # what was appended above
    async for figure in deliveries.deliver(site, JOURNAL_ROWS, size, effort):
        yield figure
    days = iter(_DROPPED_AFTER)

    async def drop_day() -> None:
        await retention.drop_old(site.db, kept=_KEPT - timedelta(days=next(days)))

    yield await measured("drop a day of the journal", drop_day, times=2, at_most=60.0)


async def _fill(site: Site, size: int) -> None:
    """Give the account and nine others their events."""
    await sql_fill.copy_rows(
        site.connection,
        "account",
        f"t.id = '{site.template.account_id}'",
        _ACCOUNTS - 1,
        {"id": "tradewind_uuid7()", "email": "g || '@growth.example'"},
    )
    rows = await site.connection.fetch(
        "SELECT id FROM account WHERE roles = '{buyer}' ORDER BY id LIMIT $1", _ACCOUNTS
    )
    await site.connection.execute("TRUNCATE event, journal_head, delivery_queue")
    await sql_fill.fill_journal(site.url, [row["id"] for row in rows], size)
    await sql_fill.settle(site.connection, "event")


async def _cursor(site: Site, account_id: UUID, left: int) -> Cursor:
    """The cursor that `left` events of the account follow."""
    row = await site.connection.fetchrow(
        """
        SELECT number, id
          FROM event
         WHERE account_id = $1
         ORDER BY number DESC
         LIMIT 1 OFFSET $2
        """,
        account_id,
        left,
    )
    if row is None:
        raise RuntimeError("The journal is too short.")
    return Cursor(row["number"], row["id"])
