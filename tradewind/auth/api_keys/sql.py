"""The statements about API keys."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from tradewind.auth.api_keys.model import ApiKey, KeyLimits
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx
from tradewind.web.scopes import Scope

_COLUMNS = """
    id, account_id, name, prefix, created_at, last_used_at, revoked_at, scopes, expires_at,
    allowed_cidrs, coalesce(expires_at <= tradewind_now(), false) AS expired
"""


def _api_key(row: asyncpg.Record | None) -> ApiKey:
    if row is None:
        raise LookupError("The statement returned no API key.")
    values = dict(row)
    scopes = values.pop("scopes")
    limits = KeyLimits(
        None if scopes is None else [Scope(scope) for scope in scopes],
        values.pop("expires_at"),
        values.pop("allowed_cidrs"),
    )
    return ApiKey(**values, limits=limits)


async def insert_key(
    tx: Tx,
    key_id: UUID,
    account_id: UUID,
    *,
    name: str,
    prefix: str,
    hash_: bytes,
    made_with: str,
    limits: KeyLimits,
) -> ApiKey:
    row = await tx.fetchrow(
        f"""
        INSERT INTO api_key (id, account_id, name, prefix, hash, key_id, created_at, scopes,
                             expires_at, allowed_cidrs)
        VALUES ($1, $2, $3, $4, $5, $6, tradewind_now(), $7, $8, $9)
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - the part is our own constant
        key_id,
        account_id,
        name,
        prefix,
        hash_,
        made_with,
        limits.scopes,
        limits.expires_at,
        limits.allowed_cidrs,
    )
    return _api_key(row)


async def lock_owner(tx: Tx, account_id: UUID) -> datetime | None:
    """Lock the account, so that its keys are counted and added by one request at a time.

    Returns the time; None: there is no such account.
    """
    now: datetime | None = await tx.fetchval(
        "SELECT tradewind_now() FROM account WHERE id = $1 FOR NO KEY UPDATE", account_id
    )
    return now


async def count_live_keys(tx: Database | Tx, account_id: UUID) -> int:
    """How many keys of an account are neither revoked nor expired."""
    count: int = await tx.fetchval(
        """
        SELECT count(*)
          FROM api_key
         WHERE account_id = $1 AND revoked_at IS NULL
           AND coalesce(expires_at > tradewind_now(), true)
        """,
        account_id,
    )
    return count


async def list_keys(
    db: Database,
    account_id: UUID,
    *,
    below: UUID | None,
    limit: int,
    ended: bool | None = None,
) -> list[ApiKey]:
    """Keys of an account, newest first.

    `ended` asks for only those that are revoked or expired, or only the others.
    """
    rows = await db.fetch(
        f"""
        SELECT {_COLUMNS}
          FROM api_key
         WHERE account_id = $1
           AND ($2::uuid IS NULL OR id < $2)
           AND ($4::boolean IS NULL
                OR (revoked_at IS NOT NULL OR coalesce(expires_at <= tradewind_now(), false)) = $4)
         ORDER BY id DESC
         LIMIT $3
        """,  # noqa: S608 - the part is our own constant
        account_id,
        below,
        limit,
        ended,
    )
    return [_api_key(row) for row in rows]


async def revoke_key(tx: Tx, account_id: UUID, key_id: UUID) -> tuple[bool, bool]:
    """Whether the account has this key, and whether this call revoked it."""
    row = await tx.fetchrow(
        """
        WITH revoked AS (
            UPDATE api_key
               SET revoked_at = tradewind_now()
             WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL
            RETURNING id
        )
        SELECT EXISTS (SELECT FROM api_key WHERE account_id = $1 AND id = $2) AS exists,
               EXISTS (SELECT FROM revoked) AS revoked
        """,
        account_id,
        key_id,
    )
    return (False, False) if row is None else (row["exists"], row["revoked"])


async def find_owner(db: Database, key_id: UUID) -> UUID | None:
    owner: UUID | None = await db.fetchval("SELECT account_id FROM api_key WHERE id = $1", key_id)
    return owner


async def is_live_key(db: Database, hashes: Sequence[bytes]) -> bool:
    exists = await db.fetchval(
        """
        SELECT true
          FROM api_key
         WHERE hash = ANY($1) AND revoked_at IS NULL
           AND coalesce(expires_at > tradewind_now(), true)
        """,
        hashes,
    )
    return exists is not None


async def rehash_key(db: Database, key_id: UUID | None, *, hash_: bytes, made_with: str) -> None:
    """Store the hash of a key under the current master secret."""
    await db.execute(
        "UPDATE api_key SET hash = $2, key_id = $3 WHERE id = $1", key_id, hash_, made_with
    )


async def count_keys_by_master_secret(db: Database) -> dict[str, int]:
    """How many keys that are not revoked were hashed with each master secret."""
    rows = await db.fetch(
        "SELECT key_id, count(*) AS keys FROM api_key WHERE revoked_at IS NULL GROUP BY key_id"
    )
    return {row["key_id"]: row["keys"] for row in rows}
