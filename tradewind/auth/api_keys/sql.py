"""The statements about API keys, and the one that lets requests in."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def insert_key(
    tx: Tx, key_id: UUID, account_id: UUID, *, name: str, prefix: str, hash_: bytes, made_with: str
) -> asyncpg.Record | None:
    return await tx.fetchrow(
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


async def lock_owner(tx: Tx, account_id: UUID) -> bool:
    """Hold the account, so that its keys are counted and added by one at a time."""
    found = await tx.fetchval(
        "SELECT true FROM account WHERE id = $1 FOR NO KEY UPDATE", account_id
    )
    return found is not None


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
) -> Sequence[asyncpg.Record]:
    """Keys of an account, newest first; `revoked` asks for only those, or only the others."""
    return await db.fetch(
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


async def revoke_key(tx: Tx, account_id: UUID, key_id: UUID) -> tuple[bool, bool]:
    """Whether the account has this key, and whether it was this call that revoked it."""
    row = await tx.fetchrow(
        """
        WITH revoked AS (
            UPDATE api_key
               SET revoked_at = tradewind_now()
             WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL
            RETURNING id
        )
        SELECT EXISTS (SELECT FROM api_key WHERE account_id = $1 AND id = $2) AS known,
               EXISTS (SELECT FROM revoked) AS revoked
        """,
        account_id,
        key_id,
    )
    return (False, False) if row is None else (row["known"], row["revoked"])


async def find_owner(db: Database, key_id: UUID) -> UUID | None:
    owner: UUID | None = await db.fetchval("SELECT account_id FROM api_key WHERE id = $1", key_id)
    return owner


async def is_live_key(db: Database, hashes: Sequence[bytes]) -> bool:
    found = await db.fetchval(
        "SELECT true FROM api_key WHERE hash = ANY($1) AND revoked_at IS NULL", hashes
    )
    return found is not None


async def rehash_key(db: Database, key_id: UUID, *, hash_: bytes, made_with: str) -> None:
    """Store a key under the current master secret, now that we saw it in full."""
    await db.execute(
        "UPDATE api_key SET hash = $2, key_id = $3 WHERE id = $1", key_id, hash_, made_with
    )


async def count_keys_by_master(db: Database) -> dict[str, int]:
    """How many keys that are not revoked were hashed with each master secret."""
    rows = await db.fetch(
        "SELECT key_id, count(*) AS keys FROM api_key WHERE revoked_at IS NULL GROUP BY key_id"
    )
    return {row["key_id"]: row["keys"] for row in rows}


async def admit(
    db: Database,
    *,
    hashes: Sequence[bytes | None],
    sessions: Sequence[UUID | None],
    times: Sequence[int],
    plans: Sequence[str],
    steps: Sequence[int],
    bursts: Sequence[int],
) -> Sequence[asyncpg.Record]:
    """Look up credentials and take from their accounts' budgets, for many requests at once.

    Row n of the asks is a key's hash, a session, or both, and how many requests came with it.
    An answer row names its ask by `no`; an ask without a row is not valid. `granted` counts for
    the account as a whole. A key or session is marked as used at most once a minute, and never
    by waiting for another process that does the same.
    """
    return await db.fetch(
        """
        WITH ask AS (
            SELECT no, hash, session_id, times
              FROM unnest($1::bytea[], $2::uuid[], $3::bigint[])
                   WITH ORDINALITY AS a (hash, session_id, times, no)
        ), found AS MATERIALIZED (
            SELECT ask.no, ask.times, k.id AS key_id, k.key_id AS made_with, s.id AS session_id,
                   a.id AS account_id, a.email, a.name, a.roles, a.plan, a.created_at,
                   a.locked_at IS NOT NULL AS locked,
                   coalesce(k.last_used_at < tradewind_now() - interval '1 minute',
                            k.id IS NOT NULL) AS touch_key,
                   coalesce(s.last_used_at < tradewind_now() - interval '1 minute',
                            false) AS touch_session
              FROM ask
              LEFT JOIN api_key k ON k.hash = ask.hash AND k.revoked_at IS NULL
              LEFT JOIN session s ON s.id = ask.session_id AND s.expires_at > tradewind_now()
              JOIN account a ON a.id = coalesce(k.account_id, s.account_id)
             WHERE (ask.hash IS NULL OR k.account_id = a.id)
               AND (ask.session_id IS NULL OR s.account_id = a.id)
               AND (s.id IS NULL OR s.ended_at IS NULL
                    OR (s.end_reason = 'account_locked' AND a.locked_at IS NOT NULL))
        ), spender AS (
            SELECT found.account_id, sum(found.times)::bigint AS asked, plan.step, plan.burst
              FROM found
              JOIN unnest($4::text[], $5::bigint[], $6::bigint[])
                   AS plan (name, step, burst) ON plan.name = found.plan
             GROUP BY found.account_id, plan.step, plan.burst
        ), budget AS MATERIALIZED (
            SELECT taken.subject, taken.granted, taken.debt
              FROM (SELECT array_agg('account:' || account_id) AS subjects,
                           array_agg(asked) AS asks,
                           array_agg(step) AS steps,
                           array_agg(burst) AS bursts
                      FROM spender) s,
                   take_from_budgets(s.subjects, s.asks, s.steps, s.bursts) taken
        ), used_key AS (
            UPDATE api_key
               SET last_used_at = tradewind_now()
             WHERE id = ANY (ARRAY(SELECT k.id FROM api_key k
                                    WHERE k.id IN (SELECT key_id FROM found WHERE touch_key)
                                      FOR NO KEY UPDATE SKIP LOCKED))
        ), used_session AS (
            UPDATE session
               SET last_used_at = tradewind_now()
             WHERE id = ANY (ARRAY(SELECT s.id FROM session s
                                    WHERE s.id IN (SELECT session_id FROM found WHERE touch_session)
                                      FOR NO KEY UPDATE SKIP LOCKED))
        )
        SELECT found.no, found.key_id, found.made_with, found.session_id, found.account_id,
               found.email, found.name, found.roles, found.plan, found.created_at, found.locked,
               budget.granted, budget.debt, tradewind_now() AS now
          FROM found
          JOIN budget ON budget.subject = 'account:' || found.account_id
        """,
        hashes,
        sessions,
        times,
        plans,
        steps,
        bursts,
    )
