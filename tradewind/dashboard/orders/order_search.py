"""Finds orders by any id that people have of them: ours, the marketplace's, theirs, a parcel's."""

from collections.abc import Sequence
from dataclasses import replace

from tradewind import ids
from tradewind.orders import sql_lists
from tradewind.orders.model import Order
from tradewind.orders.sql_lists import Filters
from tradewind.storage.pool import Database

LONGEST = 100
# One id means one order, but for a parcel that holds several.
_MOST = 100


async def find_by_any_id(db: Database, wanted: Filters, text: str) -> Sequence[Order]:
    """The orders that `text` is an id of, among those that are wanted; newest first."""
    if wanted.account_id is None or not text or len(text) > LONGEST:
        return []
    own = ids.ORDER.read(text)
    if own is not None:
        order = await sql_lists.find_order(db, wanted.account_id, own)
        return [order] if order else []
    found: dict[object, Order] = {}
    for narrowed in (
        replace(wanted, external_ids=[text]),
        replace(wanted, order_ids=[text]),
        replace(wanted, tracking_numbers=[text]),
    ):
        for order in await sql_lists.list_by_creation(db, narrowed, below=None, limit=_MOST):
            found[order.id] = order
    return sorted(found.values(), key=lambda order: order.id, reverse=True)
