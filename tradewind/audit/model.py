"""Who acts (an account, the command line, the system itself), and the entries of the log."""

import getpass
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
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
    # The program that acts for the account, as it calls itself.
    agent: str | None = None

    @staticmethod
    def of(caller: Caller) -> "Actor":
        return Actor(
            caller.email,
            caller.account_id,
            caller.credential,
            caller.address,
            caller.request_id,
            caller.agent,
        )

    @staticmethod
    def anonymous(label: str, request: Request) -> "Actor":
        """Somebody without credentials, who holds a link or a refresh token."""
        return Actor(label, address=request.address, request_id=request.id)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One act: who did what to whom, when and from where."""

    id: UUID
    at: datetime
    action: str
    actor_id: UUID | None
    actor: str
    credential: str | None
    address: str | None
    request_id: str | None
    account_id: UUID | None
    subject: str
    details: Mapping[str, object]
    agent: str | None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return str(os.getuid())


COMMAND_LINE = Actor("command line", address=f"{_user()}@{socket.gethostname()}")
