"""The statements that cancel deliveries: what a subscription no longer wants, batch by batch."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from tradewind.delivery.sql import WORKER_DIED
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def is_cancellation_due(db: Database) -> bool:
    """Return whether the queue of any subscription is to be gone through now."""
    due: bool = await db.fetchval(
        "SELECT EXISTS (SELECT 1 FROM cancellation WHERE next_at <= tradewind_now())"
    )
    return due


class Cancellation(NamedTuple):
    """A subscription whose queue is to be gone through, and where the last batch ended."""

    subscription_id: UUID
    after_due_at: datetime
    after_id: UUID
    met_in_flight: bool


class CancelledBatch(NamedTuple):
    """Rows of the queue that were examined (`seen`), unwanted and cancelled.

    `replay_ids` has one for each cancelled row that belonged to a replay. `due_at` and `id` are of
    the last row that was examined.
    """

    seen: int
    unwanted: int
    cancelled: int
    replay_ids: Sequence[UUID]
    due_at: datetime
    id: UUID


async def take_cancellation(tx: Tx) -> Cancellation | None:
    """Lock a subscription whose queue is to be gone through, unless another worker has it."""
    row = await tx.fetchrow(
        """
        SELECT subscription_id, after_due_at, after_id, met_in_flight
          FROM cancellation
         WHERE next_at <= tradewind_now()
         ORDER BY next_at
         LIMIT 1
           FOR UPDATE SKIP LOCKED
        """
    )
    return None if row is None else Cancellation(*row)


async def cancel_batch(
    tx: Tx,
    subscription_id: UUID,
    *,
    after: tuple[datetime, UUID],
    limit: int,
    lease: timedelta,
    messages: Mapping[str, str],
) -> CancelledBatch:
    """Examine the next `limit` rows of a subscription's queue, and cancel those that are unwanted.

    A row that a worker has claimed, or is claiming right now, is left alone. An attempt without a
    result whose lease expired is logged as `unknown` under its own id first, as a claim does.
    `messages` are the sentences of the log by `cancel_reason`.
    """
    row = await tx.fetchrow(
        f"""
        WITH seen AS MATERIALIZED (
            SELECT id, due_at, under_way, cancel_reason
              FROM queued_delivery
             WHERE subscription_id = $1 AND (due_at, id) > ($2::timestamptz, $3::uuid)
             ORDER BY due_at, id
             LIMIT $4
        ),
        locked AS MATERIALIZED (
            SELECT q.id
              FROM delivery_queue AS q
             WHERE q.id = ANY (ARRAY(SELECT id
                                       FROM seen
                                      WHERE cancel_reason IS NOT NULL AND NOT under_way))
               AND q.lease_until <= tradewind_now()
             ORDER BY q.id
               FOR UPDATE SKIP LOCKED
        ),
        cancelled AS (
            DELETE FROM delivery_queue AS q
             WHERE q.id = ANY (ARRAY(SELECT id FROM locked))
            RETURNING q.id, q.account_id, q.subscription_id, q.event_id, q.event_at, q.event,
                      q.purchase_order_id, q.attempt, q.trigger, q.replay_id, q.delivery_id,
                      q.lease_until
        ),
        logged AS (
            INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at,
                                          event, purchase_order_id, attempt, trigger, outcome,
                                          final, error_code, error_message, started_at)
            SELECT tradewind_uuid7(), account_id, subscription_id, event_id, event_at, event,
                   purchase_order_id, attempt, trigger, 'cancelled', true, seen.cancel_reason,
                   reason.message, tradewind_now()
              FROM cancelled
              JOIN seen USING (id)
              JOIN unnest($6::text[], $7::text[]) AS reason (code, message)
                ON reason.code = seen.cancel_reason
            UNION ALL
            SELECT delivery_id, account_id, subscription_id, event_id, event_at, event,
                   purchase_order_id, attempt, trigger, 'unknown', false, 'worker_died',
                   '{WORKER_DIED}',
                   greatest(least(lease_until - $5::interval, tradewind_now()),
                            tradewind_now() - interval '1 day')
              FROM cancelled
             WHERE delivery_id IS NOT NULL
        )
        SELECT (SELECT count(*) FROM seen) AS seen,
               (SELECT count(*) FROM seen WHERE cancel_reason IS NOT NULL) AS unwanted,
               (SELECT count(*) FROM cancelled) AS cancelled,
               ARRAY(SELECT replay_id FROM cancelled WHERE replay_id IS NOT NULL) AS replay_ids,
               last.due_at, last.id
          FROM (VALUES (1)) AS always
          LEFT JOIN (SELECT due_at, id FROM seen ORDER BY due_at DESC, id DESC LIMIT 1) AS last
            ON true
        """,  # noqa: S608 - our own constants
        subscription_id,
        *after,
        limit,
        lease,
        list(messages),
        list(messages.values()),
    )
    if row is None:
        raise RuntimeError("A SELECT without FROM returns a row.")
    return CancelledBatch(*row)


async def go_on_after(
    tx: Tx, subscription_id: UUID, position: tuple[datetime, UUID], *, met_in_flight: bool
) -> None:
    """Have the next batch begin after this position of the queue."""
    await tx.execute(
        """
        UPDATE cancellation
           SET after_due_at = $2, after_id = $3, met_in_flight = $4
         WHERE subscription_id = $1
        """,
        subscription_id,
        *position,
        met_in_flight,
    )


async def begin_again(tx: Tx, subscription_id: UUID, *, rest: timedelta) -> None:
    """Have the queue gone through once more, from its start, after a rest."""
    await tx.execute(
        """
        UPDATE cancellation
           SET after_due_at = DEFAULT, after_id = DEFAULT, met_in_flight = false,
               next_at = tradewind_now() + $2::interval
         WHERE subscription_id = $1
        """,
        subscription_id,
        rest,
    )


async def finish(tx: Tx, subscription_id: UUID) -> None:
    await tx.execute("DELETE FROM cancellation WHERE subscription_id = $1", subscription_id)
