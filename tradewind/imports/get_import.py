"""Gets one import of an account, or raises ResourceNotFound."""

from uuid import UUID

from tradewind import ids
from tradewind.errors import existing
from tradewind.imports import sql
from tradewind.imports.model import Import
from tradewind.storage.pool import Database


async def get_import(db: Database, account_id: UUID, import_id: UUID) -> Import:
    """Return the import as it is now, with its counts and amounts."""
    return existing(await sql.find_import(db, account_id, import_id), ids.IMPORT)
