"""What can be refused about accounts."""

from tradewind.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    ServiceUnavailable,
    Unauthenticated,
    ValidationFailed,
)
from tradewind.web.limits import Budget, CarriesBudget


class WrongCredentials(Unauthenticated):
    """E-mail and password do not belong together, or nobody has this e-mail.

    The two cannot be told apart. Ten wrong attempts within 15 minutes stop logins for the e-mail.
    """

    code = "wrong_credentials"
    title = "Wrong e-mail or password"

    def __init__(self) -> None:
        super().__init__("The e-mail or the password is wrong.")


class AccountLocked(CarriesBudget, Forbidden):
    """The account is locked by an operator, or logins for this e-mail are stopped for a while.

    With `retry_after`, too many logins failed: wait that many seconds; API keys and sessions of
    the account go on working. Without it, an operator locked the account: ask them. With status
    409 it is the account of the order, not yours, that an operator has locked: no payment of it can
    be approved before the unlock.
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
            "Too many logins failed for this e-mail; no login is tried for a while.",
            retry_after=retry_after,
        )


class NotSignedIn(Unauthenticated):
    """The refresh token is unknown, expired, was used before, or its session has ended.

    A refresh token works once. When one that was replaced comes again after more than 60 seconds,
    somebody may have copied it, and the whole session ends. Log in again.
    """

    code = "invalid_refresh_token"
    title = "The refresh token is not valid"

    def __init__(self) -> None:
        super().__init__("This refresh token is not valid any more; log in again.")


class NoSession(Invalid):
    """Logging out ends a session, and an API key has none. Revoke the key instead."""

    code = "no_session"
    title = "There is no session to end"

    def __init__(self) -> None:
        super().__init__("An API key has no session; revoke the key to stop it.")


class EmailTaken(Conflict):
    """An account with this e-mail exists already."""

    code = "email_taken"
    title = "The e-mail is taken"

    def __init__(self, email: str) -> None:
        super().__init__(f"There is already an account with the e-mail {email}.")


class OwnAccount(Conflict):
    """Nobody locks themselves out: another operator, or the command line, can do this."""

    code = "own_account"
    title = "Not with your own account"

    def __init__(self) -> None:
        super().__init__("You cannot lock your own account or take the operator role from it.")


class PasswordLinkSpent(Gone):
    """The link was used, has expired, or a newer one replaced it. Ask an operator for a new one."""

    code = "password_link_spent"
    title = "The link does not work any more"

    def __init__(self) -> None:
        super().__init__("This link was used, replaced or has expired; ask for a new one.")


class TooBusyToHash(ServiceUnavailable):
    """So many passwords wait to be compared that another one would wait too long."""

    code = "passwords_busy"
    title = "Too many passwords at once"

    def __init__(self) -> None:
        super().__init__("Too many passwords wait to be compared; try again.", retry_after=2)


def wrong_current_password() -> ValidationFailed:
    return ValidationFailed("/current_password", "This is not your password.", "wrong_password")
