"""The caller: the account behind the credentials, and the role that an endpoint requires."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from tradewind import ids
from tradewind.web.limits import Budget
from tradewind.web.request import Network, Request


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated account, as of the moment its credentials were looked up."""

    account_id: UUID
    email: str
    name: str
    roles: frozenset[str]
    plan: str
    created_at: datetime
    key_id: UUID | None
    session_id: UUID | None
    budget: Budget
    # What an API key is restricted to; None: it is not, and can do what its account can.
    scopes: frozenset[str] | None = None
    expires_at: datetime | None = None
    allowed_cidrs: Sequence[Network] | None = None
    # The program that acts for the account, as it calls itself; None: it did not say.
    agent: str | None = None
    # Where the request came from, and its id.
    address: str | None = None
    request_id: str | None = None

    @property
    def credential(self) -> str:
        """The id of the key or session; of the key if both were sent."""
        if self.key_id is not None:
            return ids.API_KEY.show(self.key_id)
        return ids.SESSION.show(self.session_id) if self.session_id else ""


@dataclass(frozen=True, slots=True)
class Requires:
    """The role that an endpoint requires, in the type of its caller."""

    role: str


class Gate(Protocol):
    """Authenticates requests."""

    async def admit(self, request: Request, *, urgent: bool) -> Caller:
        """The caller behind the request's credentials, with one request taken from its budget.

        An `urgent` request has a separate small budget when that one is used up. An error about a
        known account carries that account's `budget`.
        """
        ...

    async def recheck(self, request: Request) -> Caller:
        """The caller of a request that was admitted before, for a response that takes long.

        It raises what `admit` would raise now, except that nothing is taken from the budget.
        """
        ...
