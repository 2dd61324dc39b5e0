"""Gets one order of an account, or raises ResourceNotFound."""

from uuid import UUID

from tradewind import ids
from tradewind.errors import existing
from tradewind.orders import sql, sql_lists
from tradewind.orders.model import Order
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def get_order(db: Database, account_id: UUID | None, order_id: UUID) -> Order:
    """An order of the account; with no account, of anybody."""
    return existing(await sql_lists.find_order(db, account_id, order_id), ids.ORDER)


async def lock_order(tx: Tx, account_id: UUID, order_id: UUID) -> Order:
    """An order of the account, locked until the transaction ends."""
    return existing(await sql.lock_order(tx, account_id, order_id), ids.ORDER)
