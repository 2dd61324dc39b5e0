"""Signing in and out, in a browser."""

from typing import Annotated

from msgspec import Meta

from tradewind.auth import sessions as account_sessions
from tradewind.auth.errors import AccountLocked, TooManyLogins, TooManyPasswords, WrongCredentials
from tradewind.auth.login import LoginRate, log_in
from tradewind.auth.passwords import MAXIMUM, Passwords
from tradewind.dashboard.shell.forms import local_path
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database, LoginDatabase
from tradewind.web import problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.limits import RateLimited
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form

routes = Routes("", tag="Dashboard", hidden=True, pages=True)


class SignInQuery(Input):
    """Where to go afterwards."""

    next: str = ""
    changed: bool = False


class SignInForm(Form):
    """Who, and how they prove it."""

    email: Annotated[str, Meta(max_length=320)] = ""
    password: Annotated[str, Meta(max_length=MAXIMUM)] = ""
    next: str = ""


@routes.get("/sign-in", media_type="text/html")
async def show_sign_in(
    request: Request, query: SignInQuery, renderer: Renderer, sessions: Sessions
) -> Response:
    """Ask who it is; whoever is known already goes on."""
    if await sessions.find(request):
        return _on(local_path(query.next))
    return renderer.page(
        "sign_in.html",
        request,
        None,
        email="",
        next=local_path(query.next),
        wrong="",
        changed=query.changed,
    )


@routes.post("/sign-in", media_type="text/html")
async def take_sign_in(
    request: Request,
    body: SignInForm,
    db: LoginDatabase,
    keyring: Keyring,
    passwords: Passwords,
    rate: LoginRate,
    renderer: Renderer,
    sessions: Sessions,
) -> Response:
    """Open a session, under the limits that the API has, or say what was wrong."""
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
    except (
        WrongCredentials,
        AccountLocked,
        RateLimited,
        TooManyPasswords,
        TooManyLogins,
    ) as refusal:
        return renderer.page(
            "sign_in.html",
            request,
            None,
            status=problems.status_of(type(refusal)),
            email=body.email,
            next=local_path(body.next),
            changed=False,
            wrong=_sentence(refusal.detail, refusal.facts.get("retry_after")),
        )
    answer = _on(local_path(body.next))
    answer.headers = [*answer.headers, sessions.begin(tokens.access)]
    return answer


@routes.post("/sign-out")
async def sign_out(caller: Caller, body: Form, db: Database, sessions: Sessions) -> Response:
    """End the session, here and on every process."""
    await account_sessions.log_out(db, caller.session_id)
    answer = _on("/sign-in")
    answer.headers = [*answer.headers, sessions.end()]
    return answer


def _on(where: str) -> Response:
    return Response(None, 303, [(b"location", where.encode("ascii")), NO_STORE])


def _sentence(detail: str, wait: int | None) -> str:
    if wait is None:
        return detail
    minutes = (wait + 59) // 60
    return f"{detail} Try again in {f'{minutes} minutes' if minutes > 1 else f'{wait} seconds'}."
