"""Signing in and out, and setting a password with a one-time link, in a browser."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from tradewind.accounts import change_password
from tradewind.audit.model import Actor
from tradewind.auth import sessions as account_sessions
from tradewind.auth.errors import AccountLocked, TooManyLogins, TooManyPasswords, WrongCredentials
from tradewind.auth.login import LoginRate, log_in
from tradewind.auth.passwords import MAXIMUM, MINIMUM, Passwords
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
from tradewind.dashboard.shell.urls import local_path
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
    """The page to open afterwards."""

    next: str = ""
    changed: bool = False


class SignInForm(Form):
    """E-mail and password."""

    email: Annotated[str, Meta(max_length=320)] = ""
    password: Annotated[str, Meta(max_length=MAXIMUM)] = ""
    next: str = ""


class LinkQuery(Input):
    """The token of a password link."""

    token: Annotated[str, Meta(max_length=200)]


class LinkForm(Form):
    """A new password, set with a password link."""

    token: Annotated[str, Meta(max_length=200)] = ""
    password: Annotated[str, Meta(max_length=MAXIMUM)] = ""
    again: Annotated[str, Meta(max_length=MAXIMUM)] = ""


@routes.get("/sign-in", media_type="text/html")
async def show_sign_in(
    request: Request, query: SignInQuery, renderer: Renderer, sessions: Sessions
) -> Response:
    """Show the sign-in form; whoever is signed in goes on to the next page."""
    if await sessions.find(request):
        return _redirect(local_path(query.next))
    return renderer.page(
        "account/sign_in.html",
        request,
        None,
        email="",
        next=local_path(query.next),
        error="",
        changed=query.changed,
    )


@routes.post("/sign-in", media_type="text/html")
async def submit_sign_in(
    request: Request,
    body: SignInForm,
    db: LoginDatabase,
    keyring: Keyring,
    passwords: Passwords,
    rate: LoginRate,
    renderer: Renderer,
    sessions: Sessions,
) -> Response:
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
    except (
        WrongCredentials,
        AccountLocked,
        RateLimited,
        TooManyPasswords,
        TooManyLogins,
    ) as error:
        return renderer.page(
            "account/sign_in.html",
            request,
            None,
            status=problems.status_of(type(error)),
            email=body.email,
            next=local_path(body.next),
            changed=False,
            error=_error_message(error.detail, error.facts.get("retry_after")),
        )
    return _redirect(local_path(body.next), sessions.begin(tokens.access))


@routes.post("/sign-out")
async def sign_out(caller: Caller, body: Form, db: Database, sessions: Sessions) -> Response:
    """End the session, for every process."""
    await account_sessions.log_out(db, caller.session_id)
    return _redirect("/sign-in", sessions.end())


@routes.get("/password", media_type="text/html")
async def show_password_form(
    request: Request, query: LinkQuery, db: Database, keyring: Keyring, renderer: Renderer
) -> Response:
    """Show the form of a password link; an expired link is an error at once."""
    await change_password.check_link(db, keyring, query.token)
    return _password_form(renderer, request, query.token)


@routes.post("/password", media_type="text/html")
async def set_password(
    request: Request,
    body: LinkForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    renderer: Renderer,
) -> Response:
    """Set the password, or show what is wrong with it."""
    if len(body.password) < MINIMUM:
        errors = {"password": f"A password needs at least {MINIMUM} characters."}
        return _password_form(renderer, request, body.token, errors)
    if body.password != body.again:
        errors = {"again": "The passwords do not match."}
        return _password_form(renderer, request, body.token, errors)
    actor = Actor.anonymous("password link", request)
    await change_password.use_link(
        db, keyring, passwords, actor, token=body.token, new=body.password
    )
    return renderer.page("account/password_set.html", request, None)


def _password_form(
    renderer: Renderer, request: Request, token: str, errors: Mapping[str, str] | None = None
) -> Response:
    return renderer.page(
        "account/password.html",
        request,
        None,
        status=422 if errors else 200,
        token=token,
        minimum=MINIMUM,
        errors=errors or {},
    )


def _redirect(path: str, *headers: tuple[bytes, bytes]) -> Response:
    return Response(None, 303, [(b"location", path.encode("ascii")), NO_STORE, *headers])


def _error_message(detail: str, retry_after: int | None) -> str:
    if retry_after is None:
        return detail
    minutes = (retry_after + 59) // 60
    wait = f"{minutes} minutes" if minutes > 1 else f"{retry_after} seconds"
    return f"{detail} Try again in {wait}."
