"""The statements about API keys."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from tradewind.auth.api_keys.model import ApiKey
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


def _api_key(row: asyncpg.Record | None) -> ApiKey:
    if row is None:
        raise LookupError("The statement returned no API key.")
    return ApiKey(**row)


async def insert_key(
    tx: Tx, key_id: UUID, account_id: UUID, *, name: str, prefix: str, hash_: bytes, made_with: str
) -> ApiKey:
    row = await tx.fetchrow(
        """
        INSERT INTO api_key (id, account_id, name, prefix, hash, key_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, tradewind_now())
        RETURNING id, account_id, name, prefix, created_at, last_used_at, revoked_at
        """,
        key_id,
        account_id,
        name,
        prefix,
        hash_,
        made_with,
    )
    return _api_key(row)


async def lock_owner(tx: Tx, account_id: UUID) -> bool:
    """Lock the account, so that its keys are counted and added by one request at a time."""
    exists = await tx.fetchval(
        "SELECT true FROM account WHERE id = $1 FOR NO KEY UPDATE", account_id
    )
    return exists is not None


async def count_live_keys(tx: Database | Tx, account_id: UUID) -> int:
    count: int = await tx.fetchval(
        "SELECT count(*) FROM api_key WHERE account_id = $1 AND revoked_at IS NULL", account_id
    )
    return count


async def list_keys(
    db: Database,
    account_id: UUID,
    *,
    below: UUID | None,
    limit: int,
    revoked: bool | None = None,
) -> list[ApiKey]:
    """Keys of an account, newest first; `revoked` asks for only those, or only the others."""
    rows = await db.fetch(
        """
        SELECT id, account_id, name, prefix, created_at, last_used_at, revoked_at
          FROM api_key
         WHERE account_id = $1
           AND ($2::uuid IS NULL OR id < $2)
           AND ($4::boolean IS NULL OR (revoked_at IS NOT NULL) = $4)
         ORDER BY id DESC
         LIMIT $3
        """,
        account_id,
        below,
        limit,
        revoked,
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
        "SELECT true FROM api_key WHERE hash = ANY($1) AND revoked_at IS NULL", hashes
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
