"""The statements about claims that were lost: answers that came too late, or that never came."""

from collections.abc import Sequence
from datetime import timedelta

import asyncpg

from tradewind.delivery.model import Ended
from tradewind.storage.pool import Database


async def log_late(db: Database, ended: Sequence[Ended]) -> int:
    """Log what became of attempts whose claims were lost; of how many that was news.

    Whoever claimed the row since then has logged the send as unknown: that row keeps its id, its
    place and `final`, and tells now what happened. It changes nothing but the log. An attempt whose
    outcome is in the log already, since only the answer to its record was lost, is left as it is.

    This is a statement of its own, after the one that found the claims lost: only a later
    snapshot is sure to see what those who took them have logged.
    """
    count: int = await db.fetchval(
        """
        WITH given AS MATERIALIZED (
            SELECT *
              FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[],
                          $7::smallint[], $8::boolean[], $9::text[], $10::smallint[], $11::text[],
                          $12::text[], $13::float8[], $14::integer[], $15::text[],
                          $16::bigint[], $17::text[], $18::bytea[], $19::bytea[])
                   AS given (queue_id, delivery_id, account_id, subscription_id, event_id, event,
                             attempt, of_a_job, outcome, status_code, error_code, error_message,
                             started, duration_ms, url, sent_at, signature, response_head,
                             response_body)
        ),
        corrected AS (
            UPDATE delivery_attempt AS a
               SET outcome = given.outcome,
                   late = true,
                   status_code = given.status_code,
                   error_code = given.error_code,
                   error_message = given.error_message,
                   duration_ms = given.duration_ms,
                   url = given.url,
                   sent_at = given.sent_at,
                   signature = given.signature,
                   response_head = given.response_head,
                   response_body = given.response_body
              FROM given
             WHERE a.subscription_id = given.subscription_id
               AND a.event_id = given.event_id
               AND a.id = given.delivery_id
               AND a.outcome = 'unknown'
            RETURNING 1
        ),
        added AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, late, status_code, error_code, error_message,
                                          started_at, duration_ms, url, sent_at, signature,
                                          response_head, response_body)
            SELECT given.delivery_id, given.account_id, given.subscription_id, given.event_id,
                   e.created_at, given.event, e.purchase_order_id, given.attempt,
                   coalesce(q.trigger, CASE WHEN given.of_a_job THEN 'recover' ELSE 'event' END),
                   given.outcome, false, true, given.status_code, given.error_code,
                   given.error_message, to_timestamp(given.started), given.duration_ms,
                   given.url, given.sent_at, given.signature, given.response_head,
                   given.response_body
              FROM given
              LEFT JOIN event AS e ON e.id = given.event_id AND e.account_id = given.account_id
              LEFT JOIN delivery_queue AS q ON q.id = given.queue_id
             WHERE NOT EXISTS (SELECT 1
                                 FROM delivery_attempt AS a
                                WHERE a.subscription_id = given.subscription_id
                                  AND a.event_id = given.event_id
                                  AND a.id = given.delivery_id)
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM corrected) + (SELECT count(*) FROM added)
        """,
        [one.claim.id for one in ended],
        [one.claim.delivery_id for one in ended],
        [one.claim.account_id for one in ended],
        [one.claim.subscription_id for one in ended],
        [one.claim.event_id for one in ended],
        [one.claim.event for one in ended],
        [one.claim.attempt for one in ended],
        [one.claim.job_id is not None for one in ended],
        [one.outcome for one in ended],
        [one.status for one in ended],
        [one.error_code for one in ended],
        [one.error_message for one in ended],
        [one.started for one in ended],
        [one.duration_ms for one in ended],
        [one.url for one in ended],
        [one.sent_at for one in ended],
        [one.signature for one in ended],
        [one.kept_head for one in ended],
        [one.body for one in ended],
    )
    return count


async def park(db: Database, *, lost: int, most: int, rest: timedelta) -> Sequence[asyncpg.Record]:
    """Put aside deliveries that nobody who claimed them ever came back from; which they are.

    Those that were put aside so often already stay as they are: they are to be given up.
    """
    return await db.fetch(
        """
        UPDATE delivery_queue
           SET due_at = tradewind_now() + $3::interval,
               lost = 0,
               parked = parked + 1
         WHERE lost >= $1 AND parked < $2 AND lease_until <= tradewind_now()
        RETURNING id, subscription_id, event_id
        """,
        lost,
        most,
        rest,
    )


async def give_up(
    db: Database, *, lost: int, parked: int, lease: timedelta, why: str
) -> Sequence[asyncpg.Record]:
    """End as failed what was put aside so often and is lost again; which deliveries they are.

    The last send is the one that ends it, under its own id if it has one.
    """
    return await db.fetch(
        """
        WITH ended AS (
            DELETE FROM delivery_queue
             WHERE lost >= $1 AND parked >= $2 AND lease_until <= tradewind_now()
            RETURNING account_id, subscription_id, event_id, event_at, event, purchase_order_id,
                      attempt, trigger, job_id, delivery_id, lease_until
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, error_code, error_message, started_at)
            SELECT coalesce(delivery_id, tradewind_uuid7()), account_id, subscription_id, event_id,
                   event_at, event, purchase_order_id, attempt, trigger, 'unknown', true,
                   'given_up', $4, CASE WHEN delivery_id IS NULL THEN tradewind_now()
                                        ELSE greatest(lease_until - $3::interval,
                                                      tradewind_now() - interval '1 day') END
              FROM ended
        ),
        counted AS (
            UPDATE recover_job AS job
               SET failed = job.failed + of_job.failed
              FROM (SELECT job_id, count(*) AS failed FROM ended GROUP BY job_id) AS of_job
             WHERE job.id = of_job.job_id
        )
        SELECT subscription_id, event_id, attempt FROM ended
        """,
        lost,
        parked,
        lease,
        why,
    )
