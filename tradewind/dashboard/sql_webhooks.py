"""The statements that only the pages about webhooks need: attempts by hour, and recoveries."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def attempts_by_hour(
    db: Database, account_id: UUID, subscription_id: UUID
) -> Sequence[asyncpg.Record]:
    """The last 24 hours, oldest first, each with its attempts; hours without any are there too."""
    return await db.fetch(
        """
        SELECT span.hour, coalesce(c.delivered, 0) AS delivered, coalesce(c.failed, 0) AS failed
          FROM generate_series(date_trunc('hour', tradewind_now()) - interval '23 hours',
                               date_trunc('hour', tradewind_now()),
                               interval '1 hour') AS span (hour)
          LEFT JOIN webhook_subscription AS s ON s.id = $2 AND s.account_id = $1
          LEFT JOIN subscription_hour AS c ON c.subscription_id = s.id AND c.hour = span.hour
         ORDER BY span.hour
        """,
        account_id,
        subscription_id,
    )


async def list_jobs(
    db: Database, account_id: UUID, subscription_id: UUID, *, limit: int
) -> Sequence[asyncpg.Record]:
    """Recoveries of a subscription, newest first."""
    return await db.fetch(
        """
        SELECT id, status, trigger, since, until, total, queued, delivered, failed, created_at,
               ended_at
          FROM recover_job
         WHERE subscription_id = $2 AND account_id = $1
         ORDER BY id DESC
         LIMIT $3
        """,
        account_id,
        subscription_id,
        limit,
    )
