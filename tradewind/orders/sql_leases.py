"""The statements about who deals with an order at the platform now, and who next."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.orders import rows
from tradewind.orders.model import Order, Work
from tradewind.orders.sql import COLUMNS, PAYMENT_COLUMNS
from tradewind.storage.pool import Database


async def claim_due(
    db: Database, platform: str, works: Sequence[Work], *, lease: UUID, held: timedelta, limit: int
) -> Sequence[Order]:
    """Take up to `limit` orders that are due, those first that have been so for longest.

    A worker that dies needs no rescue: what it held can be claimed again when the lease ends.
    """
    found = await db.fetch(
        f"""
        WITH due AS MATERIALIZED (
            SELECT first.id
              FROM unnest($2::text[]) AS wanted (work)
             CROSS JOIN LATERAL (
                   SELECT q.id, q.next_sync_at
                     FROM purchase_order AS q
                    WHERE q.platform = $1
                      AND q.work = wanted.work
                      AND q.work <> 'none'
                      AND q.next_sync_at <= tradewind_now()
                      AND q.lease_until <= tradewind_now()
                    ORDER BY q.next_sync_at
                    LIMIT $3
                      FOR UPDATE SKIP LOCKED) AS first
             ORDER BY first.next_sync_at
             LIMIT $3
        ),
        o AS (
            UPDATE purchase_order AS taken
               SET lease_until = tradewind_now() + $4::interval,
                   lease = $5
             WHERE taken.id = ANY (ARRAY(SELECT id FROM due))
            RETURNING taken.*
        )
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM o
          LEFT JOIN payment_request AS pay ON pay.id = o.payment_id
        """,  # noqa: S608 - the parts are our own constants
        platform,
        works,
        limit,
        held,
        lease,
    )
    return [rows.order(row) for row in found]


async def take_lease(
    db: Database,
    account_id: UUID | None,
    order_id: UUID,
    *,
    lease: UUID,
    held: timedelta,
    only_to_look: bool = False,
) -> Order | None:
    """An order that is now ours to deal with; None when there is none, or somebody else has it.

    Who wants `only_to_look` leaves it to the worker while something has just become due: those who
    look again and again would keep it from being done.
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
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM o
          LEFT JOIN payment_request AS pay ON pay.id = o.payment_id
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        order_id,
        lease,
        held,
        only_to_look,
    )
    return None if row is None else rows.order(row)


async def finish(
    db: Database,
    lease: UUID,
    orders: Sequence[tuple[Order, datetime | None]],
    *,
    heard: bool,
    only_looked: bool = False,
) -> None:
    """Give orders back, each as it was left and with the time to look at it next.

    Whoever lost the lease meanwhile changes nothing. A hint, or a change by somebody else, that
    came during the look makes the order due at once. `heard` is whether the platform answered.
    Who `only_looked` puts off nothing but the next look: what is to be done stays due, and is due
    from now, so that the next who only look leave it to the worker again.
    """
    await db.execute(
        """
        WITH ours AS (
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
                                     WHEN o.work = 'none' THEN 'follow'
                                     ELSE o.work END
                           WHEN o.work = 'none' AND o.hints <> new.hints THEN 'follow'
                           ELSE o.work END,
               next_sync_at = CASE WHEN $7 AND o.work IN ('create', 'cancel', 'pay')
                                   THEN greatest(o.next_sync_at, tradewind_now())
                                   WHEN o.hints = new.hints AND o.version = new.version THEN new.at
                                   WHEN o.work = 'none' AND o.hints = new.hints THEN NULL
                                   ELSE tradewind_now() END
          FROM unnest($2::uuid[], $3::integer[], $4::integer[], $5::timestamptz[])
               AS new (id, hints, version, at)
          JOIN ours USING (id)
         WHERE o.id = new.id
        """,
        lease,
        [order.id for order, _ in orders],
        [order.hints for order, _ in orders],
        [order.version for order, _ in orders],
        [at for _, at in orders],
        heard,
        only_looked,
    )


async def release(db: Database, lease: UUID, order_id: UUID) -> None:
    """Give an order back without having done anything with it."""
    await db.execute(
        "UPDATE purchase_order SET lease_until = 'epoch' WHERE id = $2 AND lease = $1",
        lease,
        order_id,
    )


async def mark_sent(db: Database, lease: UUID, order_id: UUID, *, sent: bool) -> bool:
    """Write down, before the call, that the platform is about to be asked to create the order.

    Or, after it, that nothing came of it for certain. False: the lease is no longer ours.
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


async def mark_cancel_sent(db: Database, lease: UUID, order_id: UUID, *, sent: bool) -> None:
    """Write down that the platform took the wish to cancel; or that it is to be asked anew."""
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


async def hint(db: Database, platform: str, order_ids: Sequence[str]) -> int:
    """Make orders due now, because somebody says that they changed; how many are ours."""
    found = await db.fetch(
        """
        UPDATE purchase_order AS o
           SET hints = o.hints + 1,
               next_sync_at = tradewind_now(),
               work = CASE WHEN o.work = 'none' THEN 'follow' ELSE o.work END
         WHERE o.id = ANY (ARRAY(
                   SELECT ours.id
                     FROM platform_order AS named
                     JOIN purchase_order AS ours ON ours.id = named.purchase_order_id
                    WHERE named.platform = $1 AND named.order_id = ANY ($2::text[])
                    ORDER BY ours.id
                      FOR UPDATE OF ours))
        RETURNING o.id
        """,
        platform,
        order_ids,
    )
    return len(found)


async def swept_until(db: Database, platform: str) -> datetime:
    """Up to when changes were swept up; for the first time, an hour ago."""
    until: datetime = await db.fetchval(
        """
        SELECT coalesce((SELECT synced_until FROM platform_sync WHERE platform = $1),
                        tradewind_now() - interval '1 hour')
        """,
        platform,
    )
    return until


async def save_sweep(db: Database, platform: str, until: datetime) -> None:
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
    """Make those orders due now whose change on the platform is later than what we heard.

    Within the `margin` it counts as later: clocks differ, and a look takes its time.
    """
    found = await db.fetch(
        """
        UPDATE purchase_order AS o
           SET hints = o.hints + 1,
               next_sync_at = tradewind_now(),
               work = CASE WHEN o.work = 'none' THEN 'follow' ELSE o.work END
         WHERE o.id = ANY (ARRAY(
                   SELECT ours.id
                     FROM unnest($2::text[], $3::timestamptz[]) AS new (order_id, at)
                     JOIN platform_order AS named
                       ON named.platform = $1 AND named.order_id = new.order_id
                     JOIN purchase_order AS ours ON ours.id = named.purchase_order_id
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
    return len(found)


async def now(db: Database) -> datetime:
    moment: datetime = await db.fetchval("SELECT tradewind_now()")
    return moment
