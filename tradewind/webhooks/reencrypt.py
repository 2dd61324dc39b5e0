"""Re-encrypts the signing secrets of subscriptions with the current master secret."""

from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import key_id_of, unseal
from tradewind.webhooks import sql
from tradewind.webhooks.secret import sealed, sealing_context


async def reencrypt(db: Database, keyring: Keyring) -> int:
    """Move every secret to the current master secret; return how many were moved."""
    moved = 0
    for subscription_id, account_id, old in await sql.list_sealed_secrets(db):
        secret = unseal(keyring, old, sealing_context(account_id, subscription_id))
        if key_id_of(old) != keyring.current_id:
            new = sealed(keyring, account_id, subscription_id, secret.decode())
            moved += await sql.replace_sealed(db, subscription_id, old, new)
    return moved
