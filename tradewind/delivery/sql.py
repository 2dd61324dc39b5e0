"""The engine's statements: claim fairly, record in batches; an expired claim cannot write."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from tradewind.delivery.model import ClaimedDelivery, Destination, DueSubscription
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress.result import AttemptResult
from tradewind.storage.pool import Database
from tradewind.webhooks.sql import read_filter

# What the log says of an attempt whose worker died before it recorded the result.
WORKER_DIED = "It was sent, but the worker died before it reported the result."
# As much of a response's headers as the log keeps.
_KEPT_HEAD = 4096
_AT_ONCE = timedelta(0)
# Up to this number, subscriptions are examined one by one, whether anything is due or not.
_FEW = 500
# The number of due rows that are read to find their subscriptions.
_SOONEST = 2000
# Before everything that may be due.
_START = (0.0, UUID(int=0))
_FROM_THE_START: Mapping[UUID, tuple[float, UUID]] = {}


async def due_subscriptions(db: Database) -> Sequence[UUID]:
    """Subscriptions with something due that nobody has leased, the longest overdue first.

    A loose index scan, whose cost grows with the subscriptions and not with the backlog. The first
    row of each is the one that is due first: only if it is leased, others are read. Where more
    than a few subscriptions have something queued, most may only wait for a retry: then the rows
    that are due are read, and only if they are too many, the scan goes on to the end. While an
    operator holds deliveries, there are none.
    """
    # Written out, so that the planner knows how little is read.
    rows = await db.fetch(
        f"""
        WITH RECURSIVE few AS (
            (SELECT subscription_id, due_at, lease_until, 1 AS place
               FROM delivery_queue
              WHERE NOT EXISTS (SELECT FROM delivery_hold)
              ORDER BY subscription_id, due_at, id LIMIT 1)
            UNION ALL
            SELECT next.*, few.place + 1
              FROM few
             CROSS JOIN LATERAL (
                   SELECT q.subscription_id, q.due_at, q.lease_until
                     FROM delivery_queue AS q
                    WHERE q.subscription_id > few.subscription_id
                    ORDER BY q.subscription_id, q.due_at, q.id
                    LIMIT 1) AS next
             WHERE few.place < {_FEW}
        ),
        soonest AS MATERIALIZED (
            SELECT subscription_id, due_at, lease_until
              FROM delivery_queue
             WHERE due_at <= tradewind_now() AND (SELECT count(*) = {_FEW} FROM few)
             ORDER BY due_at
             LIMIT {_SOONEST}
        ),
        rest AS (
            SELECT subscription_id, due_at, lease_until
              FROM few
             WHERE place = {_FEW} AND (SELECT count(*) = {_SOONEST} FROM soonest)
            UNION ALL
            SELECT next.*
              FROM rest
             CROSS JOIN LATERAL (
                   SELECT q.subscription_id, q.due_at, q.lease_until
                     FROM delivery_queue AS q
                    WHERE q.subscription_id > rest.subscription_id
                    ORDER BY q.subscription_id, q.due_at, q.id
                    LIMIT 1) AS next
        ),
        first AS (
            SELECT subscription_id, due_at, lease_until
              FROM few
             WHERE place < {_FEW}
               AND ((SELECT count(*) < {_FEW} FROM few)
                    OR (SELECT count(*) = {_SOONEST} FROM soonest))
            UNION ALL
            SELECT * FROM rest
        ),
        due AS (
            SELECT subscription_id,
                   CASE WHEN lease_until <= tradewind_now() THEN due_at
                        ELSE (SELECT q.due_at
                                FROM delivery_queue AS q
                               WHERE q.subscription_id = first.subscription_id
                                 AND q.due_at <= tradewind_now()
                                 AND q.lease_until <= tradewind_now()
                               ORDER BY q.due_at, q.id
                               LIMIT 1) END AS due_at
              FROM first
             WHERE due_at <= tradewind_now()
            UNION ALL
            SELECT subscription_id, min(due_at)
              FROM soonest
             WHERE lease_until <= tradewind_now()
               AND (SELECT count(*) < {_SOONEST} FROM soonest)
             GROUP BY subscription_id
        )
        SELECT subscription_id FROM due WHERE due_at IS NOT NULL ORDER BY due_at
        """  # noqa: S608 - our own constants
    )
    return [row[0] for row in rows]


async def load_due_subscriptions(
    db: Database, subscription_ids: Sequence[UUID]
) -> Sequence[DueSubscription]:
    """The account, the URL and the health of subscriptions, deleted ones included.

    Each is looked up by its id. As plain joins, they would be planned for more subscriptions than
    have something due, and read all that exist.
    """
    rows = await db.fetch(
        """
        SELECT due.id, s.account_id, coalesce(s.url, ''), coalesce(h.failing, false)
          FROM unnest($1::uuid[]) AS due (id)
          LEFT JOIN LATERAL (SELECT account_id, url
                               FROM webhook_subscription
                              WHERE id = due.id
                             OFFSET 0) AS s ON true
          LEFT JOIN LATERAL (SELECT failing_since IS NOT NULL AS failing
                               FROM subscription_health
                              WHERE subscription_id = due.id
                             OFFSET 0) AS h ON true
        """,
        subscription_ids,
    )
    return [DueSubscription(*row) for row in rows]


async def claim(
    db: Database,
    shares: Mapping[UUID, int],
    *,
    lease: timedelta,
    after: Mapping[UUID, tuple[float, UUID]] = _FROM_THE_START,
    claimed_at: float = 0.0,
) -> Sequence[ClaimedDelivery]:
    """Lease due deliveries of each subscription, up to its share; none while they are held.

    `after` is where the last claim of a subscription ended, by `due_at` and id. Without it, each
    claim of a backlog would read again what the last ones took.

    A claim touches no indexed column. A delivery whose lease expired may have been sent: that
    attempt is logged as unknown under its own id, and the same attempt is made again.

    The two are brought together as in `record`, by a plan that does not depend on statistics: a
    nested loop read all that was picked again for each delivery that was claimed.
    """
    rows = await db.fetch(
        f"""
        WITH picked AS MATERIALIZED (
            SELECT q.id, q.delivery_id AS lost_id, q.lease_until AS lost_until
              FROM unnest($1::uuid[], $2::integer[], $4::float8[], $5::uuid[])
                   AS share (subscription_id, quota, after_due, after_id)
             CROSS JOIN LATERAL (
                   SELECT d.id, d.delivery_id, d.lease_until
                     FROM delivery_queue AS d
                    WHERE d.subscription_id = share.subscription_id
                      AND (d.due_at, d.id) > (to_timestamp(share.after_due), share.after_id)
                      AND d.due_at <= tradewind_now()
                      AND d.lease_until <= tradewind_now()
                    ORDER BY d.due_at, d.id
                    LIMIT share.quota
                      FOR UPDATE SKIP LOCKED) AS q
             WHERE NOT EXISTS (SELECT FROM delivery_hold)
        ),
        claimed AS (
            UPDATE delivery_queue AS q
               SET lease_until = tradewind_now() + $3::interval,
                   lost = q.lost + (q.delivery_id IS NOT NULL)::integer,
                   delivery_id = tradewind_uuid7()
             WHERE q.id = ANY (ARRAY(SELECT id FROM picked))
            RETURNING q.id, q.account_id, q.subscription_id, q.generation, q.event_id, q.event_at,
                      q.event, q.purchase_order_id, q.attempt, q.delivery_id, q.trigger,
                      q.replay_id, q.due_at
        ),
        expired AS MATERIALIZED (
            SELECT * FROM picked WHERE lost_id IS NOT NULL
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, error_code, error_message, started_at,
                                          next_attempt_at)
            SELECT lost_id, account_id, subscription_id, event_id, event_at, event,
                   purchase_order_id, attempt, trigger, 'unknown', false, 'worker_died',
                   '{WORKER_DIED}',
                   greatest(least(lost_until - $3::interval, tradewind_now()),
                            tradewind_now() - interval '1 day'), tradewind_now()
              FROM expired
              FULL JOIN (SELECT *
                           FROM claimed
                          WHERE (id IN (SELECT id FROM expired)) IS TRUE) AS claimed_again
                   USING (id)
        )
        SELECT claimed.id, claimed.account_id, claimed.subscription_id, claimed.generation,
               claimed.event_id, claimed.event, event.body, claimed.attempt,
               claimed.delivery_id, claimed.replay_id, date_part('epoch', claimed.due_at),
               s.xmin::text::bigint, date_part('epoch', tradewind_now())
          FROM claimed
          LEFT JOIN webhook_subscription AS s ON s.id = claimed.subscription_id
          LEFT JOIN event ON event.id = claimed.event_id AND event.created_at = claimed.event_at
        """,  # noqa: S608 - our own constants
        list(shares),
        list(shares.values()),
        lease,
        [after.get(subscription_id, _START)[0] for subscription_id in shares],
        [after.get(subscription_id, _START)[1] for subscription_id in shares],
    )
    return [ClaimedDelivery(claimed_at, *row) for row in rows]


async def load_changed_destinations(
    db: Database, versions: Mapping[UUID, int]
) -> tuple[Mapping[UUID, Destination | None], datetime]:
    """Subscriptions that are not as the caller knows them, and the time of the database.

    `versions` holds the known version of each, 0 for none. Right before an attempt the rest need
    not be read: a row whose `xmin` is the same was not changed. None: it was deleted.
    """
    rows = await db.fetch(
        """
        SELECT tradewind_now(), changed.*
          FROM (VALUES (1)) AS always
          LEFT JOIN (SELECT known.id AS known_id, s.id, s.account_id, s.url, s.events, s.is_active,
                            s.generation, s.secret, s.catch_up, s.xmin::text::bigint,
                            s.headers, s.standard_webhooks, s.filter
                       FROM unnest($1::uuid[], $2::bigint[]) AS known (id, version)
                       LEFT JOIN webhook_subscription AS s ON s.id = known.id
                      WHERE s.xmin::text::bigint IS DISTINCT FROM known.version) AS changed
               ON true
        """,
        list(versions),
        list(versions.values()),
    )
    changed = {
        row[1]: row[2] and Destination(*[*row[2:-1], read_filter(row[-1])])
        for row in rows
        if row[1] is not None
    }
    return changed, rows[0][0]


async def record(
    db: Database, attempts: Sequence[tuple[ClaimedDelivery, AttemptResult]], policy: RetryPolicy
) -> Sequence[tuple[ClaimedDelivery, AttemptResult]]:
    """Log attempts, delete deliveries that are over and reschedule the rest.

    Returns the attempts whose lease was lost. Every change is fenced by the id that the claim made:
    a worker that lost a lease changes no delivery, and a batch that is recorded twice uses up no
    other attempt. It is one statement, with rows in the order of their ids. What only the queue
    knows is copied from there.

    Its plan does not depend on statistics, which are wrong when the queue is long at one moment
    and empty at the next: rows are found by their ids, and a FULL JOIN is never a nested loop.
    (Every row has its counterpart, so it means the same as JOIN.)

    It waits for the server's own disk, whatever the connection's setting is: until a delete is on
    disk, PostgreSQL cannot mark the row as dead, and every claim would read all of them again.
    """
    if not attempts:
        return []
    attempts = sorted(attempts, key=lambda attempt: attempt[0].id)
    deliveries = [delivery for delivery, _ in attempts]
    # Most responses in a second are the same: each is sent once, with its number in each attempt.
    responses: dict[tuple[object, ...], int] = {}
    numbers = [responses.setdefault(response(*attempt), len(responses) + 1) for attempt in attempts]
    lost = await db.fetch(
        """
        WITH synchronous AS MATERIALIZED (
            SELECT set_config('synchronous_commit', 'local', true)
        ),
        ended AS MATERIALIZED (
            SELECT *
              FROM synchronous
             CROSS JOIN (
                   unnest($2::uuid[], $3::uuid[], $4::boolean[], $5::float8[], $6::integer[],
                          $7::text[], $8::text[], $9::text[], $10::bigint[])
                   AS attempt (queue_id, delivery_id, over, started, duration_ms, url, signature,
                               more_headers, number)
                   FULL JOIN unnest($11::text[], $12::smallint[], $13::text[], $14::text[],
                                    $15::bigint[], $16::bytea[], $17::bytea[]) WITH ORDINALITY
                   AS response (outcome, status_code, error_code, error_message, sent_at, head,
                                body, number)
                   USING (number))
        ),
        deleted AS (
            DELETE FROM delivery_queue AS q
             WHERE q.id = ANY (ARRAY(SELECT queue_id FROM ended WHERE over))
               AND (q.delivery_id IN (SELECT delivery_id FROM ended WHERE over)) IS TRUE
            RETURNING q.delivery_id, q.account_id, q.subscription_id, q.event_id, q.event_at,
                      q.event, q.purchase_order_id, q.attempt, q.trigger,
                      NULL::timestamptz AS next_at
        ),
        rescheduled AS (
            UPDATE delivery_queue AS q
               SET attempt = q.attempt + 1,
                   due_at = tradewind_now() + ($1::interval[])[q.attempt],
                   lease_until = 'epoch',
                   delivery_id = NULL,
                   lost = 0,
                   parked = 0
              FROM ended
             WHERE q.id = ANY (ARRAY(SELECT queue_id FROM ended WHERE NOT over))
               AND q.id = ended.queue_id AND q.delivery_id = ended.delivery_id AND NOT ended.over
            RETURNING ended.delivery_id, q.account_id, q.subscription_id, q.event_id, q.event_at,
                      q.event, q.purchase_order_id, (q.attempt - 1)::smallint, q.trigger, q.due_at
        ),
        result AS MATERIALIZED (
            SELECT *
              FROM ended
              FULL JOIN (SELECT * FROM deleted UNION ALL SELECT * FROM rescheduled) AS queued
                   USING (delivery_id)
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, status_code, error_code, error_message,
                                          started_at, duration_ms, next_attempt_at, url, sent_at,
                                          signature, more_headers, response_head, response_body)
            SELECT delivery_id, account_id, subscription_id, event_id, event_at, event,
                   purchase_order_id, attempt, trigger, outcome, over, status_code, error_code,
                   error_message, to_timestamp(started), duration_ms, next_at, url, sent_at,
                   signature, more_headers, head, body
              FROM result
             WHERE account_id IS NOT NULL
        )
        SELECT delivery_id FROM result WHERE account_id IS NULL
        """,
        policy.delays,
        [delivery.id for delivery in deliveries],
        [delivery.delivery_id for delivery in deliveries],
        [policy.is_over(delivery.attempt, result.outcome) for delivery, result in attempts],
        [delivery.started for delivery in deliveries],
        [delivery.duration_ms for delivery in deliveries],
        [delivery.url for delivery in deliveries],
        [delivery.signature for delivery in deliveries],
        [delivery.more_headers for delivery in deliveries],
        numbers,
        *zip(*responses, strict=True),
    )
    late = {row["delivery_id"] for row in lost}
    return [attempt for attempt in attempts if attempt[0].delivery_id in late] if late else []


def response(delivery: ClaimedDelivery, result: AttemptResult) -> tuple[object, ...]:
    """What the log keeps of a result."""
    problem = result.problem
    answered = result.status is not None
    return (
        result.outcome,
        result.status,
        problem and problem.code,
        problem and problem.message,
        delivery.sent_at,
        result.head[:_KEPT_HEAD] if answered else None,
        result.body if answered else None,
    )


async def give_back(
    db: Database, deliveries: Sequence[ClaimedDelivery], *, rest: timedelta = _AT_ONCE
) -> None:
    """Release claimed deliveries that were not sent, now or after a delay."""
    await db.execute(
        """
        UPDATE delivery_queue AS q
           SET lease_until = CASE WHEN $3::interval > '0' THEN tradewind_now() + $3::interval
                                  ELSE 'epoch' END,
               delivery_id = NULL
         WHERE q.id = ANY ($1::uuid[]) AND q.delivery_id = ANY ($2::uuid[])
        """,
        [delivery.id for delivery in deliveries],
        [delivery.delivery_id for delivery in deliveries],
        rest,
    )


class QueueDepth(NamedTuple):
    """How much is pending, up to 100,001, and how long the oldest of that is overdue."""

    depth: int
    oldest_due_seconds: float | None


async def find_queue_depth(db: Database) -> QueueDepth:
    [row] = await db.fetch(
        """
        SELECT count(*) AS depth,
               extract(epoch FROM tradewind_now() - min(due_at)
                       FILTER (WHERE due_at <= tradewind_now()))::float AS oldest_due_seconds
          FROM (SELECT due_at FROM queued_delivery WHERE is_pending LIMIT 100001) AS pending
        """
    )
    return QueueDepth(*row)


async def save_health(
    db: Database,
    subscriptions: Sequence[UUID],
    delivered: Sequence[int],
    failed: Sequence[int],
    final: Sequence[int],
    ends_well: Sequence[bool],
    widths: Sequence[int],
    buckets: Sequence[str],
    outcomes: Sequence[str],
) -> None:
    """Add the attempts of a flush to each health; a deleted subscription has none."""
    await db.execute(
        """
        WITH flushed AS (
            SELECT *
              FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[], $5::boolean[],
                          $6::integer[], $7::text[], $8::text[])
                   AS flushed (subscription_id, delivered, failed, final, ends_well, width, buckets,
                             outcomes)
             WHERE EXISTS (SELECT 1 FROM webhook_subscription WHERE id = flushed.subscription_id)
             ORDER BY subscription_id
        ),
        counted AS (
            INSERT INTO subscription_hour AS h
                   (subscription_id, hour, delivered, failed, buckets, outcomes)
            SELECT subscription_id, date_trunc('hour', tradewind_now()), delivered, failed,
                   buckets::bigint[], outcomes::bigint[]
              FROM flushed
            ON CONFLICT (subscription_id, hour) DO UPDATE
               SET delivered = h.delivered + excluded.delivered,
                   failed = h.failed + excluded.failed,
                   buckets = ARRAY(SELECT a + b
                                     FROM unnest(h.buckets, excluded.buckets) AS pair (a, b)),
                   outcomes = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
                                      FROM unnest(h.outcomes, excluded.outcomes) AS pair (a, b))
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
          FROM flushed
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
        outcomes,
    )
