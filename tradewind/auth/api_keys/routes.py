"""API keys over HTTP: create, list, revoke."""

from functools import partial

from tradewind.audit.model import Actor
from tradewind.auth.api_keys import sql
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.api_keys.revoke import revoke
from tradewind.auth.api_keys.wire import API_KEYS, KeyOut, NewKeyIn, NewKeyOut
from tradewind.auth.errors import KeyLimitReached
from tradewind.ids import ApiKeyId
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page, PageQuery
from tradewind.web.response import NO_STORE, Response, location
from tradewind.web.scopes import FULL_ACCESS

routes = Routes("/v1/api-keys", tag="API keys")


@routes.get(scope=FULL_ACCESS)
async def list_api_keys(caller: Caller, query: PageQuery, db: Database) -> Page[KeyOut]:
    """List your API keys, newest first, the revoked ones included."""
    read = partial(sql.list_keys, db, caller.account_id)
    return await API_KEYS.page(query.cursor, query.limit, read, KeyOut.of)


@routes.post(
    scope=FULL_ACCESS,
    status=201,
    returns=NewKeyOut,
    errors=(KeyLimitReached,),
    headers={
        "Cache-Control": "Always `no-store`: the response holds a secret.",
        "Location": "The key's path, at which it can be revoked.",
    },
)
async def create_api_key(
    caller: Caller, body: NewKeyIn, db: Database, keyring: Keyring
) -> Response:
    """Create an API key. Only this response contains the key itself.

    A key can do what its account can, unless it is restricted: to `scopes`, to the time before
    `expires_at`, or to the networks in `allowed_cidrs`. What a key is restricted to never changes.
    """
    api_key, key = await issue(
        db,
        keyring,
        Actor.of(caller),
        caller.account_id,
        body.name,
        limits=body.limits,
    )
    created = NewKeyOut.of_new(api_key, key)
    return Response(created, headers=[NO_STORE, location("api-keys", created.id)])


@routes.delete("/{id}", scope=FULL_ACCESS, status=204, urgent=True)
async def revoke_api_key(key_id: ApiKeyId, caller: Caller, db: Database) -> None:
    """Revoke an API key: from this response on, no process accepts it.

    Revoking a revoked key changes nothing and succeeds.
    """
    await revoke(db, Actor.of(caller), caller.account_id, key_id)
