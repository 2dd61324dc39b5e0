"""The statements of the gate and of logins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import asyncpg

from tradewind.auth.api_keys.model import Network
from tradewind.auth.model import Identity, Plan, Role
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx
from tradewind.web.sql import take_from_budgets


class Admission(NamedTuple):
    """Valid credentials: whose they are, and what is left of the account's budget.

    `granted` counts for the account as a whole: of all its requests in this statement, so many fit.
    A key that has `expired`, or is used from `outside` its networks, takes from no budget and is
    not marked as used: whoever found it cannot use up the account's requests. `is_first_use` says
    that key or session was not marked as used within the last minute.
    """

    number: int
    key_id: UUID | None
    made_with: str | None
    session_id: UUID | None
    account_id: UUID
    email: str
    name: str
    roles: Sequence[str]
    plan: str
    created_at: datetime
    locked: bool
    granted: int
    debt: int
    now: datetime
    scopes: Sequence[str] | None
    expires_at: datetime | None
    allowed_cidrs: Sequence[Network] | None
    expired: bool
    outside: bool
    is_first_use: bool

    @property
    def is_refused(self) -> bool:
        return self.expired or self.outside


@dataclass(frozen=True, slots=True)
class LoginFailures:
    """The logins of one e-mail that failed, and those that are being tried."""

    failed_at: Sequence[datetime]
    tried_at: Sequence[datetime]
    locked_until: datetime | None


_ASKED_OF_BUDGETS = """
    SELECT 'account:' || c.account_id AS subject, sum(c.times)::bigint AS asked,
           plan.step, plan.burst
      FROM credential c
      JOIN unnest($4::text[], $5::bigint[], $6::bigint[])
           AS plan (name, step, burst) ON plan.name = c.plan
     WHERE NOT (c.expired OR c.outside)
     GROUP BY c.account_id, plan.step, plan.burst
"""
_ADMIT = f"""
    WITH asked AS (
        SELECT number, hash, session_id, times, address
          FROM unnest($1::bytea[], $2::uuid[], $3::bigint[], $7::text[])
               WITH ORDINALITY AS a (hash, session_id, times, address, number)
    ), credential AS MATERIALIZED (
        SELECT asked.number, asked.times, k.id AS key_id, k.key_id AS made_with,
               s.id AS session_id, a.id AS account_id, a.email, a.name, a.roles, a.plan,
               a.created_at, a.locked_at IS NOT NULL AS locked,
               k.scopes, k.expires_at, k.allowed_cidrs,
               coalesce(k.expires_at <= tradewind_now(), false) AS expired,
               k.allowed_cidrs IS NOT NULL AND NOT coalesce(
                   asked.address::inet <<= ANY (k.allowed_cidrs::inet[]), false) AS outside,
               coalesce(k.last_used_at < tradewind_now() - interval '1 minute', k.id IS NOT NULL)
               OR coalesce(s.ended_at IS NULL
                           AND s.last_used_at < tradewind_now() - interval '1 minute', false)
               AS is_first_use
          FROM asked
          LEFT JOIN api_key k ON k.hash = asked.hash AND k.revoked_at IS NULL
          LEFT JOIN session s ON s.id = asked.session_id AND s.expires_at > tradewind_now()
          JOIN account a ON a.id = coalesce(k.account_id, s.account_id)
         WHERE (asked.hash IS NULL OR k.account_id = a.id)
           AND (asked.session_id IS NULL OR s.account_id = a.id)
           AND (s.id IS NULL OR s.ended_at IS NULL
                OR (s.end_reason = 'account_locked' AND a.locked_at IS NOT NULL))
    ), budget AS (
        {take_from_budgets(_ASKED_OF_BUDGETS)}
    )
    SELECT c.number, c.key_id, c.made_with, c.session_id, c.account_id, c.email, c.name, c.roles,
           c.plan, c.created_at, c.locked, coalesce(budget.granted, 0), coalesce(budget.debt, 0),
           tradewind_now() AS now, c.scopes, c.expires_at, c.allowed_cidrs, c.expired, c.outside,
           c.is_first_use
      FROM credential c
      LEFT JOIN budget ON budget.subject = 'account:' || c.account_id
"""  # noqa: S608 - ours


async def admit(
    db: Database,
    *,
    hashes: Sequence[bytes | None],
    sessions: Sequence[UUID | None],
    addresses: Sequence[str | None],
    times: Sequence[int],
    plans: Sequence[str],
    steps: Sequence[int],
    bursts: Sequence[int],
) -> list[Admission]:
    """Look up credentials and take from their accounts' budgets, for many requests at once.

    Element n of the arrays is a key's hash, a session, or both, the address that a key is used
    from, and how many requests carry it. A row names its element by `number`; an element without a
    row is not valid.
    """
    rows = await db.fetch(_ADMIT, hashes, sessions, times, plans, steps, bursts, addresses)
    return [Admission(*row) for row in rows]


async def mark_used(db: Database, keys: Sequence[UUID], sessions: Sequence[UUID]) -> None:
    """Save that these were used now, unless another process has just done so or is doing so."""
    await db.fetch(
        """
        WITH used_key AS (
            UPDATE api_key
               SET last_used_at = tradewind_now()
             WHERE id = ANY (ARRAY(
                       SELECT id
                         FROM api_key
                        WHERE id = ANY ($1::uuid[])
                          AND revoked_at IS NULL
                          AND (last_used_at < tradewind_now() - interval '1 minute'
                               OR last_used_at IS NULL)
                          FOR NO KEY UPDATE SKIP LOCKED))
        )
        UPDATE session
           SET last_used_at = tradewind_now()
         WHERE id = ANY (ARRAY(
                   SELECT id
                     FROM session
                    WHERE id = ANY ($2::uuid[])
                      AND ended_at IS NULL
                      AND last_used_at < tradewind_now() - interval '1 minute'
                      FOR NO KEY UPDATE SKIP LOCKED))
        """,
        keys,
        sessions,
    )


async def find_password_hash(db: Database, email: str) -> tuple[UUID | None, str | None]:
    """The account with this e-mail and the hash of its password; two Nones: there is none."""
    row = await db.fetchrow("SELECT id, password_hash FROM account WHERE email = $1", email)
    return (None, None) if row is None else (row["id"], row["password_hash"])


async def find_identity(tx: Tx, account_id: UUID) -> Identity | None:
    row = await tx.fetchrow(
        """
        SELECT id, email, name, roles, plan, created_at, locked_at FROM account WHERE id = $1
        """,
        account_id,
    )
    return None if row is None else _identity(row)


async def lock_identity(tx: Tx, account_id: UUID, *, password_hash: str) -> Identity | None:
    """The account, locked until the transaction ends; None when its password is another now."""
    row = await tx.fetchrow(
        """
        SELECT id, email, name, roles, plan, created_at, locked_at
          FROM account
         WHERE id = $1 AND password_hash = $2
           FOR NO KEY UPDATE
        """,
        account_id,
        password_hash,
    )
    return None if row is None else _identity(row)


def _identity(row: asyncpg.Record) -> Identity:
    roles = frozenset(Role(role) for role in row["roles"])
    return Identity(**{**row, "roles": roles, "plan": Plan(row["plan"])})


async def lock_login_failures(tx: Tx, email_hash: bytes) -> tuple[LoginFailures, datetime]:
    """The failures of an e-mail, locked, and the time; the row is made when there is none."""
    await tx.execute(
        "INSERT INTO login_failure (email_hash) VALUES ($1) ON CONFLICT DO NOTHING", email_hash
    )
    row = await tx.fetchrow(
        """
        SELECT failed_at, tried_at, locked_until, tradewind_now() AS now
          FROM login_failure
         WHERE email_hash = $1
           FOR UPDATE
        """,
        email_hash,
    )
    if row is None:  # a success deleted it in between
        return await lock_login_failures(tx, email_hash)
    failures = LoginFailures(row["failed_at"], row["tried_at"], row["locked_until"])
    return failures, row["now"]


async def save_login_failures(tx: Tx, email_hash: bytes, failures: LoginFailures) -> None:
    await tx.execute(
        """
        UPDATE login_failure
           SET failed_at = $2, tried_at = $3, locked_until = $4
         WHERE email_hash = $1
        """,
        email_hash,
        failures.failed_at,
        failures.tried_at,
        failures.locked_until,
    )


async def delete_login_failures(tx: Tx, email_hashes: Sequence[bytes]) -> None:
    await tx.execute("DELETE FROM login_failure WHERE email_hash = ANY($1)", email_hashes)


async def delete_old_login_failures(db: Database, *, window: timedelta) -> None:
    await db.execute(
        """
        DELETE FROM login_failure
         WHERE coalesce(failed_at[cardinality(failed_at)] < tradewind_now() - $1::interval, true)
           AND coalesce(tried_at[cardinality(tried_at)] < tradewind_now() - $1::interval, true)
           AND coalesce(locked_until < tradewind_now(), true)
        """,
        window,
    )
