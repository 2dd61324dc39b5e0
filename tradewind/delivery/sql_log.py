"""The statements that read deliveries for people: the log, what is pending, and health."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from tradewind.delivery.model import (
    AttemptDetail,
    DeliveryTrigger,
    LoggedAttempt,
    PendingDelivery,
    QueuedDelivery,
    QueuedSubscription,
)
from tradewind.egress.result import Outcome
from tradewind.storage.pool import Database

# The columns of a LoggedAttempt, under the names of its fields.
_ATTEMPT = """
    id, subscription_id, event_id, event, purchase_order_id AS order_id, attempt, trigger, outcome,
    final, late, status_code, error_code, error_message, started_at, duration_ms, next_attempt_at
"""


def _columns(row: asyncpg.Record) -> dict[str, Any]:
    return {**row, "trigger": DeliveryTrigger(row["trigger"]), "outcome": Outcome(row["outcome"])}


def _attempts(rows: Sequence[asyncpg.Record]) -> Sequence[LoggedAttempt]:
    return [LoggedAttempt(**_columns(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class AttemptFilters:
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
    filters: AttemptFilters,
    *,
    below: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[LoggedAttempt]:
    """Attempts, the latest first. It never counts, and reads no further than it must."""
    rows = await db.fetch(
        f"""
        SELECT {_ATTEMPT}
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
        filters.outcomes,
        filters.results,
        filters.events,
        filters.order_id,
        filters.event_id,
        filters.status_codes,
        filters.started_after,
        filters.started_before,
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )
    return _attempts(rows)


async def find_attempt(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    delivery_id: UUID,
    *,
    about: datetime,
    within: timedelta,
) -> AttemptDetail | None:
    """One attempt with all that was sent and answered. Its id tells about when it was."""
    row = await db.fetchrow(
        f"""
        SELECT {_ATTEMPT}, url, sent_at, signature, more_headers, response_head, response_body,
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
    return None if row is None else AttemptDetail(**_columns(row))


async def list_attempts_of_event(
    db: Database, account_id: UUID, subscription_ids: Sequence[UUID], event_id: UUID
) -> Sequence[LoggedAttempt]:
    """The attempts to deliver one event to these subscriptions, the latest first.

    At most 100 of each subscription.
    """
    rows = await db.fetch(
        f"""
        SELECT attempt.*
          FROM unnest($1::uuid[]) AS subscription (id)
         CROSS JOIN LATERAL (
               SELECT {_ATTEMPT}
                 FROM delivery_attempt
                WHERE subscription_id = subscription.id AND account_id = $2 AND event_id = $3
                ORDER BY started_at DESC, id DESC
                LIMIT 100) AS attempt
         ORDER BY attempt.started_at DESC, attempt.id DESC
        """,  # noqa: S608 - our own constants
        subscription_ids,
        account_id,
        event_id,
    )
    return _attempts(rows)


async def list_pending(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    *,
    below: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[PendingDelivery]:
    """Deliveries that are not over, by when they are due."""
    rows = await db.fetch(
        """
        SELECT q.id, q.event_id, e.type AS event, e.purchase_order_id AS order_id, q.attempt,
               q.trigger, q.due_at, q.under_way
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
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )
    return [PendingDelivery(**row) for row in rows]


async def list_queued_of_event(
    db: Database, account_id: UUID, subscription_ids: Sequence[UUID], event_id: UUID
) -> Sequence[QueuedDelivery]:
    """The queue's row of an event for each of these subscriptions that has one.

    A row that will be sent comes before one that is cancelled.
    """
    rows = await db.fetch(
        """
        SELECT DISTINCT ON (subscription_id)
               subscription_id, attempt, due_at, under_way, cancel_reason
          FROM queued_delivery
         WHERE subscription_id = ANY ($1::uuid[]) AND account_id = $2 AND event_id = $3
         ORDER BY subscription_id, is_pending DESC, due_at, id
        """,
        subscription_ids,
        account_id,
        event_id,
    )
    return [QueuedDelivery(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class HealthCounts:
    """What is known of an endpoint: its attempts of the last day, and its queue."""

    subscription_id: UUID
    failing_since: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    concurrency: int | None
    delivered: int
    failed: int
    buckets: Sequence[int]
    pending: int
    oldest_due_seconds: float | None


async def list_health(db: Database, subscription_ids: Sequence[UUID]) -> Sequence[HealthCounts]:
    """How the endpoints of these subscriptions did in the last day, in one statement."""
    rows = await db.fetch(
        """
        SELECT subscription.id AS subscription_id, h.failing_since, h.last_success_at,
               h.last_failure_at, h.concurrency, hours.delivered, hours.failed,
               ARRAY(SELECT sum(bucket.n)::bigint
                       FROM subscription_hour AS c,
                            unnest(c.buckets) WITH ORDINALITY AS bucket (n, place)
                      WHERE c.subscription_id = subscription.id
                        AND c.hour > tradewind_now() - interval '24 hours'
                      GROUP BY bucket.place
                      ORDER BY bucket.place) AS buckets,
               (SELECT count(*) FROM (SELECT 1 FROM queued_delivery AS q
                                       WHERE q.subscription_id = subscription.id AND q.is_pending
                                       LIMIT 10001) AS counted) AS pending,
               (SELECT extract(epoch FROM tradewind_now() - q.due_at)::float
                  FROM queued_delivery AS q
                 WHERE q.subscription_id = subscription.id
                   AND q.is_pending
                   AND q.due_at <= tradewind_now()
                 ORDER BY q.due_at, q.id LIMIT 1) AS oldest_due_seconds
          FROM unnest($1::uuid[]) AS subscription (id)
          LEFT JOIN subscription_health AS h ON h.subscription_id = subscription.id
         CROSS JOIN LATERAL (
               SELECT coalesce(sum(c.delivered), 0)::bigint AS delivered,
                      coalesce(sum(c.failed), 0)::bigint AS failed
                 FROM subscription_hour AS c
                WHERE c.subscription_id = subscription.id
                  AND c.hour > tradewind_now() - interval '24 hours') AS hours
        """,
        subscription_ids,
    )
    return [HealthCounts(**row) for row in rows]


async def list_queue(db: Database, *, limit: int) -> Sequence[QueuedSubscription]:
    """The queue by subscription: how much each has, about, and how long it has waited."""
    rows = await db.fetch(
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
    return [QueuedSubscription(**row) for row in rows]


async def new_delivery_id(db: Database) -> UUID:
    """An id that contains the time of the database, by which an attempt is found."""
    delivery_id: UUID = await db.fetchval("SELECT tradewind_uuid7()")
    return delivery_id


async def insert_test(db: Database, values: Sequence[object]) -> None:
    """Log a test delivery."""
    await db.execute(
        """
        INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event, attempt,
                                      trigger, outcome, final, status_code, error_code,
                                      error_message, started_at, duration_ms, url, sent_at,
                                      signature, more_headers, response_head, response_body)
        VALUES ($1, $2, $3, $4, $5, 1, 'test', $6, true, $7, $8, $9,
                tradewind_now() - make_interval(secs => $10::integer / 1000.0), $10::integer,
                $11, $12, $13, $14, $15, $16)
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


async def find_event(
    db: Database, account_id: UUID, event_id: UUID
) -> tuple[str, datetime, bytes] | None:
    """The type of an event, when it was created, and its body."""
    row = await db.fetchrow(
        "SELECT type, created_at, body FROM event WHERE account_id = $1 AND id = $2",
        account_id,
        event_id,
    )
    return None if row is None else (row["type"], row["created_at"], row["body"])
