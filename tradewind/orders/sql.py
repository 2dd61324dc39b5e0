"""The statements that change orders: accept one, lock some, save what they became."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.accounts.sql import SharedAccounts
from tradewind.orders import rows
from tradewind.orders.idempotency import Statement
from tradewind.orders.model import Cause, Order, PlatformJob
from tradewind.orders.payments.model import PaymentRequest
from tradewind.orders.rows import COLUMNS
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

# The fields of an order that are saved as they are, and those of its payment request.
_STATE = (
    *("id", "status", "payment_status", "platform_payment_status", "platform_status", "goods_fen"),
    *("freight_fen", "discount_fen", "total_fen", "paid_fen", "refunded_fen", "parts", "order_ids"),
    *("refunds", "failure", "cancel_requested", "dispute", "paid_outside", "close_reason"),
    *("pay_before", "updated_at", "version"),
)
_PAYMENT_STATE = (
    *("id", "status", "amount_fen", "sums", "mode", "requested_at", "note", "decided_at", "reason"),
    *("pay_url", "sent_at", "failure"),
)
# The constraint that an order on a marketplace belongs to one order of ours.
PLATFORM_ORDER_KEY = "platform_order_pkey"
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
    """What one version of an order changed, and the events that it caused."""

    order: Order
    cause: Cause
    changes: Mapping[str, Mapping[str, object]]
    events: Sequence[UUID]


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
                                  actor, changes, events, agent)
        VALUES ($1, 1, $2, $11, $14, $15, $16, '{}', '{}', $17)
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
            cause.by and cause.by.agent,
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


@dataclass(frozen=True, slots=True)
class WhichOrder:
    """Names one order, by a condition in SQL."""

    condition: str
    args: Sequence[object]

    @property
    def query(self) -> str:
        """The query for this order, with `args`."""
        return f"""
            SELECT {COLUMNS}
              FROM {WITH_PAYMENT}
             WHERE o.id = (SELECT id FROM purchase_order WHERE {self.condition})
            """  # noqa: S608 - the parts are our own constants


def order_of_account(account_id: UUID | None, order_id: UUID) -> WhichOrder:
    """An order of the account; with no account, of anybody."""
    condition = "id = $1 AND ($2::uuid IS NULL OR account_id = $2)"
    return WhichOrder(condition, [order_id, account_id])


def order_of_payment(payment_id: UUID) -> WhichOrder:
    """The order that a payment request is about."""
    condition = "id = (SELECT purchase_order_id FROM payment_request WHERE id = $1)"
    return WhichOrder(condition, [payment_id])


async def lock_order(tx: Tx, account_id: UUID | None, order_id: UUID) -> Order | None:
    """Lock an order of the account until the transaction ends; with no account, of anybody."""
    return await lock(tx, order_of_account(account_id, order_id))


async def lock(tx: Tx, which: WhichOrder) -> Order | None:
    """Lock one order until the transaction ends.

    A statement that waited for a lock still reads its own snapshot. If the order was written while
    it waited, the order is therefore read again.
    """
    row = await tx.fetchrow(
        f"""
        WITH locked AS MATERIALIZED (
            SELECT id, xmin AS written_by FROM purchase_order WHERE {which.condition} FOR UPDATE
        )
        SELECT {COLUMNS}, locked.written_by <> o.xmin AS is_stale
          FROM {WITH_PAYMENT}
          JOIN locked ON locked.id = o.id
        """,  # noqa: S608 - the parts are our own constants
        *which.args,
    )
    if row is not None and row["is_stale"]:
        row = await tx.fetchrow(
            f"SELECT {COLUMNS} FROM {WITH_PAYMENT} WHERE o.id = $1",  # noqa: S608 - likewise
            row["id"],
        )
    return None if row is None else rows.read_order(row)


def save_orders(
    writes: Sequence[OrderWrite],
    timeline: Sequence[TimelineWrite],
    *,
    lease: UUID | None = None,
    only_synced: bool = False,
    relying: Sequence[SharedAccounts] = (),
) -> tuple[str, Sequence[object]]:
    """Write orders that did not change since, with payments, ids on the marketplace, timeline.

    Return the parts of a WITH, and their arguments. The part `saved` returns the ids. Orders whose
    version is another than the known one, or whose `lease` is no longer this one, are left as they
    are; without a lease also those that were synced since: a sync may change what callers cannot
    see, which makes no new version. So are orders that another transaction has locked, since that
    one may wait behind this one for its turn at the journal. Without a lease, an order that is due
    already stays so. An id on the marketplace that belongs to another order of ours violates
    PLATFORM_ORDER_KEY.

    With a lease, the orders are given back: they were synced now, and their next sync is as
    written, or now if a hint came meanwhile. With `only_synced`, only the next sync is put off:
    a job that is to be done stays due, and is due from now, so that the next sync leaves it to the
    worker again.

    With `relying`, nothing is written unless these accounts are as they must be, and they stay so
    until the commit.
    """
    requests = [
        (write, write.order.payment)
        for write in writes
        if write.order.payment is not None and write.order.payment != write.before.payment
    ]
    placed = [
        {
            "platform": write.order.platform,
            "order_id": order_id,
            "purchase_order_id": write.order.id,
        }
        for write in writes
        for order_id in dict.fromkeys(write.order.order_ids)
        if order_id not in write.before.order_ids
    ]
    # PostgreSQL plans for the one row of a record, and for a hundred rows of a record set.
    new_rows = "json_to_recordset" if len(writes) > 1 else "json_to_record"
    new = [_row(write) for write in writes]
    args: list[object] = [rows.to_json(new if len(new) > 1 else new[0]), lease, only_synced]
    shared, are_shared = "", ""
    for number, accounts in enumerate(relying):
        shared += f"shared_{number} AS MATERIALIZED ({accounts.query(len(args))}), "
        args += accounts.args
        are_shared += f" AND (SELECT count(*) FROM shared_{number}) = {len(accounts.ids)}"  # noqa: S608 - ours
    update = f"""
        {shared}
        new AS MATERIALIZED (
            SELECT *
              FROM {new_rows}($1)
                   AS new (id uuid, status text, payment_status text, platform_payment_status text,
                           platform_status text, goods_fen bigint, freight_fen bigint,
                           discount_fen bigint, total_fen bigint, paid_fen bigint,
                           refunded_fen bigint, parts json, order_ids text[],
                           tracking_numbers text[], refunds json, payment_id uuid, failure json,
                           cancel_requested boolean, dispute boolean, paid_outside boolean,
                           close_reason text, pay_before timestamptz, updated_at timestamptz,
                           version integer, items json, work text, next_sync_at timestamptz,
                           synced_at timestamptz, known_version integer, known_hints integer,
                           known_synced_at timestamptz)
        ),
        current AS MATERIALIZED (
            SELECT o.id
              FROM purchase_order AS o
              JOIN new USING (id)
             WHERE o.version = new.known_version
               AND (o.lease = $2::uuid
                    OR ($2 IS NULL AND o.synced_at IS NOT DISTINCT FROM new.known_synced_at))
               {are_shared}
             ORDER BY o.id
               FOR UPDATE OF o SKIP LOCKED
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
                   order_ids = new.order_ids,
                   tracking_numbers = new.tracking_numbers,
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
                   items = coalesce(new.items, o.items),
                   lease_until = CASE WHEN $2 IS NULL THEN o.lease_until ELSE 'epoch' END,
                   synced_at = CASE WHEN $2 IS NULL THEN o.synced_at ELSE new.synced_at END,
                   sync_failures = CASE WHEN $2 IS NULL THEN o.sync_failures ELSE 0 END,
                   work = CASE WHEN $2 IS NOT NULL AND new.work = 'none'
                                    AND o.hints <> new.known_hints THEN 'sync'
                               ELSE new.work END,
                   next_sync_at = CASE
                       WHEN $2 IS NULL AND new.work = 'none' THEN NULL
                       WHEN $2 IS NULL THEN least(o.next_sync_at, new.next_sync_at)
                       WHEN $3 AND new.work IN ('create', 'cancel', 'pay')
                       THEN greatest(least(o.next_sync_at, new.next_sync_at), tradewind_now())
                       WHEN o.hints <> new.known_hints THEN tradewind_now()
                       ELSE new.next_sync_at END
              FROM new
              JOIN current USING (id)
             WHERE o.id = new.id
            RETURNING o.id
        )"""  # noqa: S608 - the parts are our own constants
    parts = [update]
    # Most changes insert into few of these tables, and each that is named costs time.
    for insert, inserted in (
        (_insert_payments, [_payment_row(write.order, request) for write, request in requests]),
        (_insert_platform_orders, placed),
        (_insert_timeline, [_timeline_row(entry) for entry in timeline]),
    ):
        if inserted:
            args.append(rows.to_json(inserted))
            parts.append(insert(f"${len(args)}"))
    return ", ".join(parts), args


def _insert_payments(argument: str) -> str:
    return f"""
    paid AS (
        INSERT INTO payment_request (id, purchase_order_id, account_id, status, amount_fen,
                                     sums, mode, requested_by, requested_email, requested_at,
                                     note, decided_by, decided_email, decided_at, reason,
                                     pay_url, sent_at, failure, updated_at, requested_agent)
        SELECT request.*
          FROM json_to_recordset({argument})
               AS request (id uuid, purchase_order_id uuid, account_id uuid, status text,
                           amount_fen bigint, sums json, mode text, requested_by uuid,
                           requested_email text, requested_at timestamptz, note text,
                           decided_by uuid, decided_email text, decided_at timestamptz,
                           reason text, pay_url text, sent_at timestamptz, failure json,
                           updated_at timestamptz, requested_agent text)
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
    )"""  # noqa: S608 - the number of a parameter


def _insert_platform_orders(argument: str) -> str:
    return f"""
    placed AS (
        INSERT INTO platform_order (platform, order_id, purchase_order_id)
        SELECT placed.*
          FROM json_to_recordset({argument})
               AS placed (platform text, order_id text, purchase_order_id uuid)
          JOIN saved ON saved.id = placed.purchase_order_id
         WHERE NOT EXISTS (SELECT
                             FROM platform_order AS own
                            WHERE own.platform = placed.platform
                              AND own.order_id = placed.order_id
                              AND own.purchase_order_id = placed.purchase_order_id)
    )"""  # noqa: S608 - the number of a parameter


def _insert_timeline(argument: str) -> str:
    return f"""
    entered AS (
        INSERT INTO order_change (purchase_order_id, version, account_id, at, cause, actor_id,
                                  actor, changes, events, agent)
        SELECT entry.*
          FROM json_to_recordset({argument})
               AS entry (id uuid, version integer, account_id uuid, at timestamptz, cause text,
                         actor_id uuid, actor text, changes json, events uuid[], agent text)
          JOIN saved ON saved.id = entry.id
    )"""  # noqa: S608 - the number of a parameter


def _row(write: OrderWrite) -> Mapping[str, object]:
    order = write.order
    return {
        **{name: getattr(order, name) for name in _STATE},
        "tracking_numbers": rows.tracking_numbers(order),
        # Lines only change when their goods become known.
        "items": None if order.lines is write.before.lines else order.lines,
        "payment_id": order.open_payment and order.open_payment.id,
        "work": write.job,
        "next_sync_at": write.next_sync_at,
        "synced_at": order.now,
        "known_version": write.before.version,
        "known_hints": order.hints,
        "known_synced_at": write.before.synced_at,
    }


def _payment_row(order: Order, request: PaymentRequest) -> Mapping[str, object]:
    by, decided_by = request.requested_by, request.decided_by
    return {
        **{name: getattr(request, name) for name in _PAYMENT_STATE},
        "purchase_order_id": order.id,
        "account_id": order.account_id,
        "requested_by": by.id,
        "requested_email": by.email,
        "requested_agent": by.agent,
        "decided_by": decided_by and decided_by.id,
        "decided_email": decided_by and decided_by.email,
        "updated_at": order.updated_at,
    }


def _timeline_row(entry: TimelineWrite) -> Mapping[str, object]:
    order, by = entry.order, entry.cause.by
    return {
        "id": order.id,
        "version": order.version,
        "account_id": order.account_id,
        "at": order.updated_at,
        "cause": entry.cause.name,
        "actor_id": by and by.id,
        "actor": by and by.email,
        "agent": by and by.agent,
        "changes": entry.changes,
        "events": entry.events,
    }
