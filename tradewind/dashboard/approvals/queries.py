"""The statements of the approval pages: changes since a request, and earlier requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec

from tradewind.dashboard.orders.timeline import Changes
from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """The payment request of an order right before another one."""

    amount_fen: int
    status: str
    reason: str | None


async def changes_since(
    db: Database, orders: Sequence[UUID], times: Sequence[datetime]
) -> Mapping[UUID, Sequence[Changes]]:
    """For each order, its changes after its time, oldest first."""
    rows = await db.fetch(
        """
        SELECT c.purchase_order_id, c.changes
          FROM unnest($1::uuid[], $2::timestamptz[]) AS request (order_id, at)
          JOIN order_change AS c
            ON c.purchase_order_id = request.order_id AND c.at > request.at
         ORDER BY c.purchase_order_id, c.version
        """,
        orders,
        times,
    )
    changes: dict[UUID, list[Changes]] = {}
    for row in rows:
        changed = msgspec.json.decode(row["changes"], type=dict[str, dict[str, object]])
        changes.setdefault(row["purchase_order_id"], []).append(changed)
    return changes


async def earlier_requests(
    db: Database, orders: Sequence[UUID], requests: Sequence[UUID]
) -> Mapping[UUID, EarlierRequest]:
    """For each order, the payment request right before the given one."""
    rows = await db.fetch(
        """
        SELECT earlier.purchase_order_id, earlier.amount_fen, earlier.status, earlier.reason
          FROM unnest($1::uuid[], $2::uuid[]) AS request (order_id, id)
         CROSS JOIN LATERAL (
               SELECT r.purchase_order_id, r.amount_fen, r.status, r.reason
                 FROM payment_request AS r
                WHERE r.purchase_order_id = request.order_id AND r.id < request.id
                ORDER BY r.id DESC LIMIT 1) AS earlier
        """,
        orders,
        requests,
    )
    return {
        row["purchase_order_id"]: EarlierRequest(row["amount_fen"], row["status"], row["reason"])
        for row in rows
    }
