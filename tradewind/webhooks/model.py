"""A subscription: its URL, its events, and whether it is active."""

from collections.abc import Mapping, Sequence
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
class EventFilter:
    """Which orders a subscription is about; None where it does not matter."""

    platforms: Sequence[str] | None = None
    statuses: Sequence[str] | None = None

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return self.platforms is not None or self.statuses is not None

    def reason_against(self, platform: str, status: str) -> str | None:
        """Why it leaves out an event about such an order, as a clause; None: it accepts it."""
        if self.platforms is not None and platform not in self.platforms:
            return f"the platform {platform} is not one of {', '.join(self.platforms)}"
        if self.statuses is not None and status not in self.statuses:
            return f"the status {status} is not one of {', '.join(self.statuses)}"
        return None


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription, without its secret and the values of its headers."""

    id: UUID
    account_id: UUID
    url: str
    events: Sequence[str]
    is_active: bool
    generation: int
    description: str
    catch_up: bool
    header_names: Sequence[str]
    standard_webhooks: bool
    filter: EventFilter | None
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
    """What to change about a subscription; None leaves it as it is.

    `headers` replaces all of them; an empty filter removes the filter.
    """

    url: str | None = None
    events: Sequence[str] | None = None
    is_active: bool | None = None
    description: str | None = None
    catch_up: bool | None = None
    headers: Mapping[str, str] | None = None
    standard_webhooks: bool | None = None
    filter: EventFilter | None = None
