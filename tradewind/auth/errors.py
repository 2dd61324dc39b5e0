"""The errors of credentials, logins and sessions."""

from datetime import datetime

from tradewind import clock
from tradewind.errors import Conflict, Forbidden, Invalid, ServiceUnavailable, Unauthenticated
from tradewind.web.limits import Budget, CarriesBudget


class CredentialsMissing(Unauthenticated):
    """Every endpoint needs credentials: an API key, or the access token of a login.

    Send `x-api-key: twk_…` or `Authorization: Bearer …`.
    """

    code = "credentials_missing"
    title = "Credentials are missing"
    detail = "Send an x-api-key header, or Authorization: Bearer with a token."


class InvalidCredentials(Unauthenticated):
    """The API key or the access token is wrong, expired or revoked.

    A key that is `mistyped` fails its own checksum: it was cut off or changed on its way. With
    both headers at once, both must be valid and belong to the same account.
    """

    code = "invalid_credentials"
    title = "The credentials are not valid"

    @classmethod
    def mistyped(cls) -> "InvalidCredentials":
        return cls("This API key is mistyped or cut off: its checksum does not match.")

    @classmethod
    def unknown_key(cls) -> "InvalidCredentials":
        return cls("This API key is unknown or revoked.")

    @classmethod
    def expired_key(cls, at: datetime | None) -> "InvalidCredentials":
        when = "" if at is None else f" at {clock.show(at)}"
        return cls(f"This API key expired{when}; create another one.")

    @classmethod
    def malformed_header(cls) -> "InvalidCredentials":
        return cls("The Authorization header must read: Bearer, a blank, and the access token.")

    @classmethod
    def token(cls) -> "InvalidCredentials":
        return cls("This access token is wrong, has expired, or its session has ended.")

    @classmethod
    def both(cls) -> "InvalidCredentials":
        return cls("API key and access token must both be valid and of the same account.")


class WrongCredentials(Unauthenticated):
    """E-mail and password do not belong together, or nobody has this e-mail.

    The two cannot be told apart. Ten wrong attempts within 15 minutes stop logins for the e-mail.
    """

    code = "wrong_credentials"
    title = "Wrong e-mail or password"
    detail = "The e-mail or the password is wrong."


class AccountLocked(CarriesBudget, Forbidden):
    """The account is locked by an operator, or logins for this e-mail are stopped for a while.

    With `retry_after`, too many logins failed: wait that many seconds; API keys and sessions of
    the account continue to work. Without it, an operator locked the account: ask them. With status
    409 the account of the order, not yours, is locked by an operator: no payment of it can be
    approved before the unlock.
    """

    code = "account_locked"
    title = "The account is locked"

    @classmethod
    def by_operator(cls, budget: Budget | None = None) -> "AccountLocked":
        error = cls("This account is locked; ask the operator of this service.")
        error.budget = budget
        return error

    @classmethod
    def after_failures(cls, retry_after: int) -> "AccountLocked":
        return cls(
            "Too many logins failed for this e-mail; wait before you try again.",
            retry_after=retry_after,
        )


class InvalidRefreshToken(Unauthenticated):
    """The refresh token is unknown, expired, was used before, or its session has ended.

    A refresh token works once. When a token that was replaced is sent again after more than 60
    seconds, somebody may have copied it, and the whole session ends. Log in again.
    """

    code = "invalid_refresh_token"
    title = "The refresh token is not valid"
    detail = "This refresh token is not valid any more; log in again."


class NoSession(Invalid):
    """Logging out ends a session, and an API key has none. Revoke the key instead."""

    code = "no_session"
    title = "There is no session to end"
    detail = "An API key has no session; revoke the key to stop it."


class TooManyLogins(ServiceUnavailable):
    """As many logins as may fail are being tried for this e-mail at this very moment.

    Try again in a second: if those that run succeed, so can yours.
    """

    code = "login_busy"
    title = "Too many logins at once"

    def __init__(self) -> None:
        super().__init__("Too many logins are being tried; try again.", retry_after=1)


class TooManyPasswords(ServiceUnavailable):
    """So many passwords wait to be compared that another one would wait too long."""

    code = "passwords_busy"
    title = "Too many passwords at once"

    def __init__(self) -> None:
        super().__init__("Too many passwords wait to be compared; try again.", retry_after=2)


class KeyLimitReached(Conflict):
    """An account may have 100 keys that are neither revoked nor expired. Revoke an unused one."""

    code = "key_limit_reached"
    title = "Too many API keys"

    def __init__(self, limit: int) -> None:
        super().__init__(f"An account may have {limit} API keys; revoke one first.")
