"""Changes a password: with the old one, or once with a password link."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.accounts import grants, sql
from tradewind.accounts.errors import PasswordLinkSpent, wrong_current_password
from tradewind.accounts.grants import Grant
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth import login_throttle, sql_sessions
from tradewind.auth import sql as auth_sql
from tradewind.auth.errors import AccountLocked
from tradewind.auth.passwords import Passwords
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web.caller import Caller

LINK_LIFETIME = timedelta(hours=24)
_LINK_PREFIX = "twp_"


async def change_password(
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    by: Actor,
    caller: Caller,
    *,
    current: str,
    new: str,
) -> None:
    """Set a new password and end every session of the account, this one included.

    Wrong passwords count as failed logins of the account's e-mail. The password that was compared
    must still be the current one when the new one is set: of two changes at once, one fails.
    """
    stored = await sql.password_hash(db, caller.account_id)
    async with login_throttle.throttled(db, keyring, caller.email) as check:
        check.failed = not await passwords.matches(stored, current)
    if check.failed or stored is None:
        raise wrong_current_password()
    hashed = await passwords.hash(new)
    async with transaction(db) as tx:
        account = await auth_sql.lock_identity(tx, caller.account_id, password_hash=stored)
        if account is None:
            raise wrong_current_password()
        if account.locked_at is not None:
            raise AccountLocked.by_operator()
        await login_throttle.reset(tx, keyring, account.email)
        await _set(tx, hashed, by, account.id)


async def make_link(
    db: Database, keyring: Keyring, by: Actor, account_id: UUID, public_url: str
) -> tuple[str, datetime]:
    """Create a link that sets a password once, within a day; older links stop working."""
    token = _LINK_PREFIX + secrets.token_urlsafe(32)
    made_with, key = keyring.current("links")
    async with transaction(db) as tx:
        await sql.lock_account(tx, account_id)
        await sql.delete_password_links(tx, account_id)
        expires = await sql.insert_password_link(
            tx,
            account_id,
            link_hash=_hash(key, token),
            made_with=made_with,
            lifetime=LINK_LIFETIME,
            created_by=by.account_id,
        )
        await grants.record_grant(tx, by, account_id, Grant.PASSWORD_LINK)
        await _record(tx, by, "account.password_link_made", account_id)
    return f"{public_url}/password?token={token}", expires


async def check_link(db: Database, keyring: Keyring, token: str) -> UUID:
    """Return the account of a link without using it; PasswordLinkSpent if it does not work."""
    link = await sql.find_password_link(db, _hashes(keyring, token))
    if link is None:
        raise PasswordLinkSpent
    return link.account_id


async def use_link(
    db: Database, keyring: Keyring, passwords: Passwords, by: Actor, *, token: str, new: str
) -> None:
    """Set the password of the link's account, and delete the link: both, or neither.

    Whoever made the link counts as having set the password: they could have used it themselves.
    """
    account_id = await check_link(db, keyring, token)  # before the work of hashing
    hashed = await passwords.hash(new)
    async with transaction(db) as tx:
        # Everybody locks the account before its links.
        account = await sql.lock_account(tx, account_id)
        link = await sql.find_password_link(tx, _hashes(keyring, token))
        if link is None:
            raise PasswordLinkSpent
        await grants.record_grant_by(tx, link.created_by, account_id, Grant.PASSWORD_LINK)
        await login_throttle.reset(tx, keyring, account.email)
        await _set(tx, hashed, by, account_id)


async def _set(tx: Tx, hashed: str, by: Actor, account_id: UUID) -> None:
    """Set the password; sessions and links of the old one end."""
    await sql.set_password_hash(tx, account_id, hashed)
    await sql_sessions.end_sessions(tx, account_id, "password_changed")
    await sql.delete_password_links(tx, account_id)
    await _record(tx, by, "account.password_changed", account_id)


async def _record(tx: Tx, by: Actor, action: str, account_id: UUID) -> None:
    record(tx, by, action, account_id=account_id, subject=ids.ACCOUNT.show(account_id))


def _hash(key: bytes, token: str) -> bytes:
    return hmac.digest(key, token.encode(), hashlib.sha256)


def _hashes(keyring: Keyring, token: str) -> list[bytes]:
    return [_hash(key, token) for _, key in keyring.every("links")]
