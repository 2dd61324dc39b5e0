"""What an account is: its roles, its plan, and who may call what."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from tradewind.web.caller import Caller, Requires


class Role(StrEnum):
    """What an account may do on top of signing in."""

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
class Account:
    """A customer, or one of the people who run the service."""

    id: UUID
    email: str
    name: str
    roles: frozenset[Role]
    plan: Plan
    locked_at: datetime | None
    lock_reason: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a login or a refresh hands out."""

    access: str
    refresh: str
