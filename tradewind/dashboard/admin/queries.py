"""The statements of the operator pages: accounts, webhooks, the queue and audit actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tradewind.dashboard.shell.charts import HourCounts
from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class AccountName:
    """The e-mail and the name of an account."""

    id: UUID
    email: str
    name: str
    locked_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedAccount:
    """An account with the number of its active API keys and sessions."""

    id: UUID
    email: str
    name: str
    roles: Sequence[str]
    plan: str
    locked_at: datetime | None
    lock_reason: str | None
    created_at: datetime
    api_keys: int
    sessions: int


@dataclass(frozen=True, slots=True)
class AccountUsage:
    """What an account uses; orders are counted up to 10,001."""

    api_keys: int
    key_used_at: datetime | None
    sessions: int
    session_used_at: datetime | None
    webhooks: int
    orders: int
    has_password: bool


@dataclass(frozen=True, slots=True)
class WebhookState:
    """The health of a webhook and its last failed attempt, if there was one."""

    id: UUID
    failed: int | None
    last_success_at: datetime | None
    outcome: str | None
    status_code: int | None
    error_message: str | None
    started_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """The queue now, counted up to 100,001 deliveries."""

    depth: int
    due: int
    later: int
    in_flight: int
    lost: int
    parked: int
    oldest_due_seconds: float | None
    replays: int
    now: datetime


async def account_names(db: Database, accounts: Sequence[UUID]) -> Mapping[UUID, AccountName]:
    """The e-mail and the name of each account."""
    rows = await db.fetch(
        "SELECT id, email, name, locked_at FROM account WHERE id = ANY ($1::uuid[])", accounts
    )
    return {row["id"]: AccountName(**row) for row in rows}


async def list_accounts(
    db: Database,
    *,
    text: str | None,
    roles: Sequence[str] | None = None,
    plans: Sequence[str] | None = None,
    locked: bool | None = None,
    below: UUID | None = None,
    limit: int,
) -> Sequence[ListedAccount]:
    """Accounts, newest first; `text` is a part of the e-mail or the name.

    `strpos` finds the text itself, also if it contains wildcards of LIKE.
    """
    rows = await db.fetch(
        """
        SELECT a.id, a.email, a.name, a.roles, a.plan, a.locked_at, a.lock_reason, a.created_at,
               (SELECT count(*) FROM api_key AS k
                 WHERE k.account_id = a.id AND k.revoked_at IS NULL) AS api_keys,
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
    return [ListedAccount(**row) for row in rows]


async def find_usage(db: Database, account_id: UUID) -> AccountUsage:
    """What an account uses, and when its people and its programs last used it."""
    [row] = await db.fetch(
        """
        SELECT (SELECT count(*) FROM api_key
                 WHERE account_id = $1 AND revoked_at IS NULL) AS api_keys,
               (SELECT max(last_used_at) FROM api_key WHERE account_id = $1) AS key_used_at,
               (SELECT count(*) FROM session
                 WHERE account_id = $1 AND ended_at IS NULL
                   AND expires_at > tradewind_now()) AS sessions,
               (SELECT max(last_used_at) FROM session WHERE account_id = $1) AS session_used_at,
               (SELECT count(*) FROM webhook_subscription WHERE account_id = $1) AS webhooks,
               (SELECT count(*) FROM (SELECT 1 FROM purchase_order
                                       WHERE account_id = $1 LIMIT 10001) AS limited) AS orders,
               coalesce((SELECT password_hash IS NOT NULL FROM account WHERE id = $1), false)
                   AS has_password
        """,
        account_id,
    )
    return AccountUsage(**row)


async def webhook_states(
    db: Database, subscriptions: Sequence[UUID]
) -> Mapping[UUID, WebhookState]:
    """The state of each webhook."""
    rows = await db.fetch(
        """
        SELECT subscription.id, h.failed, h.last_success_at, last.outcome, last.status_code,
               last.error_message, last.started_at
          FROM unnest($1::uuid[]) AS subscription (id)
          LEFT JOIN subscription_health AS h ON h.subscription_id = subscription.id
          LEFT JOIN LATERAL (
               SELECT a.outcome, a.status_code, a.error_message, a.started_at
                 FROM delivery_attempt AS a
                WHERE a.subscription_id = subscription.id
                  AND a.outcome NOT IN ('delivered', 'cancelled')
                ORDER BY a.started_at DESC, a.id DESC LIMIT 1) AS last ON true
        """,
        subscriptions,
    )
    return {row["id"]: WebhookState(**row) for row in rows}


async def count_queue(db: Database) -> QueueCounts:
    """Count the deliveries of the queue by state."""
    [row] = await db.fetch(
        """
        SELECT count(*) AS depth,
               count(*) FILTER (WHERE due_at <= moment AND lease_until <= moment) AS due,
               count(*) FILTER (WHERE due_at > moment) AS later,
               count(*) FILTER (WHERE lease_until > moment) AS in_flight,
               count(*) FILTER (WHERE lost > 0) AS lost,
               count(*) FILTER (WHERE parked > 0) AS parked,
               extract(epoch FROM max(moment) - min(due_at)
                       FILTER (WHERE due_at <= moment AND lease_until <= moment))::float
                   AS oldest_due_seconds,
               (SELECT count(*) FROM replay WHERE status = 'running') AS replays,
               tradewind_now() AS now
          FROM (SELECT due_at, lease_until, lost, parked, tradewind_now() AS moment
                  FROM queued_delivery WHERE is_pending LIMIT 100001) AS limited
        """
    )
    return QueueCounts(**row)


async def attempts_by_hour(db: Database) -> Sequence[HourCounts]:
    """The attempts of all accounts in the last 24 hours, by hour, oldest first."""
    rows = await db.fetch(
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
    return [HourCounts(**row) for row in rows]


async def audit_actions(db: Database) -> Sequence[str]:
    """Every action in the audit log, read by skipping from one to the next."""
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
