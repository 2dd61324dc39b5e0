"""Encrypts the stored credentials of marketplaces with the current master secret."""

from tradewind.platforms import sql
from tradewind.platforms.connection import column_name
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import key_id_of, seal, unseal


async def reencrypt(db: Database, keyring: Keyring) -> int:
    """Move every connection to the current master secret; return how many values were moved.

    A connection that changes meanwhile is skipped: the change encrypted it with the current secret.
    """
    moved = 0
    for platform, version, secrets in await sql.list_encrypted(db):
        stale = [value for value in secrets if value and key_id_of(value) != keyring.current_id]
        if not stale:
            continue
        replaced = sql.EncryptedSecrets(
            *(
                value and _reencrypt(keyring, column_name(platform, column), value)
                for column, value in secrets._asdict().items()
            )
        )
        if await sql.replace_encrypted(db, platform, version=version, secrets=replaced):
            moved += len(stale)
    return moved


def _reencrypt(keyring: Keyring, column: str, value: bytes) -> bytes:
    return seal(keyring, unseal(keyring, value, column), column)
