"""API keys over HTTP: make, list, revoke."""

from uuid import UUID

from tradewind.audit.model import Actor
from tradewind.auth.api_keys import sql
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.api_keys.model import ApiKey
from tradewind.auth.api_keys.revoke import revoke
from tradewind.auth.api_keys.wire import KeyOut, NewKeyIn, NewKeyOut
from tradewind.auth.errors import KeyLimitReached
from tradewind.errors import ResourceNotFound
from tradewind.ids import ApiKeyId
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page, PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response, location

routes = Routes("/v1/api-keys", tag="API keys")


@routes.get()
async def list_api_keys(caller: Caller, query: PageQuery, db: Database) -> Page[KeyOut]:
    """List one's API keys, newest first, the revoked ones included."""
    rows = await sql.list_keys(
        db,
        caller.account_id,
        below=read_cursor("api-keys", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page(
        "api-keys",
        [ApiKey.of(row) for row in rows],
        query.limit,
        key=lambda key: key.id,
        show=KeyOut.of,
    )


@routes.post(
    status=201,
    returns=NewKeyOut,
    errors=(KeyLimitReached,),
    headers={
        "Cache-Control": "Always `no-store`: the answer holds a secret.",
        "Location": "The key's path, at which it can be revoked.",
    },
)
async def create_api_key(
    request: Request, caller: Caller, body: NewKeyIn, db: Database, keyring: Keyring
) -> Response:
    """Make an API key. The key itself is in this answer and nowhere else, ever.

    A key can do what its account can.
    """
    made, key = await issue(db, keyring, Actor.of(caller, request), caller.account_id, body.name)
    shown = NewKeyOut.of_new(made, key)
    return Response(shown, headers=[NO_STORE, location("api-keys", shown.id)])


@routes.delete("/{id}", status=204, urgent=True, errors=(ResourceNotFound,))
async def revoke_api_key(key_id: ApiKeyId, request: Request, caller: Caller, db: Database) -> None:
    """Revoke an API key: from this answer on, every process refuses it.

    Revoking a revoked key changes nothing and succeeds.
    """
    await revoke(db, Actor.of(caller, request), caller.account_id, key_id)
