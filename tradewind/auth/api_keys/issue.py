"""Issues an API key: it is shown once and stored as a keyed hash."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth.api_keys import key_format, sql
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
    """Create a key for an account. The key itself exists only in the returned value.

    `key` is for a key that exists already, such as those of the demo accounts.
    """
    key = key or key_format.make()
    made_with, hash_ = key_format.hash_now(keyring, key)
    async with transaction(db) as tx:
        if not await sql.lock_owner(tx, account_id):
            raise ResourceNotFound(ids.ACCOUNT)
        if await sql.count_live_keys(tx, account_id) >= MOST_KEYS:
            raise KeyLimitReached(MOST_KEYS)
        api_key = await sql.insert_key(
            tx,
            ids.new(),
            account_id,
            name=name,
            prefix=key_format.shown_prefix(key),
            hash_=hash_,
            made_with=made_with,
        )
        await record(
            tx,
            by,
            "api_key.created",
            account_id=account_id,
            subject=ids.API_KEY.show(api_key.id),
            name=name,
        )
    return api_key, key
