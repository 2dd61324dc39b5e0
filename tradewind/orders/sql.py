"""The statements that change orders: accept one, lock some, save what they became."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.orders import rows
from tradewind.orders.idempotency import Statement
from tradewind.orders.model import Cause, Order, PlatformJob
from tradewind.orders.rows import COLUMNS
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_STATE = (
    *("id", "status", "payment_status", "platform_payment_status", "platform_status", "goods_fen"),
    *("freight_fen", "discount_fen", "total_fen", "paid_fen", "refunded_fen"),
)
_FLAGS = (
    *("cancel_requested", "dispute", "paid_outside", "close_reason", "pay_before", "updated_at"),
    "version",
)
WITH_PAYMENT = "purchase_order AS o LEFT JOIN payment_request AS pay ON pay.id = o.payment_id"


@dataclass(frozen=True, slots=True)
class OrderWrite:
    """An order as it becomes, from how it was when the change was decided on."""

    before: Order
    order: Order
    job: PlatformJob
    next_sync_at: datetime | None


@dataclass(frozen=True, slots=True)
class TimelineWrite:
    """What one version of an order changed, as JSON, and the events that it caused."""

    order: Order
    cause: Cause
    changes: str
    events: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Saved:
    """When an order that was saved is synced. `id_taken`: another order has its id there."""

    id: UUID
    synced_at: datetime | None
    next_sync_at: datetime | None
    sync_failures: int
    id_taken: bool


def insert_order(order: Order, cause: Cause, *, lease: UUID, held: timedelta) -> Statement:
    """Accept an order. Whoever accepts it holds its lease, and is about to create it."""
    return Statement(
        """
        WITH accepted AS (
            INSERT INTO purchase_order (id, account_id, platform, external_id, items, address,
                                        remark, metadata, expected_fen, previewed, status,
                                        payment_status, platform_payment_status, created_at,
                                        updated_at, work, next_sync_at, create_sent_at, lease,
                                        lease_until)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'creating', 'unpaid', 'unpaid', $11,
                    $11, 'create', $11, $11, $12, tradewind_now() + $13::interval)
        )
        INSERT INTO order_change (purchase_order_id, version, account_id, at, cause, actor_id,
                                  actor, changes, events)
        VALUES ($1, 1, $2, $11, $14, $15, $16, '{}', '{}')
        """,
        [
            order.id,
            order.account_id,
            order.platform,
            order.external_id,
            rows.to_json(order.lines),
            rows.to_json(order.address),
            order.remark,
            rows.to_json(order.metadata),
            order.expected_fen,
            order.previewed,
            order.created_at,
            lease,
            held,
            cause.name,
            cause.by and cause.by.id,
            cause.by and cause.by.email,
        ],
    )


async def find_external(db: Database, account_id: UUID, external_id: str) -> UUID | None:
    """Return the id of the account's order with this external id."""
    order_id: UUID | None = await db.fetchval(
        "SELECT id FROM purchase_order WHERE account_id = $1 AND external_id = $2",
        account_id,
        external_id,
    )
    return order_id


async def lock_order(tx: Tx, account_id: UUID | None, order_id: UUID) -> Order | None:
    """Lock an order of the account until the transaction ends; with no account, of anybody."""
    orders = await lock_orders(tx, [order_id])
    return next((o for o in orders if account_id in (None, o.account_id)), None)


async def lock_orders(tx: Tx, order_ids: Sequence[UUID]) -> Sequence[Order]:
    """Lock orders, in the order of their ids, so that two transactions never deadlock.

    A statement that waited for a lock still reads its own snapshot. If an order was written while
    it waited, all are therefore read again.
    """
    records = await tx.fetch(
        f"""
        WITH locked AS MATERIALIZED (
            SELECT id, xmin AS written_by
              FROM purchase_order
             WHERE id = ANY ($1::uuid[])
             ORDER BY id
               FOR UPDATE
        )
        SELECT {COLUMNS}, locked.written_by <> o.xmin AS is_stale
          FROM {WITH_PAYMENT}
          JOIN locked ON locked.id = o.id
         ORDER BY o.id
        """,  # noqa: S608 - the parts are our own constants
        order_ids,
    )
    if any(record["is_stale"] for record in records):
        records = await tx.fetch(
            f"SELECT {COLUMNS} FROM {WITH_PAYMENT} WHERE o.id = ANY ($1::uuid[]) ORDER BY o.id",  # noqa: S608 - likewise
            order_ids,
        )
    return [rows.read_order(record) for record in records]


async def save_orders(
    tx: Tx,
    writes: Sequence[OrderWrite],
    timeline: Sequence[TimelineWrite],
    *,
    lease: UUID | None = None,
    only_synced: bool = False,
) -> Sequence[Saved]:
    """Write orders that did not change since, with payments, ids on the marketplace, timeline.

    Orders whose version is another than the known one, or whose `lease` is no longer this one, are
    left as they are, and are not returned. Without a lease, an order that is due already stays so.

    With a lease, the orders are given back: they were synced now, and their next sync is as
    written, or now if a hint came meanwhile. With `only_synced`, only the next sync is put off:
    a job that is to be done stays due, and is due from now, so that the next sync leaves it to the
    worker again.
    """
    orders = [write.order for write in writes]
    requests = [
        (write.order, write.order.payment)
        for write in writes
        if write.order.payment is not None and write.order.payment != write.before.payment
    ]
    placed = [
        (write.order, order_id)
        for write in writes
        for order_id in write.order.order_ids
        if order_id not in write.before.order_ids
    ]
    # A batch does not wait for one order: an order that is locked is left out.
    skip_locked = "SKIP LOCKED" if len(writes) > 1 else ""
    records = await tx.fetch(
        f"""
        WITH new AS (
            SELECT *
              FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
                          $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
                          $12::json[], $13::json[], $14::json[], $15::json[], $16::uuid[],
                          $17::json[], $18::boolean[], $19::boolean[], $20::boolean[], $21::text[],
                          $22::timestamptz[], $23::timestamptz[], $24::integer[], $25::text[],
                          $26::timestamptz[], $27::integer[], $28::integer[])
                   AS new (id, status, payment_status, platform_payment_status, platform_status,
                           goods_fen, freight_fen, discount_fen, total_fen, paid_fen, refunded_fen,
                           parts, order_ids, tracking_numbers, refunds, payment_id, failure,
                           cancel_requested, dispute, paid_outside, close_reason, pay_before,
                           updated_at, version, work, next_sync_at, known_version, known_hints)
        ),
        current AS MATERIALIZED (
            SELECT o.id
              FROM purchase_order AS o
              JOIN new USING (id)
             WHERE o.version = new.known_version AND ($29::uuid IS NULL OR o.lease = $29)
             ORDER BY o.id
               FOR UPDATE OF o {skip_locked}
        ),
        saved AS (
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
                   lease_until = CASE WHEN $29 IS NULL THEN o.lease_until ELSE 'epoch' END,
                   synced_at = CASE WHEN $29 IS NULL THEN o.synced_at ELSE tradewind_now() END,
                   sync_failures = CASE WHEN $29 IS NULL THEN o.sync_failures ELSE 0 END,
                   work = CASE WHEN $29 IS NOT NULL AND new.work = 'none'
                                    AND o.hints <> new.known_hints THEN 'sync'
                               ELSE new.work END,
                   next_sync_at = CASE
                       WHEN $29 IS NULL AND new.work = 'none' THEN NULL
                       WHEN $29 IS NULL THEN least(o.next_sync_at, new.next_sync_at)
                       WHEN $30 AND new.work IN ('create', 'cancel', 'pay')
                       THEN greatest(least(o.next_sync_at, new.next_sync_at), tradewind_now())
                       WHEN o.hints <> new.known_hints THEN tradewind_now()
                       ELSE new.next_sync_at END
              FROM new
              JOIN current USING (id)
             WHERE o.id = new.id
            RETURNING o.id, o.synced_at, o.next_sync_at, o.sync_failures
        ),
        paid AS (
            INSERT INTO payment_request (id, purchase_order_id, account_id, status, amount_fen,
                                         sums, mode, requested_by, requested_email, requested_at,
                                         decided_by, decided_email, decided_at, reason, pay_url,
                                         sent_at, failure, updated_at)
            SELECT request.*
              FROM unnest($31::uuid[], $32::uuid[], $33::uuid[], $34::text[], $35::bigint[],
                          $36::json[], $37::text[], $38::uuid[], $39::text[], $40::timestamptz[],
                          $41::uuid[], $42::text[], $43::timestamptz[], $44::text[], $45::text[],
                          $46::timestamptz[], $47::json[], $48::timestamptz[])
                   AS request (id, purchase_order_id)
              JOIN saved ON saved.id = request.purchase_order_id
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
        ),
        placed AS (
            SELECT placed.*
              FROM unnest($49::text[], $50::text[], $51::uuid[])
                   AS placed (platform, order_id, purchase_order_id)
              JOIN saved ON saved.id = placed.purchase_order_id
        ),
        named AS (
            INSERT INTO platform_order (platform, order_id, purchase_order_id)
            SELECT platform, order_id, purchase_order_id FROM placed
            ON CONFLICT DO NOTHING
        ),
        entered AS (
            INSERT INTO order_change (purchase_order_id, version, account_id, at, cause, actor_id,
                                      actor, changes, events)
            SELECT entry.id, version, account_id, at, cause, actor_id, actor, changes,
                   ARRAY(SELECT json_array_elements_text(events)::uuid)
              FROM unnest($52::uuid[], $53::integer[], $54::uuid[], $55::timestamptz[],
                          $56::text[], $57::uuid[], $58::text[], $59::json[], $60::json[])
                   AS entry (id, version, account_id, at, cause, actor_id, actor, changes, events)
              JOIN saved ON saved.id = entry.id
        )
        SELECT id, synced_at, next_sync_at, sync_failures,
               EXISTS (SELECT
                         FROM placed
                         JOIN platform_order AS existing USING (platform, order_id)
                        WHERE placed.purchase_order_id = saved.id
                          AND existing.purchase_order_id <> saved.id) AS id_taken
          FROM saved
        """,  # noqa: S608 - the part is our own constant
        *_columns(orders, _STATE),
        [rows.to_json(order.parts) for order in orders],
        [rows.to_json(order.order_ids) for order in orders],
        [rows.to_json(rows.tracking_numbers(order)) for order in orders],
        [rows.to_json(order.refunds) for order in orders],
        [order.open_payment and order.open_payment.id for order in orders],
        [rows.to_json_or_none(order.failure) for order in orders],
        *_columns(orders, _FLAGS),
        [write.job for write in writes],
        [write.next_sync_at for write in writes],
        [write.before.version for write in writes],
        [order.hints for order in orders],
        lease,
        only_synced,
        [request.id for _, request in requests],
        [order.id for order, _ in requests],
        [order.account_id for order, _ in requests],
        [request.status for _, request in requests],
        [request.amount_fen for _, request in requests],
        [rows.to_json(request.sums) for _, request in requests],
        [request.mode for _, request in requests],
        [request.requested_by.id for _, request in requests],
        [request.requested_by.email for _, request in requests],
        [request.requested_at for _, request in requests],
        [request.decided_by and request.decided_by.id for _, request in requests],
        [request.decided_by and request.decided_by.email for _, request in requests],
        [request.decided_at for _, request in requests],
        [request.reason for _, request in requests],
        [request.pay_url for _, request in requests],
        [request.sent_at for _, request in requests],
        [rows.to_json_or_none(request.failure) for _, request in requests],
        [order.updated_at for order, _ in requests],
        [order.platform for order, _ in placed],
        [order_id for _, order_id in placed],
        [order.id for order, _ in placed],
        [entry.order.id for entry in timeline],
        [entry.order.version for entry in timeline],
        [entry.order.account_id for entry in timeline],
        [entry.order.updated_at for entry in timeline],
        [entry.cause.name for entry in timeline],
        [entry.cause.by and entry.cause.by.id for entry in timeline],
        [entry.cause.by and entry.cause.by.email for entry in timeline],
        [entry.changes for entry in timeline],
        [rows.to_json([str(event_id) for event_id in entry.events]) for entry in timeline],
    )
    return [Saved(**record) for record in records]


def _columns(orders: Sequence[Order], names: Sequence[str]) -> Sequence[Sequence[object]]:
    """Return a list for each of the fields, with its value in every order."""
    return [[getattr(order, name) for order in orders] for name in names]
