"""The orders of all accounts, in a browser, for operators. Read-only."""

from tradewind import ids
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries
from tradewind.dashboard.orders import views as order_views
from tradewind.dashboard.orders.timeline import timeline_entry
from tradewind.dashboard.shell.labels import choices
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.urls import first_page, is_filtered, next_page
from tradewind.errors import ResourceNotFound, ValidationFailed
from tradewind.orders import sql_lists
from tradewind.orders.inputs import AdminOrdersQuery
from tradewind.orders.list_orders import list_orders
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.model import PaymentStatus
from tradewind.platforms.registry import MARKETPLACES, Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/admin/orders", tag="Dashboard", hidden=True, pages=True)

_CHANGES = 50


@routes.get(media_type="text/html", expensive=True)
async def show_all_orders(
    request: Request,
    caller: Operator,
    query: AdminOrdersQuery,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
) -> Response:
    """List the orders of every account, or of one."""
    account_id = None
    if query.account is not None:
        account_id = ids.ACCOUNT.read(query.account)
        if account_id is None:
            raise ValidationFailed("?account", "This is not the ID of an account.")
    filters = query.filters(platforms.named, account_id)
    shown = await list_orders(db, filters, query, lambda order: order)
    return renderer.page(
        "admin/orders.html",
        request,
        caller,
        query=query,
        orders=shown.items,
        owners=await queries.account_names(db, list({order.account_id for order in shown.items})),
        statuses=choices(OrderStatus),
        payment_statuses=choices(PaymentStatus),
        platforms=[(name, market.traits.name) for name, market in MARKETPLACES.items()],
        filtered=is_filtered(request),
        next_url=next_page(request, shown.next_cursor),
        first_url=first_page(request),
    )


@routes.get("/{order_id}", media_type="text/html")
async def show_any_order(
    order_id: ids.OrderId, request: Request, caller: Operator, db: Database, renderer: Renderer
) -> Response:
    """Show an order as it is stored, with its timeline; the marketplace is not called."""
    order = await sql_lists.find_order(db, None, order_id)
    if order is None:
        raise ResourceNotFound(ids.ORDER)
    changes = await sql_lists.list_changes(
        db, order.account_id, order_id, below=None, limit=_CHANGES
    )
    accounts = await queries.account_names(db, [order.account_id])
    return renderer.page(
        "admin/order.html",
        request,
        caller,
        order=order,
        parcels=order_views.parcels(order),
        account=accounts.get(order.account_id),
        payments=await payment_sql.list_payments_of(
            db, order.account_id, order_id, below=None, limit=_CHANGES
        ),
        timeline=[timeline_entry(change) for change in changes],
    )
