"""The statements about accounts and password links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.accounts.model import Account
from tradewind.auth.model import Plan, Role
from tradewind.errors import ResourceNotFound
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_SELECT_ACCOUNT = """
    SELECT id, email, name, roles, plan, locked_at, lock_reason, created_at, updated_at
      FROM account
"""


def _account(row: asyncpg.Record | None) -> Account:
    if row is None:
        raise ResourceNotFound(ids.ACCOUNT)
    roles = frozenset(Role(role) for role in row["roles"])
    return Account(**{**row, "roles": roles, "plan": Plan(row["plan"])})


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link that can be used: whose it is, and who made it."""

    account_id: UUID
    created_by: UUID | None


async def insert_account(
    tx: Tx,
    account_id: UUID,
    *,
    email: str,
    name: str,
    roles: Sequence[Role],
    plan: Plan,
    password_hash: str | None,
) -> Account | None:
    """The new account, or None when its e-mail is taken."""
    row = await tx.fetchrow(
        """
        INSERT INTO account (id, email, name, roles, plan, password_hash, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, tradewind_now(), tradewind_now())
        ON CONFLICT (email) DO NOTHING
        RETURNING id, email, name, roles, plan, locked_at, lock_reason, created_at, updated_at
        """,
        account_id,
        email,
        name,
        sorted(roles),
        plan,
        password_hash,
    )
    return None if row is None else _account(row)


async def find_account(
    db: Database | Tx, *, account_id: UUID | None = None, email: str | None = None
) -> Account | None:
    """The account with this id, or with this e-mail."""
    row = await db.fetchrow(f"{_SELECT_ACCOUNT} WHERE id = $1 OR email = $2", account_id, email)
    return None if row is None else _account(row)


async def lock_account(tx: Tx, account_id: UUID) -> Account:
    """The account, locked until the transaction ends."""
    return _account(
        await tx.fetchrow(f"{_SELECT_ACCOUNT} WHERE id = $1 FOR NO KEY UPDATE", account_id)
    )


async def lock_account_permissions(tx: Tx, account_id: UUID) -> Account:
    """The account, locked to change its lock or its roles.

    It waits for every transaction that relies on them (`share_accounts`, `SharedAccounts`), and
    later ones wait for this one: so once a lock is confirmed, no payment of the account begins.
    """
    return _account(await tx.fetchrow(f"{_SELECT_ACCOUNT} WHERE id = $1 FOR UPDATE", account_id))


async def share_accounts(tx: Tx, account_ids: Sequence[UUID]) -> Mapping[UUID, Account]:
    """Accounts whose lock and roles stay as they are until the transaction ends.

    FOR KEY SHARE blocks only `lock_account_permissions`: logins and other changes continue. Each id
    is a parameter: with an array, PostgreSQL plans the statement anew each time.
    """
    parameters = ", ".join(f"${number}" for number in range(1, len(account_ids) + 1))
    rows = await tx.fetch(
        f"{_SELECT_ACCOUNT} WHERE id IN ({parameters}) ORDER BY id FOR KEY SHARE", *account_ids
    )
    return {row["id"]: _account(row) for row in rows}


@dataclass(frozen=True, slots=True)
class SharedAccounts:
    """`share_accounts` as a query: it returns the accounts that are not locked.

    `approver` is one of the `ids`, and is left out also if it is no approver. With a `window`, so
    is an approver whom somebody gave access or power within it: that one may depend on a requester.
    """

    ids: Sequence[UUID]
    approver: UUID | None = None
    window: timedelta | None = None

    @property
    def args(self) -> Sequence[object]:
        return [*self.ids, *([] if self.window is None else [self.window])]

    def query(self, after: int) -> str:
        """The query; its arguments come `after` so many others."""
        numbered = {account_id: f"${after + n}" for n, account_id in enumerate(self.ids, 1)}
        approves = ""
        if self.approver is not None:
            approves = f"AND (id <> {numbered[self.approver]} OR 'approver' = ANY (roles))"
            if self.window is not None:
                since = f"tradewind_now() - ${after + len(self.args)}::interval"
                granted = f"account_id = {numbered[self.approver]} AND granted_at > {since}"
                approves += f" AND NOT EXISTS (SELECT FROM account_grant WHERE {granted})"
        return f"""
            SELECT id
              FROM account
             WHERE id IN ({", ".join(numbered.values())}) AND locked_at IS NULL {approves}
             ORDER BY id
               FOR KEY SHARE
            """  # noqa: S608 - numbers of parameters


async def has_operator(db: Database) -> bool:
    """Whether there is an operator who is not locked."""
    exists: bool = await db.fetchval(
        "SELECT EXISTS (SELECT FROM account WHERE 'operator' = ANY (roles) AND locked_at IS NULL)"
    )
    return exists


async def is_locked(db: Database, account_id: UUID) -> bool:
    """Whether an operator has locked the account."""
    locked: bool = await db.fetchval(
        "SELECT locked_at IS NOT NULL FROM account WHERE id = $1", account_id
    )
    return locked


async def make_payments_due(tx: Tx, account_id: UUID) -> None:
    """Make the account's approved and running payments due for the worker now.

    The hint also reaches a worker that is working on the order right now.
    """
    await tx.execute(
        """
        UPDATE purchase_order
           SET hints = hints + 1,
               next_sync_at = tradewind_now()
         WHERE work = 'pay'
           AND id = ANY (ARRAY(
                   SELECT o.id
                     FROM payment_request AS pay
                     JOIN purchase_order AS o ON o.id = pay.purchase_order_id
                    WHERE pay.status IN ('approved', 'processing')
                      AND pay.account_id = $1
                    ORDER BY o.id
                      FOR UPDATE OF o))
        """,
        account_id,
    )


async def save_account(tx: Tx, account: Account, *, locked: bool) -> Account:
    """Save roles, plan and lock of an account; it keeps the time since which it is locked."""
    row = await tx.fetchrow(
        """
        UPDATE account
           SET roles = $2,
               plan = $3,
               locked_at = CASE WHEN $4 THEN coalesce(locked_at, tradewind_now()) END,
               lock_reason = $5,
               updated_at = tradewind_now()
         WHERE id = $1
        RETURNING id, email, name, roles, plan, locked_at, lock_reason, created_at, updated_at
        """,
        account.id,
        sorted(account.roles),
        account.plan,
        locked,
        account.lock_reason,
    )
    return _account(row)


async def list_accounts(
    db: Database,
    *,
    email: str | None,
    roles: Sequence[str] | None,
    plans: Sequence[str] | None,
    locked: bool | None,
    below: UUID | None,
    limit: int,
) -> Sequence[Account]:
    """Accounts, newest first, after the last id of the page before."""
    rows = await db.fetch(
        f"""
        {_SELECT_ACCOUNT}
         WHERE ($1::text IS NULL OR email = $1)
           AND ($2::text[] IS NULL OR roles && $2)
           AND ($3::text[] IS NULL OR plan = ANY($3))
           AND ($4::boolean IS NULL OR (locked_at IS NOT NULL) = $4)
           AND ($5::uuid IS NULL OR id < $5)
         ORDER BY id DESC
         LIMIT $6
        """,
        email,
        roles,
        plans,
        locked,
        below,
        limit,
    )
    return [_account(row) for row in rows]


async def password_hash(db: Database, account_id: UUID) -> str | None:
    stored: str | None = await db.fetchval(
        "SELECT password_hash FROM account WHERE id = $1", account_id
    )
    return stored


async def set_password_hash(tx: Tx, account_id: UUID, stored: str) -> None:
    await tx.execute(
        """
        UPDATE account
           SET password_hash = $2, updated_at = tradewind_now()
         WHERE id = $1
        """,
        account_id,
        stored,
    )


async def delete_password_links(tx: Tx, account_id: UUID) -> None:
    await tx.execute("DELETE FROM password_link WHERE account_id = $1", account_id)


async def insert_password_link(
    tx: Tx,
    account_id: UUID,
    *,
    link_hash: bytes,
    made_with: str,
    lifetime: timedelta,
    created_by: UUID | None,
) -> datetime:
    """Store a link; returns when it expires. `created_by` is the operator's account, if any."""
    expires: datetime = await tx.fetchval(
        """
        INSERT INTO password_link (hash, key_id, account_id, expires_at, created_at, created_by)
        VALUES ($1, $2, $3, tradewind_now() + $4::interval, tradewind_now(), $5)
        RETURNING expires_at
        """,
        link_hash,
        made_with,
        account_id,
        lifetime,
        created_by,
    )
    return expires


async def find_password_link(
    db: Database | Tx, link_hashes: Sequence[bytes]
) -> PasswordLink | None:
    row = await db.fetchrow(
        """
        SELECT account_id, created_by
          FROM password_link
         WHERE hash = ANY($1) AND expires_at > tradewind_now()
        """,
        link_hashes,
    )
    return None if row is None else PasswordLink(**row)


async def delete_expired_password_links(db: Database) -> None:
    await db.execute("DELETE FROM password_link WHERE expires_at < tradewind_now()")


async def count_links_by_master_secret(db: Database) -> dict[str, int]:
    """How many open password links were made with each master secret."""
    rows = await db.fetch(
        """
        SELECT key_id, count(*) AS links
          FROM password_link
         WHERE expires_at > tradewind_now()
         GROUP BY key_id
        """
    )
    return {row["key_id"]: row["links"] for row in rows}
