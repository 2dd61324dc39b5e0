"""The page behind a password link: choose a password, once."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from tradewind.accounts import change_password
from tradewind.audit.model import Actor
from tradewind.auth.passwords import MAXIMUM, MINIMUM, Passwords
from tradewind.dashboard.shell.render import Renderer
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

routes = Routes("/password", tag="Dashboard", hidden=True, pages=True)


class LinkQuery(Input):
    """The token in a password link."""

    token: Annotated[str, Meta(max_length=200)]


class LinkForm(Form):
    """What the page behind a password link sends."""

    token: Annotated[str, Meta(max_length=200)] = ""
    password: Annotated[str, Meta(max_length=MAXIMUM)] = ""
    again: Annotated[str, Meta(max_length=MAXIMUM)] = ""


@routes.get(media_type="text/html")
async def show_password_form(
    request: Request, query: LinkQuery, db: Database, keyring: Keyring, renderer: Renderer
) -> Response:
    """Ask for the new password, twice; a link that would not work is refused at once."""
    await change_password.check_link(db, keyring, query.token)
    return _form(renderer, request, query.token)


@routes.post(media_type="text/html")
async def choose_password(
    request: Request,
    body: LinkForm,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    renderer: Renderer,
) -> Response:
    """Set the password, or say what is wrong with it and ask again."""
    if len(body.password) < MINIMUM:
        wrong = {"password": f"A password has at least {MINIMUM} characters."}
        return _form(renderer, request, body.token, wrong)
    if body.password != body.again:
        wrong = {"again": "The two passwords are not the same."}
        return _form(renderer, request, body.token, wrong)
    by = Actor.anonymous("password link", request)
    await change_password.use_link(db, keyring, passwords, by, token=body.token, new=body.password)
    return renderer.page("password_set.html", request, None)


def _form(
    renderer: Renderer, request: Request, token: str, errors: Mapping[str, str] | None = None
) -> Response:
    return renderer.page(
        "password.html",
        request,
        None,
        status=422 if errors else 200,
        token=token,
        shortest=MINIMUM,
        errors=errors or {},
    )
