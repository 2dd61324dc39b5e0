"""Lists orders a page at a time, newest or last changed first."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

from tradewind.orders import sql_lists
from tradewind.orders.inputs import OrdersQuery
from tradewind.orders.model import Order
from tradewind.orders.sql_lists import Filters
from tradewind.storage.pool import Database
from tradewind.web.paging import CursorList, Page

Shown = TypeVar("Shown")

BY_CREATION: CursorList[Order] = CursorList("orders", UUID, key=lambda order: order.id)
_BY_CHANGE: CursorList[Order] = CursorList(
    "orders by change", tuple[datetime, UUID], key=lambda order: (order.updated_at, order.id)
)


async def list_orders(
    db: Database, filters: Filters, query: OrdersQuery, show: Callable[[Order], Shown]
) -> Page[Shown]:
    """Return the page that the query asks for, each order as `show` shows it."""
    if query.sort == "updated_at":
        changed = partial(sql_lists.list_by_change, db, filters)
        return await _BY_CHANGE.page(query.cursor, query.limit, changed, show)
    created = partial(sql_lists.list_by_creation, db, filters)
    return await BY_CREATION.page(query.cursor, query.limit, created, show)
