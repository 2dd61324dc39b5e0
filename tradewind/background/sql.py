"""The statements of background work: who does which chore."""

from datetime import timedelta

from tradewind.storage.pool import Database


async def take_chore(db: Database, name: str, *, every: timedelta) -> bool:
    """Whether the chore was due and is now ours; it is due again after `every`."""
    took = await db.fetchval(
        """
        INSERT INTO scheduled_task AS c (name, due_at)
        VALUES ($1, tradewind_now() + $2::interval)
        ON CONFLICT (name) DO UPDATE
           SET due_at = excluded.due_at
         WHERE c.due_at <= tradewind_now()
        RETURNING true
        """,
        name,
        every,
    )
    return took is not None
