"""The statement of the webhook page: attempts by hour."""

from collections.abc import Sequence
from uuid import UUID

from tradewind.dashboard.shell.charts import HourCounts
from tradewind.storage.pool import Database


async def attempts_by_hour(
    db: Database, account_id: UUID, subscription_id: UUID
) -> Sequence[HourCounts]:
    """The attempts of the last 24 hours, by hour, oldest first."""
    rows = await db.fetch(
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
    return [HourCounts(**row) for row in rows]
