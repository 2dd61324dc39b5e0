"""The orders of all accounts over HTTP, for operators."""

from tradewind import ids
from tradewind.auth.model import Operator
from tradewind.errors import ValidationFailed
from tradewind.orders.inputs import AdminOrdersQuery
from tradewind.orders.list_orders import list_orders
from tradewind.orders.wire import OrderOut
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page

routes = Routes("/v1/admin/orders", tag="Orders (operators)")


@routes.get(errors=(UnsupportedPlatform,), expensive=True)
async def list_all_orders(
    caller: Operator, query: AdminOrdersQuery, db: Database, platforms: Platforms
) -> Page[OrderOut]:
    """List the orders of every account, or of one, newest first."""
    account_id = None
    if query.account is not None:
        account_id = ids.ACCOUNT.read(query.account)
        if account_id is None:
            raise ValidationFailed("?account", "This is not the id of an account.")
    filters = query.filters(platforms.named, account_id)
    return await list_orders(db, filters, query, OrderOut.of)
