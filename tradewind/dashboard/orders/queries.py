"""The statements behind an order's page: where each of its events was delivered."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def kinds_of(
    db: Database, account_id: UUID, events: Sequence[UUID], *, since: datetime
) -> dict[UUID, str]:
    """What kind each event is; those that are no longer kept are left out."""
    found = await db.fetch(
        """
        SELECT id, type
          FROM event
         WHERE account_id = $1
           AND id = ANY ($2::uuid[])
           AND created_at >= $3::timestamptz
        """,
        account_id,
        events,
        since,
    )
    return {row["id"]: row["type"] for row in found}


async def last_attempts(
    db: Database, account_id: UUID, events: Sequence[UUID], times: Sequence[datetime]
) -> Sequence[asyncpg.Record]:
    """The last attempt to deliver each event to each webhook; an event's time spares older days."""
    return await db.fetch(
        """
        SELECT asked.event_id, w.id AS webhook_id, w.url, last.id AS delivery_id, last.attempt,
               last.outcome, last.final, last.status_code, last.error_message, last.started_at
          FROM webhook_subscription AS w
         CROSS JOIN unnest($2::uuid[], $3::timestamptz[]) AS asked (event_id, at)
         CROSS JOIN LATERAL (
               SELECT a.id, a.attempt, a.outcome, a.final, a.status_code, a.error_message,
                      a.started_at
                 FROM delivery_attempt AS a
                WHERE a.subscription_id = w.id
                  AND a.event_id = asked.event_id
                  AND a.started_at >= asked.at - interval '1 minute'
                ORDER BY a.started_at DESC, a.id DESC
                LIMIT 1) AS last
         WHERE w.account_id = $1
        """,
        account_id,
        events,
        times,
    )


async def still_waiting(
    db: Database, account_id: UUID, events: Sequence[UUID]
) -> Sequence[asyncpg.Record]:
    """What of these events is still to be delivered, and to whom."""
    return await db.fetch(
        """
        SELECT q.event_id, w.id AS webhook_id, w.url, q.attempt, q.due_at,
               q.under_way
          FROM webhook_subscription AS w
          JOIN queued_delivery AS q ON q.subscription_id = w.id
         WHERE w.account_id = $1
           AND q.is_pending
           AND q.event_id = ANY ($2::uuid[])
        """,
        account_id,
        events,
    )
