"""Who is calling: the account behind the credentials, and what an endpoint asks of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from tradewind import ids
from tradewind.web.limits import Budget
from tradewind.web.request import Request


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated account, as it was when this request's credentials were looked up."""

    account_id: UUID
    email: str
    name: str
    roles: frozenset[str]
    plan: str
    created_at: datetime
    key_id: UUID | None
    session_id: UUID | None
    budget: Budget

    @property
    def credential(self) -> str:
        """The key or session that was used; with both sent, the key."""
        if self.key_id is not None:
            return ids.API_KEY.show(self.key_id)
        return ids.SESSION.show(self.session_id) if self.session_id else ""


@dataclass(frozen=True, slots=True)
class Requires:
    """Written in the type of an endpoint's caller: the role that this endpoint asks for."""

    role: str


class Gate(Protocol):
    """Lets a request in, or refuses it."""

    async def admit(self, request: Request, *, urgent: bool) -> Caller:
        """The caller behind the request's credentials, with one request taken from its budget.

        An `urgent` request has a small budget of its own when that one is used up. A refusal that
        names a known account carries that account's `budget`.
        """
        ...
