"""Accounts, in a browser, for operators: create, change, lock and unlock them."""

from collections.abc import Mapping
from functools import partial
from uuid import UUID

from msgspec import structs

from tradewind import ids
from tradewind.accounts import change, change_password
from tradewind.accounts import sql as account_sql
from tradewind.accounts.errors import EmailTaken
from tradewind.accounts.register import register
from tradewind.accounts.wire import LockIn, NewAccountIn, RolesIn
from tradewind.audit import sql as audit_sql
from tradewind.audit.model import Actor
from tradewind.auth.model import Operator, Plan, Role
from tradewind.auth.passwords import Passwords
from tradewind.dashboard.admin import queries
from tradewind.dashboard.admin.queries import ListedAccount
from tradewind.dashboard.shell.forms import ReasonForm, errors_of, required_text
from tradewind.dashboard.shell.labels import choices
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.session import FlashSecret
from tradewind.errors import ApiError, Conflict, Invalid, ValidationFailed, existing
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import inputs
from tradewind.web.paging import CursorList, PageQuery
from tradewind.web.site import Form
from tradewind.web.urls import PublicUrl

routes = PageRoutes("/accounts")

_ACCOUNTS: CursorList[ListedAccount] = CursorList("accounts", UUID, key=lambda account: account.id)
_LINK_LABEL = "Password link"
_RECENT = 10


class AccountsPageQuery(PageQuery):
    """The filters of the list."""

    q: str = ""
    role: list[Role] | None = None
    plan: list[Plan] | None = None
    locked: bool | None = None


class NewAccountForm(Form):
    """A new account."""

    email: str = ""
    name: str = ""
    roles: list[str] | None = None
    plan: str = Plan.PRO


class PlanForm(Form, kw_only=True):
    """The new plan."""

    plan: Plan


class RolesForm(Form):
    """All roles of the account."""

    roles: list[str] | None = None


@routes.get(expensive=True)
async def show_accounts(caller: Operator, query: AccountsPageQuery, db: Database) -> TemplatePage:
    """List accounts, newest first; the search takes a part of the e-mail or name."""
    read = partial(
        queries.list_accounts,
        db,
        text=query.q.strip() or None,
        roles=query.role,
        plans=query.plan,
        locked=query.locked,
    )
    shown = await _ACCOUNTS.rows(query.cursor, query.limit, read)
    return TemplatePage(
        "admin/accounts.html",
        query=query,
        accounts=shown.items,
        roles=choices(Role),
        plans=choices(Plan),
        next_cursor=shown.next_cursor,
    )


@routes.get("/new")
async def show_new_account(caller: Operator) -> TemplatePage:
    """Show the form for a new account."""
    return TemplatePage(
        "admin/account_new.html",
        form=NewAccountForm(roles=[Role.BUYER]),
        roles=choices(Role),
        plans=choices(Plan),
    )


@routes.post("/new")
async def create_account(
    caller: Operator,
    body: NewAccountForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    public_url: PublicUrl,
) -> PageResult:
    """Create an account, and the one-time link to set its password."""
    actor = Actor.of(caller)
    try:
        if not body.roles:
            raise ValidationFailed("/roles", "Select at least one role.", "missing")
        wanted = inputs.read_values(
            NewAccountIn,
            email=body.email.strip(),
            name=body.name.strip(),
            roles=body.roles,
            plan=body.plan,
        )
        account = await register(db, passwords, actor, **structs.asdict(wanted))
    except Invalid as error:
        errors = dict(errors_of(error))
        if "email" in errors:
            errors["email"] = "Enter a valid e-mail address (ASCII only)."
        return (await show_new_account(caller)).rejected(error, errors, form=body)
    except EmailTaken as error:
        errors = {"email": error.detail}
        return (await show_new_account(caller)).rejected(error, errors, form=body)
    url, _ = await change_password.make_link(db, keyring, actor, account.id, public_url.text)
    message = f"Account {account.email} created."
    return Redirect(_path(account.id), message, secret=FlashSecret(url, _LINK_LABEL))


@routes.get("/{account_id}")
async def show_account(account_id: ids.AccountId, caller: Operator, db: Database) -> TemplatePage:
    """Show an account, its usage and its recent activity."""
    account = existing(await account_sql.find_account(db, account_id=account_id), ids.ACCOUNT)
    return TemplatePage(
        "admin/account.html",
        account=account,
        usage=await queries.find_usage(db, account_id),
        entries=await audit_sql.list_entries(db, account_id=account_id, limit=_RECENT),
        names={account_id: account},
        is_own=account_id == caller.account_id,
        roles=choices(Role),
        plans=choices(Plan),
        reason="",
    )


@routes.post("/{account_id}/plan")
async def change_plan(
    account_id: ids.AccountId, caller: Operator, body: PlanForm, db: Database
) -> Redirect:
    """Change the plan of an account."""
    saved = await change.change_plan(db, Actor.of(caller), account_id, body.plan)
    return Redirect(_path(account_id), f"Plan changed to {saved.plan}.")


@routes.post("/{account_id}/roles")
async def change_roles(
    account_id: ids.AccountId, caller: Operator, body: RolesForm, db: Database
) -> PageResult:
    """Set the roles of an account to those selected."""
    try:
        if not body.roles:
            raise ValidationFailed("/roles", "Select at least one role.", "missing")
        wanted = inputs.read_values(RolesIn, roles=body.roles)
        saved = await change.change_roles(db, Actor.of(caller), account_id, wanted.roles)
    except (Invalid, Conflict) as error:
        page = await show_account(account_id, caller, db)
        return page.rejected(error, _errors_beside("roles", error))
    roles = ", ".join(sorted(saved.roles))
    return Redirect(_path(account_id), f"Roles changed to {roles}.")


@routes.post("/{account_id}/lock")
async def lock(
    account_id: ids.AccountId, caller: Operator, body: ReasonForm, db: Database
) -> PageResult:
    """Lock an account: none of its credentials work from now on."""
    try:
        reason = required_text("reason", body.reason, "Enter a reason. Other operators see it.")
        wanted = inputs.read_values(LockIn, reason=reason)
        await change.lock(db, Actor.of(caller), account_id, wanted.reason)
    except (Invalid, Conflict) as error:
        page = await show_account(account_id, caller, db)
        return page.rejected(error, _errors_beside("reason", error), reason=body.reason)
    return Redirect(
        _path(account_id),
        "Account locked. Its API keys and sessions no longer work; its payments are on hold.",
    )


@routes.post("/{account_id}/unlock")
async def unlock(
    account_id: ids.AccountId, caller: Operator, body: Form, db: Database, keyring: Keyring
) -> Redirect:
    """Unlock an account."""
    await change.unlock(db, keyring, Actor.of(caller), account_id)
    return Redirect(
        _path(account_id),
        "Account unlocked. Its API keys work again; its users must sign in again.",
    )


@routes.post("/{account_id}/password-link")
async def create_password_link(
    account_id: ids.AccountId,
    caller: Operator,
    body: Form,
    db: Database,
    keyring: Keyring,
    public_url: PublicUrl,
) -> Redirect:
    """Create a one-time link to set the password."""
    url, _ = await change_password.make_link(
        db, keyring, Actor.of(caller), account_id, public_url.text
    )
    return Redirect(
        _path(account_id), "Password link created.", secret=FlashSecret(url, _LINK_LABEL)
    )


def _errors_beside(field: str, error: ApiError) -> Mapping[str, str]:
    """The errors by field; a conflict belongs to the field of the form."""
    return {field: error.detail} if isinstance(error, Conflict) else errors_of(error)


def _path(account_id: UUID) -> str:
    return f"/accounts/{ids.ACCOUNT.show(account_id)}"
