"""The statements of `tradewind top`: the webhooks and the orders that need attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tradewind import ids
from tradewind.delivery.health import percentile
from tradewind.storage.pool import Database

_SHARE = 0.95
# Rows that are looked at: those that have waited longest, and the endpoints of this hour.
_DUE_ROWS = 2000
_FAILING_ROWS = 500
_RECENT_ROWS = 5000


@dataclass(frozen=True, slots=True)
class WebhookLoad:
    """A webhook that is overdue, fails, or was sent something in this hour.

    `due` is counted among the deliveries that have waited longest. `p95_ms` is an upper bound, of
    this hour.
    """

    webhook: str
    url: str
    due: int
    overdue_seconds: float | None
    failing_since: datetime | None
    delivered: int
    failed: int
    p95_ms: int | None


@dataclass(frozen=True, slots=True)
class OrderState:
    """An order that waits for a job at its marketplace; `failures` are those of the job so far."""

    order: str
    platform: str
    work: str
    status: str
    failures: int
    waiting_seconds: float


async def list_busy_webhooks(db: Database) -> Sequence[WebhookLoad]:
    rows = await db.fetch(
        """
        WITH overdue AS (
            SELECT subscription_id, count(*) AS due,
                   extract(epoch FROM tradewind_now() - min(due_at))::float8 AS overdue_seconds
              FROM (SELECT subscription_id, due_at
                      FROM delivery_queue
                     WHERE due_at <= tradewind_now() AND lease_until <= tradewind_now()
                     ORDER BY due_at
                     LIMIT $1) AS oldest
             GROUP BY subscription_id
        ),
        failing AS (
            SELECT subscription_id, failing_since
              FROM subscription_health
             WHERE failing_since IS NOT NULL
             ORDER BY failing_since
             LIMIT $2
        ),
        recent AS (
            SELECT subscription_id, delivered, failed, buckets
              FROM subscription_hour
             WHERE hour = date_trunc('hour', tradewind_now(), 'UTC')
             LIMIT $3
        )
        SELECT s.id, s.url, coalesce(overdue.due, 0) AS due, overdue.overdue_seconds,
               failing.failing_since, coalesce(recent.delivered, 0) AS delivered,
               coalesce(recent.failed, 0) AS failed, coalesce(recent.buckets, '{}') AS buckets
          FROM overdue
          FULL JOIN failing USING (subscription_id)
          FULL JOIN recent USING (subscription_id)
          JOIN webhook_subscription AS s ON s.id = subscription_id AND s.is_active
        """,
        _DUE_ROWS,
        _FAILING_ROWS,
        _RECENT_ROWS,
    )
    return [
        WebhookLoad(*[ids.SUBSCRIPTION.show(webhook), *load, percentile(buckets, _SHARE)])
        for webhook, *load, buckets in rows
    ]


async def list_waiting_orders(
    db: Database, platforms: Sequence[str], *, limit: int
) -> Sequence[OrderState]:
    """The orders that wait to be created, cancelled or paid, those that waited longest first."""
    rows = await db.fetch(
        """
        SELECT waiting.id, waiting.platform, waiting.work, waiting.status,
               waiting.sync_failures AS failures,
               extract(epoch FROM tradewind_now() - waiting.updated_at)::float8 AS waiting_seconds
          FROM unnest($1::text[]) AS platform
         CROSS JOIN unnest(ARRAY['create', 'cancel', 'pay']) AS job
         CROSS JOIN LATERAL (
               SELECT o.id, o.platform, o.work, o.status, o.sync_failures, o.updated_at
                 FROM purchase_order AS o
                WHERE o.platform = platform.platform AND o.work = job.job AND o.work <> 'none'
                ORDER BY o.next_sync_at
                LIMIT $3) AS waiting
         ORDER BY waiting.updated_at
         LIMIT $2
        """,
        platforms,
        limit,
        _DUE_ROWS,
    )
    return [OrderState(ids.ORDER.show(order), *state) for order, *state in rows]
