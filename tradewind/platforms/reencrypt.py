"""Seals the credentials of marketplaces anew, with the first of several master secrets."""

from tradewind.platforms import sql
from tradewind.platforms.connection import place
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import key_id_of, seal, unseal

_COLUMNS = ("app_secret", "access_token", "refresh_token")


async def reencrypt(db: Database, keyring: Keyring) -> int:
    """Move every connection to the current master secret; how many values were moved.

    A connection that changes meanwhile is left to who changed it: they sealed it anew.
    """
    moved = 0
    for row in await sql.sealed_values(db):
        old = {name: row[name] for name in _COLUMNS}
        stale = [v for v in old.values() if v is not None and key_id_of(v) != keyring.current_id]
        if not stale:
            continue
        new = {
            name: None if value is None else _again(keyring, row["platform"], name, value)
            for name, value in old.items()
        }
        if await sql.replace_sealed(db, row["platform"], version=row["version"], sealed=new):
            moved += len(stale)
    return moved


def _again(keyring: Keyring, platform: str, column: str, sealed: bytes) -> bytes:
    where = place(platform, column)
    return seal(keyring, unseal(keyring, sealed, where), where)
