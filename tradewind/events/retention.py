"""Drops the events of old days, and remembers for each account up to which number they are gone."""

from datetime import datetime, timedelta

from tradewind.events import sql
from tradewind.storage import partitions
from tradewind.storage.pool import Database

# Extra time for readers who start at the oldest event.
_LONGER = timedelta(days=1)


async def drop_old(db: Database, *, kept: timedelta) -> None:
    """Drop the days that lie wholly before what is kept.

    What is dropped is recorded first: a cursor expires rather than skips an event.
    """

    async def record(day: datetime) -> None:
        await sql.record_dropped(db, since=day, until=day + timedelta(days=1))

    await partitions.drop_old(db, "event", kept + _LONGER, before=record)
