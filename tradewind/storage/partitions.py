"""Partitions by day: created two weeks ahead, dropped when their retention is over."""

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
    """Create the missing partitions of the next two weeks; one process at a time."""
    for parent in PARENTS:
        if await sql.has_partition(db, parent, days=AHEAD_DAYS):
            continue
        async with transaction(db) as tx:
            await sql.make_partitions(tx, parent, ahead=AHEAD_DAYS)
        log.info("partitions.made", table=parent)


async def reach_tomorrow(db: Database) -> bool:
    """Whether tomorrow's partitions exist. Without them no order could change tomorrow."""
    return all([await sql.has_partition(db, parent, days=1) for parent in PARENTS])


async def drop_old(
    db: Database,
    parent: str,
    kept: timedelta,
    *,
    before: Callable[[datetime], Awaitable[None]] | None = None,
) -> None:
    """Drop the partitions of days that are older than `kept`, without blocking writers.

    `before` is called with each day right before its partition is dropped.
    """
    oldest = await sql.now(db) - kept
    for name in await sql.list_partitions(db, parent):
        day = datetime.strptime(name.rpartition("_")[2], "%Y%m%d").replace(tzinfo=UTC)
        if day + timedelta(days=1) <= oldest:
            if before is not None:
                await before(day)
            await sql.drop_partition(db, parent, name)
            log.info("partition.dropped", table=parent, partition=name)
            await asyncio.sleep(0)
