"""What can be refused about pages."""

from tradewind.errors import Unauthenticated


class SignInNeeded(Unauthenticated):
    """The page is for those who are signed in, and nobody is: sign in, and it opens."""

    code = "sign_in_needed"
    title = "Sign in first"

    def __init__(self) -> None:
        super().__init__("Nobody is signed in here, or the session has ended.")
