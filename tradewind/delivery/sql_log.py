"""The statements that read deliveries for people: the log, what is pending, and health."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database

_SHORT = """
    id, event_id, event, purchase_order_id, attempt, trigger, outcome, final, late, status_code,
    error_code, error_message, started_at, duration_ms, next_attempt_at
"""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which attempts to list; None where it does not matter."""

    outcomes: Sequence[str] | None = None
    results: Sequence[str] | None = None
    events: Sequence[str] | None = None
    order_id: UUID | None = None
    event_id: UUID | None = None
    status_codes: Sequence[int] | None = None
    started_after: datetime | None = None
    started_before: datetime | None = None


async def list_attempts(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    wanted: Filters,
    *,
    below: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[asyncpg.Record]:
    """Attempts, the latest first. It never counts, and reads no further than it must."""
    return await db.fetch(
        f"""
        SELECT {_SHORT}
          FROM delivery_attempt
         WHERE subscription_id = $1
           AND account_id = $2
           AND ($3::text[] IS NULL OR outcome = ANY ($3))
           AND ($4::text[] IS NULL OR
                CASE WHEN NOT final THEN NULL
                     WHEN outcome IN ('delivered', 'cancelled') THEN outcome
                     ELSE 'failed' END = ANY ($4))
           AND ($5::text[] IS NULL OR event = ANY ($5))
           AND ($6::uuid IS NULL OR purchase_order_id = $6)
           AND ($7::uuid IS NULL OR event_id = $7)
           AND ($8::integer[] IS NULL OR status_code = ANY ($8))
           AND ($9::timestamptz IS NULL OR started_at >= $9)
           AND ($10::timestamptz IS NULL OR started_at < $10)
           AND ($11::timestamptz IS NULL OR started_at <= $11)
           AND ($11::timestamptz IS NULL OR (started_at, id) < ($11, $12::uuid))
         ORDER BY started_at DESC, id DESC
         LIMIT $13
        """,  # noqa: S608 - our own constants
        subscription_id,
        account_id,
        wanted.outcomes,
        wanted.results,
        wanted.events,
        wanted.order_id,
        wanted.event_id,
        wanted.status_codes,
        wanted.started_after,
        wanted.started_before,
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )


async def find_attempt(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    delivery_id: UUID,
    *,
    about: datetime,
    within: timedelta,
) -> asyncpg.Record | None:
    """One attempt with all that was sent and answered. Its id tells about when it was."""
    return await db.fetchrow(
        f"""
        SELECT {_SHORT}, url, sent_at, signature, response_head, response_body,
               (SELECT body FROM event WHERE event.id = a.event_id
                                         AND event.created_at = a.event_at) AS body
          FROM delivery_attempt AS a
         WHERE subscription_id = $1
           AND account_id = $2
           AND started_at BETWEEN $4::timestamptz - $5::interval AND $4::timestamptz + $5::interval
           AND id = $3
         ORDER BY started_at DESC
         LIMIT 1
        """,  # noqa: S608 - our own constants
        subscription_id,
        account_id,
        delivery_id,
        about,
        within,
    )


async def attempts_of(
    db: Database, account_id: UUID, subscription_id: UUID, event_id: UUID
) -> Sequence[asyncpg.Record]:
    """Every attempt to deliver one event to one subscription, the latest first."""
    return await db.fetch(
        f"""
        SELECT {_SHORT}
          FROM delivery_attempt
         WHERE subscription_id = $1 AND account_id = $2 AND event_id = $3
         ORDER BY started_at DESC, id DESC
         LIMIT 100
        """,  # noqa: S608 - our own constants
        subscription_id,
        account_id,
        event_id,
    )


async def list_pending(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    *,
    above: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[asyncpg.Record]:
    """Deliveries that are not over, by when they are due."""
    return await db.fetch(
        """
        SELECT q.id, q.event_id, e.type AS event, e.purchase_order_id, q.attempt, q.trigger,
               q.due_at, q.under_way
          FROM queued_delivery AS q
          LEFT JOIN event AS e ON e.id = q.event_id AND e.created_at = q.event_at
         WHERE q.subscription_id = $1
           AND q.account_id = $2
           AND q.is_pending
           AND ($3::timestamptz IS NULL OR (q.due_at, q.id) > ($3, $4::uuid))
         ORDER BY q.due_at, q.id
         LIMIT $5
        """,
        subscription_id,
        account_id,
        None if above is None else above[0],
        None if above is None else above[1],
        limit,
    )


async def find_queued(
    db: Database, account_id: UUID, subscription_id: UUID, event_id: UUID
) -> asyncpg.Record | None:
    """The queue's row of an event at a subscription; first one that will be sent, if there is."""
    return await db.fetchrow(
        """
        SELECT attempt, due_at, under_way, is_pending, cancel_reason
          FROM queued_delivery
         WHERE subscription_id = $1 AND account_id = $2 AND event_id = $3
         ORDER BY is_pending DESC, due_at, id
         LIMIT 1
        """,
        subscription_id,
        account_id,
        event_id,
    )


async def find_health(db: Database, subscription_id: UUID) -> asyncpg.Record | None:
    """How a receiver did lately: its state, and its attempts of the last day by hour."""
    return await db.fetchrow(
        """
        SELECT h.failing_since, h.failed, h.last_success_at, h.last_failure_at, h.concurrency,
               (SELECT coalesce(sum(delivered), 0)::bigint FROM subscription_hour AS c
                 WHERE c.subscription_id = $1 AND c.hour > tradewind_now() - interval '24 hours')
                   AS delivered,
               (SELECT coalesce(sum(c.failed), 0)::bigint FROM subscription_hour AS c
                 WHERE c.subscription_id = $1 AND c.hour > tradewind_now() - interval '24 hours')
                   AS failed_attempts,
               ARRAY(SELECT sum(bucket.n)::bigint
                       FROM subscription_hour AS c,
                            unnest(c.buckets) WITH ORDINALITY AS bucket (n, place)
                      WHERE c.subscription_id = $1
                        AND c.hour > tradewind_now() - interval '24 hours'
                      GROUP BY bucket.place
                      ORDER BY bucket.place) AS buckets,
               (SELECT count(*) FROM (SELECT 1 FROM queued_delivery AS q
                                       WHERE q.subscription_id = $1 AND q.is_pending
                                       LIMIT 10001) AS counted)
                   AS pending,
               (SELECT extract(epoch FROM tradewind_now() - q.due_at)::float
                  FROM queued_delivery AS q
                 WHERE q.subscription_id = $1 AND q.is_pending AND q.due_at <= tradewind_now()
                 ORDER BY q.due_at, q.id LIMIT 1) AS oldest_due_seconds
          FROM (SELECT 1) AS one
          LEFT JOIN subscription_health AS h ON h.subscription_id = $1
        """,
        subscription_id,
    )


async def list_queue(db: Database, *, limit: int) -> Sequence[asyncpg.Record]:
    """The queue by subscription: how much each has, about, and how long it has waited."""
    return await db.fetch(
        """
        WITH RECURSIVE waiting AS (
            (SELECT subscription_id FROM delivery_queue ORDER BY subscription_id LIMIT 1)
            UNION ALL
            SELECT (SELECT q.subscription_id
                      FROM delivery_queue AS q
                     WHERE q.subscription_id > waiting.subscription_id
                     ORDER BY q.subscription_id
                     LIMIT 1)
              FROM waiting
             WHERE waiting.subscription_id IS NOT NULL
        )
        SELECT waiting.subscription_id, s.account_id, s.url, counted.pending, first.due_at,
               h.failing_since, h.concurrency
          FROM waiting
          LEFT JOIN webhook_subscription AS s ON s.id = waiting.subscription_id
          LEFT JOIN subscription_health AS h ON h.subscription_id = waiting.subscription_id
         CROSS JOIN LATERAL (
               SELECT count(*) AS pending
                 FROM (SELECT 1 FROM queued_delivery AS q
                        WHERE q.subscription_id = waiting.subscription_id AND q.is_pending
                        LIMIT 10001) AS few
         ) AS counted
         CROSS JOIN LATERAL (
               SELECT q.due_at FROM queued_delivery AS q
                WHERE q.subscription_id = waiting.subscription_id AND q.is_pending
                ORDER BY q.due_at, q.id LIMIT 1) AS first
         WHERE waiting.subscription_id IS NOT NULL
         ORDER BY first.due_at
         LIMIT $1
        """,
        limit,
    )


async def insert_test(db: Database, values: Sequence[object]) -> None:
    """Log a test delivery."""
    await db.execute(
        """
        INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event, attempt,
                                      trigger, outcome, final, status_code, error_code,
                                      error_message, started_at, duration_ms, url, sent_at,
                                      signature, response_head, response_body)
        VALUES ($1, $2, $3, $4, $5, 1, 'test', $6, true, $7, $8, $9,
                tradewind_now() - make_interval(secs => $10::integer / 1000.0), $10::integer,
                $11, $12, $13, $14, $15)
        """,
        *values,
    )


async def delete_old_hours(db: Database, *, kept: timedelta) -> None:
    """Delete counts that nobody looks at any more, and the health of what was deleted.

    An attempt that was under way when its subscription was deleted is still counted at its end.
    """
    await db.execute(
        "DELETE FROM subscription_hour WHERE hour < tradewind_now() - $1::interval", kept
    )
    await db.execute(
        """
        DELETE FROM subscription_health AS h
         WHERE NOT EXISTS (SELECT 1 FROM webhook_subscription AS s WHERE s.id = h.subscription_id)
        """
    )


async def find_event(db: Database, account_id: UUID, event_id: UUID) -> asyncpg.Record | None:
    return await db.fetchrow(
        "SELECT id, type, created_at FROM event WHERE account_id = $1 AND id = $2",
        account_id,
        event_id,
    )


async def now(db: Database) -> datetime:
    moment: datetime = await db.fetchval("SELECT tradewind_now()")
    return moment
