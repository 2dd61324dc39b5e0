"""What an account is, and when an approver is not independent of a requester."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tradewind.auth.model import Identity


@dataclass(frozen=True, slots=True)
class Account(Identity):
    """A customer, or one of the people who run the service."""

    lock_reason: str | None
    updated_at: datetime


class SharedControl(NamedTuple):
    """An account that recently set up both an approver and a requester, and until when it counts.

    `controller` may be the requester, or a new approver who set up the requester.
    """

    requester: UUID
    controller: UUID
    email: str
    until: datetime
