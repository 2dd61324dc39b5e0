"""The statements of the engine: claim fairly, record in batches, fenced by the claim."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.delivery.model import Claim, Due, Ended
from tradewind.storage.pool import Database

# What the log says of a send whose worker died before it could record the answer.
WORKER_DIED = "It was sent, but who sent it died before the answer was recorded."
_AT_ONCE = timedelta(0)
# So many subscriptions are looked at one by one, whether anything of theirs is due or not.
_FEW = 500
# So many rows that are due are read to find whose they are.
_SOONEST = 2000
# Before everything that may be due.
_START = (0.0, UUID(int=0))
_FROM_THE_START: Mapping[UUID, tuple[float, UUID]] = {}


async def due_subscriptions(db: Database) -> Sequence[Due]:
    """Subscriptions with something due that nobody holds, those first that have waited longest.

    A loose index scan, whose cost grows with the subscriptions and not with the backlog. Where
    more than a few of them have something queued, most may only wait for a retry: then the rows
    that are due are read, and only if they are too many, the scan goes on to the end.
    """
    # Written out, so that the planner knows how little is read.
    rows = await db.fetch(
        f"""
        WITH RECURSIVE few AS (
            (SELECT subscription_id, 1 AS place
               FROM delivery_queue ORDER BY subscription_id LIMIT 1)
            UNION ALL
            SELECT (SELECT q.subscription_id
                      FROM delivery_queue AS q
                     WHERE q.subscription_id > few.subscription_id
                     ORDER BY q.subscription_id
                     LIMIT 1), few.place + 1
              FROM few
             WHERE few.subscription_id IS NOT NULL AND few.place < {_FEW}
        ),
        soonest AS MATERIALIZED (
            SELECT subscription_id
              FROM delivery_queue
             WHERE due_at <= tradewind_now()
               AND (SELECT count(subscription_id) = {_FEW} FROM few)
             ORDER BY due_at
             LIMIT {_SOONEST}
        ),
        rest AS (
            SELECT few.subscription_id
              FROM few
             WHERE few.place = {_FEW} AND (SELECT count(*) = {_SOONEST} FROM soonest)
            UNION ALL
            SELECT (SELECT q.subscription_id
                      FROM delivery_queue AS q
                     WHERE q.subscription_id > rest.subscription_id
                     ORDER BY q.subscription_id
                     LIMIT 1)
              FROM rest
             WHERE rest.subscription_id IS NOT NULL
        ),
        waiting AS (
            SELECT subscription_id
              FROM few
             WHERE place < {_FEW}
               AND ((SELECT count(subscription_id) < {_FEW} FROM few)
                    OR (SELECT count(*) = {_SOONEST} FROM soonest))
            UNION ALL
            SELECT subscription_id FROM rest
            UNION ALL
            SELECT DISTINCT subscription_id
              FROM soonest
             WHERE (SELECT count(*) < {_SOONEST} FROM soonest)
        )
        SELECT waiting.subscription_id, s.account_id, coalesce(s.url, '') AS url,
               h.failing_since IS NOT NULL AS failing
          FROM waiting
          LEFT JOIN webhook_subscription AS s ON s.id = waiting.subscription_id
          LEFT JOIN subscription_health AS h ON h.subscription_id = waiting.subscription_id
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
        """  # noqa: S608 - our own constants
    )
    return [Due(*row) for row in rows]


async def claim(
    db: Database,
    shares: Mapping[UUID, int],
    *,
    lease: timedelta,
    after: Mapping[UUID, tuple[float, UUID]] = _FROM_THE_START,
) -> Sequence[Claim]:
    """Take up to so many due deliveries of each subscription.

    `after` is from where on, by when they are due and their ids: where the last claim ended.
    Else each claim of a backlog would read again what the last ones took.

    A claim touches no indexed column. A delivery whose lease expired may have been sent: that
    attempt is logged as unknown under its own id, and the same attempt is made again.
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
        ),
        claimed AS (
            UPDATE delivery_queue AS q
               SET lease_until = tradewind_now() + $3::interval,
                   lost = q.lost + (q.delivery_id IS NOT NULL)::integer,
                   delivery_id = tradewind_uuid7()
             WHERE q.id = ANY (ARRAY(SELECT id FROM picked))
            RETURNING q.id, q.account_id, q.subscription_id, q.generation, q.event_id, q.event_at,
                      q.event, q.purchase_order_id, q.attempt, q.delivery_id, q.trigger, q.job_id,
                      q.due_at
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, error_code, error_message, started_at,
                                          next_attempt_at)
            SELECT picked.lost_id, account_id, subscription_id, event_id, event_at, event,
                   purchase_order_id, attempt, trigger, 'unknown', false, 'worker_died',
                   '{WORKER_DIED}',
                   greatest(least(picked.lost_until - $3::interval, tradewind_now()),
                            tradewind_now() - interval '1 day'), tradewind_now()
              FROM claimed
              JOIN picked USING (id)
             WHERE picked.lost_id IS NOT NULL
        )
        SELECT claimed.id, claimed.account_id, claimed.subscription_id, claimed.generation,
               claimed.event_id, claimed.event, event.body, claimed.attempt,
               claimed.delivery_id, claimed.job_id, date_part('epoch', claimed.due_at)
          FROM claimed
          LEFT JOIN event ON event.id = claimed.event_id AND event.created_at = claimed.event_at
        """,  # noqa: S608 - our own constants
        list(shares),
        list(shares.values()),
        lease,
        [after.get(one, _START)[0] for one in shares],
        [after.get(one, _START)[1] for one in shares],
    )
    return [Claim(*row) for row in rows]


async def load_destinations(
    db: Database, ids: Sequence[UUID]
) -> tuple[Sequence[asyncpg.Record], datetime]:
    """Subscriptions as they are now, right before the send; and what time it is."""
    rows = await db.fetch(
        """
        SELECT s.id, s.account_id, s.url, s.events, s.is_active, s.generation, s.secret,
               s.catch_up, tradewind_now() AS now
          FROM (VALUES (1)) AS always
          LEFT JOIN webhook_subscription AS s ON s.id = ANY ($1::uuid[])
        """,
        ids,
    )
    return [row for row in rows if row["id"] is not None], rows[0]["now"]


async def record(
    db: Database, ended: Sequence[Ended], delays: Sequence[timedelta]
) -> Sequence[Ended]:
    """Log attempts, delete what is over and put off the rest; those whose claim was lost.

    Every change is fenced by the id that the claim made: who lost a lease changes no delivery, and
    when the answer to this was lost, and it comes once more, it uses up no other attempt. All in
    one statement, rows in the order of their ids. What only the queue knows is copied from there.

    Its shape leaves the planner no choice, whatever it believes of a queue that is long at one
    moment and empty at the next: rows are found by their ids, and a FULL JOIN is never made by
    comparing all with all. (Everything given has its counterpart, so it means no more than JOIN.)

    It waits for the server's own disk, whatever the connection's setting is: until a delete is
    there, PostgreSQL cannot mark the row as dead, and every claim would read all of them again.
    """
    if not ended:
        return []
    ended = sorted(ended, key=lambda one: one.claim.id)
    # Most answers in a second are the same: each is sent once, and attempts say which was theirs.
    answers: dict[tuple[object, ...], int] = {}
    places = [answers.setdefault(_answer(one), len(answers) + 1) for one in ended]
    lost = await db.fetch(
        """
        WITH patience AS MATERIALIZED (
            SELECT set_config('synchronous_commit', 'local', true)
        ),
        given AS MATERIALIZED (
            SELECT *
              FROM patience
             CROSS JOIN (
                   unnest($3::uuid[], $4::uuid[], $5::boolean[], $6::float8[], $7::integer[],
                          $8::text[], $9::text[], $10::bigint[])
                   AS given (queue_id, delivery_id, over, started, duration_ms, url, signature,
                             place)
                   FULL JOIN unnest($11::text[], $12::smallint[], $13::text[], $14::text[],
                                    $15::bigint[], $16::bytea[], $17::bytea[]) WITH ORDINALITY
                   AS answer (outcome, status_code, error_code, error_message, sent_at, head,
                              body, place)
                   USING (place))
        ),
        deleted AS (
            DELETE FROM delivery_queue AS q
             WHERE q.id = ANY (ARRAY(SELECT queue_id FROM given WHERE over))
               AND (q.delivery_id IN (SELECT delivery_id FROM given WHERE over)) IS TRUE
            RETURNING q.delivery_id, q.account_id, q.subscription_id, q.event_id, q.event_at,
                      q.event, q.purchase_order_id, q.attempt, q.trigger,
                      NULL::timestamptz AS next_at
        ),
        put_off AS (
            UPDATE delivery_queue AS q
               SET attempt = q.attempt + 1,
                   due_at = tradewind_now() + CASE q.attempt WHEN 1 THEN $1::interval
                                                             ELSE $2::interval END,
                   lease_until = 'epoch',
                   delivery_id = NULL,
                   lost = 0,
                   parked = 0
              FROM given
             WHERE q.id = ANY (ARRAY(SELECT queue_id FROM given WHERE NOT over))
               AND q.id = given.queue_id AND q.delivery_id = given.delivery_id AND NOT given.over
            RETURNING given.delivery_id, q.account_id, q.subscription_id, q.event_id, q.event_at,
                      q.event, q.purchase_order_id, (q.attempt - 1)::smallint, q.trigger, q.due_at
        ),
        told AS MATERIALIZED (
            SELECT *
              FROM given
              FULL JOIN (SELECT * FROM deleted UNION ALL SELECT * FROM put_off) AS known
                   USING (delivery_id)
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, status_code, error_code, error_message,
                                          started_at, duration_ms, next_attempt_at, url, sent_at,
                                          signature, response_head, response_body)
            SELECT delivery_id, account_id, subscription_id, event_id, event_at, event,
                   purchase_order_id, attempt, trigger, outcome, over, status_code, error_code,
                   error_message, to_timestamp(started), duration_ms, next_at, url, sent_at,
                   signature, head, body
              FROM told
             WHERE account_id IS NOT NULL
        )
        SELECT delivery_id FROM told WHERE account_id IS NULL
        """,
        *delays,
        [one.claim.id for one in ended],
        [one.claim.delivery_id for one in ended],
        [one.is_over for one in ended],
        [one.started for one in ended],
        [one.duration_ms for one in ended],
        [one.url for one in ended],
        [one.signature for one in ended],
        places,
        *zip(*answers, strict=True),
    )
    late = {row["delivery_id"] for row in lost}
    return [one for one in ended if one.claim.delivery_id in late] if late else []


def _answer(one: Ended) -> tuple[object, ...]:
    return (
        one.outcome,
        one.status,
        one.error_code,
        one.error_message,
        one.sent_at,
        one.kept_head,
        one.body,
    )


async def give_back(db: Database, claims: Sequence[Claim], *, rest: timedelta = _AT_ONCE) -> None:
    """Return what was claimed and not sent: for whoever comes, at once or after a rest."""
    await db.execute(
        """
        UPDATE delivery_queue AS q
           SET lease_until = CASE WHEN $3::interval > '0' THEN tradewind_now() + $3::interval
                                  ELSE 'epoch' END,
               delivery_id = NULL
         WHERE q.id = ANY ($1::uuid[]) AND q.delivery_id = ANY ($2::uuid[])
        """,
        [claim.id for claim in claims],
        [claim.delivery_id for claim in claims],
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
    outcomes: Sequence[str],
) -> None:
    """Add what a flush saw of each receiver; one that was deleted meanwhile has no health."""
    await db.execute(
        """
        WITH given AS (
            SELECT *
              FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[], $5::boolean[],
                          $6::integer[], $7::text[], $8::text[])
                   AS given (subscription_id, delivered, failed, final, ends_well, width, buckets,
                             outcomes)
             WHERE EXISTS (SELECT 1 FROM webhook_subscription WHERE id = given.subscription_id)
             ORDER BY subscription_id
        ),
        counted AS (
            INSERT INTO subscription_hour AS h
                   (subscription_id, hour, delivered, failed, buckets, outcomes)
            SELECT subscription_id, date_trunc('hour', tradewind_now()), delivered, failed,
                   buckets::bigint[], outcomes::bigint[]
              FROM given
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
        outcomes,
    )


async def queue_figures(db: Database) -> asyncpg.Record | None:
    """How much is pending, up to 100,001, and for how long the oldest of that has been due."""
    return await db.fetchrow(
        """
        SELECT count(*) AS depth,
               extract(epoch FROM tradewind_now() - min(due_at)
                       FILTER (WHERE due_at <= tradewind_now()))::float AS oldest_due_seconds
          FROM (SELECT due_at FROM queued_delivery WHERE is_pending LIMIT 100001) AS pending
        """
    )
