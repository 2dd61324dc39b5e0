"""The statement that only the pages about webhooks need: attempts by hour."""

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
