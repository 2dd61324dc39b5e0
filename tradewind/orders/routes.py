"""Orders over HTTP: preview, place, get, list, cancel, diff, timeline; moves on the sandbox."""

from functools import partial
from typing import Annotated

from msgspec import Meta

from tradewind import clock, ids
from tradewind.auth.model import Buyer, Operator
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.egress.client import Client
from tradewind.orders import list_orders as listing
from tradewind.orders import place as placing
from tradewind.orders import sql_lists
from tradewind.orders.address_check import AddressCheck
from tradewind.orders.cancel import cancel
from tradewind.orders.errors import (
    CancelRejected,
    ExternalIdTaken,
    InvalidTransition,
    ItemsUnavailable,
    NotSimulated,
    OrderRejected,
    PriceChanged,
    SeveralSellers,
    SimulatorFailed,
)
from tradewind.orders.get_order import get_order as get_stored_order
from tradewind.orders.inputs import AdminOrdersQuery, AdvanceIn, DiffIn, OrderIn, OrdersQuery
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.person import Person
from tradewind.orders.refresh import Refreshes
from tradewind.orders.simulate import simulate
from tradewind.orders.wire import TIMELINE, ChangeOut, OrderIdText, OrderOut, PreviewOut
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import (
    CapabilityNotSupported,
    PlatformAuthExpired,
    PlatformBusy,
    PlatformFailed,
    PlatformNotConfigured,
    UnsupportedPlatform,
)
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.conditional import matches
from tradewind.web.endpoint import Routes
from tradewind.web.idempotency import IdempotencyKey, StoredResponse
from tradewind.web.inputs import Output, check_moment
from tradewind.web.paging import Page, PageQuery
from tradewind.web.request import Request
from tradewind.web.response import Response, location
from tradewind.web.scopes import FULL_ACCESS, Scope

routes = Routes("/v1/orders", tag="Orders")
admin = Routes("/v1/admin/orders", tag="Orders (operators)")
sandbox = Routes("/v1/sandbox", tag="Sandbox")

_PLATFORM = (UnsupportedPlatform, PlatformNotConfigured, CapabilityNotSupported)
_REJECTED = (ItemsUnavailable, SeveralSellers, OrderRejected)


class DiffOut(Output):
    """Orders that differ from what the caller has, as they are now, and ids of none of theirs."""

    orders: list[OrderOut]
    unknown: Annotated[list[OrderIdText], Meta(description="No orders of yours.")]


@routes.post(
    "/preview",
    scope=Scope.READ,
    errors=(*_PLATFORM, *_REJECTED, PlatformFailed, PlatformBusy, PlatformAuthExpired),
    expensive=True,
)
async def preview_order(
    caller: Buyer, body: OrderIn, platforms: Platforms, address_check: AddressCheck
) -> PreviewOut:
    """Say what an order would cost now, seller by seller, and what cannot be bought.

    Nothing is ordered. Items of several sellers, on a platform that takes one seller an order, are
    422 `several_sellers` with the split, as they would be when ordered.

    Send `total_amount_cny` as `expected_total_cny` with the order to be safe from a price that
    changes in between. Provinces, cities and districts that are not known are `warnings`: such an
    order can be placed, and the platform decides.
    """
    connector = await platforms.able(body.platform, Capability.PREVIEW, Purpose.BROWSE)
    wanted = body.order(connector.traits.platform)
    preview = await placing.preview(connector, wanted)
    return PreviewOut.of(preview, address_check.warnings(wanted.address))


@routes.post(
    scope=Scope.ORDER,
    status=201,
    returns=OrderOut,
    errors=(*_PLATFORM, *_REJECTED, PriceChanged, ExternalIdTaken),
    headers={"Location": "The order's path."},
)
async def create_order(
    caller: Buyer,
    body: OrderIn,
    idempotency_key: IdempotencyKey,
    platforms: Platforms,
    db: Database,
    background_tasks: BackgroundTasks,
) -> Response:
    """Place an order.

    It is previewed first; an order that is rejected for good is not stored. The response
    comes within seconds: with the platform's `order_id` if it has one by then, else with
    `status: creating`, and an `order.updated` event follows. A later rejection becomes
    `create_failed`. However often this request is repeated with the same Idempotency-Key, and
    whatever breaks, one order is made.
    """
    wanted = body.order(platforms.named(body.platform))
    stored = StoredResponse(idempotency_key, _created)
    order = await placing.place_order(
        db, platforms, background_tasks, Person.of(caller), wanted, stored
    )
    return stored.response(order)


def _created(order: Order) -> Response:
    return Response(OrderOut.of(order), 201, [location("orders", order.reference)])


@routes.get(scope=Scope.READ, errors=(UnsupportedPlatform,), expensive=True)
async def list_orders(
    caller: Buyer, query: OrdersQuery, db: Database, platforms: Platforms
) -> Page[OrderOut]:
    """List your orders as of their last sync, newest first."""
    filters = query.filters(platforms.named, caller.account_id)
    return await listing.list_orders(db, filters, query, OrderOut.of)


@routes.post("/diff", scope=Scope.READ, expensive=True)
async def diff_orders(caller: Buyer, body: DiffIn, db: Database) -> DiffOut:
    """Compare up to 1,000 orders with what you have, by `updated_at`.

    Returns those that differ, as they are now: a nightly reconciliation in one call.
    """
    for index, sent in enumerate(body.orders):
        check_moment(f"/orders/{index}/updated_at", sent.updated_at)
    by_id = {ids.ORDER.read(sent.id): sent for sent in body.orders}
    order_ids = [order_id for order_id in by_id if order_id is not None]
    times = await sql_lists.known_times(db, caller.account_id, order_ids)
    differ = [
        order_id
        for order_id, at in times.items()
        if clock.show(at) != clock.show(by_id[order_id].updated_at)
    ]
    orders = await sql_lists.find_many(db, caller.account_id, differ)
    return DiffOut(
        orders=[OrderOut.of(order) for order in orders],
        unknown=[sent.id for order_id, sent in by_id.items() if order_id not in times],
    )


@routes.get(
    "/{id}",
    scope=Scope.READ,
    returns=OrderOut,
    headers={"ETag": "Changes with the order; send it as `If-None-Match`."},
    also={304: "Nothing changed since the `ETag` that you sent."},
)
async def get_order(
    order_id: ids.OrderId, caller: Buyer, request: Request, refreshes: Refreshes
) -> Response:
    """Look at an order, refreshed from its platform first.

    That takes three seconds at the most, however many ask at once. What it finds is journaled
    before you get the answer. If the platform fails, you get what we last heard, with
    `stale: true`.
    """
    order, stale = await refreshes.fresh(caller.account_id, order_id)
    tag = etag(order, stale=stale)
    headers = [(b"etag", tag.encode()), (b"cache-control", b"private, no-cache")]
    if matches(request, tag):
        return Response(None, 304, headers)
    return Response(OrderOut.of(order, stale=stale), headers=headers)


def etag(order: Order, *, stale: bool) -> str:
    """Return a weak ETag, since `synced_at` may differ; a stale order has another one."""
    return f'W/"{order.version}{"-stale" if stale else ""}"'


@routes.post(
    "/{id}/cancel",
    scope=Scope.ORDER,
    returns=OrderOut,
    errors=(InvalidTransition, CancelRejected),
    also={202: "The platform has yet to say; `cancel_requested` is true until then."},
)
async def cancel_order(
    order_id: ids.OrderId,
    caller: Buyer,
    idempotency_key: IdempotencyKey | None,
    platforms: Platforms,
    db: Database,
    background_tasks: BackgroundTasks,
) -> Response:
    """Cancel an order that is not paid.

    `status` becomes `cancelled` when the platform says so. After payment it is too late: request a
    refund instead.
    """
    by, stored = Person.of(caller), StoredResponse(idempotency_key, _cancelled)
    order = await cancel(db, platforms, background_tasks, by, order_id, stored)
    return stored.response(order)


def _cancelled(order: Order) -> Response:
    """200 when it is cancelled, 202 while the marketplace has yet to confirm it."""
    return Response(OrderOut.of(order), 200 if order.status is OrderStatus.CANCELLED else 202)


@routes.get("/{id}/timeline", scope=Scope.READ)
async def get_order_timeline(
    order_id: ids.OrderId, caller: Buyer, query: PageQuery, db: Database
) -> Page[ChangeOut]:
    """Everything that happened to an order, newest first: what changed, why, and who asked."""
    await get_stored_order(db, caller.account_id, order_id)
    read = partial(sql_lists.list_changes, db, caller.account_id, order_id)
    return await TIMELINE.page(query.cursor, query.limit, read, ChangeOut.of)


@admin.get(scope=FULL_ACCESS, errors=(UnsupportedPlatform,), expensive=True)
async def list_all_orders(
    caller: Operator, query: AdminOrdersQuery, db: Database, platforms: Platforms
) -> Page[OrderOut]:
    """List the orders of every account, or of one, newest first."""
    filters = query.filters(platforms.named, query.account_id)
    return await listing.list_orders(db, filters, query, OrderOut.of)


@sandbox.post(
    "/orders/{id}/advance",
    scope=Scope.ORDER,
    errors=(NotSimulated, InvalidTransition, SimulatorFailed),
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
