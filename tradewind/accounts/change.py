"""Changes what an account may do: its lock, its plan, its roles."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from tradewind import ids
from tradewind.accounts import grants, sql
from tradewind.accounts.errors import OwnAccount
from tradewind.accounts.grants import Grant
from tradewind.accounts.model import Account
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth import login_throttle, sql_sessions
from tradewind.auth.model import Plan, Role
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction

# The topic of `orders/advance.py` that wakes the worker's loops of all marketplaces.
_SUBMIT = "submit"


async def lock(db: Database, by: Actor, account_id: UUID, reason: str) -> Account:
    """Reject every credential of the account, end its sessions, and stop its payments.

    Locking a locked account changes only the reason. Orders are still synced and deliveries sent,
    but no payment can be approved, and approved ones wait for the unlock. When this returns, no
    intent to debit is recorded any more.
    """
    async with transaction(db) as tx:
        account = await sql.lock_account_permissions(tx, account_id)
        if account.id == by.account_id:
            raise OwnAccount
        await sql_sessions.end_sessions(tx, account_id, "account_locked")
        saved = await sql.save_account(tx, replace(account, lock_reason=reason), locked=True)
        await _record(tx, by, "account.locked", saved, reason=reason)
    return saved


async def unlock(db: Database, keyring: Keyring, by: Actor, account_id: UUID) -> Account:
    """Unlock the account: its keys work at once, its people log in again.

    Approved payments are made now. A stop after failed logins ends as well, also for an account
    that is not locked.
    """
    async with transaction(db) as tx:
        # Whoever waits for both locks orders before accounts.
        await sql.make_payments_due(tx, account_id)
        account = await sql.lock_account_permissions(tx, account_id)
        await login_throttle.reset(tx, keyring, account.email)
        if account.locked_at is None:
            return account
        saved = await sql.save_account(tx, replace(account, lock_reason=None), locked=False)
        await grants.record_grant(tx, by, account_id, Grant.UNLOCK)
        tx.wake(_SUBMIT)
        await _record(tx, by, "account.unlocked", saved)
    return saved


async def change_plan(db: Database, by: Actor, account_id: UUID, plan: Plan) -> Account:
    async with transaction(db) as tx:
        account = await sql.lock_account(tx, account_id)
        if account.plan is plan:
            return account
        saved = await sql.save_account(
            tx, replace(account, plan=plan), locked=account.locked_at is not None
        )
        await _record(tx, by, "account.plan_changed", saved, before=account.plan, after=plan)
    return saved


async def change_roles(db: Database, by: Actor, account_id: UUID, roles: Sequence[Role]) -> Account:
    """Give the account exactly these roles."""
    async with transaction(db) as tx:
        account = await sql.lock_account_permissions(tx, account_id)
        if account.id == by.account_id and Role.OPERATOR not in roles:
            raise OwnAccount
        if account.roles == frozenset(roles):
            return account
        saved = await sql.save_account(
            tx, replace(account, roles=frozenset(roles)), locked=account.locked_at is not None
        )
        if grants.POWERS & saved.roles - account.roles:
            await grants.record_grant(tx, by, account_id, Grant.ROLE)
        await _record(
            tx,
            by,
            "account.roles_changed",
            saved,
            before=sorted(account.roles),
            after=sorted(saved.roles),
        )
    return saved


async def _record(tx: Tx, by: Actor, action: str, account: Account, **details: object) -> None:
    record(tx, by, action, account_id=account.id, subject=ids.ACCOUNT.show(account.id), **details)
