"""Moves orders on a simulated marketplace over HTTP, for the CI of integrators."""

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.egress.client import Client
from tradewind.errors import ResourceNotFound
from tradewind.orders.errors import InvalidTransition, NotSimulated, SimulatorFailed
from tradewind.orders.inputs import AdvanceIn
from tradewind.orders.person import Person
from tradewind.orders.refresh import Refreshes
from tradewind.orders.simulate import simulate
from tradewind.orders.wire import OrderOut
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes

routes = Routes("/v1/sandbox", tag="Sandbox")


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
    """Move an order on a simulated platform, and return it after a sync.

    Everything that follows is real: the sync, the events, the webhooks.
    """
    by, total = Person.of(caller), body.total_fen
    order, stale = await simulate(db, platforms, client, refreshes, by, order_id, body.to, total)
    return OrderOut.of(order, stale=stale)
