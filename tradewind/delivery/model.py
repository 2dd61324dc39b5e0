"""What a delivery is: a piece of work that was claimed, whom it goes to, and how it ended."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

import msgspec

from tradewind.egress.result import Outcome as Sent
from tradewind.egress.result import Problem
from tradewind.events.catalogue import EventKind

MOST_ATTEMPTS = 3
_KEPT_HEAD = 4096


class Outcome(StrEnum):
    """How an attempt ended."""

    DELIVERED = "delivered"
    HTTP_ERROR = "http_error"
    TIMEOUT = "timeout"
    DNS_ERROR = "dns_error"
    CONNECT_FAILED = "connect_failed"
    TLS_ERROR = "tls_error"
    BLOCKED_ADDRESS = "blocked_address"
    CONNECTION_CLOSED = "connection_closed"
    INVALID_RESPONSE = "invalid_response"
    # It was sent, but whoever sent it died before the answer was recorded.
    UNKNOWN = "unknown"
    # It ended unsent.
    CANCELLED = "cancelled"

    @staticmethod
    def of(sent: Sent) -> "Outcome":
        return _SENT[sent]


_SENT = {sent: Outcome(sent.value) for sent in Sent}

# The order in which outcomes are counted by hour: it is stored, so new ones go to the end.
COUNTED = (
    Outcome.DELIVERED,
    Outcome.HTTP_ERROR,
    Outcome.TIMEOUT,
    Outcome.DNS_ERROR,
    Outcome.CONNECT_FAILED,
    Outcome.TLS_ERROR,
    Outcome.BLOCKED_ADDRESS,
    Outcome.INVALID_RESPONSE,
    Outcome.UNKNOWN,
    Outcome.CONNECTION_CLOSED,
)


class Trigger(StrEnum):
    """Why something is delivered."""

    EVENT = "event"
    REDELIVER = "redeliver"
    RECOVER = "recover"
    TEST = "test"


class Cancelled(StrEnum):
    """Why a delivery ended unsent."""

    DELETED = "subscription_deleted"
    SWITCHED_OFF = "subscription_inactive"
    NOT_WANTED = "event_no_longer_wanted"
    EXPIRED = "event_expired"
    JOB = "recover_cancelled"


class Due(msgspec.Struct, frozen=True):
    """A subscription with something due. No account: it was deleted."""

    id: UUID
    account_id: UUID | None
    url: str
    failing: bool


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A delivery that is ours for a while. `delivery_id` fences it: a later claim has another.

    `body` is None when the event is older than what is kept. `due` is in Unix seconds.
    """

    id: UUID
    account_id: UUID
    subscription_id: UUID
    generation: int
    event_id: UUID
    event: str
    body: bytes | None
    attempt: int
    delivery_id: UUID
    job_id: UUID | None
    due: float


class Destination(msgspec.Struct, frozen=True):
    """A subscription as it is at the send."""

    id: UUID
    account_id: UUID
    url: str
    events: frozenset[str]
    is_active: bool
    generation: int
    secret: str
    catch_up: bool


class Ended(msgspec.Struct, frozen=True, gc=False):
    """An attempt that is over, to be recorded. `cancelled` is why it was not even made.

    `started` is in Unix seconds, by the database's clock.
    """

    claim: Claim
    outcome: Outcome
    started: float
    duration_ms: int | None = None
    status: int | None = None
    problem: Problem | None = None
    head: bytes | None = None
    body: bytes | None = None
    url: str | None = None
    sent_at: int | None = None
    signature: str | None = None
    cancelled: Cancelled | None = None

    @property
    def is_over(self) -> bool:
        """Whether the delivery is, and not only this attempt of it."""
        return (
            self.outcome is Outcome.DELIVERED
            or self.outcome is Outcome.CANCELLED
            or self.claim.attempt >= MOST_ATTEMPTS
        )

    @property
    def is_ours(self) -> bool:
        """Whether nothing was sent, for want of something here: it is no attempt of anybody's."""
        return self.problem is not None and self.problem.is_ours

    @property
    def kept_head(self) -> bytes | None:
        """As much of the answer's headers as is kept."""
        return self.head and self.head[:_KEPT_HEAD]

    @property
    def error_code(self) -> str | None:
        if self.cancelled is not None:
            return self.cancelled.value
        return self.problem.code if self.problem else None

    @property
    def error_message(self) -> str | None:
        if self.cancelled is not None:
            return CANCEL_MESSAGES[self.cancelled]
        return self.problem.message if self.problem else None


# What the log and `explain` say, by why a delivery ended unsent.
CANCEL_MESSAGES: dict[str, str] = {
    Cancelled.DELETED: "The subscription was deleted before this was sent.",
    Cancelled.SWITCHED_OFF: "The subscription was switched off before this was sent.",
    Cancelled.NOT_WANTED: "The subscription no longer lists this kind of event.",
    Cancelled.EXPIRED: "The event is older than what is kept.",
    Cancelled.JOB: "The recovery that it belonged to was cancelled.",
}


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """An attempt as the log has it."""

    id: UUID
    subscription_id: UUID
    event_id: UUID
    event: EventKind
    order_id: UUID | None
    attempt: int
    trigger: Trigger
    outcome: Outcome
    final: bool
    late: bool
    status_code: int | None
    error_code: str | None
    error_message: str | None
    started_at: datetime
    duration_ms: int | None
    next_attempt_at: datetime | None


@dataclass(frozen=True, slots=True)
class AttemptDetail(LoggedAttempt):
    """An attempt with what was sent and what came back.

    `body` is None when the event is no longer kept.
    """

    url: str | None
    sent_at: int | None
    signature: str | None
    response_head: bytes | None
    response_body: bytes | None
    body: bytes | None


@dataclass(frozen=True, slots=True)
class PendingDelivery:
    """A delivery that is not over."""

    id: UUID
    event_id: UUID
    event: EventKind | None
    order_id: UUID | None
    attempt: int
    trigger: str
    due_at: datetime
    under_way: bool


@dataclass(frozen=True, slots=True)
class QueuedDelivery:
    """A row of the queue, which may be one that will never be sent: then it says why."""

    subscription_id: UUID
    attempt: int
    due_at: datetime
    under_way: bool
    cancel_reason: str | None


@dataclass(frozen=True, slots=True)
class QueuedSubscription:
    """What is pending for one subscription. No account: the subscription was deleted."""

    subscription_id: UUID
    account_id: UUID | None
    url: str | None
    pending: int
    due_at: datetime
    failing_since: datetime | None
    concurrency: int | None


@dataclass(frozen=True, slots=True)
class SubscriptionHealth:
    """How an endpoint did in the last 24 hours; percentiles are upper bounds."""

    failing_since: datetime | None
    success_rate: float | None
    attempts: int
    p50_ms: int | None
    p99_ms: int | None
    concurrency: int
    pending: int
    oldest_due_seconds: float | None
    last_success_at: datetime | None
    last_failure_at: datetime | None


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay of missed events, and how far it has come.

    `at_time` and `at_event` are where its last batch ended; None: it has not begun.
    """

    id: UUID
    account_id: UUID
    subscription_id: UUID
    status: Literal["running", "done", "cancelled"]
    trigger: Literal["request", "catch_up"]
    since: datetime
    until: datetime
    order_id: UUID | None
    everything: bool
    total: int
    total_is_exact: bool
    queued: int
    delivered: int
    failed: int
    at_time: datetime | None
    at_event: UUID | None
    created_at: datetime
    ended_at: datetime | None
    # Whether its subscription is, which is known only of a replay that was just leased.
    is_active: bool = True
