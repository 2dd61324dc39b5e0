"""Issues an API key: it is shown once and stored as a keyed hash."""

from uuid import UUID

from tradewind import clock, ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth.api_keys import key_format, sql
from tradewind.auth.api_keys.model import UNLIMITED, ApiKey, KeyLimits
from tradewind.auth.errors import KeyLimitReached
from tradewind.errors import ValidationFailed, existing
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
    limits: KeyLimits = UNLIMITED,
    key: str | None = None,
) -> tuple[ApiKey, str]:
    """Create a key for an account. The key itself exists only in the returned value.

    `key` is for a key that exists already, such as those of the demo accounts.
    """
    key = key or key_format.make()
    made_with, hash_ = key_format.hash_now(keyring, key)
    async with transaction(db) as tx:
        now = existing(await sql.lock_owner(tx, account_id), ids.ACCOUNT)
        if limits.expires_at is not None and limits.expires_at <= now:
            raise ValidationFailed("/expires_at", "Must be a time in the future.")
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
            limits=limits,
        )
        record(
            tx,
            by,
            "api_key.created",
            account_id=account_id,
            subject=ids.API_KEY.show(api_key.id),
            name=name,
            **_shown(api_key.limits),
        )
    return api_key, key


def _shown(limits: KeyLimits) -> dict[str, object]:
    """The limits of a key as details of the audit log."""
    details: dict[str, object] = {}
    if limits.scopes is not None:
        details["scopes"] = list(limits.scopes)
    if limits.expires_at is not None:
        details["expires_at"] = clock.show(limits.expires_at)
    if limits.allowed_cidrs is not None:
        details["allowed_cidrs"] = [str(network) for network in limits.allowed_cidrs]
    return details
