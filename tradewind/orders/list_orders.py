"""Lists orders a page at a time, newest or last changed first."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from tradewind.orders import sql_lists
from tradewind.orders.inputs import OrdersQuery
from tradewind.orders.model import Order
from tradewind.orders.sql_lists import Filters
from tradewind.storage.pool import Database
from tradewind.web.paging import Page, page, read_cursor

Shown = TypeVar("Shown")


async def list_orders(
    db: Database, filters: Filters, query: OrdersQuery, show: Callable[[Order], Shown]
) -> Page[Shown]:
    """Return the page that the query asks for, each order as `show` shows it."""
    if query.sort == "updated_at":
        changed = await sql_lists.list_by_change(
            db,
            filters,
            below=read_cursor("orders by change", query.cursor, tuple[datetime, UUID]),
            limit=query.limit + 1,
        )
        return page(
            "orders by change",
            changed,
            query.limit,
            key=lambda order: (order.updated_at, order.id),
            show=show,
        )
    created = await sql_lists.list_by_creation(
        db,
        filters,
        below=read_cursor("orders", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page("orders", created, query.limit, key=lambda order: order.id, show=show)
