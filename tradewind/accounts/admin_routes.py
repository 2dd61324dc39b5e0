"""Accounts over HTTP, for operators."""

from functools import partial
from uuid import UUID

from msgspec import structs

from tradewind import ids
from tradewind.accounts import change, change_password, sql
from tradewind.accounts.errors import EmailTaken, OwnAccount
from tradewind.accounts.model import Account
from tradewind.accounts.register import register
from tradewind.accounts.wire import (
    AccountListQuery,
    AdminAccountOut,
    LockIn,
    NewAccountIn,
    PasswordLinkOut,
    PlanIn,
    RolesIn,
)
from tradewind.audit.model import Actor
from tradewind.auth.errors import TooManyPasswords
from tradewind.auth.model import Operator
from tradewind.auth.passwords import Passwords
from tradewind.errors import existing
from tradewind.ids import AccountId
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import CursorList, Page
from tradewind.web.response import NO_STORE, Response, location
from tradewind.web.scopes import FULL_ACCESS
from tradewind.web.urls import PublicUrl

routes = Routes("/v1/admin/accounts", tag="Accounts (operators)")

_ACCOUNTS: CursorList[Account] = CursorList("accounts", UUID, key=lambda account: account.id)


@routes.get(scope=FULL_ACCESS, expensive=True)
async def list_accounts(
    caller: Operator, query: AccountListQuery, db: Database
) -> Page[AdminAccountOut]:
    """List accounts, newest first."""
    read = partial(
        sql.list_accounts,
        db,
        email=query.email.strip().lower() if query.email else query.email,
        roles=query.role,
        plans=query.plan,
        locked=query.locked,
    )
    return await _ACCOUNTS.page(query.cursor, query.limit, read, AdminAccountOut.of_account)


@routes.post(
    scope=FULL_ACCESS,
    status=201,
    returns=AdminAccountOut,
    errors=(EmailTaken, TooManyPasswords),
    headers={"Location": "The account's path."},
)
async def create_account(
    caller: Operator, body: NewAccountIn, db: Database, passwords: Passwords
) -> Response:
    """Create an account.

    Without `password`, create a password link next and send it to the owner.
    """
    account = await register(db, passwords, Actor.of(caller), **structs.asdict(body))
    created = AdminAccountOut.of_account(account)
    return Response(created, headers=[location("admin", "accounts", created.id)])


@routes.get("/{id}", scope=FULL_ACCESS)
async def get_account(account_id: AccountId, caller: Operator, db: Database) -> AdminAccountOut:
    """One account."""
    account = existing(await sql.find_account(db, account_id=account_id), ids.ACCOUNT)
    return AdminAccountOut.of_account(account)


@routes.post("/{id}/lock", scope=FULL_ACCESS, errors=(OwnAccount,))
async def lock_account(
    account_id: AccountId, caller: Operator, body: LockIn, db: Database
) -> AdminAccountOut:
    """Lock an account.

    From this response on every credential of it gets 403 `account_locked`, and its sessions have
    ended. No payment of it can be approved (409 `account_locked`), and an approved payment that was
    not sent to the marketplace yet waits for the unlock. Its orders are still synced and its
    deliveries still sent.
    """
    account = await change.lock(db, Actor.of(caller), account_id, body.reason)
    return AdminAccountOut.of_account(account)


@routes.post("/{id}/unlock", scope=FULL_ACCESS)
async def unlock_account(
    account_id: AccountId, caller: Operator, db: Database, keyring: Keyring
) -> AdminAccountOut:
    """Unlock an account: its API keys work again at once, its people log in again.

    Approved payments are made now. A stop after failed logins ends as well.
    """
    account = await change.unlock(db, keyring, Actor.of(caller), account_id)
    return AdminAccountOut.of_account(account)


@routes.post("/{id}/plan", scope=FULL_ACCESS)
async def change_plan(
    account_id: AccountId, caller: Operator, body: PlanIn, db: Database
) -> AdminAccountOut:
    """Put an account on another plan; its next request has the new limits."""
    account = await change.change_plan(db, Actor.of(caller), account_id, body.plan)
    return AdminAccountOut.of_account(account)


@routes.post("/{id}/roles", scope=FULL_ACCESS, errors=(OwnAccount,))
async def change_roles(
    account_id: AccountId, caller: Operator, body: RolesIn, db: Database
) -> AdminAccountOut:
    """Give an account exactly these roles, from its next request on."""
    account = await change.change_roles(db, Actor.of(caller), account_id, body.roles)
    return AdminAccountOut.of_account(account)


@routes.post(
    "/{id}/password-link",
    scope=FULL_ACCESS,
    status=201,
    returns=PasswordLinkOut,
    headers={
        "Cache-Control": "Always `no-store`: the response holds a secret.",
        "Location": "The account's path. The link itself is only in the body: it is a secret.",
    },
)
async def make_password_link(
    account_id: AccountId, caller: Operator, db: Database, keyring: Keyring, public_url: PublicUrl
) -> Response:
    """Create a one-time link with which the account's owner chooses a password.

    It works once, for 24 hours, and replaces any earlier link of the account.
    """
    url, expires = await change_password.make_link(
        db, keyring, Actor.of(caller), account_id, public_url.text
    )
    path = location("admin", "accounts", ids.ACCOUNT.show(account_id))
    return Response(PasswordLinkOut.of(url, expires), headers=[NO_STORE, path])
