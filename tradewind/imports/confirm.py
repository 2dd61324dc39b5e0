"""Confirms the total of an import, which lets its orders be placed."""

from uuid import UUID

from tradewind.imports import sql
from tradewind.imports.errors import ImportNotReady, ImportTotalChanged, NothingToOrder
from tradewind.imports.get_import import get_import
from tradewind.imports.model import Import, ImportStatus
from tradewind.imports.upload import IMPORTS
from tradewind.orders.person import Person
from tradewind.storage.pool import Database


async def confirm(db: Database, by: Person, import_id: UUID, total_fen: int) -> Import:
    """Confirm the total that somebody saw. A repeat changes nothing, and gets the same import."""
    if await sql.confirm(db, by.id, import_id, total_fen=total_fen, email=by.email):
        db.wakeups.announce(IMPORTS)
        return await get_import(db, by.id, import_id)
    stored = await get_import(db, by.id, import_id)
    if stored.status is ImportStatus.CHECKING:
        raise ImportNotReady
    if stored.confirmed_fen is not None:
        if stored.confirmed_fen == total_fen:
            return stored
        raise ImportTotalChanged(total_fen, stored.confirmed_fen)
    if not stored.counts.orders_checked:
        raise NothingToOrder
    raise ImportTotalChanged(total_fen, stored.amounts.total_fen)
