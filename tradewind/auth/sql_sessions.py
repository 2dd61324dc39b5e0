"""The statements about sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


@dataclass(frozen=True, slots=True)
class Session:
    """A session as its owner sees it."""

    id: UUID
    address: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class RefreshableSession:
    """A session that neither ended nor expired, with the state of its account."""

    account_id: UUID
    generation: int
    just_rotated: bool
    locked: bool
    now: datetime


async def insert_session(
    tx: Tx,
    session_id: UUID,
    account_id: UUID,
    *,
    made_with: str,
    lifetime: timedelta,
    address: str,
    user_agent: str,
) -> datetime:
    """Open a session; returns when it was opened."""
    opened: datetime = await tx.fetchval(
        """
        INSERT INTO session (id, account_id, key_id, rotated_at, expires_at, created_at,
                             last_used_at, address, user_agent)
        SELECT $1, $2, $6, moment, moment + $3::interval, moment, moment, $4, $5
          FROM tradewind_now() moment
        RETURNING created_at
        """,
        session_id,
        account_id,
        lifetime,
        address,
        user_agent,
        made_with,
    )
    return opened


async def lock_session(tx: Tx, session_id: UUID) -> None:
    """Lock a session, before its state and that of its account are read.

    A statement that waits for a lock sees other tables as they were before the wait.
    """
    await tx.execute("SELECT 1 FROM session WHERE id = $1 FOR NO KEY UPDATE", session_id)


async def find_live_session(tx: Tx, session_id: UUID) -> RefreshableSession | None:
    row = await tx.fetchrow(
        """
        SELECT s.account_id, s.generation,
               s.rotated_at > tradewind_now() - interval '60 seconds' AS just_rotated,
               a.locked_at IS NOT NULL AS locked, tradewind_now() AS now
          FROM session s
          JOIN account a ON a.id = s.account_id
         WHERE s.id = $1
           AND s.expires_at > tradewind_now()
           AND (s.ended_at IS NULL
                OR (s.end_reason = 'account_locked' AND a.locked_at IS NOT NULL))
        """,
        session_id,
    )
    return None if row is None else RefreshableSession(**row)


async def rotate_session(tx: Tx, session_id: UUID, *, made_with: str, lifetime: timedelta) -> None:
    await tx.execute(
        """
        UPDATE session
           SET generation = generation + 1,
               key_id = $3,
               rotated_at = tradewind_now(),
               expires_at = tradewind_now() + $2::interval,
               last_used_at = tradewind_now()
         WHERE id = $1
        """,
        session_id,
        lifetime,
        made_with,
    )


async def end_session(tx: Tx, session_id: UUID, reason: str) -> None:
    await tx.execute(
        """
        UPDATE session
           SET ended_at = tradewind_now(), end_reason = $2
         WHERE id = $1 AND ended_at IS NULL
        """,
        session_id,
        reason,
    )


async def end_sessions(tx: Tx, account_id: UUID, reason: str) -> None:
    await tx.execute(
        """
        UPDATE session
           SET ended_at = tradewind_now(), end_reason = $2
         WHERE account_id = $1 AND ended_at IS NULL
        """,
        account_id,
        reason,
    )


async def end_own_session(tx: Tx, account_id: UUID, session_id: UUID) -> tuple[bool, bool]:
    """Whether the account has this session, and whether this call ended it."""
    row = await tx.fetchrow(
        """
        WITH ended AS (
            UPDATE session
               SET ended_at = tradewind_now(), end_reason = 'ended_by_owner'
             WHERE account_id = $1 AND id = $2 AND ended_at IS NULL
            RETURNING id
        )
        SELECT EXISTS (SELECT FROM session WHERE account_id = $1 AND id = $2) AS exists,
               EXISTS (SELECT FROM ended) AS ended
        """,
        account_id,
        session_id,
    )
    return (False, False) if row is None else (row["exists"], row["ended"])


async def end_other_sessions(tx: Tx, account_id: UUID, *, kept: UUID) -> Sequence[UUID]:
    """End all live sessions of an account except `kept`; returns their ids."""
    rows = await tx.fetch(
        """
        UPDATE session
           SET ended_at = tradewind_now(), end_reason = 'ended_by_owner'
         WHERE account_id = $1 AND id <> $2 AND ended_at IS NULL
           AND expires_at > tradewind_now()
        RETURNING id
        """,
        account_id,
        kept,
    )
    return [row["id"] for row in rows]


async def list_live_sessions(
    db: Database, account_id: UUID, *, below: tuple[datetime, UUID] | None, limit: int
) -> list[Session]:
    """Sessions of an account that neither ended nor expired, the last used first."""
    rows = await db.fetch(
        """
        SELECT id, address, user_agent, created_at, last_used_at, expires_at
          FROM session
         WHERE account_id = $1
           AND ended_at IS NULL
           AND expires_at > tradewind_now()
           AND ($2::timestamptz IS NULL OR (last_used_at, id) < ($2, $3::uuid))
         ORDER BY last_used_at DESC, id DESC
         LIMIT $4
        """,
        account_id,
        None if below is None else below[0],
        None if below is None else below[1],
        limit,
    )
    return [Session(**row) for row in rows]


async def delete_dead_sessions(db: Database, *, days: int) -> None:
    await db.execute(
        """
        DELETE FROM session
         WHERE expires_at < tradewind_now() - make_interval(days => $1)
            OR (ended_at < tradewind_now() - make_interval(days => $1)
                AND end_reason <> 'account_locked')
        """,
        days,
    )


async def count_sessions_by_master_secret(db: Database) -> dict[str, int]:
    """How many live sessions have tokens that were made with each master secret."""
    rows = await db.fetch(
        """
        SELECT key_id, count(*) AS sessions
          FROM session
         WHERE ended_at IS NULL AND expires_at > tradewind_now()
         GROUP BY key_id
        """
    )
    return {row["key_id"]: row["sessions"] for row in rows}
