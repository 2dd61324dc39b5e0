"""A subscription: its URL, its events, and whether it is active."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Health(StrEnum):
    """How an endpoint does."""

    OK = "ok"
    FAILING = "failing"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription; its secret is not part of it, and shown only when it is created."""

    id: UUID
    account_id: UUID
    url: str
    events: Sequence[str]
    is_active: bool
    generation: int
    description: str
    catch_up: bool
    disabled_reason: str | None
    failing_since: datetime | None
    created_at: datetime
    updated_at: datetime
    secret_rotated_at: datetime | None

    @property
    def health(self) -> Health:
        if self.disabled_reason is not None:
            return Health.DISABLED
        return Health.OK if self.failing_since is None else Health.FAILING


@dataclass(frozen=True, slots=True)
class SubscriptionChanges:
    """What to change about a subscription; None leaves it as it is."""

    url: str | None = None
    events: Sequence[str] | None = None
    is_active: bool | None = None
    description: str | None = None
    catch_up: bool | None = None
