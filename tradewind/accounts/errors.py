"""The errors of accounts and their passwords."""

from tradewind.errors import Conflict, Gone, ValidationFailed


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
    detail = "You cannot lock your own account or take the operator role from it."


class PasswordLinkSpent(Gone):
    """The link was used, has expired, or a newer one replaced it. Ask an operator for a new one."""

    code = "password_link_spent"
    title = "The link does not work any more"
    detail = "This link was used, replaced or has expired; ask for a new one."


def wrong_current_password() -> ValidationFailed:
    return ValidationFailed("/current_password", "This is not your password.", "wrong_password")
