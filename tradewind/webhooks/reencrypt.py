"""Re-encrypts the secrets and headers of subscriptions with the current master secret."""

from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import key_id_of
from tradewind.webhooks import sql
from tradewind.webhooks.secret import sealed, sealed_headers, unsealed, unsealed_headers


async def reencrypt(db: Database, keyring: Keyring) -> int:
    """Move every sealed value to the current master secret; return how many were moved."""
    moved = 0
    for old in await sql.list_sealed(db):
        subscription = (old.account_id, old.subscription_id)
        secret = unsealed(keyring, *subscription, old.secret)
        headers = unsealed_headers(keyring, *subscription, old.headers)
        values = [value for value in (old.secret, old.headers) if value is not None]
        outdated = [value for value in values if key_id_of(value) != keyring.current_id]
        if outdated and await sql.replace_sealed(
            db,
            old.subscription_id,
            old,
            sealed(keyring, *subscription, secret),
            sealed_headers(keyring, *subscription, headers),
        ):
            moved += len(outdated)
    return moved
