"""The account page: profile, plan and usage, sessions, and the password."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from tradewind import ids
from tradewind.accounts import change_password
from tradewind.accounts.wire import PasswordIn
from tradewind.audit.model import Actor
from tradewind.auth import sessions, sql_sessions
from tradewind.auth.api_keys.issue import MOST_KEYS
from tradewind.auth.errors import AccountLocked, TooManyLogins, TooManyPasswords
from tradewind.auth.passwords import MINIMUM, Passwords
from tradewind.dashboard.account import queries
from tradewind.dashboard.account.views import user_agent_name
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
from tradewind.dashboard.shell.urls import first_page, next_page
from tradewind.errors import ApiError, ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import inputs, problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.limits import Budget
from tradewind.web.paging import page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form
from tradewind.webhooks.subscribe import UrlPolicy

routes = Routes("/account", tag="Dashboard", hidden=True, pages=True)

_ROWS = 20
_LIST = "own sessions"


class AccountQuery(Input):
    """The position in the list of sessions."""

    cursor: str | None = None


class PasswordForm(Form):
    """A change of the password; none of it is shown again."""

    current_password: str = ""
    new_password: str = ""
    again: str = ""


@routes.get(media_type="text/html")
async def show_account(
    request: Request,
    caller: Caller,
    query: AccountQuery,
    db: Database,
    url_policy: UrlPolicy,
    renderer: Renderer,
) -> Response:
    """Show the profile, the usage of the plan, and the open sessions."""
    return await _page(db, url_policy, renderer, request, caller, query)


@routes.post("/password", media_type="text/html")
async def change_own_password(
    request: Request,
    caller: Caller,
    body: PasswordForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    url_policy: UrlPolicy,
    renderer: Renderer,
    cookies: Sessions,
) -> Response:
    """Change the password. Every session ends, including this one, as with the API."""
    try:
        passwords_sent = inputs.read_values(
            PasswordIn, current_password=body.current_password, new_password=body.new_password
        )
        _check_repetition(body)
        await change_password.change_password(
            db,
            keyring,
            passwords,
            Actor.of(caller, request),
            caller,
            current=passwords_sent.current_password,
            new=passwords_sent.new_password,
        )
    except (ValidationFailed, AccountLocked, TooManyPasswords, TooManyLogins) as error:
        return await _page(db, url_policy, renderer, request, caller, AccountQuery(), error=error)
    return _signed_out(cookies, "/sign-in?changed=true")


@routes.post("/sessions/{session_id}/end", media_type="text/html")
async def end_session(
    session_id: ids.SessionId,
    request: Request,
    caller: Caller,
    body: Form,
    db: Database,
    renderer: Renderer,
    cookies: Sessions,
) -> Response:
    """End a session of the account, for every process; the current one signs out."""
    await sessions.end_session(db, Actor.of(caller, request), caller.account_id, session_id)
    if session_id == caller.session_id:
        return _signed_out(cookies, "/sign-in")
    return renderer.redirect(caller, "/account#sessions", "Session ended.")


@routes.post("/sessions/end-others", media_type="text/html")
async def end_other_sessions(
    request: Request, caller: Caller, body: Form, db: Database, renderer: Renderer
) -> Response:
    """End every session except the current one."""
    assert caller.session_id is not None  # noqa: S101 - a page has a session
    ended = await sessions.end_other_sessions(
        db, Actor.of(caller, request), caller.account_id, caller.session_id
    )
    sessions_ended = "1 other session" if ended == 1 else f"{ended} other sessions"
    return renderer.redirect(caller, "/account#sessions", f"{sessions_ended} ended.")


async def _page(
    db: Database,
    url_policy: UrlPolicy,
    renderer: Renderer,
    request: Request,
    caller: Caller,
    query: AccountQuery,
    *,
    error: ApiError | None = None,
) -> Response:
    open_sessions = await sql_sessions.list_live_sessions(
        db,
        caller.account_id,
        below=read_cursor(_LIST, query.cursor, tuple[datetime, UUID]),
        limit=_ROWS + 1,
    )
    shown = page(
        _LIST,
        open_sessions,
        _ROWS,
        key=lambda session: (session.last_used_at, session.id),
        show=lambda session: session,
    )
    usage = await queries.find_plan_usage(db, caller.account_id)
    errors: Mapping[str, str] = {} if error is None else errors_of(error)
    return renderer.page(
        "account/account.html",
        request,
        caller,
        status=200 if error is None else problems.status_of(type(error)),
        sessions=shown.items,
        user_agent_name=user_agent_name,
        next_url=next_page(request, shown.next_cursor, path="/account", fragment="sessions"),
        first_url=first_page(request, path="/account", fragment="sessions"),
        budget=Budget(caller.budget.rate, usage.rate_debt),
        usage=usage,
        most_keys=MOST_KEYS,
        most_webhooks=url_policy.most,
        minimum=MINIMUM,
        errors=errors,
    )


def _check_repetition(body: PasswordForm) -> None:
    if body.again != body.new_password:
        raise ValidationFailed("/again", "The passwords do not match.")


def _signed_out(cookies: Sessions, path: str) -> Response:
    return Response(None, 303, [(b"location", path.encode("ascii")), cookies.end(), NO_STORE])
