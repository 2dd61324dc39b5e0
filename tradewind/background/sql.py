"""The statement by which one process claims a scheduled task."""

from datetime import timedelta

from tradewind.storage.pool import Database


async def claim_task(db: Database, name: str, *, every: timedelta) -> bool:
    """Whether the task was due and is now ours; it is due again after `every`."""
    claimed = await db.fetchval(
        """
        INSERT INTO scheduled_task AS task (name, due_at)
        VALUES ($1, tradewind_now() + $2::interval)
        ON CONFLICT (name) DO UPDATE
           SET due_at = excluded.due_at
         WHERE task.due_at <= tradewind_now()
        RETURNING true
        """,
        name,
        every,
    )
    return claimed is not None
