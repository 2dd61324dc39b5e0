"""Logging in and out, and one's own account, over HTTP."""

from tradewind.accounts import change_password as passwords_of
from tradewind.accounts.errors import (
    AccountLocked,
    NoSession,
    NotSignedIn,
    TooBusyToHash,
    WrongCredentials,
)
from tradewind.accounts.wire import LoginIn, MeOut, PasswordIn, RefreshIn, TokensOut
from tradewind.audit.model import Actor
from tradewind.auth import sessions
from tradewind.auth.login import LoginRate, sign_in
from tradewind.auth.login_throttle import TooManyAtOnce
from tradewind.auth.passwords import Passwords
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database, LoginDatabase
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.limits import RateLimited
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response

auth = Routes("/v1/auth", tag="Authentication")
me = Routes("/v1/me", tag="Account")

_NO_STORE_HEADER = {"Cache-Control": "Always `no-store`: the answer holds secrets."}


@auth.post(
    "/login",
    returns=TokensOut,
    errors=(WrongCredentials, AccountLocked, RateLimited, TooBusyToHash, TooManyAtOnce),
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
    account, tokens = await sign_in(
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


@auth.post(
    "/refresh",
    returns=TokensOut,
    errors=(NotSignedIn, AccountLocked, RateLimited),
    headers=_NO_STORE_HEADER,
)
async def refresh(
    request: Request, body: RefreshIn, db: LoginDatabase, keyring: Keyring
) -> Response:
    """Exchange a refresh token for a new pair.

    A refresh token works once. The one before it gets the same new pair for another 60 seconds,
    in case the answer was lost; any older one ends the whole session.
    """
    by = Actor.stranger("refresh token", request)
    account, tokens = await sessions.refresh(db, keyring, body.refresh_token, by)
    return Response(TokensOut.of(account, tokens), headers=[NO_STORE])


@auth.post("/logout", status=204, urgent=True, errors=(NoSession,))
async def logout(caller: Caller, db: Database) -> None:
    """End the session of the access token at hand.

    From this answer on its tokens are refused by every process.
    """
    await sessions.log_out(db, caller.session_id)


@me.get()
async def get_me(caller: Caller) -> MeOut:
    """The account behind the credentials: roles, plan, and what is left of its rate budget."""
    return MeOut.of_caller(caller)


@me.post("/password", status=204, urgent=True, errors=(TooBusyToHash, TooManyAtOnce))
async def change_password(
    request: Request,
    caller: Caller,
    body: PasswordIn,
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
) -> None:
    """Change one's own password.

    Every session of the account ends, the one at hand included: log in again with the new
    password. API keys go on working. Wrong guesses count as failed logins (403 after ten).
    """
    await passwords_of.change_password(
        db,
        keyring,
        passwords,
        Actor.of(caller, request),
        caller,
        current=body.current_password,
        new=body.new_password,
    )
