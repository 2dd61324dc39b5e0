"""Logging in, refreshing tokens and logging out over HTTP."""

from tradewind.audit.model import Actor
from tradewind.auth import sessions
from tradewind.auth.errors import (
    AccountLocked,
    InvalidRefreshToken,
    NoSession,
    TooManyLogins,
    TooManyPasswords,
    WrongCredentials,
)
from tradewind.auth.login import LoginRate, log_in
from tradewind.auth.passwords import Passwords
from tradewind.auth.wire import LoginIn, RefreshIn, TokensOut
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database, LoginDatabase
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.limits import RateLimited
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.scopes import ANY_SCOPE

routes = Routes("/v1/auth", tag="Authentication")

_NO_STORE_HEADER = {"Cache-Control": "Always `no-store`: the response holds secrets."}


@routes.post(
    "/login",
    returns=TokensOut,
    errors=(WrongCredentials, AccountLocked, RateLimited, TooManyPasswords, TooManyLogins),
    headers=_NO_STORE_HEADER,
)
async def login(
    request: Request,
    body: LoginIn,
    db: LoginDatabase,
    keyring: Keyring,
    passwords: Passwords,
    rate: LoginRate,
) -> Response:
    """Log in with e-mail and password.

    The access token is valid for 90 days: cache it, and send it as `Authorization: Bearer …`.
    Credentials sent along are ignored. 30 logins a minute are tried from one address (429); ten
    failures within 15 minutes stop logins for that e-mail for 15 minutes (403).
    """
    account, tokens = await log_in(
        db,
        keyring,
        passwords,
        rate,
        email=body.email,
        password=body.password,
        address=request.address,
        user_agent=request.headers.get("user-agent", ""),
    )
    return Response(TokensOut.of(account, tokens), headers=[NO_STORE])


@routes.post(
    "/refresh",
    returns=TokensOut,
    errors=(InvalidRefreshToken, AccountLocked, RateLimited),
    headers=_NO_STORE_HEADER,
)
async def refresh(
    request: Request, body: RefreshIn, db: LoginDatabase, keyring: Keyring
) -> Response:
    """Exchange a refresh token for a new pair.

    A refresh token works once. The one before it gets the same new pair for another 60 seconds,
    in case the response was lost; any older one ends the whole session.
    """
    by = Actor.anonymous("refresh token", request)
    account, tokens = await sessions.refresh(db, keyring, body.refresh_token, by)
    return Response(TokensOut.of(account, tokens), headers=[NO_STORE])


@routes.post("/logout", scope=ANY_SCOPE, status=204, urgent=True, errors=(NoSession,))
async def logout(caller: Caller, db: Database) -> None:
    """End the session of the access token that you send.

    From this response on no process accepts its tokens. An API key has no session (422).
    """
    await sessions.log_out(db, caller.session_id)
