"""Who may call: roles, plans, the account behind a login, and its tokens."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from tradewind.web.caller import Caller, Requires


class Role(StrEnum):
    """What an account may do on top of logging in."""

    BUYER = "buyer"
    APPROVER = "approver"
    OPERATOR = "operator"


class Plan(StrEnum):
    """How often an account may call."""

    FREE = "free"
    PRO = "pro"
    ENTERPRISE = "enterprise"


# The type of an endpoint's caller says who may call it.
Buyer = Annotated[Caller, Requires(Role.BUYER)]
Approver = Annotated[Caller, Requires(Role.APPROVER)]
Operator = Annotated[Caller, Requires(Role.OPERATOR)]


@dataclass(frozen=True, slots=True)
class Identity:
    """The account that logs in."""

    id: UUID
    email: str
    name: str
    roles: frozenset[Role]
    plan: Plan
    created_at: datetime
    locked_at: datetime | None


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The pair of tokens that a login or a refresh returns."""

    access: str
    refresh: str
