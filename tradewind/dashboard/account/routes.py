"""The account: signing in and out, the password, profile, plan and usage, and sessions."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.accounts import change_password
from tradewind.accounts.wire import PasswordIn
from tradewind.audit.model import Actor
from tradewind.auth import sessions, sql_sessions
from tradewind.auth.api_keys.issue import MOST_KEYS
from tradewind.auth.errors import AccountLocked, TooManyLogins, TooManyPasswords, WrongCredentials
from tradewind.auth.login import LoginRate, log_in
from tradewind.auth.passwords import MAXIMUM, MINIMUM, Passwords
from tradewind.auth.sql_sessions import Session
from tradewind.dashboard.account import queries
from tradewind.dashboard.account.views import user_agent_name
from tradewind.dashboard.shell.forms import CursorQuery
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.session import THEME_COOKIE, Sessions
from tradewind.dashboard.shell.urls import local_path
from tradewind.errors import ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database, LoginDatabase
from tradewind.web import inputs
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input
from tradewind.web.limits import Budget, RateLimited
from tradewind.web.paging import CursorList
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form
from tradewind.webhooks.subscribe import UrlPolicy

routes = PageRoutes()

_ROWS = 20
_NO_MATCH = "The passwords do not match."
_PASSWORD_ERRORS = (AccountLocked, TooManyPasswords, TooManyLogins)
_SESSIONS: CursorList[Session] = CursorList(
    "own sessions",
    tuple[datetime, UUID],
    key=lambda session: (session.last_used_at, session.id),
)
_THEME_SECONDS = 365 * 24 * 3600


class SignInQuery(Input):
    """The page to open afterwards."""

    next: str = ""
    changed: bool = False


class SignInForm(Form):
    """E-mail and password."""

    email: Annotated[str, Meta(max_length=320)] = ""
    password: Annotated[str, Meta(max_length=MAXIMUM)] = ""
    next: str = ""


class ThemeForm(Form):
    """The colours of the pages, and the page to return to."""

    theme: Literal["system", "light", "dark"] = "system"
    next: str = ""


class LinkQuery(Input):
    """The token of a password link."""

    token: Annotated[str, Meta(max_length=200)]


class LinkForm(Form):
    """A new password, set with a password link."""

    token: Annotated[str, Meta(max_length=200)] = ""
    password: Annotated[str, Meta(max_length=MAXIMUM)] = ""
    again: Annotated[str, Meta(max_length=MAXIMUM)] = ""


class PasswordForm(Form):
    """A change of the password; none of it is shown again."""

    current_password: str = ""
    new_password: str = ""
    again: str = ""


@routes.get("/sign-in")
async def show_sign_in(request: Request, query: SignInQuery, cookies: Sessions) -> PageResult:
    """Show the sign-in form; whoever is signed in goes on to the next page."""
    if await cookies.find(request):
        return _redirect(local_path(query.next))
    form = SignInForm(next=local_path(query.next))
    return TemplatePage("account/sign_in.html", form=form, changed=query.changed)


@routes.post("/sign-in")
async def submit_sign_in(
    request: Request,
    body: SignInForm,
    db: LoginDatabase,
    keyring: Keyring,
    passwords: Passwords,
    rate: LoginRate,
    cookies: Sessions,
) -> PageResult:
    """Start a session, with the limits that the API has."""
    try:
        _, tokens = await log_in(
            db,
            keyring,
            passwords,
            rate,
            email=body.email,
            password=body.password,
            address=request.address,
            user_agent=request.headers.get("user-agent", ""),
        )
    except (WrongCredentials, RateLimited, *_PASSWORD_ERRORS) as error:
        form = SignInForm(email=body.email, next=local_path(body.next))
        errors = {"": _error_message(error.detail, error.facts.get("retry_after"))}
        page = TemplatePage("account/sign_in.html", form=form, changed=False)
        return page.rejected(error, errors)
    return _redirect(local_path(body.next), cookies.begin(tokens.access))


@routes.post("/sign-out")
async def sign_out(caller: Caller, body: Form, db: Database, cookies: Sessions) -> Response:
    """End the session, for every process."""
    await sessions.log_out(db, caller.session_id)
    return _redirect("/sign-in", cookies.end())


@routes.post("/theme")
async def choose_theme(caller: Caller, body: ThemeForm, cookies: Sessions) -> Response:
    """Remember in this browser whether pages are light, dark, or as the system is."""
    seconds = 0 if body.theme == "system" else _THEME_SECONDS
    return _redirect(
        local_path(body.next), cookies.cookie(THEME_COOKIE, body.theme, seconds=seconds)
    )


@routes.get("/password")
async def show_password_form(query: LinkQuery, db: Database, keyring: Keyring) -> TemplatePage:
    """Show the form of a password link; an expired link is an error at once."""
    await change_password.check_link(db, keyring, query.token)
    return _password_form(query.token)


@routes.post("/password")
async def set_password(
    request: Request, body: LinkForm, db: Database, keyring: Keyring, passwords: Passwords
) -> TemplatePage:
    """Set the password, or show what is wrong with it."""
    errors = {}
    if len(body.password) < MINIMUM:
        errors["password"] = f"A password needs at least {MINIMUM} characters."
    elif body.password != body.again:
        errors["again"] = _NO_MATCH
    if errors:
        return _password_form(body.token, errors)
    actor = Actor.anonymous("password link", request)
    await change_password.use_link(
        db, keyring, passwords, actor, token=body.token, new=body.password
    )
    return TemplatePage("account/password_set.html")


def _password_form(token: str, errors: Mapping[str, str] | None = None) -> TemplatePage:
    return TemplatePage("account/password.html", errors=errors, token=token, minimum=MINIMUM)


def _redirect(path: str, *headers: tuple[bytes, bytes]) -> Response:
    return Response(None, 303, [(b"location", path.encode("ascii")), NO_STORE, *headers])


def _error_message(detail: str, retry_after: int | None) -> str:
    if retry_after is None:
        return detail
    minutes = (retry_after + 59) // 60
    wait = f"{minutes} minutes" if minutes > 1 else f"{retry_after} seconds"
    return f"{detail} Try again in {wait}."


@routes.get("/account")
async def show_account(
    caller: Caller, query: CursorQuery, db: Database, url_policy: UrlPolicy
) -> TemplatePage:
    """Show the profile, the usage of the plan, and the open sessions."""
    read = partial(sql_sessions.list_live_sessions, db, caller.account_id)
    shown = await _SESSIONS.rows(query.cursor, _ROWS, read)
    usage = await queries.find_plan_usage(db, caller.account_id)
    return TemplatePage(
        "account/account.html",
        sessions=shown.items,
        user_agent_name=user_agent_name,
        next_cursor=shown.next_cursor,
        budget=Budget(caller.budget.rate, usage.rate_debt),
        usage=usage,
        most_keys=MOST_KEYS,
        most_webhooks=url_policy.most,
        minimum=MINIMUM,
    )


@routes.post("/account/password")
async def change_own_password(
    caller: Caller,
    body: PasswordForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    url_policy: UrlPolicy,
    cookies: Sessions,
) -> PageResult:
    """Change the password. Every session ends, including this one, as with the API."""
    try:
        typed = _read_passwords(body)
        await change_password.change_password(
            db,
            keyring,
            passwords,
            Actor.of(caller),
            caller,
            current=typed.current_password,
            new=typed.new_password,
        )
    except (ValidationFailed, *_PASSWORD_ERRORS) as error:
        return (await show_account(caller, CursorQuery(), db, url_policy)).rejected(error)
    return _redirect("/sign-in?changed=true", cookies.end())


@routes.post("/account/sessions/{session_id}/end")
async def end_session(
    session_id: ids.SessionId, caller: Caller, body: Form, db: Database, cookies: Sessions
) -> PageResult:
    """End a session of the account, for every process; the current one signs out."""
    await sessions.end_session(db, Actor.of(caller), caller.account_id, session_id)
    if session_id == caller.session_id:
        return _redirect("/sign-in", cookies.end())
    return Redirect("/account#sessions", "Session ended.")


@routes.post("/account/sessions/end-others")
async def end_other_sessions(caller: Caller, body: Form, db: Database) -> Redirect:
    """End every session except the current one."""
    assert caller.session_id is not None  # noqa: S101 - a page has a session
    ended = await sessions.end_other_sessions(
        db, Actor.of(caller), caller.account_id, caller.session_id
    )
    sessions_ended = "1 other session" if ended == 1 else f"{ended} other sessions"
    return Redirect("/account#sessions", f"{sessions_ended} ended.")


def _read_passwords(body: PasswordForm) -> PasswordIn:
    """The form as the API takes it."""
    typed = inputs.read_values(
        PasswordIn, current_password=body.current_password, new_password=body.new_password
    )
    if body.again != body.new_password:
        raise ValidationFailed("/again", _NO_MATCH)
    return typed
