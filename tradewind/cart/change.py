"""Changes the quantity of a line of the cart, and removes lines."""

from uuid import UUID

from tradewind import ids
from tradewind.cart import sql
from tradewind.cart.model import CartLine
from tradewind.errors import ResourceNotFound, existing
from tradewind.storage.pool import Database


async def change_quantity(db: Database, account_id: UUID, line_id: UUID, quantity: int) -> CartLine:
    """Set the quantity of a line; the goods stay as they were seen."""
    return existing(await sql.set_quantity(db, account_id, line_id, quantity), ids.CART_LINE)


async def remove_line(db: Database, account_id: UUID, line_id: UUID) -> None:
    if not await sql.delete_line(db, account_id, line_id):
        raise ResourceNotFound(ids.CART_LINE)
