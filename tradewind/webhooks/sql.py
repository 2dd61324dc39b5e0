"""The statements about subscriptions."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx
from tradewind.webhooks.model import EventFilter, Subscription, SubscriptionChanges

_COLUMNS = """
    s.id, s.account_id, s.url, s.events, s.is_active, s.generation, s.description, s.catch_up,
    s.header_names, s.standard_webhooks, s.filter, s.disabled_reason, h.failing_since,
    s.created_at, s.updated_at, s.secret_rotated_at
"""
# Asks a worker to cancel what `unwanted`, a list of subscriptions, have in the queue and no longer
# want. If it is going through the queue of one of them already, it begins again.
_CANCEL = """
    INSERT INTO cancellation (subscription_id, next_at)
    SELECT id, tradewind_now() FROM unwanted
    ON CONFLICT (subscription_id) DO UPDATE
       SET after_due_at = DEFAULT, after_id = DEFAULT, met_in_flight = false,
           next_at = excluded.next_at
"""
_FROM = """
    webhook_subscription AS s
    LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
"""


def read_filter(text: str | None) -> EventFilter | None:
    """A stored filter; None: there is none."""
    return None if text is None else msgspec.json.decode(text, type=EventFilter)


def _filter_json(event_filter: EventFilter | None) -> str | None:
    """A filter as it is stored; None if it leaves nothing out."""
    if not event_filter:
        return None
    parts = {"platforms": event_filter.platforms, "statuses": event_filter.statuses}
    set_parts = {name: values for name, values in parts.items() if values is not None}
    return msgspec.json.encode(set_parts).decode()


def _subscription(row: asyncpg.Record) -> Subscription:
    return Subscription(**{**row, "filter": read_filter(row["filter"])})


async def count_for_update(tx: Tx, account_id: UUID) -> int:
    """How many subscriptions an account has; others who ask wait until this one is done."""
    await tx.execute("SELECT 1 FROM account WHERE id = $1 FOR UPDATE", account_id)
    count: int = await tx.fetchval(
        "SELECT count(*) FROM webhook_subscription WHERE account_id = $1", account_id
    )
    return count


async def insert_subscription(
    tx: Tx,
    subscription_id: UUID,
    account_id: UUID,
    settings: SubscriptionChanges,
    *,
    secret: bytes,
    headers: bytes | None,
) -> None:
    """Insert a subscription with these settings; `secret` and `headers` are sealed."""
    await tx.execute(
        """
        INSERT INTO webhook_subscription (id, account_id, url, events, is_active, description,
                                          catch_up, header_names, headers, standard_webhooks,
                                          filter, secret, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, tradewind_now(),
                tradewind_now())
        """,
        subscription_id,
        account_id,
        settings.url or "",
        settings.events or [],
        settings.is_active is not False,
        settings.description or "",
        bool(settings.catch_up),
        list(settings.headers or ()),
        headers,
        bool(settings.standard_webhooks),
        _filter_json(settings.filter),
        secret,
    )


async def find_subscription(
    db: Database | Tx, account_id: UUID | None, subscription_id: UUID
) -> Subscription | None:
    """A subscription of the account; with no account, of anybody."""
    row = await db.fetchrow(
        f"""
        SELECT {_COLUMNS}
          FROM {_FROM}
         WHERE ($1::uuid IS NULL OR s.account_id = $1) AND s.id = $2
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        subscription_id,
    )
    return None if row is None else _subscription(row)


async def find_sealed(db: Database, subscription_id: UUID) -> tuple[bytes | None, bytes | None]:
    """The sealed secret and the sealed headers of a subscription; None where there is none."""
    row = await db.fetchrow(
        "SELECT secret, headers FROM webhook_subscription WHERE id = $1", subscription_id
    )
    return (None, None) if row is None else (row["secret"], row["headers"])


async def lock_sealed_headers(
    tx: Tx, account_id: UUID, subscription_id: UUID
) -> tuple[bool, bytes | None]:
    """Lock a subscription to change its headers: whether there is one, and its sealed headers."""
    row = await tx.fetchrow(
        """
        SELECT headers FROM webhook_subscription WHERE account_id = $1 AND id = $2 FOR UPDATE
        """,
        account_id,
        subscription_id,
    )
    return (False, None) if row is None else (True, row["headers"])


async def list_subscriptions(
    db: Database, account_id: UUID, *, below: UUID | None, limit: int
) -> Sequence[Subscription]:
    rows = await db.fetch(
        f"""
        SELECT {_COLUMNS}
          FROM {_FROM}
         WHERE s.account_id = $1 AND ($2::uuid IS NULL OR s.id < $2)
         ORDER BY s.id DESC
         LIMIT $3
        """,  # noqa: S608 - the parts are our own constants
        account_id,
        below,
        limit,
    )
    return [_subscription(row) for row in rows]


async def list_all(
    db: Database, *, health: Sequence[str] | None, below: UUID | None, limit: int
) -> Sequence[Subscription]:
    """Subscriptions of all accounts, newest first."""
    rows = await db.fetch(
        f"""
        SELECT {_COLUMNS}
          FROM {_FROM}
         WHERE ($1::text[] IS NULL OR
                CASE WHEN s.disabled_reason IS NOT NULL THEN 'disabled'
                     WHEN h.failing_since IS NOT NULL THEN 'failing'
                     ELSE 'ok' END = ANY ($1))
           AND ($2::uuid IS NULL OR s.id < $2)
         ORDER BY s.id DESC
         LIMIT $3
        """,  # noqa: S608 - the parts are our own constants
        health,
        below,
        limit,
    )
    return [_subscription(row) for row in rows]


async def update_subscription(
    tx: Tx,
    account_id: UUID,
    subscription_id: UUID,
    changes: SubscriptionChanges,
    *,
    headers: bytes | None = None,
) -> bool:
    """Change a subscription. Off begins a new generation, and on again forgets failures.

    `headers` are the sealed headers, if they change.

    What is queued and no longer wanted is cancelled by a worker: see `delivery/cancel.py`.
    """
    exists = await tx.fetchval(
        f"""
        WITH changed AS (
            UPDATE webhook_subscription AS s
               SET url = coalesce($3, s.url),
                   events = coalesce($4::text[], s.events),
                   is_active = coalesce($5, s.is_active),
                   generation = s.generation + (s.is_active AND $5 IS FALSE)::integer,
                   disabled_reason = CASE WHEN $5 THEN NULL ELSE s.disabled_reason END,
                   description = coalesce($6, s.description),
                   catch_up = coalesce($7, s.catch_up),
                   header_names = coalesce($8::text[], s.header_names),
                   headers = CASE WHEN $8::text[] IS NULL THEN s.headers ELSE $9::bytea END,
                   standard_webhooks = coalesce($10, s.standard_webhooks),
                   filter = CASE WHEN $11 THEN $12::jsonb ELSE s.filter END,
                   updated_at = tradewind_now()
              FROM (SELECT id, is_active, events, filter
                      FROM webhook_subscription
                     WHERE account_id = $1 AND id = $2) AS old
             WHERE s.id = old.id
            RETURNING s.id, old.is_active AS was_active,
                      old.is_active AND NOT s.is_active
                      OR NOT old.events <@ s.events
                      OR s.filter <> coalesce(old.filter, '{{}}') AS wants_less
        ),
        forgiven AS (
            UPDATE subscription_health
               SET failing_since = NULL, failed = 0, updated_at = tradewind_now()
              FROM changed
             WHERE subscription_id = changed.id AND $5 IS TRUE AND NOT changed.was_active
        ),
        unwanted AS (
            SELECT id FROM changed WHERE wants_less
        ),
        asked AS ({_CANCEL})
        SELECT true FROM changed
        """,  # noqa: S608 - our own constants
        account_id,
        subscription_id,
        changes.url,
        changes.events,
        changes.is_active,
        changes.description,
        changes.catch_up,
        None if changes.headers is None else list(changes.headers),
        headers,
        changes.standard_webhooks,
        changes.filter is not None,
        _filter_json(changes.filter),
    )
    return exists is not None


async def replace_secret(tx: Tx, account_id: UUID, subscription_id: UUID, secret: bytes) -> bool:
    exists = await tx.fetchval(
        """
        UPDATE webhook_subscription
           SET secret = $3, secret_rotated_at = tradewind_now(), updated_at = tradewind_now()
         WHERE account_id = $1 AND id = $2
        RETURNING true
        """,
        account_id,
        subscription_id,
        secret,
    )
    return exists is not None


async def delete_subscription(tx: Tx, account_id: UUID, subscription_id: UUID) -> bool:
    """Delete it; what is still queued for it is cancelled by a worker."""
    exists = await tx.fetchval(
        f"""
        WITH gone AS (
            DELETE FROM webhook_subscription
             WHERE account_id = $1 AND id = $2
            RETURNING id
        ),
        unwatched AS (
            DELETE FROM subscription_health USING gone WHERE subscription_id = gone.id
        ),
        uncounted AS (
            DELETE FROM subscription_hour USING gone WHERE subscription_id = gone.id
        ),
        ended AS (
            UPDATE replay
               SET status = 'cancelled', ended_at = tradewind_now()
              FROM gone
             WHERE subscription_id = gone.id AND status = 'running'
        ),
        unwanted AS (
            SELECT id FROM gone
        ),
        asked AS ({_CANCEL})
        SELECT true FROM gone
        """,  # noqa: S608 - our own constants
        account_id,
        subscription_id,
    )
    return exists is not None


class FailingSubscription(NamedTuple):
    """A subscription that was switched off because its endpoint only failed."""

    id: UUID
    account_id: UUID
    failing_since: datetime


async def switch_off_failing(
    tx: Tx, *, failing_for: timedelta, at_least: int
) -> Sequence[FailingSubscription]:
    """Switch off subscriptions that only failed for this time and this often, and return them."""
    rows = await tx.fetch(
        f"""
        WITH unwanted AS (
            UPDATE webhook_subscription AS s
               SET is_active = false,
                   disabled_reason = 'failing',
                   generation = s.generation + 1,
                   updated_at = tradewind_now()
              FROM subscription_health AS h
             WHERE h.subscription_id = s.id
               AND s.is_active
               AND h.failing_since <= tradewind_now() - $1::interval
               AND h.failed >= $2
               AND h.last_failure_at > tradewind_now() - interval '1 day'
            RETURNING s.id, s.account_id, h.failing_since
        ),
        asked AS ({_CANCEL})
        SELECT id, account_id, failing_since FROM unwanted
        """,  # noqa: S608 - our own constants
        failing_for,
        at_least,
    )
    return [FailingSubscription(*row) for row in rows]


class SealedValues(NamedTuple):
    """The sealed signing secret and the sealed headers of a subscription."""

    subscription_id: UUID
    account_id: UUID
    secret: bytes
    headers: bytes | None


async def list_sealed(db: Database) -> Sequence[SealedValues]:
    rows = await db.fetch(
        "SELECT id, account_id, secret, headers FROM webhook_subscription ORDER BY id"
    )
    return [SealedValues(*row) for row in rows]


async def replace_sealed(
    db: Database, subscription_id: UUID, old: SealedValues, secret: bytes, headers: bytes | None
) -> bool:
    """Replace the sealed values with re-encrypted ones; False if they changed meanwhile."""
    replaced = await db.fetchval(
        """
        UPDATE webhook_subscription
           SET secret = $4, headers = $5
         WHERE id = $1 AND secret = $2 AND headers IS NOT DISTINCT FROM $3
        RETURNING true
        """,
        subscription_id,
        old.secret,
        old.headers,
        secret,
        headers,
    )
    return replaced is not None
