"""Who acts: an account with its credential, the command line, or the system itself."""

import getpass
import os
import socket
from dataclasses import dataclass
from uuid import UUID

from tradewind.web.caller import Caller
from tradewind.web.request import Request


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something, and from where."""

    label: str
    account_id: UUID | None = None
    credential: str | None = None
    address: str | None = None
    request_id: str | None = None

    @staticmethod
    def of(caller: Caller, request: Request) -> "Actor":
        return Actor(
            caller.email, caller.account_id, caller.credential, request.address, request.id
        )

    @staticmethod
    def stranger(label: str, request: Request) -> "Actor":
        """Somebody without credentials: who holds a link or a refresh token."""
        return Actor(label, address=request.address, request_id=request.id)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return str(os.getuid())


COMMAND_LINE = Actor("command line", address=f"{_user()}@{socket.gethostname()}")
