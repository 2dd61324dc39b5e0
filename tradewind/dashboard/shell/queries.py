"""The statements of the dashboard's frame: whose session it is, and what changed lately."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def find_session(db: Database, session_id: UUID) -> asyncpg.Record | None:
    """The account of a session that lives, unless it is locked; the session is marked as used.

    That mark is at most a minute old, as the API's is, and waits for nobody.
    """
    return await db.fetchrow(
        """
        WITH used AS (
            UPDATE session
               SET last_used_at = tradewind_now()
             WHERE id = ANY (ARRAY(
                       SELECT id
                         FROM session
                        WHERE id = $1
                          AND ended_at IS NULL
                          AND last_used_at < tradewind_now() - interval '1 minute'
                          FOR NO KEY UPDATE SKIP LOCKED))
        )
        SELECT s.id AS session_id, a.id AS account_id, a.email, a.name, a.roles, a.plan,
               a.created_at, tradewind_now() AS now
          FROM session s
          JOIN account a ON a.id = s.account_id
         WHERE s.id = $1
           AND s.ended_at IS NULL
           AND s.expires_at > tradewind_now()
           AND a.locked_at IS NULL
        """,
        session_id,
    )


async def fingerprints(db: Database, accounts: Sequence[UUID]) -> Sequence[asyncpg.Record]:
    """What was last for each account: a change of an order, and news of its receivers."""
    return await db.fetch(
        """
        SELECT asked.id AS account_id,
               (SELECT max(o.updated_at)
                  FROM purchase_order o
                 WHERE o.account_id = asked.id)::text AS orders,
               (SELECT count(*) || '/' || coalesce(max(greatest(w.updated_at, h.updated_at))::text,
                                                   '')
                  FROM webhook_subscription w
                  LEFT JOIN subscription_health h ON h.subscription_id = w.id
                 WHERE w.account_id = asked.id) AS deliveries
          FROM unnest($1::uuid[]) AS asked (id)
        """,
        accounts,
    )


async def approvals_fingerprint(db: Database) -> str:
    """Changes whenever a payment begins or ends to wait for an approval."""
    found: str = await db.fetchval(
        """
        SELECT count(*) || '/' || coalesce(max(id::text), '')
          FROM payment_request
         WHERE status = 'pending_approval'
        """
    )
    return found


async def live_sessions(db: Database, sessions: Sequence[UUID]) -> set[UUID]:
    """Those of these sessions that may still see pages."""
    rows = await db.fetch(
        """
        SELECT s.id
          FROM session s
          JOIN account a ON a.id = s.account_id
         WHERE s.id = ANY ($1::uuid[])
           AND s.ended_at IS NULL
           AND s.expires_at > tradewind_now()
           AND a.locked_at IS NULL
        """,
        sessions,
    )
    return {row["id"] for row in rows}
