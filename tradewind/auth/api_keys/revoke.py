"""Revokes an API key: once this returns, no process accepts it."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth.api_keys import sql
from tradewind.errors import ResourceNotFound
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


async def revoke(db: Database, by: Actor, account_id: UUID, key_id: UUID) -> None:
    """Revoke a key of an account; revoking it again changes nothing."""
    async with transaction(db) as tx:
        exists, revoked = await sql.revoke_key(tx, account_id, key_id)
        if not exists:
            raise ResourceNotFound(ids.API_KEY)
        if revoked:
            record(
                tx,
                by,
                "api_key.revoked",
                account_id=account_id,
                subject=ids.API_KEY.show(key_id),
            )
