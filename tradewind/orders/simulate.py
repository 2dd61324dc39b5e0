"""Moves orders on a simulated marketplace, for tests of integrators and for demonstrations."""

from uuid import UUID

import msgspec

from tradewind.egress.client import CallFailed, Client
from tradewind.orders import lifecycle
from tradewind.orders.errors import InvalidTransition, NotSimulated, SimulatorFailed
from tradewind.orders.get_order import get_order
from tradewind.orders.model import Order
from tradewind.orders.person import Person
from tradewind.orders.refresh import Refreshes
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database

_OK, _CONFLICT = 200, 409
# What the simulator calls each step.
_STEPS = {
    "paid": "pay",
    "partially_shipped": "partial_ship",
    "shipped": "ship",
    "received": "receive",
    "completed": "complete",
    "cancelled": "close_by_seller",
    "closed": "close_by_seller",
    "expired": "expire",
    "price_changed": "change_price",
    "refund_agreed": "refund_agree",
    "refund_refused": "refund_refuse",
    "refund_completed": "refund_complete",
}


async def simulate(
    db: Database,
    platforms: Platforms,
    client: Client,
    refreshes: Refreshes,
    by: Person,
    order_id: UUID,
    to: str,
    total_fen: int | None = None,
) -> tuple[Order, bool]:
    """Move an order there; return it after a sync, and whether it is stale."""
    order = await get_order(db, by.id, order_id)
    origin = platforms.simulated_origin(order.platform)
    if origin is None:
        raise NotSimulated(order.platform)
    step: dict[str, object] = {"to": _STEPS[to]}
    if total_fen is not None:
        step["fen"] = total_fen
    moved = [await _move(client, origin, part_id, step) for part_id in order.order_ids]
    if not moved or not all(moved):
        raise InvalidTransition(order.status, to, lifecycle.allowed(order, by))
    return await refreshes.fresh(by.id, order_id)


async def _move(client: Client, origin: str, part_id: str, step: dict[str, object]) -> bool:
    """Move one order of the simulator; False: that is not possible from where it is."""
    try:
        reply = await client.post(
            f"{origin}/_control/orders/{part_id}/advance",
            msgspec.json.encode(step),
            ["Content-Type: application/json"],
            seconds=5,
            repeatable=False,
        )
    except CallFailed:
        raise SimulatorFailed from None
    if reply.status not in (_OK, _CONFLICT):
        raise SimulatorFailed
    return reply.status == _OK
