"""The statements of the overview. None of them reads the log of attempts, and each is bounded."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def count_attempts(
    db: Database, account_id: UUID, *, hours: int, step: timedelta
) -> Sequence[asyncpg.Record]:
    """Attempts to reach an account's receivers by time and outcome, from the counts by hour.

    There is a row for every step, the last of which holds the present hour: one without an
    attempt has no outcomes. `outcomes` are in the order of `COUNTED` in delivery/model.py.
    """
    return await db.fetch(
        """
        WITH steps AS (
            SELECT begins
              FROM generate_series(
                       date_bin($3::interval, tradewind_now(), 'epoch')
                           - make_interval(hours => $2) + $3::interval,
                       tradewind_now(), $3::interval) AS begins
        ),
        hours AS (
            SELECT date_bin($3::interval, h.hour, 'epoch') AS begins, h.outcomes, h.buckets
              FROM webhook_subscription AS s
              JOIN subscription_hour AS h ON h.subscription_id = s.id
             WHERE s.account_id = $1
               AND h.hour >= (SELECT min(begins) FROM steps)
        ),
        added AS (
            SELECT hours.begins, counted.place, sum(counted.outcome)::bigint AS outcome,
                   sum(counted.bucket)::bigint AS bucket
              FROM hours,
                   unnest(hours.outcomes, hours.buckets)
                       WITH ORDINALITY AS counted (outcome, bucket, place)
             GROUP BY hours.begins, counted.place
        ),
        gathered AS (
            SELECT added.begins,
                   array_agg(outcome ORDER BY place) FILTER (WHERE outcome IS NOT NULL) AS outcomes,
                   array_agg(bucket ORDER BY place) FILTER (WHERE bucket IS NOT NULL) AS buckets
              FROM added
             GROUP BY added.begins
        )
        SELECT steps.begins, coalesce(outcomes, '{}') AS outcomes,
               coalesce(buckets, '{}') AS buckets
          FROM steps
          LEFT JOIN gathered ON gathered.begins = steps.begins
         ORDER BY steps.begins
        """,
        account_id,
        hours,
        step,
    )


async def count_pending(db: Database, account_id: UUID, *, most: int) -> tuple[int, float | None]:
    """How much waits for an account's receivers, up to `most`, and how long the oldest is due."""
    row = await db.fetchrow(
        """
        SELECT (SELECT count(*)
                  FROM (SELECT 1
                          FROM webhook_subscription AS s
                          JOIN queued_delivery AS q ON q.subscription_id = s.id
                         WHERE s.account_id = $1 AND q.is_pending
                         LIMIT $2) AS some_of_it) AS pending,
               (SELECT extract(epoch FROM tradewind_now() - min(first.due_at))::float
                  FROM webhook_subscription AS s
                 CROSS JOIN LATERAL (SELECT q.due_at
                                       FROM queued_delivery AS q
                                      WHERE q.subscription_id = s.id
                                        AND q.is_pending
                                        AND q.due_at <= tradewind_now()
                                      ORDER BY q.due_at, q.id
                                      LIMIT 1) AS first
                 WHERE s.account_id = $1) AS oldest_due_seconds
        """,
        account_id,
        most,
    )
    return (0, None) if row is None else (row["pending"], row["oldest_due_seconds"])


async def count_orders(
    db: Database, account_id: UUID, statuses: Sequence[str], *, most: int
) -> dict[str, int]:
    """How many orders have each of these statuses, counted up to `most`."""
    rows = await db.fetch(
        """
        SELECT wanted.status, counted.orders
          FROM unnest($2::text[]) AS wanted (status)
         CROSS JOIN LATERAL (
               SELECT count(*) AS orders
                 FROM (SELECT 1
                         FROM purchase_order AS o
                        WHERE o.account_id = $1 AND o.status = wanted.status
                        LIMIT $3) AS some_of_them) AS counted
        """,
        account_id,
        statuses,
        most,
    )
    return {row["status"]: row["orders"] for row in rows}


async def count_payments_waiting(db: Database, account_id: UUID) -> tuple[int, datetime | None]:
    """How many payments of an account wait for an approval, and since when the first does."""
    row = await db.fetchrow(
        """
        SELECT count(*) AS waiting, min(requested_at) AS since
          FROM (SELECT requested_at
                  FROM payment_request
                 WHERE account_id = $1 AND status = 'pending_approval'
                 LIMIT 10001) AS some_of_them
        """,
        account_id,
    )
    return (0, None) if row is None else (row["waiting"], row["since"])


async def count_payments_to_decide(db: Database, account_id: UUID, *, most: int) -> int:
    """How many payments wait for an approval that this account may give, up to `most`."""
    waiting: int = await db.fetchval(
        """
        SELECT count(*)
          FROM (SELECT 1
                  FROM payment_request
                 WHERE status = 'pending_approval' AND requested_by <> $1
                 LIMIT $2) AS some_of_them
        """,
        account_id,
        most,
    )
    return waiting


async def count_receivers(db: Database) -> asyncpg.Record | None:
    """How many receivers of all accounts are active, fail, or were switched off for it."""
    return await db.fetchrow(
        """
        SELECT count(*) FILTER (WHERE s.is_active) AS active,
               count(*) FILTER (WHERE s.disabled_reason IS NULL
                                  AND h.failing_since IS NOT NULL) AS failing,
               count(*) FILTER (WHERE s.disabled_reason IS NOT NULL) AS disabled
          FROM webhook_subscription AS s
          LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
        """
    )


async def find_steps(db: Database, account_id: UUID) -> asyncpg.Record | None:
    """Which of the first steps an account has done; None: it wants to see them no more."""
    return await db.fetchrow(
        """
        SELECT EXISTS (SELECT FROM api_key WHERE account_id = $1) AS has_key,
               EXISTS (SELECT FROM api_key
                        WHERE account_id = $1 AND last_used_at IS NOT NULL) AS used_key,
               EXISTS (SELECT FROM webhook_subscription WHERE account_id = $1) AS subscribed,
               EXISTS (SELECT FROM webhook_subscription AS s
                         JOIN subscription_health AS h ON h.subscription_id = s.id
                        WHERE s.account_id = $1 AND h.last_success_at IS NOT NULL) AS delivered,
               EXISTS (SELECT FROM purchase_order WHERE account_id = $1) AS ordered,
               EXISTS (SELECT FROM payment_request
                        WHERE account_id = $1
                          AND status IN ('approved', 'processing', 'paid', 'failed')) AS approved
          FROM account
         WHERE id = $1 AND steps_dismissed_at IS NULL
        """,
        account_id,
    )


async def dismiss_steps(db: Database, account_id: UUID) -> None:
    await db.execute(
        """
        UPDATE account
           SET steps_dismissed_at = tradewind_now()
         WHERE id = $1 AND steps_dismissed_at IS NULL
        """,
        account_id,
    )
