"""The statements of the pages for approvers and operators: names, counts, and the last errors."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def names(db: Database, accounts: Sequence[UUID]) -> Mapping[UUID, asyncpg.Record]:
    """E-mail and name of these accounts."""
    rows = await db.fetch(
        "SELECT id, email, name, locked_at FROM account WHERE id = ANY ($1::uuid[])", accounts
    )
    return {row["id"]: row for row in rows}


async def list_accounts(
    db: Database,
    *,
    text: str | None,
    roles: Sequence[str] | None,
    plans: Sequence[str] | None,
    locked: bool | None,
    below: UUID | None,
    limit: int,
) -> Sequence[asyncpg.Record]:
    """Accounts newest first, with their live keys and sessions; `text` is a part of e-mail or name.

    Signs that mean something to LIKE are taken as they are: strpos looks for the text itself.
    """
    return await db.fetch(
        """
        SELECT a.id, a.email, a.name, a.roles, a.plan, a.locked_at, a.lock_reason, a.created_at,
               (SELECT count(*) FROM api_key AS k
                 WHERE k.account_id = a.id AND k.revoked_at IS NULL) AS keys,
               (SELECT count(*) FROM session AS s
                 WHERE s.account_id = a.id AND s.ended_at IS NULL
                   AND s.expires_at > tradewind_now()) AS sessions
          FROM account AS a
         WHERE ($1::text IS NULL
                OR strpos(a.email, lower($1)) > 0 OR strpos(lower(a.name), lower($1)) > 0)
           AND ($2::text[] IS NULL OR a.roles && $2)
           AND ($3::text[] IS NULL OR a.plan = ANY ($3))
           AND ($4::boolean IS NULL OR (a.locked_at IS NOT NULL) = $4)
           AND ($5::uuid IS NULL OR a.id < $5)
         ORDER BY a.id DESC
         LIMIT $6
        """,
        text,
        roles,
        plans,
        locked,
        below,
        limit,
    )


async def what_account_has(db: Database, account_id: UUID) -> asyncpg.Record | None:
    """How much an account has, and when its people and its programs were last here."""
    return await db.fetchrow(
        """
        SELECT (SELECT count(*) FROM api_key
                 WHERE account_id = $1 AND revoked_at IS NULL) AS keys,
               (SELECT max(last_used_at) FROM api_key WHERE account_id = $1) AS key_used_at,
               (SELECT count(*) FROM session
                 WHERE account_id = $1 AND ended_at IS NULL
                   AND expires_at > tradewind_now()) AS sessions,
               (SELECT max(last_used_at) FROM session WHERE account_id = $1) AS session_used_at,
               (SELECT count(*) FROM webhook_subscription WHERE account_id = $1) AS webhooks,
               (SELECT count(*) FROM (SELECT 1 FROM purchase_order
                                       WHERE account_id = $1 LIMIT 10001) AS counted) AS orders,
               (SELECT password_hash IS NOT NULL FROM account WHERE id = $1) AS has_password
        """,
        account_id,
    )


async def changes_since(
    db: Database, orders: Sequence[UUID], since: Sequence[datetime]
) -> Sequence[asyncpg.Record]:
    """What happened to each of these orders after its moment, oldest first."""
    return await db.fetch(
        """
        SELECT c.purchase_order_id, c.at, c.cause, c.changes
          FROM unnest($1::uuid[], $2::timestamptz[]) AS asked (id, since)
          JOIN order_change AS c ON c.purchase_order_id = asked.id AND c.at > asked.since
         ORDER BY c.purchase_order_id, c.version
        """,
        orders,
        since,
    )


async def earlier_requests(
    db: Database, orders: Sequence[UUID], requests: Sequence[UUID]
) -> Mapping[UUID, asyncpg.Record]:
    """For each order, the request to pay it that came right before the named one."""
    rows = await db.fetch(
        """
        SELECT before.*
          FROM unnest($1::uuid[], $2::uuid[]) AS asked (order_id, id)
         CROSS JOIN LATERAL (
               SELECT r.purchase_order_id, r.id, r.amount_fen, r.status, r.reason
                 FROM payment_request AS r
                WHERE r.purchase_order_id = asked.order_id AND r.id < asked.id
                ORDER BY r.id DESC LIMIT 1) AS before
        """,
        orders,
        requests,
    )
    return {row["purchase_order_id"]: row for row in rows}


async def receivers(db: Database, subscriptions: Sequence[UUID]) -> Mapping[UUID, asyncpg.Record]:
    """How receivers do: their health, and the last attempt at each that was not delivered."""
    rows = await db.fetch(
        """
        SELECT asked.id, h.failed, h.last_success_at, h.last_failure_at, h.concurrency,
               last.outcome, last.status_code, last.error_message, last.started_at
          FROM unnest($1::uuid[]) AS asked (id)
          LEFT JOIN subscription_health AS h ON h.subscription_id = asked.id
          LEFT JOIN LATERAL (
               SELECT a.outcome, a.status_code, a.error_message, a.started_at
                 FROM delivery_attempt AS a
                WHERE a.subscription_id = asked.id
                  AND a.outcome NOT IN ('delivered', 'cancelled')
                ORDER BY a.started_at DESC, a.id DESC LIMIT 1) AS last ON true
        """,
        subscriptions,
    )
    return {row["id"]: row for row in rows}


async def queue_now(db: Database) -> asyncpg.Record | None:
    """The queue as it is: counted up to 100,001 rows of it."""
    return await db.fetchrow(
        """
        SELECT count(*) AS depth,
               count(*) FILTER (WHERE due_at <= moment AND lease_until <= moment) AS due,
               count(*) FILTER (WHERE due_at > moment) AS later,
               count(*) FILTER (WHERE lease_until > moment) AS in_flight,
               count(*) FILTER (WHERE attempt > 1) AS repeated,
               count(*) FILTER (WHERE lost > 0) AS lost,
               count(*) FILTER (WHERE parked > 0) AS parked,
               extract(epoch FROM max(moment) - min(due_at)
                       FILTER (WHERE due_at <= moment AND lease_until <= moment))::float
                   AS oldest_due_seconds,
               (SELECT count(*) FROM replay WHERE status = 'running') AS recoveries,
               tradewind_now() AS now
          FROM (SELECT due_at, lease_until, attempt, lost, parked, tradewind_now() AS moment
                  FROM queued_delivery WHERE is_pending LIMIT 100001) AS some_of_it
        """
    )


async def attempts_by_hour(db: Database) -> Sequence[asyncpg.Record]:
    """Attempts of all accounts in the last 24 hours, by hour, also where there were none."""
    return await db.fetch(
        """
        SELECT hours.hour, coalesce(sum(c.delivered), 0)::bigint AS delivered,
               coalesce(sum(c.failed), 0)::bigint AS failed
          FROM generate_series(date_trunc('hour', tradewind_now()) - interval '23 hours',
                               date_trunc('hour', tradewind_now()), interval '1 hour')
               AS hours (hour)
          LEFT JOIN subscription_hour AS c ON c.hour = hours.hour
         GROUP BY hours.hour
         ORDER BY hours.hour
        """
    )


async def actions(db: Database) -> Sequence[str]:
    """Every action that the audit log has, read by skipping from one to the next."""
    rows = await db.fetch(
        """
        WITH RECURSIVE known AS (
            (SELECT action FROM audit ORDER BY action LIMIT 1)
            UNION ALL
            SELECT (SELECT a.action FROM audit AS a
                     WHERE a.action > known.action ORDER BY a.action LIMIT 1)
              FROM known
             WHERE known.action IS NOT NULL
        )
        SELECT action FROM known WHERE action IS NOT NULL
        """
    )
    return [row["action"] for row in rows]
