"""The bounded queries of the overview."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tradewind.platforms.model import Line
from tradewind.storage.pool import Database

_LINES = msgspec.json.Decoder(list[Line])

# How far the clock of the database may differ from that of the process that made an id.
_CLOCK_SKEW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """The attempts of one time step.

    `outcomes` are in the order of `COUNTED` in delivery/model.py; `buckets` count latencies, the
    n-th of them those below 2^n ms. Both are empty without attempts.
    """

    begins: datetime
    outcomes: Sequence[int]
    buckets: Sequence[int]


@dataclass(frozen=True, slots=True)
class CompletedSteps:
    """Which of the getting-started steps an account has completed."""

    has_key: bool
    used_key: bool
    subscribed: bool
    delivered: bool
    ordered: bool
    approved: bool


@dataclass(frozen=True, slots=True)
class WebhookCounts:
    """Webhooks of all accounts by health."""

    active: int
    failing: int
    disabled: int


async def count_attempts(
    db: Database, account_id: UUID, *, hours: int, step: timedelta
) -> Sequence[AttemptCounts]:
    """The attempts of an account's webhooks by time and outcome, from the hourly counts.

    There is a row for every step; the last one contains the current hour.
    """
    rows = await db.fetch(
        """
        WITH steps AS (
            SELECT begins
              FROM generate_series(
                       date_bin($3::interval, tradewind_now(), 'epoch')
                           - make_interval(hours => $2) + $3::interval,
                       tradewind_now(), $3::interval) AS begins
        ),
        hours AS (
            SELECT date_bin($3::interval, h.hour, 'epoch') AS begins, h.outcomes, h.buckets
              FROM webhook_subscription AS s
              JOIN subscription_hour AS h ON h.subscription_id = s.id
             WHERE s.account_id = $1
               AND h.hour >= (SELECT min(begins) FROM steps)
        ),
        sums AS (
            SELECT hours.begins, counted.position, sum(counted.outcome)::bigint AS outcome,
                   sum(counted.bucket)::bigint AS bucket
              FROM hours,
                   unnest(hours.outcomes, hours.buckets)
                       WITH ORDINALITY AS counted (outcome, bucket, position)
             GROUP BY hours.begins, counted.position
        ),
        arrays AS (
            SELECT sums.begins,
                   array_agg(outcome ORDER BY position)
                       FILTER (WHERE outcome IS NOT NULL) AS outcomes,
                   array_agg(bucket ORDER BY position)
                       FILTER (WHERE bucket IS NOT NULL) AS buckets
              FROM sums
             GROUP BY sums.begins
        )
        SELECT steps.begins, coalesce(outcomes, '{}') AS outcomes,
               coalesce(buckets, '{}') AS buckets
          FROM steps
          LEFT JOIN arrays ON arrays.begins = steps.begins
         ORDER BY steps.begins
        """,
        account_id,
        hours,
        step,
    )
    return [AttemptCounts(**row) for row in rows]


async def count_pending(db: Database, account_id: UUID, *, most: int) -> tuple[int, float | None]:
    """The pending deliveries of an account, up to `most`, and how long the oldest is overdue."""
    [row] = await db.fetch(
        """
        SELECT (SELECT count(*)
                  FROM (SELECT 1
                          FROM webhook_subscription AS s
                          JOIN queued_delivery AS q ON q.subscription_id = s.id
                         WHERE s.account_id = $1 AND q.is_pending
                         LIMIT $2) AS limited) AS pending,
               (SELECT extract(epoch FROM tradewind_now() - min(first.due_at))::float
                  FROM webhook_subscription AS s
                 CROSS JOIN LATERAL (SELECT q.due_at
                                       FROM queued_delivery AS q
                                      WHERE q.subscription_id = s.id
                                        AND q.is_pending
                                        AND q.due_at <= tradewind_now()
                                      ORDER BY q.due_at, q.id
                                      LIMIT 1) AS first
                 WHERE s.account_id = $1) AS oldest_due_seconds
        """,
        account_id,
        most,
    )
    return row["pending"], row["oldest_due_seconds"]


async def count_orders(
    db: Database, account_id: UUID, statuses: Sequence[str], *, most: int
) -> dict[str, int]:
    """The number of orders with each of these statuses, counted up to `most`."""
    rows = await db.fetch(
        """
        SELECT requested.status, counted.orders
          FROM unnest($2::text[]) AS requested (status)
         CROSS JOIN LATERAL (
               SELECT count(*) AS orders
                 FROM (SELECT 1
                         FROM purchase_order AS o
                        WHERE o.account_id = $1 AND o.status = requested.status
                        LIMIT $3) AS limited) AS counted
        """,
        account_id,
        statuses,
        most,
    )
    return {row["status"]: row["orders"] for row in rows}


async def count_pending_approvals(db: Database, account_id: UUID) -> tuple[int, datetime | None]:
    """The payments of an account that await approval, and since when the oldest does."""
    [row] = await db.fetch(
        """
        SELECT count(*) AS waiting, min(requested_at) AS since
          FROM (SELECT requested_at
                  FROM payment_request
                 WHERE account_id = $1 AND status = 'pending_approval'
                 LIMIT 10001) AS limited
        """,
        account_id,
    )
    return row["waiting"], row["since"]


async def count_webhooks(db: Database) -> WebhookCounts:
    """Webhooks of all accounts that are active, failing, or disabled after failures."""
    [row] = await db.fetch(
        """
        SELECT count(*) FILTER (WHERE s.is_active) AS active,
               count(*) FILTER (WHERE s.disabled_reason IS NULL
                                  AND h.failing_since IS NOT NULL) AS failing,
               count(*) FILTER (WHERE s.disabled_reason IS NOT NULL) AS disabled
          FROM webhook_subscription AS s
          LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
        """
    )
    return WebhookCounts(**row)


async def find_completed_steps(db: Database, account_id: UUID) -> CompletedSteps | None:
    """The completed getting-started steps of an account; None if it dismissed the list."""
    row = await db.fetchrow(
        """
        SELECT EXISTS (SELECT FROM api_key WHERE account_id = $1) AS has_key,
               EXISTS (SELECT FROM api_key
                        WHERE account_id = $1 AND last_used_at IS NOT NULL) AS used_key,
               EXISTS (SELECT FROM webhook_subscription WHERE account_id = $1) AS subscribed,
               EXISTS (SELECT FROM webhook_subscription AS s
                         JOIN subscription_health AS h ON h.subscription_id = s.id
                        WHERE s.account_id = $1 AND h.last_success_at IS NOT NULL) AS delivered,
               EXISTS (SELECT FROM purchase_order WHERE account_id = $1) AS ordered,
               EXISTS (SELECT FROM payment_request
                        WHERE account_id = $1
                          AND status IN ('approved', 'processing', 'paid', 'failed')) AS approved
          FROM account
         WHERE id = $1 AND steps_dismissed_at IS NULL
        """,
        account_id,
    )
    return None if row is None else CompletedSteps(**row)


async def dismiss_steps(db: Database, account_id: UUID) -> None:
    await db.execute(
        """
        UPDATE account
           SET steps_dismissed_at = tradewind_now()
         WHERE id = $1 AND steps_dismissed_at IS NULL
        """,
        account_id,
    )


@dataclass(frozen=True, slots=True)
class FailedPayment:
    """An order that awaits its payment after the last one failed."""

    order_id: UUID
    platform: str
    lines: Sequence[Line]
    amount_fen: int
    message: str | None
    failed_at: datetime


@dataclass(frozen=True, slots=True)
class LateParcel:
    """An order with parcels that were shipped long ago; `shipped_at` is that of the oldest."""

    order_id: UUID
    platform: str
    lines: Sequence[Line]
    carrier: str | None
    tracking_number: str | None
    shipped_at: datetime
    parcels: int


@dataclass(frozen=True, slots=True)
class OpenRefunds:
    """Refunds that were requested and have neither ended nor been paid."""

    count: int
    fen: int


async def list_failed_payments(
    db: Database, account_id: UUID, *, limit: int
) -> Sequence[FailedPayment]:
    """The orders whose last payment failed and that can still be paid, latest failure first.

    Only the last 200 failures of the account are looked at.
    """
    rows = await db.fetch(
        """
        WITH failed AS (
            SELECT id, purchase_order_id, amount_fen, failure, updated_at
              FROM payment_request
             WHERE account_id = $1 AND status = 'failed'
             ORDER BY id DESC
             LIMIT 200
        ),
        unpaid AS (
            SELECT DISTINCT ON (o.id) o.id AS order_id, o.platform, o.items, failed.amount_fen,
                   failed.failure ->> 'message' AS message, failed.updated_at AS failed_at
              FROM failed
              JOIN purchase_order AS o
                ON o.id = failed.purchase_order_id AND o.account_id = $1
             WHERE o.payment_status = 'failed' AND o.status = 'pending_payment'
             ORDER BY o.id, failed.id DESC
        )
        SELECT order_id, platform, items, amount_fen, message, failed_at
          FROM unpaid
         ORDER BY failed_at DESC, order_id DESC
         LIMIT $2
        """,
        account_id,
        limit,
    )
    return [FailedPayment(**_with_lines(row)) for row in rows]


async def list_late_parcels(
    db: Database, account_id: UUID, *, shipped_before: datetime, limit: int
) -> Sequence[LateParcel]:
    """The orders with parcels that were shipped before then and not received, longest ago first.

    A parcel is received when its order at the marketplace is. The oldest 2,000 orders in transit
    are looked at. Every one of them was placed before it was shipped, which the index decides: an
    id begins with its time.
    """
    rows = await db.fetch(
        """
        WITH transit AS (
            SELECT o.id, o.platform, o.parts
              FROM unnest(ARRAY['shipped', 'partially_shipped']) AS state (status)
             CROSS JOIN LATERAL (
                   SELECT id, platform, parts
                     FROM purchase_order
                    WHERE account_id = $1 AND status = state.status AND id < $4::uuid
                    ORDER BY id
                    LIMIT 1000) AS o
        ),
        late AS (
            SELECT transit.id AS order_id, transit.platform, parcel ->> 'carrier' AS carrier,
                   parcel ->> 'tracking_number' AS tracking_number,
                   (parcel ->> 'shipped_at')::timestamptz AS shipped_at,
                   count(*) OVER (PARTITION BY transit.id) AS parcels
              FROM transit,
                   json_array_elements(transit.parts) AS part,
                   json_array_elements(part -> 'shipments') AS parcel
             WHERE part ->> 'status' IN ('shipped', 'partially_shipped')
               AND (parcel ->> 'shipped_at')::timestamptz < $2
        ),
        orders AS (
            SELECT DISTINCT ON (order_id) order_id, platform, carrier, tracking_number, shipped_at,
                   parcels
              FROM late
             ORDER BY order_id, shipped_at
        )
        SELECT orders.order_id, orders.platform, o.items, orders.carrier,
               orders.tracking_number, orders.shipped_at, orders.parcels
          FROM orders
          JOIN purchase_order AS o ON o.id = orders.order_id
         ORDER BY orders.shipped_at, orders.order_id
         LIMIT $3
        """,
        account_id,
        shipped_before,
        limit,
        _first_id_after(shipped_before + _CLOCK_SKEW),
    )
    return [LateParcel(**_with_lines(row)) for row in rows]


def _with_lines(row: asyncpg.Record) -> dict[str, Any]:
    """The columns of a row, with its items as lines."""
    columns = dict(row)
    lines = _LINES.decode(columns.pop("items"))
    return {**columns, "lines": lines}


def _first_id_after(moment: datetime) -> UUID:
    """The lowest id that is made at this moment."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


async def count_open_refunds(db: Database, account_id: UUID) -> OpenRefunds:
    """The open refunds of the last 1,000 orders that have any."""
    [row] = await db.fetch(
        """
        SELECT count(*) AS count,
               coalesce(sum((refund ->> 'amount_fen')::bigint
                            + (refund ->> 'freight_fen')::bigint), 0)::bigint AS fen
          FROM (SELECT refunds
                  FROM purchase_order
                 WHERE account_id = $1 AND json_array_length(refunds) > 0
                 ORDER BY id DESC
                 LIMIT 1000) AS latest,
               json_array_elements(latest.refunds) AS refund
         WHERE refund ->> 'state' IN ('requested', 'approved')
        """,
        account_id,
    )
    return OpenRefunds(**row)
