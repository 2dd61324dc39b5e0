"""One's own account, in a browser: plan and use, sessions, and the password."""

from collections.abc import Mapping
from dataclasses import asdict
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
from tradewind.dashboard.account import queries as sql_account
from tradewind.dashboard.account import user_agents
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
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
    """Which sessions to show."""

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
    door: UrlPolicy,
    renderer: Renderer,
) -> Response:
    """Who one is here, what the plan allows, and where one is signed in."""
    return await _page(db, door, renderer, request, caller, query)


@routes.post("/password", media_type="text/html")
async def change_own_password(
    request: Request,
    caller: Caller,
    body: PasswordForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    door: UrlPolicy,
    renderer: Renderer,
    cookies: Sessions,
) -> Response:
    """Change the password. Every session ends, this one included, as with the API."""
    try:
        wanted = inputs.read_values(
            PasswordIn, current_password=body.current_password, new_password=body.new_password
        )
        _check_again(body)
        await change_password.change_password(
            db,
            keyring,
            passwords,
            Actor.of(caller, request),
            caller,
            current=wanted.current_password,
            new=wanted.new_password,
        )
    except (ValidationFailed, AccountLocked, TooManyPasswords, TooManyLogins) as refusal:
        return await _page(db, door, renderer, request, caller, AccountQuery(), refusal=refusal)
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
    """End one of one's sessions, on every process; one's present one is a way to sign out."""
    await sessions.end_session(db, Actor.of(caller, request), caller.account_id, session_id)
    if session_id == caller.session_id:
        return _signed_out(cookies, "/sign-in")
    return renderer.to(caller, "/account#sessions", "The session has ended.")


@routes.post("/sessions/end-others", media_type="text/html")
async def end_other_sessions(
    request: Request, caller: Caller, body: Form, db: Database, renderer: Renderer
) -> Response:
    """End every session but the one at hand."""
    assert caller.session_id is not None  # noqa: S101 - pages are opened by a session
    ended = await sessions.end_other_sessions(
        db, Actor.of(caller, request), caller.account_id, caller.session_id
    )
    said = "1 other session has" if ended == 1 else f"{ended} other sessions have"
    return renderer.to(caller, "/account#sessions", f"{said} ended.")


async def _page(
    db: Database,
    door: UrlPolicy,
    renderer: Renderer,
    request: Request,
    caller: Caller,
    query: AccountQuery,
    *,
    refusal: ApiError | None = None,
) -> Response:
    rows = await sql_sessions.list_live_sessions(
        db,
        caller.account_id,
        below=read_cursor(_LIST, query.cursor, tuple[datetime, UUID]),
        limit=_ROWS + 1,
    )
    shown = page(
        _LIST,
        rows,
        _ROWS,
        key=lambda session: (session.last_used_at, session.id),
        show=lambda session: {
            **asdict(session),
            "browser": user_agents.in_words(session.user_agent),
        },
    )
    use = await sql_account.find_use(db, caller.account_id)
    budget = Budget(caller.budget.rate, use["debt"] if use else 0)
    errors: Mapping[str, str] = {} if refusal is None else errors_of(refusal)
    return renderer.page(
        "account.html",
        request,
        caller,
        status=200 if refusal is None else problems.status_of(type(refusal)),
        open_sessions=shown.items,
        next_url=shown.next_cursor and f"/account?cursor={shown.next_cursor}#sessions",
        first_url="/account#sessions" if query.cursor else None,
        budget=budget,
        keys=use["keys"] if use else 0,
        most_keys=MOST_KEYS,
        webhooks=use["webhooks"] if use else 0,
        most_webhooks=door.most,
        shortest=MINIMUM,
        errors=errors,
    )


def _check_again(body: PasswordForm) -> None:
    if body.again != body.new_password:
        raise ValidationFailed("/again", "This is not the same as the new password.")


def _signed_out(cookies: Sessions, where: str) -> Response:
    return Response(None, 303, [(b"location", where.encode("ascii")), cookies.end(), NO_STORE])
