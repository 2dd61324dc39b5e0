"""Changes a password: by who knows the old one, or once by who holds a link."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.accounts import sql
from tradewind.accounts.errors import PasswordLinkSpent, wrong_current_password
from tradewind.accounts.passwords import Passwords
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web.problems import NoSuch

LINK_LIFETIME = timedelta(hours=24)
_LINK_PREFIX = "twp_"


async def change_password(
    db: Database, passwords: Passwords, by: Actor, account_id: UUID, *, current: str, new: str
) -> None:
    """Set a new password and end every session of the account, this one included."""
    stored = await sql.password_hash(db, account_id)
    if not await passwords.matches(stored, current):
        raise wrong_current_password()
    hashed = await passwords.hash(new)
    async with transaction(db) as tx:
        await _set(tx, hashed, by, account_id)


async def make_link(
    db: Database, keyring: Keyring, by: Actor, account_id: UUID, public_url: str
) -> tuple[str, datetime]:
    """A link by which its holder chooses a password, once, within a day; older ones stop."""
    token = _LINK_PREFIX + secrets.token_urlsafe(32)
    _, key = keyring.current("links")
    async with transaction(db) as tx:
        if await sql.lock_account(tx, account_id) is None:
            raise NoSuch(ids.ACCOUNT)
        expires = await sql.replace_password_link(
            tx, account_id, _hash(key, token), lifetime=LINK_LIFETIME
        )
        await _record(tx, by, "account.password_link_made", account_id)
    return f"{public_url}/password?token={token}", expires


async def check_link(db: Database, keyring: Keyring, token: str) -> None:
    """Refuse a link that would not work, without using it up."""
    if await sql.find_password_link(db, _hashes(keyring, token)) is None:
        raise PasswordLinkSpent


async def use_link(
    db: Database, keyring: Keyring, passwords: Passwords, by: Actor, *, token: str, new: str
) -> None:
    """Set the password of the link's account, and use the link up: both, or neither."""
    await check_link(db, keyring, token)  # before the work of hashing
    stored = await passwords.hash(new)
    async with transaction(db) as tx:
        account_id = await sql.spend_password_link(tx, _hashes(keyring, token))
        if account_id is None:
            raise PasswordLinkSpent
        await _set(tx, stored, by, account_id)


async def _set(tx: Tx, stored: str, by: Actor, account_id: UUID) -> None:
    await sql.set_password_hash(tx, account_id, stored)
    await sql.end_sessions(tx, account_id, "password_changed")
    await _record(tx, by, "account.password_changed", account_id)


async def _record(tx: Tx, by: Actor, action: str, account_id: UUID) -> None:
    await record(tx, by, action, account_id=account_id, subject=ids.ACCOUNT.show(account_id))


def _hash(key: bytes, token: str) -> bytes:
    return hmac.digest(key, token.encode(), hashlib.sha256)


def _hashes(keyring: Keyring, token: str) -> list[bytes]:
    return [_hash(key, token) for _, key in keyring.every("links")]
