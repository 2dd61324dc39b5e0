"""The caller's own account over HTTP."""

from tradewind.accounts.change_password import change_password as set_new_password
from tradewind.accounts.wire import MeOut, PasswordIn
from tradewind.audit.model import Actor
from tradewind.auth.errors import TooManyLogins, TooManyPasswords
from tradewind.auth.passwords import Passwords
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.scopes import ANY_SCOPE, FULL_ACCESS

routes = Routes("/v1/me", tag="Account")


@routes.get(scope=ANY_SCOPE)
async def get_me(caller: Caller) -> MeOut:
    """The account behind the credentials: roles, plan, and what is left of its rate budget."""
    return MeOut.of_caller(caller)


@routes.post(
    "/password",
    scope=FULL_ACCESS,
    status=204,
    urgent=True,
    errors=(TooManyPasswords, TooManyLogins),
)
async def change_password(
    caller: Caller, body: PasswordIn, db: Database, keyring: Keyring, passwords: Passwords
) -> None:
    """Change your password.

    Every session of the account ends, this one included: log in again with the new password. API
    keys continue to work. Wrong passwords count as failed logins (403 after ten).
    """
    await set_new_password(
        db,
        keyring,
        passwords,
        Actor.of(caller),
        caller,
        current=body.current_password,
        new=body.new_password,
    )
