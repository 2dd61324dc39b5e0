"""Seals the secrets of subscriptions anew: with the first master secret, and for their rows."""

from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal, key_id_of, unseal
from tradewind.webhooks import sql
from tradewind.webhooks.secret import former_place, place, sealed


async def reseal(db: Database, keyring: Keyring) -> int:
    """Move every secret to the current master secret; return how many were moved.

    Secrets that were sealed for their subscription only are sealed for its account as well.
    """
    moved = 0
    for row in await sql.sealed_secrets(db):
        subscription_id, account_id, old = row["id"], row["account_id"], row["secret"]
        try:
            secret = unseal(keyring, old, place(account_id, subscription_id))
            is_current = key_id_of(old) == keyring.current_id
        except CannotUnseal:
            secret, is_current = unseal(keyring, old, former_place(subscription_id)), False
        if not is_current:
            new = sealed(keyring, account_id, subscription_id, secret.decode())
            moved += await sql.replace_sealed(db, subscription_id, old, new)
    return moved
