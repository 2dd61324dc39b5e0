"""Seals the secrets of subscriptions anew, with the first of several master secrets."""

from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import key_id_of, unseal
from tradewind.webhooks import sql
from tradewind.webhooks.secret import place, sealed


async def reseal(db: Database, keyring: Keyring) -> int:
    """Move every secret to the current master secret; how many were moved."""
    moved = 0
    for row in await sql.sealed_secrets(db):
        old: bytes = row["secret"]
        if key_id_of(old) == keyring.current_id:
            continue
        secret = unseal(keyring, old, place(row["id"])).decode()
        moved += await sql.replace_sealed(db, row["id"], old, sealed(keyring, row["id"], secret))
    return moved
