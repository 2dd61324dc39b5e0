"""Issues an API key: shown once, stored as a keyed hash."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth.api_keys import spelling, sql
from tradewind.auth.api_keys.model import ApiKey
from tradewind.auth.errors import KeyLimitReached
from tradewind.errors import ResourceNotFound
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

MOST_KEYS = 100


async def issue(
    db: Database,
    keyring: Keyring,
    by: Actor,
    account_id: UUID,
    name: str,
    *,
    key: str | None = None,
) -> tuple[ApiKey, str]:
    """Make a key for an account; the key itself exists only in what this returns.

    `key` is for one that was made before, such as the demo accounts' own.
    """
    key = key or spelling.make()
    made_with, hash_ = spelling.hash_now(keyring, key)
    async with transaction(db) as tx:
        if not await sql.lock_owner(tx, account_id):
            raise ResourceNotFound(ids.ACCOUNT)
        if await sql.count_live_keys(tx, account_id) >= MOST_KEYS:
            raise KeyLimitReached(MOST_KEYS)
        row = await sql.insert_key(
            tx,
            ids.new(),
            account_id,
            name=name,
            prefix=spelling.shown_prefix(key),
            hash_=hash_,
            made_with=made_with,
        )
        made = ApiKey.of(row)
        await record(
            tx,
            by,
            "api_key.created",
            account_id=account_id,
            subject=ids.API_KEY.show(made.id),
            name=name,
        )
    return made, key
