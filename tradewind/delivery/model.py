"""Deliveries as values: claimed, logged, pending, and how endpoints and replays do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

import msgspec

from tradewind.egress.result import AttemptResult, Outcome, Problem
from tradewind.events.catalogue import EventKind
from tradewind.webhooks.model import EventFilter

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


class DeliveryTrigger(StrEnum):
    """Why something is delivered."""

    EVENT = "event"
    REDELIVER = "redeliver"
    RECOVER = "recover"
    TEST = "test"


class Cancelled(StrEnum):
    """Why a delivery was cancelled."""

    DELETED = "subscription_deleted"
    SWITCHED_OFF = "subscription_inactive"
    NOT_WANTED = "event_no_longer_wanted"
    FILTERED_OUT = "event_filtered_out"
    EXPIRED = "event_expired"
    REPLAY = "recover_cancelled"


class DueSubscription(msgspec.Struct, frozen=True):
    """A subscription with something due. No account: it was deleted."""

    id: UUID
    account_id: UUID | None
    url: str
    failing: bool


class ClaimedDelivery(msgspec.Struct, gc=False):
    """A delivery that this worker has leased, and the attempt that it makes.

    `delivery_id` is the id of the attempt and fences the lease: a later claim has another one.
    `body` is None when the event is no longer kept. `version` is that of the subscription's row at
    the claim; None: it was deleted. `due`, `leased_at` and `started` are Unix seconds by the
    database's clock; `claimed_at` (when the claim was sent) and `began` are of the worker's own.
    """

    claimed_at: float
    id: UUID
    account_id: UUID
    subscription_id: UUID
    generation: int
    event_id: UUID
    event: str
    body: bytes | None
    attempt: int
    delivery_id: UUID
    replay_id: UUID | None
    due: float
    version: int | None = None
    leased_at: float = 0.0
    began: float = 0.0
    started: float = 0.0
    duration_ms: int | None = None
    url: str | None = None
    sent_at: int | None = None
    signature: str | None = None
    # Headers that only this subscription has, as the log shows them.
    more_headers: str | None = None
    # Whether its subscription replays missed events by itself.
    catch_up: bool = False


class Destination(msgspec.Struct, frozen=True):
    """A subscription as it is right before an attempt; `version` changes with its row."""

    id: UUID
    account_id: UUID
    url: str
    events: Sequence[str]
    is_active: bool
    generation: int
    sealed_secret: bytes
    catch_up: bool
    version: int
    sealed_headers: bytes | None = None
    standard_webhooks: bool = False
    filter: EventFilter | None = None


# What the log and `explain` say about a delivery that was cancelled.
CANCEL_MESSAGES: dict[Cancelled, str] = {
    Cancelled.DELETED: "The subscription was deleted before this was sent.",
    Cancelled.SWITCHED_OFF: "The subscription was switched off before this was sent.",
    Cancelled.NOT_WANTED: "The subscription no longer lists this kind of event.",
    Cancelled.FILTERED_OUT: "The filter of the subscription leaves this event out.",
    Cancelled.EXPIRED: "The event is older than what is kept.",
    Cancelled.REPLAY: "The replay that it belonged to was cancelled.",
}
CANCELLED_RESULTS = {
    reason: AttemptResult(Outcome.CANCELLED, problem=Problem(reason.value, message))
    for reason, message in CANCEL_MESSAGES.items()
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
    trigger: DeliveryTrigger
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
    more_headers: str | None
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
class DeliveryTotals:
    """Counts of attempts by outcome, in the order of `COUNTED`, and of latencies by their bounds.

    `waits` are from the commit to the start of the first attempt, `latencies` from the commit to
    the answer that it was delivered, `durations` those of all attempts.
    """

    outcomes: Sequence[int]
    retries: int
    waits: Sequence[int]
    latencies: Sequence[int]
    durations: Sequence[int]

    @property
    def attempts(self) -> int:
        return sum(self.outcomes)

    @property
    def delivered(self) -> int:
        return self.outcomes[COUNTED.index(Outcome.DELIVERED)]

    def since(self, earlier: "DeliveryTotals") -> "DeliveryTotals":
        """What was counted after `earlier`."""
        return DeliveryTotals(
            outcomes=_differences(self.outcomes, earlier.outcomes),
            retries=self.retries - earlier.retries,
            waits=_differences(self.waits, earlier.waits),
            latencies=_differences(self.latencies, earlier.latencies),
            durations=_differences(self.durations, earlier.durations),
        )


def _differences(later: Sequence[int], earlier: Sequence[int]) -> Sequence[int]:
    return [count - before for count, before in zip(later, earlier, strict=True)]


@dataclass(frozen=True, slots=True)
class Window:
    """Which events to replay: a time span, one order or all, and delivered ones or not."""

    since: datetime
    until: datetime
    order_id: UUID | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Total:
    """How many events a replay delivers; if that is not exact, it is a lower bound."""

    count: int
    is_exact: bool


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
