"""The statements about expired leases: results that come too late, or never."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from tradewind.delivery.model import ClaimedDelivery
from tradewind.delivery.sql import response
from tradewind.egress.result import AttemptResult
from tradewind.storage.pool import Database


async def log_late(db: Database, attempts: Sequence[tuple[ClaimedDelivery, AttemptResult]]) -> int:
    """Log the results of attempts whose leases expired; return how many were not logged before.

    The worker that claimed the row since then has logged the attempt as unknown: that row keeps its
    id and `final`, and gets the result. Nothing but the log changes. An attempt whose result is in
    the log already, because only the reply to its record was lost, stays as it is.

    This is a statement of its own, after the one that found the leases expired: only a later
    snapshot is sure to see what the other workers have logged.
    """
    deliveries = [delivery for delivery, _ in attempts]
    outcome, status, code, message, sent_at, head, body = zip(
        *(response(*attempt) for attempt in attempts), strict=True
    )
    count: int = await db.fetchval(
        """
        WITH late AS MATERIALIZED (
            SELECT *
              FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[],
                          $7::smallint[], $8::boolean[], $9::text[], $10::smallint[], $11::text[],
                          $12::text[], $13::float8[], $14::integer[], $15::text[],
                          $16::bigint[], $17::text[], $18::text[], $19::bytea[], $20::bytea[])
                   AS late (queue_id, delivery_id, account_id, subscription_id, event_id, event,
                             attempt, of_a_replay, outcome, status_code, error_code, error_message,
                             started, duration_ms, url, sent_at, signature, more_headers,
                             response_head, response_body)
        ),
        corrected AS (
            UPDATE delivery_attempt AS a
               SET outcome = late.outcome,
                   late = true,
                   status_code = late.status_code,
                   error_code = late.error_code,
                   error_message = late.error_message,
                   duration_ms = late.duration_ms,
                   url = late.url,
                   sent_at = late.sent_at,
                   signature = late.signature,
                   more_headers = late.more_headers,
                   response_head = late.response_head,
                   response_body = late.response_body
              FROM late
             WHERE a.subscription_id = late.subscription_id
               AND a.event_id = late.event_id
               AND a.id = late.delivery_id
               AND a.outcome = 'unknown'
            RETURNING 1
        ),
        added AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, late, status_code, error_code, error_message,
                                          started_at, duration_ms, url, sent_at, signature,
                                          more_headers, response_head, response_body)
            SELECT late.delivery_id, late.account_id, late.subscription_id, late.event_id,
                   e.created_at, late.event, e.purchase_order_id, late.attempt,
                   coalesce(q.trigger, CASE WHEN late.of_a_replay THEN 'recover' ELSE 'event' END),
                   late.outcome, false, true, late.status_code, late.error_code,
                   late.error_message, to_timestamp(late.started), late.duration_ms,
                   late.url, late.sent_at, late.signature, late.more_headers,
                   late.response_head, late.response_body
              FROM late
              LEFT JOIN event AS e ON e.id = late.event_id AND e.account_id = late.account_id
              LEFT JOIN delivery_queue AS q ON q.id = late.queue_id
             WHERE NOT EXISTS (SELECT 1
                                 FROM delivery_attempt AS a
                                WHERE a.subscription_id = late.subscription_id
                                  AND a.event_id = late.event_id
                                  AND a.id = late.delivery_id)
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM corrected) + (SELECT count(*) FROM added)
        """,
        [delivery.id for delivery in deliveries],
        [delivery.delivery_id for delivery in deliveries],
        [delivery.account_id for delivery in deliveries],
        [delivery.subscription_id for delivery in deliveries],
        [delivery.event_id for delivery in deliveries],
        [delivery.event for delivery in deliveries],
        [delivery.attempt for delivery in deliveries],
        [delivery.replay_id is not None for delivery in deliveries],
        outcome,
        status,
        code,
        message,
        [delivery.started for delivery in deliveries],
        [delivery.duration_ms for delivery in deliveries],
        [delivery.url for delivery in deliveries],
        sent_at,
        [delivery.signature for delivery in deliveries],
        [delivery.more_headers for delivery in deliveries],
        head,
        body,
    )
    return count


class ExpiredDelivery(NamedTuple):
    """A delivery whose workers die before they report."""

    subscription_id: UUID
    event_id: UUID
    attempt: int


async def park(db: Database, *, lost: int, most: int, rest: timedelta) -> Sequence[ExpiredDelivery]:
    """Postpone deliveries whose leases expired `lost` times in a row; which they are.

    Those that were parked `most` times already stay as they are: they are to be given up.
    """
    rows = await db.fetch(
        """
        UPDATE delivery_queue
           SET due_at = tradewind_now() + $3::interval,
               lost = 0,
               parked = parked + 1
         WHERE lost >= $1 AND parked < $2 AND lease_until <= tradewind_now()
        RETURNING subscription_id, event_id, attempt
        """,
        lost,
        most,
        rest,
    )
    return [ExpiredDelivery(*row) for row in rows]


async def give_up(
    db: Database, *, lost: int, parked: int, lease: timedelta, why: str
) -> Sequence[ExpiredDelivery]:
    """End as failed what was parked `parked` times and expired again; which deliveries they are.

    The last attempt is the one that ends it, under its own id if it has one.
    """
    rows = await db.fetch(
        """
        WITH ended AS (
            DELETE FROM delivery_queue
             WHERE lost >= $1 AND parked >= $2 AND lease_until <= tradewind_now()
            RETURNING account_id, subscription_id, event_id, event_at, event, purchase_order_id,
                      attempt, trigger, replay_id, delivery_id, lease_until
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
            UPDATE replay
               SET failed = replay.failed + of_replay.failed
              FROM (SELECT replay_id, count(*) AS failed FROM ended GROUP BY replay_id) AS of_replay
             WHERE replay.id = of_replay.replay_id
        )
        SELECT subscription_id, event_id, attempt FROM ended
        """,
        lost,
        parked,
        lease,
        why,
    )
    return [ExpiredDelivery(*row) for row in rows]
