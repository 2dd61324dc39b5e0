"""The state of the whole system at one moment, as `tradewind top` shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tradewind import ids
from tradewind.delivery.health import percentile
from tradewind.operations import sql, sql_top
from tradewind.operations.metrics import EXPIRING
from tradewind.operations.model import PaymentBacklog
from tradewind.operations.sql_top import BusyWebhook
from tradewind.storage.pool import Database

_SHARE = 0.95
_MOST_WEBHOOKS = 50
_MOST_ORDERS = 50


@dataclass(frozen=True, slots=True)
class WebhookLoad:
    """A webhook as operators see it. `p95_ms` is an upper bound, of this hour."""

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
    """An order that waits for a job at its marketplace."""

    order: str
    platform: str
    work: str
    status: str
    failures: int
    waiting_seconds: float


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Everything that waits: for an endpoint, a marketplace or a person."""

    webhooks: Sequence[WebhookLoad]
    orders: Sequence[OrderState]
    payments: Sequence[PaymentBacklog]
    payments_expiring: int


async def read_waiting(db: Database, platforms: Sequence[str]) -> WaitingWork:
    """Read what waits, the most urgent first."""
    webhooks = await sql_top.list_busy_webhooks(db)
    orders = await sql_top.list_waiting_orders(db, platforms, limit=_MOST_ORDERS)
    return WaitingWork(
        webhooks=most_urgent(webhooks)[:_MOST_WEBHOOKS],
        orders=[
            OrderState(
                ids.ORDER.show(order.id),
                order.platform,
                order.work,
                order.status,
                order.failures,
                order.waiting_seconds,
            )
            for order in orders
        ],
        payments=await sql.measure_payments(db),
        payments_expiring=await sql.count_expiring_payments(db, within=EXPIRING),
    )


def most_urgent(webhooks: Sequence[BusyWebhook]) -> Sequence[WebhookLoad]:
    """Webhooks that are overdue first, by how long; then those that fail; then the slowest."""
    states = [
        WebhookLoad(
            ids.SUBSCRIPTION.show(webhook.id),
            webhook.url,
            webhook.due,
            webhook.overdue_seconds,
            webhook.failing_since,
            webhook.delivered,
            webhook.failed,
            percentile(webhook.buckets, _SHARE),
        )
        for webhook in webhooks
    ]
    return sorted(
        states,
        key=lambda state: (
            -(state.overdue_seconds or 0),
            state.failing_since is None,
            -(state.p95_ms or 0),
            state.webhook,
        ),
    )
