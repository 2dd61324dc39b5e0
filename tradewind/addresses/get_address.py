"""Gets a saved address of an account."""

from uuid import UUID

from tradewind import ids
from tradewind.addresses import sql
from tradewind.addresses.model import SavedAddress
from tradewind.errors import existing
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def get_address(db: Database | Tx, account_id: UUID, address_id: UUID) -> SavedAddress:
    """An address of the account, or ResourceNotFound."""
    return existing(await sql.find_address(db, account_id, address_id), ids.ADDRESS)
