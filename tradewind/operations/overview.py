"""The state of the whole system at one moment, as `tradewind top` shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tradewind.operations import sql, sql_top
from tradewind.operations.metrics import EXPIRING
from tradewind.operations.model import PaymentBacklog
from tradewind.operations.sql_top import OrderState, WebhookLoad
from tradewind.storage.pool import Database

_MOST_WEBHOOKS = 50
_MOST_ORDERS = 50


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Everything that waits: for an endpoint, a marketplace or a person."""

    webhooks: Sequence[WebhookLoad]
    orders: Sequence[OrderState]
    payments: Sequence[PaymentBacklog]
    payments_expiring: int


async def read_waiting(db: Database, platforms: Sequence[str]) -> WaitingWork:
    """Read what waits, the most urgent first."""
    return WaitingWork(
        webhooks=most_urgent(await sql_top.list_busy_webhooks(db))[:_MOST_WEBHOOKS],
        orders=await sql_top.list_waiting_orders(db, platforms, limit=_MOST_ORDERS),
        payments=await sql.measure_payments(db),
        payments_expiring=await sql.count_expiring_payments(db, within=EXPIRING),
    )


def most_urgent(webhooks: Sequence[WebhookLoad]) -> Sequence[WebhookLoad]:
    """Webhooks that are overdue first, by how long; then those that fail; then the slowest."""
    return sorted(
        webhooks,
        key=lambda load: (
            -(load.overdue_seconds or 0),
            load.failing_since is None,
            -(load.p95_ms or 0),
            load.webhook,
        ),
    )
