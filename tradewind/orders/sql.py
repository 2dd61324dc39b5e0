"""The statements that change orders: accept one, lock some, save what they became."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.orders import rows
from tradewind.orders.model import Draft, Order, PaymentRequest, Work
from tradewind.storage.transaction import Tx

# What an order is read from; `o` is the order, `pay` its open payment request.
COLUMNS = """
    o.id, o.account_id, o.platform, o.external_id, o.items, o.address, o.remark, o.metadata,
    o.expected_fen, o.previewed, o.status, o.payment_status, o.platform_payment_status,
    o.platform_status, o.goods_fen, o.freight_fen, o.discount_fen, o.total_fen, o.paid_fen,
    o.refunded_fen, o.parts, o.order_ids, o.refunds, o.failure, o.cancel_requested, o.dispute,
    o.paid_outside, o.close_reason, o.pay_before, o.created_at, o.updated_at, o.version,
    o.next_sync_at, o.synced_at, o.sync_failures, o.create_sent_at, o.cancel_sent_at, o.hints,
    tradewind_now() AS now
"""
PAYMENT_COLUMNS = """
    pay.id AS pay_id, pay.status AS pay_status, pay.amount_fen AS pay_amount_fen,
    pay.sums AS pay_sums,
    pay.mode AS pay_mode, pay.requested_by AS pay_requested_by,
    pay.requested_email AS pay_requested_email, pay.requested_at AS pay_requested_at,
    pay.decided_by AS pay_decided_by, pay.decided_email AS pay_decided_email,
    pay.decided_at AS pay_decided_at, pay.reason AS pay_reason, pay.pay_url AS pay_pay_url,
    pay.sent_at AS pay_sent_at, pay.failure AS pay_failure
"""
WITH_PAYMENT = "purchase_order AS o LEFT JOIN payment_request AS pay ON pay.id = o.payment_id"


async def insert_order(
    tx: Tx,
    order_id: UUID,
    account_id: UUID,
    draft: Draft,
    *,
    previewed: bool,
    lease: UUID,
    held: timedelta,
) -> Order:
    """Accept an order. Whoever accepts it holds its lease, and has said that it will create it."""
    await tx.execute(
        """
        INSERT INTO purchase_order (id, account_id, platform, external_id, items, address, remark,
                                    metadata, expected_fen, previewed, status, payment_status,
                                    platform_payment_status, created_at, updated_at, work,
                                    next_sync_at, create_sent_at, lease, lease_until)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'creating', 'unpaid', 'unpaid',
               clock.now, clock.now, 'create', clock.now, clock.now, $11,
               clock.now + $12::interval
          FROM (SELECT date_trunc('milliseconds', tradewind_now()) AS now) AS clock
        """,
        order_id,
        account_id,
        draft.platform,
        draft.external_id,
        rows.to_json(draft.lines),
        rows.to_json(draft.address),
        draft.remark,
        rows.to_json(draft.metadata),
        draft.expected_fen,
        previewed,
        lease,
        held,
    )
    return (await lock_orders(tx, [order_id]))[0]


async def find_external(tx: Tx, account_id: UUID, external_id: str) -> UUID | None:
    """The account's order with this external id. Two at once take turns at it."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{account_id} {external_id}"
    )
    found: UUID | None = await tx.fetchval(
        "SELECT id FROM purchase_order WHERE account_id = $1 AND external_id = $2",
        account_id,
        external_id,
    )
    return found


async def lock_order(tx: Tx, account_id: UUID | None, order_id: UUID) -> Order | None:
    """An order of the account, for nobody else to change until the transaction ends.

    No account: whoever asks may see the orders of all, as approvers and the worker do.
    """
    found = await lock_orders(tx, [order_id])
    mine = [order for order in found if account_id in (None, order.account_id)]
    return mine[0] if mine else None


async def lock_orders(tx: Tx, order_ids: Sequence[UUID]) -> Sequence[Order]:
    """Lock orders, in the order of their ids, so that two who want the same never block.

    They are read by a statement of its own: one that waits for a lock sees the order as it was
    left, but its payment request as it was before the wait, or not at all.
    """
    await tx.execute(
        "SELECT 1 FROM purchase_order WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE",
        order_ids,
    )
    return await _read_locked(tx, order_ids)


async def lock_free_orders(tx: Tx, order_ids: Sequence[UUID]) -> Sequence[Order]:
    """Lock those of these orders that nobody else has locked."""
    free = await tx.fetch(
        """
        SELECT id
          FROM purchase_order
         WHERE id = ANY ($1::uuid[])
         ORDER BY id
           FOR UPDATE SKIP LOCKED
        """,
        order_ids,
    )
    return await _read_locked(tx, [row["id"] for row in free])


async def _read_locked(tx: Tx, order_ids: Sequence[UUID]) -> Sequence[Order]:
    found = await tx.fetch(
        f"""
        SELECT {COLUMNS}, {PAYMENT_COLUMNS}
          FROM {WITH_PAYMENT}
         WHERE o.id = ANY ($1::uuid[])
         ORDER BY o.id
        """,  # noqa: S608 - the parts are our own constants
        order_ids,
    )
    return [rows.order(row) for row in found]


async def save_orders(
    tx: Tx, orders: Sequence[Order], works: Sequence[Work], looks: Sequence[datetime | None]
) -> None:
    """Write orders as they are now, all at once."""
    await tx.execute(
        """
        UPDATE purchase_order AS o
           SET status = new.status,
               payment_status = new.payment_status,
               platform_payment_status = new.platform_payment_status,
               platform_status = new.platform_status,
               goods_fen = new.goods_fen,
               freight_fen = new.freight_fen,
               discount_fen = new.discount_fen,
               total_fen = new.total_fen,
               paid_fen = new.paid_fen,
               refunded_fen = new.refunded_fen,
               parts = new.parts,
               order_ids = ARRAY(SELECT json_array_elements_text(new.order_ids)),
               tracking_numbers = ARRAY(SELECT json_array_elements_text(new.tracking_numbers)),
               refunds = new.refunds,
               payment_id = new.payment_id,
               failure = new.failure,
               cancel_requested = new.cancel_requested,
               dispute = new.dispute,
               paid_outside = new.paid_outside,
               close_reason = new.close_reason,
               pay_before = new.pay_before,
               updated_at = new.updated_at,
               version = new.version,
               work = new.work,
               -- Who is due already stays so; whoever deals with it sets the next time.
               next_sync_at = CASE WHEN new.work <> 'none'
                                   THEN least(o.next_sync_at, new.next_sync_at) END
          FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
                      $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
                      $12::json[], $13::json[], $14::json[], $15::json[], $16::uuid[],
                      $17::json[], $18::boolean[], $19::boolean[], $20::boolean[], $21::text[],
                      $22::timestamptz[], $23::timestamptz[], $24::integer[], $25::text[],
                      $26::timestamptz[])
               AS new (id, status, payment_status, platform_payment_status, platform_status,
                       goods_fen, freight_fen, discount_fen, total_fen, paid_fen, refunded_fen,
                       parts, order_ids, tracking_numbers, refunds, payment_id, failure,
                       cancel_requested, dispute, paid_outside, close_reason, pay_before,
                       updated_at, version, work, next_sync_at)
         WHERE o.id = new.id
        """,
        [order.id for order in orders],
        [order.status for order in orders],
        [order.payment_status for order in orders],
        [order.platform_payment_status for order in orders],
        [order.platform_status for order in orders],
        [order.goods_fen for order in orders],
        [order.freight_fen for order in orders],
        [order.discount_fen for order in orders],
        [order.total_fen for order in orders],
        [order.paid_fen for order in orders],
        [order.refunded_fen for order in orders],
        [rows.to_json(order.parts) for order in orders],
        [rows.to_json(order.order_ids) for order in orders],
        [rows.to_json(rows.tracking_numbers(order)) for order in orders],
        [rows.to_json(order.refunds) for order in orders],
        [rows.open_payment(order) for order in orders],
        [rows.to_json_or_none(order.failure) for order in orders],
        [order.cancel_requested for order in orders],
        [order.dispute for order in orders],
        [order.paid_outside for order in orders],
        [order.close_reason for order in orders],
        [order.pay_before for order in orders],
        [order.updated_at for order in orders],
        [order.version for order in orders],
        works,
        looks,
    )


async def name_orders(tx: Tx, named: Sequence[tuple[str, str, UUID]]) -> Sequence[UUID]:
    """Note which orders on the platforms are which of ours; those that belong to others."""
    found = await tx.fetch(
        """
        WITH given AS (
            SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[])
                       AS given (platform, order_id, purchase_order_id)
        ),
        noted AS (
            INSERT INTO platform_order (platform, order_id, purchase_order_id)
            SELECT platform, order_id, purchase_order_id FROM given
            ON CONFLICT DO NOTHING
        )
        SELECT given.purchase_order_id
          FROM given
          JOIN platform_order AS noted USING (platform, order_id)
         WHERE noted.purchase_order_id <> given.purchase_order_id
        """,
        [platform for platform, _, _ in named],
        [order_id for _, order_id, _ in named],
        [ours for _, _, ours in named],
    )
    return [row["purchase_order_id"] for row in found]


async def save_payments(
    tx: Tx, requests: Sequence[tuple[UUID, UUID, PaymentRequest, datetime]]
) -> None:
    """Write payment requests, each given with its order, its account and the time."""
    await tx.execute(
        """
        INSERT INTO payment_request (id, purchase_order_id, account_id, status, amount_fen, sums,
                                     mode, requested_by, requested_email, requested_at, decided_by,
                                     decided_email, decided_at, reason, pay_url, sent_at, failure,
                                     updated_at)
        SELECT *
          FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $18::json[],
                      $6::text[], $7::uuid[], $8::text[], $9::timestamptz[], $10::uuid[],
                      $11::text[], $12::timestamptz[], $13::text[], $14::text[],
                      $15::timestamptz[], $16::json[], $17::timestamptz[])
        ON CONFLICT (id) DO UPDATE
           SET status = excluded.status,
               decided_by = excluded.decided_by,
               decided_email = excluded.decided_email,
               decided_at = excluded.decided_at,
               reason = excluded.reason,
               pay_url = excluded.pay_url,
               sent_at = excluded.sent_at,
               failure = excluded.failure,
               updated_at = excluded.updated_at
        """,
        [request.id for _, _, request, _ in requests],
        [order_id for order_id, _, _, _ in requests],
        [account_id for _, account_id, _, _ in requests],
        [request.status for _, _, request, _ in requests],
        [request.amount_fen for _, _, request, _ in requests],
        [request.mode for _, _, request, _ in requests],
        [request.requested_by.id for _, _, request, _ in requests],
        [request.requested_by.email for _, _, request, _ in requests],
        [request.requested_at for _, _, request, _ in requests],
        [request.decided_by and request.decided_by.id for _, _, request, _ in requests],
        [request.decided_by and request.decided_by.email for _, _, request, _ in requests],
        [request.decided_at for _, _, request, _ in requests],
        [request.reason for _, _, request, _ in requests],
        [request.pay_url for _, _, request, _ in requests],
        [request.sent_at for _, _, request, _ in requests],
        [rows.to_json_or_none(request.failure) for _, _, request, _ in requests],
        [at for _, _, _, at in requests],
        [rows.to_json(request.sums) for _, _, request, _ in requests],
    )


async def insert_changes(
    tx: Tx,
    orders: Sequence[Order],
    causes: Sequence[tuple[str, UUID | None, str | None]],
    changes: Sequence[str],
    events: Sequence[Sequence[UUID]],
) -> None:
    """Write down what changed, one row for each version of an order."""
    await tx.execute(
        """
        INSERT INTO order_change (purchase_order_id, version, account_id, at, cause, actor_id,
                                  actor, changes, events)
        SELECT id, version, account_id, at, cause, actor_id, actor, changes,
               ARRAY(SELECT json_array_elements_text(events)::uuid)
          FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::timestamptz[], $5::text[],
                      $6::uuid[], $7::text[], $8::json[], $9::json[])
               AS new (id, version, account_id, at, cause, actor_id, actor, changes, events)
        """,
        [order.id for order in orders],
        [order.version for order in orders],
        [order.account_id for order in orders],
        [order.updated_at for order in orders],
        [word for word, _, _ in causes],
        [actor_id for _, actor_id, _ in causes],
        [actor for _, _, actor in causes],
        changes,
        [rows.to_json([str(one) for one in ids]) for ids in events],
    )
