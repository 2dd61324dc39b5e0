"""Accounts, in a browser, for operators: make them, change them, lock them, let them in again."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.accounts import change, change_password
from tradewind.accounts import sql as account_sql
from tradewind.accounts.errors import EmailTaken
from tradewind.accounts.register import register
from tradewind.accounts.wire import LockIn, NewAccountIn, PlanIn, RolesIn
from tradewind.audit import sql as audit_sql
from tradewind.audit.model import Actor
from tradewind.audit.wire import AuditOut
from tradewind.auth.model import Operator, Plan, Role
from tradewind.auth.passwords import Passwords
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.shell.flash import Shown
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.listing import choices, chosen, first_page, next_page
from tradewind.dashboard.shell.render import Renderer
from tradewind.errors import Conflict, Invalid, ResourceNotFound, ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import inputs
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.paging import PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.web.urls import PublicUrl

routes = Routes("/accounts", tag="Dashboard", hidden=True, pages=True)

_LINK_LABEL = "The link by which a password is chosen"
_RECENT = 10


class AccountsQuery(PageQuery):
    """Which accounts to list."""

    q: str = ""
    role: list[Role] | None = None
    plan: list[Plan] | None = None
    locked: bool | None = None


class NewAccountForm(Form):
    """An account to make."""

    email: str = ""
    name: str = ""
    roles: list[str] | None = None
    plan: str = Plan.PRO


class PlanForm(Form):
    """The plan to put an account on."""

    plan: str = ""


class RolesForm(Form):
    """All roles that an account shall have."""

    roles: list[str] | None = None


class LockForm(Form):
    """Why an account is locked."""

    reason: str = ""


@routes.get(media_type="text/html", expensive=True)
async def show_accounts(
    request: Request, caller: Operator, query: AccountsQuery, db: Database, renderer: Renderer
) -> Response:
    """Accounts newest first, found by a part of their e-mail or name."""
    rows = await sql_desk.list_accounts(
        db,
        text=query.q.strip() or None,
        roles=query.role,
        plans=query.plan,
        locked=query.locked,
        below=read_cursor("accounts", query.cursor, UUID),
        limit=query.limit + 1,
    )
    found = page("accounts", rows, query.limit, key=lambda row: row["id"], show=lambda row: row)
    return renderer.page(
        "accounts.html",
        request,
        caller,
        query=query,
        accounts=found.items,
        filtered=chosen(request),
        roles=choices(Role),
        plans=choices(Plan),
        next_url=next_page(request, found.next_cursor),
        first_url=first_page(request),
    )


@routes.get("/new", media_type="text/html")
async def show_new_account(request: Request, caller: Operator, renderer: Renderer) -> Response:
    """The form for a new account."""
    return _new(renderer, request, caller, NewAccountForm(roles=[Role.BUYER]))


@routes.post("/new", media_type="text/html")
async def make_account(
    request: Request,
    caller: Operator,
    body: NewAccountForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    public_url: PublicUrl,
    renderer: Renderer,
) -> Response:
    """Make an account, and the link by which its owner chooses a password."""
    actor = Actor.of(caller, request)
    try:
        if not body.roles:
            raise ValidationFailed("/roles", "Choose at least one role.", "missing")
        wanted = inputs.read_values(
            NewAccountIn,
            email=body.email.strip(),
            name=body.name.strip(),
            roles=body.roles,
            plan=body.plan,
        )
        made = await register(
            db,
            passwords,
            actor,
            email=wanted.email,
            name=wanted.name,
            roles=wanted.roles,
            plan=wanted.plan,
        )
    except Invalid as refusal:
        errors = dict(errors_of(refusal))
        if "email" in errors:
            errors["email"] = "This is not an e-mail address that can be used here (ASCII only)."
        return _new(renderer, request, caller, body, 422, errors)
    except EmailTaken as refusal:
        return _new(renderer, request, caller, body, 409, {"email": refusal.detail})
    url, _ = await change_password.make_link(db, keyring, actor, made.id, public_url.text)
    return renderer.to(
        caller, _at(made.id), f"The account of {made.email} was made.", secret=_link(url, made.id)
    )


def _new(
    renderer: Renderer,
    request: Request,
    caller: Caller,
    form: NewAccountForm,
    status: int = 200,
    errors: Mapping[str, str] | None = None,
) -> Response:
    return renderer.page(
        "account_new.html",
        request,
        caller,
        status=status,
        form=form,
        errors=errors or {},
        roles=choices(Role),
        plans=choices(Plan),
    )


@routes.get("/{account_id}", media_type="text/html")
async def show_account(
    account_id: ids.AccountId, request: Request, caller: Operator, db: Database, renderer: Renderer
) -> Response:
    """One account: what it is, what it has, and what was done with it lately."""
    return await _page(db, renderer, request, caller, account_id)


@routes.post("/{account_id}/plan", media_type="text/html")
async def change_plan(
    account_id: ids.AccountId,
    request: Request,
    caller: Operator,
    body: PlanForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Put an account on another plan."""
    try:
        wanted = inputs.read_values(PlanIn, plan=body.plan)
    except Invalid as refusal:
        return await _page(db, renderer, request, caller, account_id, refusal)
    saved = await change.change_plan(db, Actor.of(caller, request), account_id, wanted.plan)
    return renderer.to(caller, _at(account_id), f"It is on the plan {saved.plan} now.")


@routes.post("/{account_id}/roles", media_type="text/html")
async def change_roles(
    account_id: ids.AccountId,
    request: Request,
    caller: Operator,
    body: RolesForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Give an account exactly the roles that are ticked."""
    try:
        if not body.roles:
            raise ValidationFailed("/roles", "Choose at least one role.", "missing")
        wanted = inputs.read_values(RolesIn, roles=body.roles)
        saved = await change.change_roles(db, Actor.of(caller, request), account_id, wanted.roles)
    except (Invalid, Conflict) as refusal:
        return await _page(db, renderer, request, caller, account_id, refusal, field="roles")
    return renderer.to(
        caller, _at(account_id), f"Its roles are now: {', '.join(sorted(saved.roles))}."
    )


@routes.post("/{account_id}/lock", media_type="text/html")
async def lock(
    account_id: ids.AccountId,
    request: Request,
    caller: Operator,
    body: LockForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Refuse every credential of an account from now on."""
    reason = body.reason.strip()
    try:
        if not reason:
            raise ValidationFailed("/reason", "Say why: other operators read it.", "missing")
        wanted = inputs.read_values(LockIn, reason=reason)
        await change.lock(db, Actor.of(caller, request), account_id, wanted.reason)
    except (Invalid, Conflict) as refusal:
        return await _page(
            db, renderer, request, caller, account_id, refusal, field="reason", reason=reason
        )
    return renderer.to(
        caller,
        _at(account_id),
        "The account is locked: its keys are refused, its sessions ended, and its payments wait.",
    )


@routes.post("/{account_id}/unlock", media_type="text/html")
async def unlock(
    account_id: ids.AccountId,
    request: Request,
    caller: Operator,
    body: Form,
    db: Database,
    keyring: Keyring,
    renderer: Renderer,
) -> Response:
    """Let an account in again."""
    await change.unlock(db, keyring, Actor.of(caller, request), account_id)
    return renderer.to(
        caller, _at(account_id), "The account is open: its keys work, its people sign in anew."
    )


@routes.post("/{account_id}/password-link", media_type="text/html")
async def make_password_link(
    account_id: ids.AccountId,
    request: Request,
    caller: Operator,
    body: Form,
    db: Database,
    keyring: Keyring,
    public_url: PublicUrl,
    renderer: Renderer,
) -> Response:
    """A link by which the owner chooses a password, once."""
    url, _ = await change_password.make_link(
        db, keyring, Actor.of(caller, request), account_id, public_url.text
    )
    return renderer.to(caller, _at(account_id), "The link was made.", secret=_link(url, account_id))


async def _page(
    db: Database,
    renderer: Renderer,
    request: Request,
    caller: Caller,
    account_id: UUID,
    refusal: Invalid | Conflict | None = None,
    *,
    field: str = "",
    reason: str = "",
) -> Response:
    """The account's page; a refusal stands beside its field."""
    account = await account_sql.find_account(db, account_id=account_id)
    if account is None:
        raise ResourceNotFound(ids.ACCOUNT)
    errors: dict[str, Any] = {}
    status = 200
    if isinstance(refusal, Conflict):
        errors, status = {field: refusal.detail}, 409
    elif refusal is not None:
        errors, status = dict(errors_of(refusal)), 422
    acts = await audit_sql.list_entries(
        db,
        account_id=account_id,
        actions=None,
        after=None,
        before=None,
        below=None,
        limit=_RECENT,
    )
    return renderer.page(
        "accounts_one.html",
        request,
        caller,
        status=status,
        account=account,
        has=await sql_desk.what_account_has(db, account_id),
        acts=[AuditOut.of(row) for row in acts],
        is_own=account_id == caller.account_id,
        roles=choices(Role),
        plans=choices(Plan),
        errors=errors,
        reason=reason,
    )


def _at(account_id: UUID) -> str:
    return f"/accounts/{ids.ACCOUNT.show(account_id)}"


def _link(url: str, account_id: UUID) -> Shown:
    return Shown("link", url, _LINK_LABEL, subject=ids.ACCOUNT.show(account_id))
