"""Moves orders on a simulated platform by hand: an integrator's CI can walk the whole loop."""

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.egress.client import CallFailed, Client
from tradewind.errors import ResourceNotFound
from tradewind.orders import lifecycle, sql_lists
from tradewind.orders.errors import InvalidTransition, NotSimulated, SimulatorFailed
from tradewind.orders.inputs import AdvanceIn
from tradewind.orders.refresh import Refreshes
from tradewind.orders.routes import who
from tradewind.orders.wire import OrderOut
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import read_amount
from tradewind.web.response import encode

routes = Routes("/v1/sandbox", tag="Sandbox")

_OK, _CONFLICT = 200, 409
# What the simulator calls what we ask for.
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


@routes.post(
    "/orders/{id}/advance",
    errors=(ResourceNotFound, NotSimulated, InvalidTransition, SimulatorFailed),
)
async def advance_sandbox_order(
    order_id: ids.OrderId,
    caller: Buyer,
    body: AdvanceIn,
    db: Database,
    platforms: Platforms,
    client: Client,
    refreshes: Refreshes,
) -> OrderOut:
    """Move an order on a simulated platform, and answer with it after that.

    Everything that follows is real: the sync, the events, the webhooks.
    """
    order = await sql_lists.find_order(db, caller.account_id, order_id)
    if order is None:
        raise ResourceNotFound(ids.ORDER)
    origin = platforms.simulated_origin(order.platform)
    if origin is None:
        raise NotSimulated(order.platform)
    if not order.order_ids:
        raise InvalidTransition(order.status, body.to, lifecycle.allowed(order, who(caller)))
    for part in order.order_ids:
        if not await _move(client, origin, part, body):
            raise InvalidTransition(order.status, body.to, lifecycle.allowed(order, who(caller)))
    fresh, stale = await refreshes.fresh(caller.account_id, order_id)
    return OrderOut.of(fresh, stale=stale)


async def _move(client: Client, origin: str, part: str, body: AdvanceIn) -> bool:
    """Move one order of the simulator; False: that is not possible from where it is."""
    asked: dict[str, object] = {"to": _STEPS[body.to]}
    if body.to == "price_changed":
        asked["fen"] = read_amount("/total_cny", body.total_cny)
    try:
        reply = await client.post(
            f"{origin}/_control/orders/{part}/advance",
            encode(asked),
            ["Content-Type: application/json"],
            seconds=5,
            repeatable=False,
        )
    except CallFailed:
        raise SimulatorFailed from None
    if reply.status not in (_OK, _CONFLICT):
        raise SimulatorFailed
    return reply.status == _OK
