"""Gets a saved address of an account, by its id or the default one."""

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


async def find_default(db: Database | Tx, account_id: UUID) -> SavedAddress | None:
    """The default address of the account; None if it has no address."""
    return await sql.find_default(db, account_id)
