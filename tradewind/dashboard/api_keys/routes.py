"""API keys, in a browser: create one, see it once, revoke it."""

from dataclasses import replace
from functools import partial
from typing import Literal

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.auth.api_keys import sql
from tradewind.auth.api_keys.issue import MOST_KEYS, issue
from tradewind.auth.api_keys.revoke import revoke
from tradewind.auth.api_keys.wire import API_KEYS, NewKeyIn
from tradewind.auth.errors import KeyLimitReached
from tradewind.dashboard.shell.forms import read_time
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.session import FlashSecret
from tradewind.errors import ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import inputs
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input
from tradewind.web.scopes import Scope
from tradewind.web.site import Form

routes = PageRoutes("/keys")

_ROWS = 25
_TABS = (("all", "All"), ("working", "Active"), ("revoked", "Revoked or expired"))
_SCOPES = (
    (Scope.READ, "read: search products; read orders, events, payments and webhooks"),
    (Scope.ORDER, "order: place and cancel orders; change the cart and addresses"),
    (Scope.PAY_REQUEST, "pay_request: request payments, which a person approves, and refunds"),
    (Scope.WEBHOOKS, "webhooks: create, change, test and delete webhooks; resend events"),
)


class KeysQuery(Input):
    """The state of the keys to list."""

    state: Literal["all", "working", "revoked"] = "all"
    cursor: str | None = None


class NewKeyForm(Form):
    """The name of a new key, and what it is restricted to."""

    name: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: str = ""
    allowed_cidrs: str = ""

    def read(self) -> NewKeyIn:
        """The key as the API takes it, with the same errors."""
        expires_at = read_time("expires_at", self.expires_at)
        networks = self.allowed_cidrs.replace(",", " ").split()
        limits = {"scopes": [*self.scopes], "expires_at": expires_at, "allowed_cidrs": networks}
        set_limits = {field: value for field, value in limits.items() if value}
        return inputs.read_values(NewKeyIn, name=self.name.strip(), **set_limits)


@routes.get()
async def show_keys(caller: Caller, query: KeysQuery, db: Database) -> TemplatePage:
    """List the keys of the account, newest first."""
    ended = None if query.state == "all" else query.state == "revoked"
    read = partial(sql.list_keys, db, caller.account_id, ended=ended)
    keys = await replace(API_KEYS, name=f"keys: {query.state}").rows(query.cursor, _ROWS, read)
    return TemplatePage(
        "api_keys/keys.html",
        keys=keys.items,
        state=query.state,
        tabs=[
            (label, "/keys" if state == "all" else f"/keys?state={state}", state == query.state)
            for state, label in _TABS
        ],
        next_cursor=keys.next_cursor,
        live=await sql.count_live_keys(db, caller.account_id),
        most=MOST_KEYS,
        form=NewKeyForm(),
        scopes=_SCOPES,
    )


@routes.post()
async def create_key(
    caller: Caller, body: NewKeyForm, db: Database, keyring: Keyring
) -> PageResult:
    """Create a key and show it once, on the next page."""
    try:
        new_key = body.read()
        actor = Actor.of(caller)
        created, key = await issue(
            db, keyring, actor, caller.account_id, new_key.name, limits=new_key.limits
        )
    except (ValidationFailed, KeyLimitReached) as error:
        return (await show_keys(caller, KeysQuery(), db)).rejected(error, form=body)
    return Redirect("/keys", secret=FlashSecret(key, f"New API key “{created.name}”"))


@routes.post("/{key_id}/revoke")
async def revoke_key(key_id: ids.ApiKeyId, caller: Caller, body: Form, db: Database) -> Redirect:
    """Revoke a key: from this response on, no process accepts it."""
    await revoke(db, Actor.of(caller), caller.account_id, key_id)
    return Redirect("/keys", "API key revoked.")
