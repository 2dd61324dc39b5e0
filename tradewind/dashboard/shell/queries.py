"""The statements of several pages: sessions, spend, counts, and fingerprints of changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class SessionAccount:
    """An open session with its account, and the time of the database."""

    session_id: UUID
    account_id: UUID
    email: str
    name: str
    roles: Sequence[str]
    plan: str
    created_at: datetime
    now: datetime


async def find_session(db: Database, session_id: UUID) -> SessionAccount | None:
    """An open session whose account is not locked; the session is marked as used.

    The mark is up to a minute old, as the API's is, and never waits for a lock.
    """
    row = await db.fetchrow(
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
    return None if row is None else SessionAccount(**row)


async def account_fingerprints(
    db: Database, accounts: Sequence[UUID]
) -> dict[UUID, dict[str, str]]:
    """For each account, a text by topic that differs after every change of that topic.

    It also differs when something was created and deleted since. Several orders and audit entries
    count because they may be committed in another order than that of their times.
    """
    rows = await db.fetch(
        """
        SELECT account.id,
               ARRAY(SELECT o.updated_at
                       FROM purchase_order o
                      WHERE o.account_id = account.id
                      ORDER BY o.updated_at DESC, o.id DESC
                      LIMIT 10)::text AS orders,
               (SELECT max(i.updated_at)
                  FROM import i
                 WHERE i.account_id = account.id)::text AS imports,
               (SELECT count(*) || '/' || coalesce(max(greatest(w.updated_at, h.updated_at))::text,
                                                   '')
                  FROM webhook_subscription w
                  LEFT JOIN subscription_health h ON h.subscription_id = w.id
                 WHERE w.account_id = account.id) AS deliveries,
               ARRAY(SELECT a.id
                       FROM audit a
                      WHERE a.account_id = account.id
                      ORDER BY a.id DESC
                      LIMIT 10)::text AS account
          FROM unnest($1::uuid[]) AS account (id)
        """,
        accounts,
    )
    return {
        row["id"]: {
            "orders": row["orders"],
            "imports": str(row["imports"]),
            "deliveries": row["deliveries"],
            "account": row["account"],
        }
        for row in rows
    }


async def approvals_fingerprint(db: Database) -> str:
    """A text that differs whenever a payment starts or stops awaiting approval, or did both."""
    fingerprint: str = await db.fetchval(
        """
        SELECT count(*) || '/' || coalesce(max(id::text), '')
               || '/' || coalesce((SELECT id::text
                                     FROM payment_request
                                    ORDER BY id DESC
                                    LIMIT 1), '')
          FROM payment_request
         WHERE status = 'pending_approval'
        """
    )
    return fingerprint


async def count_approvable_payments(db: Database, account_id: UUID, *, most: int) -> int:
    """The payments that this account may approve, up to `most`: its own are not among them."""
    count: int = await db.fetchval(
        """
        SELECT count(*)
          FROM (SELECT 1
                  FROM payment_request
                 WHERE status = 'pending_approval' AND requested_by <> $1
                 LIMIT $2) AS limited
        """,
        account_id,
        most,
    )
    return count


@dataclass(frozen=True, slots=True)
class Spend:
    """What an account spent in a period at a marketplace."""

    account_id: UUID
    period: int
    platform: str
    fen: int


async def sum_spend(
    db: Database, accounts: Sequence[UUID], starts: Sequence[datetime]
) -> Sequence[Spend]:
    """The spend of each account by period, from 1 on, and marketplace.

    Spend is what was paid for orders, less refunds; an order counts towards the period in which it
    was placed. Every page that shows a spend reads it here. `starts` are the first moments of the
    periods; the last one has not ended.
    """
    rows = await db.fetch(
        """
        SELECT account_id, width_bucket(created_at, $2::timestamptz[]) AS period, platform,
               sum(paid_fen - refunded_fen)::bigint AS fen
          FROM purchase_order
         WHERE account_id = ANY ($1::uuid[]) AND paid_fen > 0 AND created_at >= $3
         GROUP BY 1, 2, 3
         ORDER BY 1, 2, 3
        """,
        accounts,
        starts,
        starts[0],
    )
    return [Spend(**row) for row in rows]


async def open_sessions(db: Database, sessions: Sequence[UUID]) -> set[UUID]:
    """Which of these sessions may still see pages."""
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
