"""The statements of the hold on deliveries; `due_subscriptions` finds nothing while it lasts."""

from datetime import datetime
from typing import NamedTuple

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


class Hold(NamedTuple):
    """Since when deliveries are held, and why."""

    since: datetime
    reason: str


class HeldQueue(NamedTuple):
    """What waits in the queue."""

    deliveries: int
    webhooks: int
    oldest_event_at: datetime | None


async def find_hold(db: Database) -> Hold | None:
    row = await db.fetchrow("SELECT since, reason FROM delivery_hold")
    return None if row is None else Hold(*row)


async def begin_hold(tx: Tx, reason: str) -> bool:
    """Return False if deliveries are held already; the first reason stays."""
    begun = await tx.fetchval(
        """
        INSERT INTO delivery_hold (since, reason)
        VALUES (tradewind_now(), $1)
            ON CONFLICT DO NOTHING
        RETURNING true
        """,
        reason,
    )
    return begun is not None


async def end_hold(tx: Tx) -> bool:
    ended = await tx.fetchval("DELETE FROM delivery_hold RETURNING true")
    return ended is not None


async def count_queue(db: Database) -> HeldQueue:
    [row] = await db.fetch(
        """
        SELECT count(*), count(DISTINCT subscription_id), min(event_at)
          FROM delivery_queue
        """
    )
    return HeldQueue(*row)
