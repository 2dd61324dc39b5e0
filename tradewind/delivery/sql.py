"""The statements of the engine: claim fairly, record in batches, fenced by the claim."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.delivery.model import Claim, Ended, Trigger
from tradewind.storage.pool import Database


async def due_subscriptions(db: Database) -> Sequence[UUID]:
    """Subscriptions with something due that nobody holds, those first that have waited longest.

    A loose index scan: its cost grows with the subscriptions, not with the backlog.
    """
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
        SELECT waiting.subscription_id
          FROM waiting
         CROSS JOIN LATERAL (
               SELECT q.due_at
                 FROM delivery_queue AS q
                WHERE q.subscription_id = waiting.subscription_id
                  AND q.due_at <= tradewind_now()
                  AND q.lease_until <= tradewind_now()
                ORDER BY q.due_at, q.id
                LIMIT 1) AS first
         WHERE waiting.subscription_id IS NOT NULL
         ORDER BY first.due_at
        """
    )
    return [row["subscription_id"] for row in rows]


async def claim(
    db: Database, shares: Mapping[UUID, int], *, lease: timedelta
) -> tuple[Sequence[Claim], datetime | None]:
    """Take up to so many due deliveries of each subscription; and what time it is.

    A claim touches no indexed column. What was claimed before and never told of was sent, as far
    as anybody knows: it is logged as unknown under its own id, and the same attempt is made again.
    """
    rows = await db.fetch(
        """
        WITH picked AS MATERIALIZED (
            SELECT q.id, q.delivery_id AS lost_id, q.lease_until AS lost_until
              FROM unnest($1::uuid[], $2::integer[]) AS share (subscription_id, quota)
             CROSS JOIN LATERAL (
                   SELECT d.id, d.delivery_id, d.lease_until
                     FROM delivery_queue AS d
                    WHERE d.subscription_id = share.subscription_id
                      AND d.due_at <= tradewind_now()
                      AND d.lease_until <= tradewind_now()
                    ORDER BY d.due_at, d.id
                    LIMIT share.quota
                      FOR UPDATE SKIP LOCKED) AS q
        ),
        claimed AS (
            UPDATE delivery_queue AS q
               SET lease_until = tradewind_now() + $3::interval,
                   claim = q.claim + 1,
                   lost = q.lost + (q.delivery_id IS NOT NULL)::integer,
                   delivery_id = tradewind_uuid7()
             WHERE q.id = ANY (ARRAY(SELECT id FROM picked))
            RETURNING q.id, q.account_id, q.subscription_id, q.generation, q.event_id, q.event_at,
                      q.attempt, q.claim, q.delivery_id, q.trigger, q.job_id
        ),
        told AS (
            SELECT claimed.*, picked.lost_id, picked.lost_until, event.type,
                   event.purchase_order_id, event.body
              FROM claimed
              JOIN picked USING (id)
              LEFT JOIN event ON event.id = claimed.event_id
                             AND event.created_at = claimed.event_at
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, error_code, error_message, started_at,
                                          next_attempt_at)
            SELECT lost_id, account_id, subscription_id, event_id, event_at,
                   coalesce(type, 'order.updated'), purchase_order_id, attempt, trigger, 'unknown',
                   false, 'worker_died',
                   'It was sent, but who sent it died before the answer was recorded.',
                   least(lost_until - $3::interval, tradewind_now()), tradewind_now()
              FROM told
             WHERE lost_id IS NOT NULL
        )
        SELECT told.*, tradewind_now() AS now
          FROM told
        """,
        list(shares),
        list(shares.values()),
        lease,
    )
    return [_claim(row) for row in rows], rows[0]["now"] if rows else None


def _claim(row: asyncpg.Record) -> Claim:
    return Claim(
        row["id"],
        row["account_id"],
        row["subscription_id"],
        row["generation"],
        row["event_id"],
        row["event_at"],
        row["type"],
        row["purchase_order_id"],
        row["body"],
        row["attempt"],
        row["claim"],
        row["delivery_id"],
        Trigger(row["trigger"]),
        row["job_id"],
    )


async def load_destinations(db: Database, ids: Sequence[UUID]) -> Sequence[asyncpg.Record]:
    """Subscriptions as they are now, right before the send."""
    return await db.fetch(
        """
        SELECT s.id, s.account_id, s.url, s.events, s.is_active, s.generation, s.secret,
               s.catch_up, h.failing_since
          FROM webhook_subscription AS s
          LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
         WHERE s.id = ANY ($1::uuid[])
        """,
        ids,
    )


async def record(
    db: Database, ended: Sequence[Ended], delays: Sequence[timedelta], *, most: int
) -> int:
    """Log attempts, delete what is over and put off the rest; how many claims were still ours.

    Every change is fenced by the claim: who lost a lease changes no delivery, and its attempt is
    logged all the same, for it was made. All in one statement, rows in the order of their ids.
    """
    ended = sorted(ended, key=lambda one: one.claim.id)
    kept: int = await db.fetchval(
        """
        WITH given AS MATERIALIZED (
            SELECT *
              FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::uuid[], $5::uuid[],
                          $6::uuid[], $7::timestamptz[], $8::text[], $9::uuid[], $10::smallint[],
                          $11::text[], $12::text[], $13::boolean[], $14::smallint[], $15::text[],
                          $16::text[], $17::timestamptz[], $18::integer[], $19::interval[],
                          $20::text[], $21::bigint[], $22::text[], $23::bytea[], $24::bytea[])
                   AS given (queue_id, claim, id, account_id, subscription_id, event_id, event_at,
                             event, purchase_order_id, attempt, trigger, outcome, over, status_code,
                             error_code, error_message, started_at, duration_ms, delay, url,
                             sent_at, signature, response_head, response_body)
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, status_code, error_code, error_message, started_at,
                                          duration_ms, next_attempt_at, url, sent_at, signature,
                                          response_head, response_body)
            SELECT id, account_id, subscription_id, event_id, event_at, event, purchase_order_id,
                   attempt, trigger, outcome, over, status_code, error_code, error_message,
                   started_at, duration_ms,
                   CASE WHEN NOT over THEN tradewind_now() + delay END,
                   url, sent_at, signature, response_head, response_body
              FROM given
        ),
        deleted AS (
            DELETE FROM delivery_queue AS q
             USING given
             WHERE q.id = given.queue_id AND q.claim = given.claim AND given.over
            RETURNING 1
        ),
        put_off AS (
            UPDATE delivery_queue AS q
               SET attempt = q.attempt + 1,
                   due_at = tradewind_now() + given.delay,
                   lease_until = 'epoch',
                   delivery_id = NULL,
                   lost = 0
              FROM given
             WHERE q.id = given.queue_id AND q.claim = given.claim AND NOT given.over
               AND q.attempt < $25
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM deleted) + (SELECT count(*) FROM put_off)
        """,
        [one.claim.id for one in ended],
        [one.claim.number for one in ended],
        [one.claim.delivery_id for one in ended],
        [one.claim.account_id for one in ended],
        [one.claim.subscription_id for one in ended],
        [one.claim.event_id for one in ended],
        [one.claim.event_at for one in ended],
        [one.claim.event or "order.updated" for one in ended],
        [one.claim.order_id for one in ended],
        [one.claim.attempt for one in ended],
        [one.claim.trigger for one in ended],
        [one.outcome for one in ended],
        [one.is_over for one in ended],
        [one.result.status if one.result else None for one in ended],
        [one.error_code for one in ended],
        [one.error_message for one in ended],
        [one.started_at for one in ended],
        [one.duration_ms for one in ended],
        [None if one.is_over else delays[one.claim.attempt - 1] for one in ended],
        [one.url for one in ended],
        [one.sent_at for one in ended],
        [one.signature for one in ended],
        [one.result.head if one.result else None for one in ended],
        [one.result.body if one.result else None for one in ended],
        most,
    )
    return kept


async def give_back(db: Database, claims: Sequence[Claim]) -> None:
    """Return what was claimed and not sent: it is due at once, for whoever comes."""
    await db.execute(
        """
        UPDATE delivery_queue AS q
           SET lease_until = 'epoch',
               delivery_id = NULL
          FROM unnest($1::uuid[], $2::integer[]) AS given (id, claim)
         WHERE q.id = given.id AND q.claim = given.claim
        """,
        [claim.id for claim in claims],
        [claim.number for claim in claims],
    )


async def park(db: Database, *, lost: int, rest: timedelta) -> Sequence[asyncpg.Record]:
    """Put aside deliveries that nobody who claimed them ever came back from; which they are."""
    return await db.fetch(
        """
        UPDATE delivery_queue
           SET due_at = tradewind_now() + $2::interval,
               lost = 0
         WHERE lost >= $1 AND lease_until <= tradewind_now()
        RETURNING id, subscription_id, event_id
        """,
        lost,
        rest,
    )


async def save_health(
    db: Database,
    subscriptions: Sequence[UUID],
    delivered: Sequence[int],
    failed: Sequence[int],
    final: Sequence[int],
    ends_well: Sequence[bool],
    widths: Sequence[int],
    buckets: Sequence[str],
) -> None:
    """Add what a flush saw of each receiver."""
    await db.execute(
        """
        WITH given AS (
            SELECT *
              FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[], $5::boolean[],
                          $6::integer[], $7::text[])
                   AS given (subscription_id, delivered, failed, final, ends_well, width, buckets)
             ORDER BY subscription_id
        ),
        counted AS (
            INSERT INTO subscription_hour AS h (subscription_id, hour, delivered, failed, buckets)
            SELECT subscription_id, date_trunc('hour', tradewind_now()), delivered, failed,
                   buckets::bigint[]
              FROM given
            ON CONFLICT (subscription_id, hour) DO UPDATE
               SET delivered = h.delivered + excluded.delivered,
                   failed = h.failed + excluded.failed,
                   buckets = ARRAY(SELECT a + b
                                     FROM unnest(h.buckets, excluded.buckets) AS pair (a, b))
        )
        INSERT INTO subscription_health AS h
               (subscription_id, failing_since, failed, last_success_at, last_failure_at,
                concurrency, updated_at)
        SELECT subscription_id,
               CASE WHEN NOT ends_well THEN tradewind_now() END,
               CASE WHEN delivered > 0 THEN 0 ELSE final END,
               CASE WHEN delivered > 0 THEN tradewind_now() END,
               CASE WHEN failed > 0 THEN tradewind_now() END,
               width, tradewind_now()
          FROM given
        ON CONFLICT (subscription_id) DO UPDATE
           SET failing_since = CASE WHEN excluded.failing_since IS NULL THEN NULL
                                    WHEN excluded.last_success_at IS NULL
                                    THEN coalesce(h.failing_since, excluded.failing_since)
                                    ELSE excluded.failing_since END,
               failed = CASE WHEN excluded.last_success_at IS NULL
                             THEN h.failed + excluded.failed ELSE excluded.failed END,
               last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
               last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
               concurrency = excluded.concurrency,
               updated_at = excluded.updated_at
        """,
        subscriptions,
        delivered,
        failed,
        final,
        ends_well,
        widths,
        buckets,
    )


async def queue_figures(db: Database) -> asyncpg.Record | None:
    """How much is queued, about, and for how long the oldest has been due."""
    return await db.fetchrow(
        """
        SELECT count(*) AS depth,
               extract(epoch FROM tradewind_now() - min(due_at)
                       FILTER (WHERE due_at <= tradewind_now()))::float AS oldest_due_seconds
          FROM delivery_queue
        """
    )
