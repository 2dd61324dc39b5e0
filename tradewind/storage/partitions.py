"""Partitions by day: made well ahead by every process, dropped when nobody may need them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from tradewind.observability.logs import log
from tradewind.storage import sql
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

PARENTS: Sequence[str] = ("event", "delivery_attempt")
AHEAD_DAYS = 14


async def make_ahead(db: Database) -> None:
    """Make the partitions of the next fortnight where they are missing; one process at a time."""
    for parent in PARENTS:
        if await sql.has_partition(db, parent, days=AHEAD_DAYS):
            continue
        async with transaction(db) as tx:
            await sql.make_partitions(tx, parent, ahead=AHEAD_DAYS)
        log.info("partitions.made", table=parent)


async def reach_tomorrow(db: Database) -> bool:
    """Whether the partitions of tomorrow are there. Without them no order could change then."""
    return all([await sql.has_partition(db, parent, days=1) for parent in PARENTS])


async def drop_old(
    db: Database,
    parent: str,
    kept: timedelta,
    *,
    before: Callable[[datetime], Awaitable[None]] | None = None,
) -> None:
    """Drop the days that lie wholly before what is kept. Nobody who writes has to wait for it.

    `before` is called with each day right before it is dropped.
    """
    oldest = await sql.today(db) - kept
    for name in await sql.list_partitions(db, parent):
        day = datetime.strptime(name.rpartition("_")[2], "%Y%m%d").replace(tzinfo=UTC)
        if day + timedelta(days=1) <= oldest:
            if before is not None:
                await before(day)
            await sql.drop_partition(db, parent, name)
            log.info("partition.dropped", table=parent, partition=name)
            await asyncio.sleep(0)
