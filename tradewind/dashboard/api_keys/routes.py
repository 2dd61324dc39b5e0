"""API keys, in a browser: make one, see it once, revoke it at once."""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlencode
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.auth.api_keys import sql
from tradewind.auth.api_keys.issue import MOST_KEYS, issue
from tradewind.auth.api_keys.revoke import revoke
from tradewind.auth.api_keys.wire import KeyOut, NewKeyIn
from tradewind.auth.errors import KeyLimitReached
from tradewind.dashboard.shell.flash import Shown
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import Renderer
from tradewind.errors import ApiError, ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import inputs, problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.paging import page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

routes = Routes("/keys", tag="Dashboard", hidden=True, pages=True)

_ROWS = 25


class KeysQuery(Input):
    """Which keys to show."""

    state: Literal["all", "working", "revoked"] = "all"
    cursor: str | None = None


class NewKeyForm(Form):
    """What the new key is for."""

    name: str = ""


@routes.get(media_type="text/html")
async def show_keys(
    request: Request, caller: Caller, query: KeysQuery, db: Database, renderer: Renderer
) -> Response:
    """One's keys, newest first."""
    return await _page(db, renderer, request, caller, query)


@routes.post(media_type="text/html")
async def make_key(
    request: Request,
    caller: Caller,
    body: NewKeyForm,
    db: Database,
    keyring: Keyring,
    renderer: Renderer,
) -> Response:
    """Make a key, and show it on the next page, once."""
    try:
        wanted = inputs.read_values(NewKeyIn, name=body.name.strip())
        made, key = await issue(
            db, keyring, Actor.of(caller, request), caller.account_id, wanted.name
        )
    except (ValidationFailed, KeyLimitReached) as refusal:
        return await _page(
            db, renderer, request, caller, KeysQuery(), name=body.name, refusal=refusal
        )
    secret = Shown("api_key", key, f"The new key “{made.name}”", subject=ids.API_KEY.show(made.id))
    return renderer.to(caller, "/keys", secret=secret)


@routes.post("/{key_id}/revoke", media_type="text/html")
async def revoke_key(
    key_id: ids.ApiKeyId,
    request: Request,
    caller: Caller,
    body: Form,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Revoke a key: from this answer on, every process refuses it."""
    await revoke(db, Actor.of(caller, request), caller.account_id, key_id)
    return renderer.to(caller, "/keys", "The key is revoked: from now on it is refused.")


async def _page(
    db: Database,
    renderer: Renderer,
    request: Request,
    caller: Caller,
    query: KeysQuery,
    *,
    name: str = "",
    refusal: ApiError | None = None,
) -> Response:
    list_name = f"keys: {query.state}"
    rows = await sql.list_keys(
        db,
        caller.account_id,
        below=read_cursor(list_name, query.cursor, UUID),
        limit=_ROWS + 1,
        revoked=None if query.state == "all" else query.state == "revoked",
    )
    keys = page(
        list_name,
        rows,
        _ROWS,
        key=lambda key: key.id,
        show=KeyOut.of,
    )
    errors: Mapping[str, str] = {} if refusal is None else errors_of(refusal)
    return renderer.page(
        "keys.html",
        request,
        caller,
        status=200 if refusal is None else problems.status_of(type(refusal)),
        keys=keys.items,
        state=query.state,
        tabs=[
            (label, "/keys" if state == "all" else f"/keys?state={state}", state == query.state)
            for state, label in (("all", "All"), ("working", "Working"), ("revoked", "Revoked"))
        ],
        next_url=keys.next_cursor and _url(query.state, keys.next_cursor),
        first_url=_url(query.state, None) if query.cursor else None,
        live=await sql.count_live_keys(db, caller.account_id),
        most=MOST_KEYS,
        name=name,
        errors=errors,
    )


def _url(state: str, cursor: str | None) -> str:
    query = {"state": state} | ({"cursor": cursor} if cursor else {})
    return f"/keys?{urlencode(query)}"
