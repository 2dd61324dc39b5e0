"""The orders of all accounts, in a browser, for operators. Nothing is changed here."""

from uuid import UUID

from tradewind import ids
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.orders.changes import told
from tradewind.dashboard.shell.listing import choices, chosen, first_page, next_page
from tradewind.dashboard.shell.render import Renderer
from tradewind.errors import ResourceNotFound, ValidationFailed
from tradewind.orders import sql_lists
from tradewind.orders.inputs import AdminOrdersQuery
from tradewind.orders.list_orders import list_orders
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.model import PaymentStatus
from tradewind.orders.wire import ChangeOut, OrderOut
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
    """Orders of every account, or of one, newest first."""
    account_id = None
    if query.account is not None:
        account_id = ids.ACCOUNT.read(query.account)
        if account_id is None:
            raise ValidationFailed("?account", "This is not the id of an account.")
    filters = query.filters(platforms.named, account_id)
    found = await list_orders(db, filters, query, OrderOut.of)
    owners = {ids.ACCOUNT.read(order.account_id) for order in found.items}
    names = await sql_desk.names(db, [owner for owner in owners if owner])
    return renderer.page(
        "admin_orders.html",
        request,
        caller,
        query=query,
        orders=found.items,
        owners={ids.ACCOUNT.show(owner): row["email"] for owner, row in names.items()},
        statuses=choices(OrderStatus),
        payment_statuses=choices(PaymentStatus),
        platforms=choices(MARKETPLACES),
        filtered=chosen(request),
        next_url=next_page(request, found.next_cursor),
        first_url=first_page(request),
    )


@routes.get("/{order_id}", media_type="text/html")
async def show_any_order(
    order_id: ids.OrderId, request: Request, caller: Operator, db: Database, renderer: Renderer
) -> Response:
    """One order as it was last heard of, with what happened to it. Its platform is not asked."""
    order = await sql_lists.find_order(db, None, order_id)
    if order is None:
        raise ResourceNotFound(ids.ORDER)
    changes = await sql_lists.list_changes(
        db, order.account_id, order_id, below=None, limit=_CHANGES
    )
    payments = await payment_sql.list_payments_of(
        db, order.account_id, order_id, below=None, limit=_CHANGES
    )
    return renderer.page(
        "admin_order.html",
        request,
        caller,
        order=OrderOut.of(order),
        account=await _owner(db, order.account_id),
        payments=payments,
        changes=[(ChangeOut.of(change), told([{"changes": change.changes}])) for change in changes],
    )


async def _owner(db: Database, account_id: UUID) -> object:
    return (await sql_desk.names(db, [account_id])).get(account_id)
