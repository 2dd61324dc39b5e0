"""The statements about leases: who works on an order at the marketplace, and when next."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.orders import rows
from tradewind.orders.model import Order, PlatformJob
from tradewind.orders.rows import COLUMNS
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def claim_due(
    db: Database,
    platform: str,
    jobs: Sequence[PlatformJob],
    *,
    lease: UUID,
    held: timedelta,
    limit: int,
) -> Sequence[Order]:
    """Claim up to `limit` orders that are due, the longest overdue first.

    If a worker dies, its orders can be claimed again when the lease expires. Jobs and limit are
    constants of the statement: as parameters they make PostgreSQL plan it anew each time.
    """
    values = ", ".join(f"('{PlatformJob(job)}')" for job in jobs)
    records = await db.fetch(
        f"""
        WITH due AS MATERIALIZED (
            SELECT first.id
              FROM (VALUES {values}) AS job (work)
             CROSS JOIN LATERAL (
                   SELECT q.id, q.next_sync_at
                     FROM purchase_order AS q
                    WHERE q.platform = $1
                      AND q.work = job.work
                      AND q.work <> 'none'
                      AND q.next_sync_at <= tradewind_now()
                      AND q.lease_until <= tradewind_now()
                    ORDER BY q.next_sync_at
                    LIMIT {int(limit)}
                      FOR UPDATE SKIP LOCKED) AS first
             ORDER BY first.next_sync_at
             LIMIT {int(limit)}
        ),
        o AS (
            UPDATE purchase_order AS taken
               SET lease_until = tradewind_now() + $2::interval,
                   lease = $3
             WHERE taken.id = ANY (ARRAY(SELECT id FROM due))
            RETURNING taken.*
        )
        SELECT {COLUMNS}
          FROM o
          LEFT JOIN payment_request AS pay ON pay.id = o.payment_id
        """,  # noqa: S608 - the parts are our own constants
        platform,
        held,
        lease,
    )
    return [rows.read_order(record) for record in records]


async def take_lease(
    db: Database,
    account_id: UUID | None,
    order_id: UUID,
    *,
    lease: UUID,
    held: timedelta,
    only_sync: bool = False,
) -> Order | None:
    """Take the lease of an order; None if there is no such order, or another holds its lease.

    With `only_sync`, the order is left to the worker while a job has just become due:
    refreshes that follow each other would keep the job from being done.
    """
    row = await db.fetchrow(
        f"""
        WITH o AS (
            UPDATE purchase_order AS taken
               SET lease_until = tradewind_now() + $4::interval,
                   lease = $3
             WHERE ($1::uuid IS NULL OR taken.account_id = $1)
               AND taken.id = $2
               AND taken.lease_until <= tradewind_now()
               AND NOT ($5 AND taken.work IN ('create', 'cancel', 'pay')
                        AND taken.next_sync_at > tradewind_now() - interval '2 seconds'
                        AND taken.next_sync_at <= tradewind_now())
            RETURNING taken.*
        )
        SELECT {COLUMNS}
          FROM o
          LEFT JOIN payment_request AS pay ON pay.id = o.payment_id
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        order_id,
        lease,
        held,
        only_sync,
    )
    return None if row is None else rows.read_order(row)


async def give_back(
    db: Database | Tx,
    lease: UUID,
    orders: Sequence[tuple[Order, datetime | None]],
    *,
    synced: bool,
    only_synced: bool = False,
) -> None:
    """Give orders back unchanged, each with the time of its next sync.

    After the lease was lost, nothing changes. A hint, or another change, that came meanwhile makes
    the order due at once. `synced` is whether the marketplace responded. With `only_synced`, only
    the next sync is put off: a job that is to be done stays due, and is due from now, so that the
    next sync leaves it to the worker again.
    """
    await db.execute(
        """
        WITH held AS (
            SELECT id
              FROM purchase_order
             WHERE id = ANY ($2::uuid[]) AND lease = $1
             ORDER BY id
               FOR UPDATE
        )
        UPDATE purchase_order AS o
           SET lease_until = 'epoch',
               synced_at = CASE WHEN $6 THEN tradewind_now() ELSE o.synced_at END,
               sync_failures = CASE WHEN $6 THEN 0 ELSE o.sync_failures + 1 END,
               work = CASE WHEN $7 AND o.work IN ('create', 'cancel', 'pay') THEN o.work
                           WHEN o.hints = new.hints AND o.version = new.version
                           THEN CASE WHEN new.at IS NULL THEN 'none'
                                     WHEN o.work = 'none' THEN 'sync'
                                     ELSE o.work END
                           WHEN o.work = 'none' AND o.hints <> new.hints THEN 'sync'
                           ELSE o.work END,
               next_sync_at = CASE WHEN $7 AND o.work IN ('create', 'cancel', 'pay')
                                   THEN greatest(o.next_sync_at, tradewind_now())
                                   WHEN o.hints = new.hints AND o.version = new.version THEN new.at
                                   WHEN o.work = 'none' AND o.hints = new.hints THEN NULL
                                   ELSE tradewind_now() END
          FROM unnest($2::uuid[], $3::integer[], $4::integer[], $5::timestamptz[])
               AS new (id, hints, version, at)
          JOIN held USING (id)
         WHERE o.id = new.id
        """,
        lease,
        [order.id for order, _ in orders],
        [order.hints for order, _ in orders],
        [order.version for order, _ in orders],
        [at for _, at in orders],
        synced,
        only_synced,
    )


async def release(db: Database, lease: UUID, order_id: UUID) -> None:
    """Give an order back without having worked on it."""
    await db.execute(
        "UPDATE purchase_order SET lease_until = 'epoch' WHERE id = $2 AND lease = $1",
        lease,
        order_id,
    )


async def mark_sent(db: Database, lease: UUID, order_id: UUID, *, sent: bool) -> bool:
    """Record, before the call, that the order is about to be created on the marketplace.

    Or, after it, that it certainly was not. False: the lease is no longer ours.
    """
    marked = await db.fetchval(
        """
        UPDATE purchase_order
           SET create_sent_at = CASE WHEN $3 THEN tradewind_now() END
         WHERE id = $2 AND lease = $1 AND lease_until > tradewind_now()
        RETURNING true
        """,
        lease,
        order_id,
        sent,
    )
    return marked is not None


async def mark_all_sent(db: Database) -> int:
    """Record for every order that is to be created that it may have been created already."""
    marked: int = await db.fetchval(
        """
        WITH marked AS (
            UPDATE purchase_order
               SET create_sent_at = tradewind_now()
             WHERE work = 'create' AND create_sent_at IS NULL
            RETURNING id
        )
        SELECT count(*) FROM marked
        """
    )
    return marked


async def mark_cancel_sent(db: Database, lease: UUID, order_id: UUID, *, sent: bool) -> None:
    """Record that the marketplace took the cancellation; or that it has to be requested again."""
    await db.execute(
        """
        UPDATE purchase_order
           SET cancel_sent_at = CASE WHEN $3 THEN tradewind_now() END
         WHERE id = $2 AND lease = $1
        """,
        lease,
        order_id,
        sent,
    )


async def hint(
    db: Database, platform: str, order_ids: Sequence[str], *, except_paid: bool = False
) -> int:
    """Make orders of ours due now, because a notice says that they changed; return how many.

    With `except_paid`, orders are left out that the marketplace has shown as paid, in their payment
    and in their status.

    The statement is planned once: the sub-selects hide the number of ids (see `events/sql.py`).
    """
    records = await db.fetch(
        """
        UPDATE purchase_order AS o
           SET hints = o.hints + 1,
               next_sync_at = tradewind_now(),
               work = CASE WHEN o.work = 'none' THEN 'sync' ELSE o.work END
         WHERE o.id = ANY (ARRAY(
                   SELECT ours.id
                     FROM platform_order AS placed
                     JOIN purchase_order AS ours ON ours.id = placed.purchase_order_id
                    WHERE placed.platform = $1
                      AND placed.order_id = ANY ((SELECT $2::text[])::text[])
                      AND NOT ($3 AND ours.platform_payment_status = 'paid'
                               AND ours.status NOT IN ('creating', 'pending_payment', 'unknown'))
                    ORDER BY ours.id
                      FOR UPDATE OF ours))
        RETURNING o.id
        """,
        platform,
        order_ids,
        except_paid,
    )
    return len(records)


async def swept_until(db: Database, platform: str) -> datetime:
    """Return up to when changes were listed; for the first time, an hour ago."""
    until: datetime = await db.fetchval(
        """
        SELECT coalesce((SELECT synced_until FROM platform_sync WHERE platform = $1),
                        tradewind_now() - interval '1 hour')
        """,
        platform,
    )
    return until


async def save_synced_until(db: Database, platform: str, until: datetime) -> None:
    await db.execute(
        """
        INSERT INTO platform_sync AS s (platform, synced_until)
        VALUES ($1, $2)
        ON CONFLICT (platform) DO UPDATE
           SET synced_until = greatest(s.synced_until, excluded.synced_until)
        """,
        platform,
        until,
    )


async def hint_later_than(
    db: Database, platform: str, changed: Sequence[tuple[str, datetime]], *, margin: timedelta
) -> int:
    """Make orders due now that changed on the marketplace after their last sync.

    A change within the `margin` counts as later: clocks differ, and a sync takes time.
    """
    records = await db.fetch(
        """
        UPDATE purchase_order AS o
           SET hints = o.hints + 1,
               next_sync_at = tradewind_now(),
               work = CASE WHEN o.work = 'none' THEN 'sync' ELSE o.work END
         WHERE o.id = ANY (ARRAY(
                   SELECT ours.id
                     FROM unnest($2::text[], $3::timestamptz[]) AS new (order_id, at)
                     JOIN platform_order AS placed
                       ON placed.platform = $1 AND placed.order_id = new.order_id
                     JOIN purchase_order AS ours ON ours.id = placed.purchase_order_id
                    WHERE ours.synced_at IS NULL OR ours.synced_at < new.at + $4::interval
                    ORDER BY ours.id
                      FOR UPDATE OF ours))
        RETURNING o.id
        """,
        platform,
        [order_id for order_id, _ in changed],
        [at for _, at in changed],
        margin,
    )
    return len(records)
