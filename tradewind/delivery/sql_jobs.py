"""The statements of recovery: what was missed, jobs that deliver it again, and their progress."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_JOB = """
    id, account_id, subscription_id, status, trigger, since, until, purchase_order_id, everything,
    total, queued, delivered, failed, at_time, at_event, created_at, ended_at
"""

# Events of a window that the subscription wants and, unless everything is asked for, that were
# never delivered to it and are not about to be.
_MISSED = """
       e.account_id = $1
   AND e.created_at >= $3
   AND e.created_at < $4
   AND ($5::uuid IS NULL OR e.purchase_order_id = $5)
   AND e.type = ANY ((SELECT s.events FROM webhook_subscription AS s WHERE s.id = $2)::text[])
   AND ($6 OR (NOT EXISTS (SELECT 1
                             FROM delivery_attempt AS a
                            WHERE a.subscription_id = $2
                              AND a.event_id = e.id
                              AND a.outcome = 'delivered')
               AND NOT EXISTS (SELECT 1
                                 FROM queued_delivery AS q
                                WHERE q.subscription_id = $2
                                  AND q.event_id = e.id
                                  AND q.cancel_reason IS NULL)))
"""


async def count_missed(
    db: Database | Tx,
    account_id: UUID,
    subscription_id: UUID,
    *,
    since: datetime,
    until: datetime,
    order_id: UUID | None,
    everything: bool,
) -> int:
    count: int = await db.fetchval(
        f"SELECT count(*) FROM event AS e WHERE {_MISSED}",  # noqa: S608 - our own constants
        account_id,
        subscription_id,
        since,
        until,
        order_id,
        everything,
    )
    return count


async def insert_job(
    tx: Tx,
    job_id: UUID,
    account_id: UUID,
    subscription_id: UUID,
    *,
    trigger: str,
    since: datetime,
    until: datetime,
    order_id: UUID | None,
    everything: bool,
    total: int,
) -> UUID | None:
    """Begin a job, or extend the one at hand: its id.

    None for one that is asked for while another runs, and for one that would begin by itself for
    failures that were made good, or are being. A job that began by itself and is not over is
    extended instead of begun again: it goes back to where the new failures begin, since what it
    passed over as pending may have failed for good after that.
    """
    found: UUID | None = await tx.fetchval(
        """
        INSERT INTO recover_job AS job (id, account_id, subscription_id, status, trigger, since,
                                        until, latest_since, purchase_order_id, everything, total,
                                        next_at, created_at)
        SELECT $1::uuid, $2::uuid, $3::uuid, 'running', $4::text, $5::timestamptz,
               $6::timestamptz, CASE WHEN $4 = 'catch_up' THEN $5::timestamptz END, $7::uuid,
               $8::boolean, $9::bigint, tradewind_now(), tradewind_now()
         WHERE NOT EXISTS (SELECT 1
                             FROM recover_job
                            WHERE subscription_id = $3
                              AND CASE $4 WHEN 'catch_up' THEN latest_since >= $5
                                          ELSE status = 'running' END)
        ON CONFLICT (subscription_id, trigger) WHERE status = 'running' DO UPDATE
           SET since = least(job.since, excluded.since),
               until = greatest(job.until, excluded.until),
               latest_since = excluded.since,
               at_event = CASE WHEN job.at_time > excluded.since
                               THEN '00000000-0000-0000-0000-000000000000'::uuid
                               ELSE job.at_event END,
               at_time = least(job.at_time, excluded.since),
               next_at = tradewind_now(),
               lease_until = 'epoch'
         WHERE job.trigger = 'catch_up' AND job.latest_since < excluded.since
        RETURNING id
        """,
        job_id,
        account_id,
        subscription_id,
        trigger,
        since,
        until,
        order_id,
        everything,
        total,
    )
    return found


async def those_that_catch_up(
    db: Database, subscriptions: Sequence[UUID]
) -> Sequence[asyncpg.Record]:
    """Of these subscriptions those that catch up by themselves: since when they fail, if they do.

    And what time it is.
    """
    return await db.fetch(
        """
        SELECT s.id, s.account_id, h.failing_since, tradewind_now() AS now
          FROM webhook_subscription AS s
          LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
         WHERE s.id = ANY ($1::uuid[]) AND s.catch_up
        """,
        subscriptions,
    )


async def find_job(
    db: Database, account_id: UUID, subscription_id: UUID, job_id: UUID
) -> asyncpg.Record | None:
    return await db.fetchrow(
        f"""
        SELECT {_JOB}
          FROM recover_job
         WHERE account_id = $1 AND subscription_id = $2 AND id = $3
        """,  # noqa: S608 - our own constants
        account_id,
        subscription_id,
        job_id,
    )


async def cancel_job(tx: Tx, account_id: UUID, subscription_id: UUID, job_id: UUID) -> bool:
    """End a job, and have what it queued end unsent; whether there is such a job.

    What ends so counts as failed, of a job that has queued everything too.
    """
    found = await tx.fetchval(
        """
        UPDATE recover_job
           SET status = CASE WHEN status = 'running' THEN 'cancelled' ELSE status END,
               ended_at = coalesce(ended_at, tradewind_now())
         WHERE account_id = $1 AND subscription_id = $2 AND id = $3
        RETURNING true
        """,
        account_id,
        subscription_id,
        job_id,
    )
    if found is None:
        return False
    await tx.execute(
        """
        WITH unsent AS (
            DELETE FROM delivery_queue
             WHERE id = ANY (ARRAY(SELECT id
                                     FROM delivery_queue
                                    WHERE job_id = $1 AND lease_until <= tradewind_now()
                                      FOR UPDATE SKIP LOCKED))
            RETURNING account_id, subscription_id, event_id, event_at, event, purchase_order_id,
                      attempt, trigger
        ),
        counted AS (
            UPDATE recover_job
               SET failed = failed + (SELECT count(*) FROM unsent)
             WHERE id = $1
        )
        INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at, event,
                                      purchase_order_id, attempt, trigger, outcome, final,
                                      error_code, error_message, started_at)
        SELECT tradewind_uuid7(), account_id, subscription_id, event_id, event_at, event,
               purchase_order_id, attempt, trigger, 'cancelled', true, 'recover_cancelled',
               'The recovery that it belonged to was cancelled.', tradewind_now()
          FROM unsent
        """,
        job_id,
    )
    return True


async def cancelled(db: Database, job_ids: Collection[UUID]) -> frozenset[UUID]:
    """Those of these jobs that were cancelled: what they queued is not sent any more."""
    rows = await db.fetch(
        "SELECT id FROM recover_job WHERE id = ANY ($1::uuid[]) AND status = 'cancelled'",
        list(job_ids),
    )
    return frozenset(row["id"] for row in rows)


async def take_job(db: Database, *, lease: timedelta) -> asyncpg.Record | None:
    """A running job that is due and that nobody else feeds now; those that were asked for first."""
    return await db.fetchrow(
        f"""
        UPDATE recover_job
           SET lease_until = tradewind_now() + $1::interval
         WHERE id = (SELECT job.id
                       FROM recover_job AS job
                      WHERE job.status = 'running'
                        AND job.next_at <= tradewind_now()
                        AND job.lease_until <= tradewind_now()
                        AND (job.trigger = 'request'
                             OR NOT EXISTS (SELECT 1
                                              FROM recover_job AS other
                                             WHERE other.subscription_id = job.subscription_id
                                               AND other.trigger = 'request'
                                               AND other.status = 'running'))
                      ORDER BY job.next_at
                      LIMIT 1
                        FOR UPDATE SKIP LOCKED)
        RETURNING {_JOB}, (SELECT s.is_active
                              FROM webhook_subscription AS s
                             WHERE s.id = subscription_id) AS is_wanted
        """,  # noqa: S608 - our own constants
        lease,
    )


async def set_total(db: Database, job_id: UUID, total: int) -> None:
    """Write down what a job that began by itself will deliver."""
    await db.execute("UPDATE recover_job SET total = $2 WHERE id = $1", job_id, total)


async def outstanding(db: Database, job_id: UUID) -> int:
    """How much of what a job queued is not over yet."""
    count: int = await db.fetchval("SELECT count(*) FROM delivery_queue WHERE job_id = $1", job_id)
    return count


async def feed(tx: Tx, job: asyncpg.Record, *, limit: int, spacing: timedelta) -> tuple[int, bool]:
    """Queue the next events of a job, spaced out in time; how many, and whether that was all.

    A job is fed and cancelled in turns: what is queued is there to be taken back, or never is.
    Whoever slept while others fed it, or extended it, finds it elsewhere, and queues nothing.
    """
    rows = await tx.fetch(
        f"""
        SELECT e.id, e.created_at, e.type, e.purchase_order_id
          FROM event AS e
         WHERE {_MISSED}
           AND ($7::timestamptz IS NULL OR (e.created_at, e.id) > ($7, $8::uuid))
         ORDER BY e.created_at, e.id
         LIMIT $9
        """,  # noqa: S608 - our own constants
        job["account_id"],
        job["subscription_id"],
        job["since"],
        job["until"],
        job["purchase_order_id"],
        job["everything"],
        job["at_time"],
        job["at_event"],
        limit,
    )
    over = len(rows) < limit
    last = rows[-1] if rows else None
    queued: int = await tx.fetchval(
        """
        WITH job AS MATERIALIZED (
            SELECT id, account_id, subscription_id
              FROM recover_job
             WHERE id = $1
               AND status = 'running'
               AND at_event IS NOT DISTINCT FROM $10
               AND until = $11
               FOR UPDATE
        ),
        given AS (
            SELECT * FROM unnest($2::uuid[], $3::timestamptz[], $8::text[], $9::uuid[])
                     WITH ORDINALITY AS given (event_id, event_at, event, order_id, place)
        ),
        queued AS (
            INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                        event, purchase_order_id, due_at, trigger, job_id)
            SELECT job.account_id, job.subscription_id, s.generation, given.event_id,
                   given.event_at, given.event, given.order_id,
                   tradewind_now() + given.place * $4::interval, 'recover', job.id
              FROM job
              JOIN webhook_subscription AS s ON s.id = job.subscription_id
             CROSS JOIN given
            RETURNING 1
        ),
        progressed AS (
            UPDATE recover_job
               SET queued = queued + (SELECT count(*) FROM queued),
                   at_time = coalesce($5, at_time),
                   at_event = coalesce($6, at_event),
                   next_at = tradewind_now() + interval '1 second',
                   lease_until = 'epoch',
                   status = CASE WHEN $7 THEN 'done' ELSE status END,
                   ended_at = CASE WHEN $7 THEN tradewind_now() ELSE ended_at END
             WHERE id IN (SELECT id FROM job)
        )
        SELECT count(*) FROM queued
        """,
        job["id"],
        [row["id"] for row in rows],
        [row["created_at"] for row in rows],
        spacing,
        last and last["created_at"],
        last and last["id"],
        over,
        [row["type"] for row in rows],
        [row["purchase_order_id"] for row in rows],
        job["at_event"],
        job["until"],
    )
    return queued, over


async def rest_job(db: Database, job_id: UUID, *, rest: timedelta) -> None:
    """Come back to a job later: what it queued is not delivered yet."""
    await db.execute(
        """
        UPDATE recover_job
           SET next_at = tradewind_now() + $2::interval, lease_until = 'epoch'
         WHERE id = $1
        """,
        job_id,
        rest,
    )


async def count_results(db: Database, job_ids: Sequence[UUID], delivered: Sequence[bool]) -> None:
    """Add deliveries that are over to the jobs that they belong to."""
    await db.execute(
        """
        WITH given AS (
            SELECT job_id, count(*) FILTER (WHERE ok) AS delivered,
                   count(*) FILTER (WHERE NOT ok) AS failed
              FROM unnest($1::uuid[], $2::boolean[]) AS given (job_id, ok)
             GROUP BY job_id
        )
        UPDATE recover_job AS job
           SET delivered = job.delivered + given.delivered,
               failed = job.failed + given.failed
          FROM given
         WHERE job.id = given.job_id
        """,
        job_ids,
        delivered,
    )


async def queue_one(
    tx: Tx, account_id: UUID, subscription_id: UUID, event_id: UUID
) -> asyncpg.Record | None:
    """Queue an event of the account once more, for one subscription: the row, if there is such."""
    return await tx.fetchrow(
        """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    event, purchase_order_id, due_at, trigger)
        SELECT e.account_id, s.id, s.generation, e.id, e.created_at, e.type, e.purchase_order_id,
               tradewind_now(), 'redeliver'
          FROM event AS e
          JOIN webhook_subscription AS s ON s.account_id = e.account_id
         WHERE e.account_id = $1 AND s.id = $2 AND e.id = $3
        RETURNING event_id, event, purchase_order_id, attempt, trigger, due_at, false AS under_way
        """,
        account_id,
        subscription_id,
        event_id,
    )
