"""The statements of replays: what was missed, and how far replays have come."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from tradewind.delivery.model import PendingDelivery, Replay, Total, Window
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_REPLAY = """
    id, account_id, subscription_id, status, trigger, since, until, purchase_order_id AS order_id,
    everything, total, total_is_exact, queued, delivered, failed, at_time, at_event, created_at,
    ended_at
"""

# The next events of a window, and which of them were missed: those that the subscription lists and
# its filter accepts and, unless everything is asked for, that were never delivered to it and are
# not about to be.
#
# The cost is bounded, whatever the statistics: it reads at most $9 events, looks each of them up in
# the log by index, and reads the subscription's queue once (a FULL JOIN is never a nested loop).
_MISSED = """
    WITH subscription AS MATERIALIZED (
        SELECT s.events, s.filter FROM webhook_subscription AS s WHERE s.id = $2
    ),
    examined AS MATERIALIZED (
        SELECT e.id, e.created_at, e.type, e.purchase_order_id,
               CASE WHEN (SELECT filter FROM subscription) IS NOT NULL
                    THEN filter_accepts((SELECT filter FROM subscription), e.body)
                    ELSE true END AS is_accepted
          FROM event AS e
         WHERE e.account_id = $1
           AND e.created_at >= $3
           AND e.created_at < $4
           AND {of_order}
           AND ($7::timestamptz IS NULL OR (e.created_at, e.id) > ($7, $8::uuid))
         ORDER BY e.created_at, e.id
         LIMIT $9
    ),
    queued AS MATERIALIZED (
        SELECT DISTINCT q.event_id
          FROM queued_delivery AS q
         WHERE NOT $6 AND q.subscription_id = $2 AND q.cancel_reason IS NULL
    ),
    joined AS MATERIALIZED (
        SELECT examined.*, queued.event_id IS NOT NULL AS is_queued
          FROM examined
          FULL JOIN queued ON queued.event_id = examined.id
    ),
    missed AS (
        SELECT e.id, e.created_at, e.type, e.purchase_order_id
          FROM joined AS e
         WHERE e.id IS NOT NULL
           AND e.type = ANY ((SELECT events FROM subscription)::text[])
           AND e.is_accepted
           AND NOT e.is_queued
           AND ($6 OR (SELECT true
                         FROM delivery_attempt AS a
                        WHERE a.subscription_id = $2
                          AND a.event_id = e.id
                          AND a.outcome = 'delivered'
                          AND a.started_at BETWEEN e.created_at - interval '1 minute'
                                               AND tradewind_now() + interval '1 minute'
                        LIMIT 1) IS NULL)
    )
"""
_OF_ANY_ORDER = _MISSED.format(of_order="$5::uuid IS NULL")
_OF_ONE_ORDER = _MISSED.format(of_order="e.purchase_order_id = $5")


async def count_missed(
    db: Database | Tx,
    account_id: UUID,
    subscription_id: UUID,
    window: Window,
    *,
    limit: int,
    examine: int,
) -> tuple[int, int]:
    """Count up to `limit` missed events among the first `examine` events of a window.

    Returns how many were missed, and how many events there are, up to `examine`.
    """
    row = await db.fetchrow(
        f"""
        {_OF_ANY_ORDER if window.order_id is None else _OF_ONE_ORDER}
        SELECT (SELECT count(*) FROM (SELECT 1 FROM missed LIMIT $10) AS counted) AS missed,
               (SELECT count(*) FROM examined) AS examined
        """,  # noqa: S608 - our own constants
        account_id,
        subscription_id,
        window.since,
        window.until,
        window.order_id,
        window.everything,
        None,
        None,
        examine,
        limit,
    )
    return (0, 0) if row is None else (row["missed"], row["examined"])


async def insert_replay(
    tx: Tx,
    replay_id: UUID,
    account_id: UUID,
    subscription_id: UUID,
    window: Window,
    total: Total,
    *,
    trigger: str,
) -> UUID | None:
    """Begin a replay, or extend the one that runs: its id.

    None for one that is requested while another runs, and for an automatic one about failures that
    were replayed, or are being. An automatic replay that runs is extended: it goes back to where
    the new failures begin, since what it passed over as pending may have failed for good since.
    """
    begun: UUID | None = await tx.fetchval(
        """
        INSERT INTO replay (id, account_id, subscription_id, status, trigger, since,
                                        until, latest_since, purchase_order_id, everything, total,
                                        total_is_exact, next_at, created_at)
        SELECT $1::uuid, $2::uuid, $3::uuid, 'running', $4::text, $5::timestamptz,
               $6::timestamptz, CASE WHEN $4 = 'catch_up' THEN $5::timestamptz END, $7::uuid,
               $8::boolean, $9::bigint, $10::boolean, tradewind_now(), tradewind_now()
         WHERE NOT EXISTS (SELECT 1
                             FROM replay
                            WHERE subscription_id = $3
                              AND CASE $4 WHEN 'catch_up' THEN latest_since >= $5
                                          ELSE status = 'running' END)
        ON CONFLICT (subscription_id, trigger) WHERE status = 'running' DO UPDATE
           SET since = least(replay.since, excluded.since),
               until = greatest(replay.until, excluded.until),
               latest_since = excluded.since,
               at_event = CASE WHEN replay.at_time > excluded.since
                               THEN '00000000-0000-0000-0000-000000000000'::uuid
                               ELSE replay.at_event END,
               at_time = least(replay.at_time, excluded.since),
               next_at = tradewind_now(),
               lease_until = 'epoch'
         WHERE replay.trigger = 'catch_up' AND replay.latest_since < excluded.since
        RETURNING id
        """,
        replay_id,
        account_id,
        subscription_id,
        trigger,
        window.since,
        window.until,
        window.order_id,
        window.everything,
        total.count,
        total.is_exact,
    )
    return begun


class CatchingUp(NamedTuple):
    """A subscription that replays missed events by itself, and since when it fails, if it does."""

    subscription_id: UUID
    account_id: UUID
    failing_since: datetime | None
    now: datetime


async def list_catching_up(db: Database, subscriptions: Sequence[UUID]) -> Sequence[CatchingUp]:
    """Those of these subscriptions that replay missed events by themselves."""
    rows = await db.fetch(
        """
        SELECT s.id, s.account_id, h.failing_since, tradewind_now() AS now
          FROM webhook_subscription AS s
          LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
         WHERE s.id = ANY ($1::uuid[]) AND s.catch_up
        """,
        subscriptions,
    )
    return [CatchingUp(*row) for row in rows]


async def find_replay(
    db: Database, account_id: UUID, subscription_id: UUID, replay_id: UUID
) -> Replay | None:
    row = await db.fetchrow(
        f"""
        SELECT {_REPLAY}
          FROM replay
         WHERE account_id = $1 AND subscription_id = $2 AND id = $3
        """,  # noqa: S608 - our own constants
        account_id,
        subscription_id,
        replay_id,
    )
    return None if row is None else Replay(**row)


async def list_replays(
    db: Database, account_id: UUID, subscription_id: UUID, *, below: UUID | None, limit: int
) -> Sequence[Replay]:
    """The replays of a subscription, newest first."""
    rows = await db.fetch(
        f"""
        SELECT {_REPLAY}
          FROM replay
         WHERE account_id = $1 AND subscription_id = $2 AND ($3::uuid IS NULL OR id < $3)
         ORDER BY id DESC
         LIMIT $4
        """,  # noqa: S608 - our own constants
        account_id,
        subscription_id,
        below,
        limit,
    )
    return [Replay(**row) for row in rows]


async def cancel_replay(tx: Tx, account_id: UUID, subscription_id: UUID, replay_id: UUID) -> bool:
    """End a replay, and cancel what it queued; return whether there is such a replay.

    What is cancelled counts as failed, also in a replay that has queued everything.
    """
    exists = await tx.fetchval(
        """
        UPDATE replay
           SET status = CASE WHEN status = 'running' THEN 'cancelled' ELSE status END,
               ended_at = coalesce(ended_at, tradewind_now())
         WHERE account_id = $1 AND subscription_id = $2 AND id = $3
        RETURNING true
        """,
        account_id,
        subscription_id,
        replay_id,
    )
    if exists is None:
        return False
    await tx.execute(
        """
        WITH unsent AS (
            DELETE FROM delivery_queue
             WHERE id = ANY (ARRAY(SELECT id
                                     FROM delivery_queue
                                    WHERE replay_id = $1 AND lease_until <= tradewind_now()
                                      FOR UPDATE SKIP LOCKED))
            RETURNING account_id, subscription_id, event_id, event_at, event, purchase_order_id,
                      attempt, trigger
        ),
        counted AS (
            UPDATE replay
               SET failed = failed + (SELECT count(*) FROM unsent)
             WHERE id = $1
        )
        INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event_at, event,
                                      purchase_order_id, attempt, trigger, outcome, final,
                                      error_code, error_message, started_at)
        SELECT tradewind_uuid7(), account_id, subscription_id, event_id, event_at, event,
               purchase_order_id, attempt, trigger, 'cancelled', true, 'recover_cancelled',
               'The replay that it belonged to was cancelled.', tradewind_now()
          FROM unsent
        """,
        replay_id,
    )
    return True


async def list_cancelled(db: Database, replay_ids: Collection[UUID]) -> frozenset[UUID]:
    """Those of these replays that were cancelled: what they queued is not sent any more."""
    rows = await db.fetch(
        "SELECT id FROM replay WHERE id = ANY ($1::uuid[]) AND status = 'cancelled'",
        list(replay_ids),
    )
    return frozenset(row["id"] for row in rows)


async def take_replay(db: Database, *, lease: timedelta) -> Replay | None:
    """Lease a running replay that is due; requested ones come before automatic ones."""
    row = await db.fetchrow(
        f"""
        UPDATE replay
           SET lease_until = tradewind_now() + $1::interval
         WHERE id = (SELECT replay.id
                       FROM replay
                      WHERE replay.status = 'running'
                        AND replay.next_at <= tradewind_now()
                        AND replay.lease_until <= tradewind_now()
                        AND (replay.trigger = 'request'
                             OR NOT EXISTS (SELECT 1
                                              FROM replay AS other
                                             WHERE other.subscription_id = replay.subscription_id
                                               AND other.trigger = 'request'
                                               AND other.status = 'running'))
                      ORDER BY replay.next_at
                      LIMIT 1
                        FOR UPDATE SKIP LOCKED)
        RETURNING {_REPLAY}, EXISTS (SELECT 1
                              FROM webhook_subscription AS s
                              WHERE s.id = subscription_id AND s.is_active) AS is_active
        """,  # noqa: S608 - our own constants
        lease,
    )
    return None if row is None else Replay(**row)


async def set_total(db: Database, replay_id: UUID, total: int, *, is_exact: bool) -> None:
    """Save how many events an automatic replay will deliver."""
    await db.execute(
        "UPDATE replay SET total = $2, total_is_exact = $3 WHERE id = $1",
        replay_id,
        total,
        is_exact,
    )


async def count_outstanding(db: Database, replay_id: UUID) -> int:
    """How many deliveries of a replay are not over yet."""
    count: int = await db.fetchval(
        "SELECT count(*) FROM delivery_queue WHERE replay_id = $1", replay_id
    )
    return count


async def feed(
    tx: Tx, replay: Replay, *, limit: int, examine: int, spacing: timedelta
) -> tuple[int, bool]:
    """Queue the next events of a replay, spaced out in time; how many, and whether that was all.

    It examines `examine` events at the most. Feeding and cancelling lock the row, so what is queued
    can be cancelled. A worker whose lease expired while others fed or extended the replay finds it
    at another position, and queues nothing. A count becomes exact when everything is queued.
    """
    rows = await tx.fetch(
        f"""
        {_OF_ANY_ORDER if replay.order_id is None else _OF_ONE_ORDER},
        next AS (
            SELECT * FROM missed ORDER BY created_at, id LIMIT $10
        )
        SELECT next.id, next.created_at, next.type, next.purchase_order_id,
               all_of_them.number AS examined, last.created_at AS last_at, last.id AS last_id
          FROM (SELECT count(*) AS number FROM examined) AS all_of_them
          LEFT JOIN (SELECT created_at, id FROM examined ORDER BY created_at DESC, id DESC LIMIT 1)
                    AS last ON true
          LEFT JOIN next ON true
         ORDER BY next.created_at, next.id
        """,  # noqa: S608 - our own constants
        replay.account_id,
        replay.subscription_id,
        replay.since,
        replay.until,
        replay.order_id,
        replay.everything,
        replay.at_time,
        replay.at_event,
        examine,
        limit,
    )
    examined, position = rows[0]["examined"], (rows[0]["last_at"], rows[0]["last_id"])
    rows = [row for row in rows if row["id"] is not None]
    over = len(rows) < limit and examined < examine
    if len(rows) == limit:
        position = (rows[-1]["created_at"], rows[-1]["id"])
    queued: int = await tx.fetchval(
        """
        WITH locked AS MATERIALIZED (
            SELECT id, account_id, subscription_id
              FROM replay
             WHERE id = $1
               AND status = 'running'
               AND at_event IS NOT DISTINCT FROM $10
               AND until = $11
               FOR UPDATE
        ),
        input AS (
            SELECT * FROM unnest($2::uuid[], $3::timestamptz[], $8::text[], $9::uuid[])
                     WITH ORDINALITY AS input (event_id, event_at, event, order_id, ordinal)
        ),
        queued AS (
            INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                        event, purchase_order_id, due_at, trigger, replay_id)
            SELECT locked.account_id, locked.subscription_id, s.generation, input.event_id,
                   input.event_at, input.event, input.order_id,
                   tradewind_now() + input.ordinal * $4::interval, 'recover', locked.id
              FROM locked
              JOIN webhook_subscription AS s ON s.id = locked.subscription_id
             CROSS JOIN input
            RETURNING 1
        ),
        progressed AS (
            UPDATE replay
               SET queued = queued + (SELECT count(*) FROM queued),
                   at_time = coalesce($5, at_time),
                   at_event = coalesce($6, at_event),
                   next_at = tradewind_now() + CASE WHEN EXISTS (SELECT 1 FROM queued)
                                                    THEN interval '1 second'
                                                    ELSE interval '0' END,
                   lease_until = 'epoch',
                   total = CASE WHEN $7 AND NOT total_is_exact
                                THEN queued + (SELECT count(*) FROM queued) ELSE total END,
                   total_is_exact = total_is_exact OR $7,
                   status = CASE WHEN $7 THEN 'done' ELSE status END,
                   ended_at = CASE WHEN $7 THEN tradewind_now() ELSE ended_at END
             WHERE id IN (SELECT id FROM locked)
        )
        SELECT count(*) FROM queued
        """,
        replay.id,
        [row["id"] for row in rows],
        [row["created_at"] for row in rows],
        spacing,
        *position,
        over,
        [row["type"] for row in rows],
        [row["purchase_order_id"] for row in rows],
        replay.at_event,
        replay.until,
    )
    return queued, over


async def postpone_replay(db: Database, replay_id: UUID, *, rest: timedelta) -> None:
    """Come back to a replay later: what it queued is not delivered yet."""
    await db.execute(
        """
        UPDATE replay
           SET next_at = tradewind_now() + $2::interval, lease_until = 'epoch'
         WHERE id = $1
        """,
        replay_id,
        rest,
    )


async def count_results(
    db: Database, replay_ids: Sequence[UUID], delivered: Sequence[bool]
) -> None:
    """Count deliveries that are over in the replays that they belong to."""
    await db.execute(
        """
        WITH input AS (
            SELECT replay_id, count(*) FILTER (WHERE ok) AS delivered,
                   count(*) FILTER (WHERE NOT ok) AS failed
              FROM unnest($1::uuid[], $2::boolean[]) AS input (replay_id, ok)
             GROUP BY replay_id
        )
        UPDATE replay
           SET delivered = replay.delivered + input.delivered,
               failed = replay.failed + input.failed
          FROM input
         WHERE replay.id = input.replay_id
        """,
        replay_ids,
        delivered,
    )


async def queue_event(
    tx: Tx, account_id: UUID, subscription_id: UUID, event_id: UUID
) -> PendingDelivery | None:
    """Queue an event of the account once more for one subscription; None: no such event."""
    row = await tx.fetchrow(
        """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    event, purchase_order_id, due_at, trigger)
        SELECT e.account_id, s.id, s.generation, e.id, e.created_at, e.type, e.purchase_order_id,
               tradewind_now(), 'redeliver'
          FROM event AS e
          JOIN webhook_subscription AS s ON s.account_id = e.account_id
         WHERE e.account_id = $1 AND s.id = $2 AND e.id = $3
        RETURNING id, event_id, event, purchase_order_id AS order_id, attempt, trigger, due_at,
                  false AS under_way
        """,
        account_id,
        subscription_id,
        event_id,
    )
    return None if row is None else PendingDelivery(**row)
