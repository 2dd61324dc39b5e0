"""Deliveries as JSON: attempts, what is pending, jobs, health, and the diagnosis of a test."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from tradewind import clock, ids
from tradewind.delivery.attempt import headers
from tradewind.delivery.explain import Explanation, Verdict
from tradewind.delivery.model import (
    AttemptDetail,
    DeliveryTrigger,
    LoggedAttempt,
    PendingDelivery,
    Replay,
    SubscriptionHealth,
)
from tradewind.delivery.replay import ReplayRequest
from tradewind.delivery.sql_log import AttemptFilters
from tradewind.delivery.test_delivery import Trial, body_of
from tradewind.egress.result import Outcome, headers_of
from tradewind.egress.sender import USER_AGENT
from tradewind.errors import FieldError
from tradewind.events.catalogue import EventKind
from tradewind.web.inputs import Input, Moment, Output, check_moment, id_text, read_id
from tradewind.web.paging import CursorList, PageCursor, PageLimit
from tradewind.webhooks.headers import DELIVERY
from tradewind.webhooks.model import Health, Subscription

_Time = clock.Timestamp
_DeliveryId = Annotated[
    str,
    Meta(
        pattern=ids.DELIVERY.pattern,
        description=f"The `{DELIVERY}` that the endpoint received.",
        examples=["dlv_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"],
    ),
]
_EventIdText = Annotated[str, Meta(examples=["evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
_OrderText = Annotated[str | None, Meta(examples=["ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]


class AttemptErrorOut(Output):
    """Why an attempt did not deliver."""

    code: Annotated[str, Meta(examples=["connect_timeout"])]
    message: Annotated[str, Meta(examples=["The endpoint did not accept a connection in time."])]

    @staticmethod
    def of(code: str | None, message: str | None) -> "AttemptErrorOut | None":
        return None if code is None else AttemptErrorOut(code=code, message=message or "")


class DeliveryOut(Output):
    """One attempt."""

    id: _DeliveryId
    event_id: _EventIdText
    event: EventKind
    order: _OrderText
    attempt: Annotated[int, Meta(examples=[1])]
    trigger: DeliveryTrigger
    outcome: Outcome
    final: Annotated[bool, Meta(description="Whether the delivery ended with this attempt.")]
    late: Annotated[bool, Meta(description="Whether its result came after its lease had expired.")]
    status_code: Annotated[int | None, Meta(examples=[200])]
    error: AttemptErrorOut | None
    started_at: _Time
    duration_ms: Annotated[int | None, Meta(examples=[42])]
    next_attempt_at: _Time | None

    @staticmethod
    def of(attempt: LoggedAttempt) -> "DeliveryOut":
        return DeliveryOut(**_fields(attempt))


def _fields(attempt: LoggedAttempt) -> dict[str, Any]:
    is_test = attempt.trigger is DeliveryTrigger.TEST
    return {
        "id": ids.DELIVERY.show(attempt.id),
        "event_id": (ids.TEST_EVENT if is_test else ids.EVENT).show(attempt.event_id),
        "event": attempt.event,
        "order": _order(attempt.order_id),
        "attempt": attempt.attempt,
        "trigger": attempt.trigger,
        "outcome": attempt.outcome,
        "final": attempt.final,
        "late": attempt.late,
        "status_code": attempt.status_code,
        "error": AttemptErrorOut.of(attempt.error_code, attempt.error_message),
        "started_at": clock.show(attempt.started_at),
        "duration_ms": attempt.duration_ms,
        "next_attempt_at": clock.show_or_none(attempt.next_attempt_at),
    }


def _order(order_id: UUID | None) -> str | None:
    return None if order_id is None else ids.ORDER.show(order_id)


class HeaderOut(Output):
    """One header line. Headers are listed in their order, and a repeated name is there twice."""

    name: Annotated[str, Meta(examples=["Content-Type"])]
    value: Annotated[str, Meta(examples=["application/json"])]


class AttemptRequestOut(Output):
    """What was sent."""

    url: Annotated[str | None, Meta(examples=["https://shop.example.com/hooks"])]
    headers: Annotated[
        list[HeaderOut],
        Meta(
            description="Empty where nothing is known to have been sent. The values of headers "
            "that the subscription adds are masked."
        ),
    ]
    body: Annotated[
        str | None, Meta(description="Null when the event is no longer kept.", examples=["{}"])
    ]


class AttemptResponseOut(Output):
    """What came back: the headers, and the first 4 KiB of the body."""

    status_code: Annotated[int, Meta(examples=[200])]
    headers: list[HeaderOut]
    body: Annotated[str, Meta(examples=["ok"])]

    @staticmethod
    def of(
        status: int | None, head: bytes | None, body: bytes | None
    ) -> "AttemptResponseOut | None":
        if status is None:
            return None
        pairs = headers_of(head or b"")
        return AttemptResponseOut(
            status_code=status,
            headers=[HeaderOut(name=name, value=value) for name, value in pairs],
            body=(body or b"").decode("utf-8", "replace"),
        )


class DeliveryDetailOut(DeliveryOut):
    """One attempt, with what was sent and what came back."""

    request: AttemptRequestOut
    response: AttemptResponseOut | None

    @staticmethod
    def of_detail(attempt: AttemptDetail) -> "DeliveryDetailOut":
        is_test = attempt.trigger is DeliveryTrigger.TEST
        body = body_of(attempt.event_id, attempt.event) if is_test else attempt.body
        return DeliveryDetailOut(
            **_fields(attempt),
            request=AttemptRequestOut(
                url=attempt.url,
                headers=_sent_headers(attempt),
                body=None if body is None else body.decode(),
            ),
            response=AttemptResponseOut.of(
                attempt.status_code, attempt.response_head, attempt.response_body
            ),
        )


def _sent_headers(attempt: AttemptDetail) -> list[HeaderOut]:
    """The headers as they were sent; none if nothing was."""
    if attempt.sent_at is None or attempt.signature is None:
        return []
    return _header_lines(
        headers(attempt.event, attempt.id, attempt.sent_at, attempt.signature, attempt.more_headers)
    )


def _header_lines(lines: Sequence[str]) -> list[HeaderOut]:
    """The headers of a delivery in the order in which they are sent, from those that vary."""
    parts = (line.partition(": ") for line in [f"User-Agent: {USER_AGENT}", *lines])
    return [HeaderOut(name=name, value=value) for name, _, value in parts]


class DeliveryFilters(Input):
    """Which attempts; several values of a filter by comma, or by repeating it."""

    outcome: list[Outcome] | None = None
    result: Annotated[
        list[Literal["delivered", "failed", "cancelled"]] | None,
        Meta(description="How the delivery as a whole ended: only attempts that ended one."),
    ] = None
    event: list[EventKind] | None = None
    order: Annotated[str, Meta(pattern=ids.ORDER.pattern)] | None = None
    event_id: Annotated[str, Meta(pattern=ids.EVENT.pattern)] | None = None
    status_code: list[Annotated[int, Meta(ge=100, le=999)]] | None = None
    started_after: Annotated[Moment | None, Meta(description="At or after.")] = None
    started_before: Annotated[Moment | None, Meta(description="Before.")] = None

    def filters(self) -> AttemptFilters:
        return AttemptFilters(
            outcomes=self.outcome,
            results=self.result,
            events=self.event,
            order_id=read_id(ids.ORDER, "?order", self.order),
            event_id=read_id(ids.EVENT, "?event_id", self.event_id),
            status_codes=self.status_code,
            started_after=self.started_after,
            started_before=self.started_before,
        )


class DeliveriesQuery(DeliveryFilters):
    """Which attempts to list."""

    limit: PageLimit = 20
    cursor: PageCursor = None


class PendingOut(Output):
    """A delivery that is not over."""

    event_id: _EventIdText
    event: EventKind | None
    order: _OrderText
    attempt: Annotated[int, Meta(description="The attempt that comes next.", examples=[2])]
    trigger: DeliveryTrigger
    due_at: _Time
    under_way: Annotated[bool, Meta(description="Whether it is being sent right now.")]

    @staticmethod
    def of(pending: PendingDelivery) -> "PendingOut":
        return PendingOut(
            event_id=ids.EVENT.show(pending.event_id),
            event=pending.event,
            order=_order(pending.order_id),
            attempt=pending.attempt,
            trigger=DeliveryTrigger(pending.trigger),
            due_at=clock.show(pending.due_at),
            under_way=pending.under_way,
        )


class RecoverIn(Input):
    """Which events to deliver again."""

    since: Annotated[Moment, Meta(examples=["2026-11-15T01:02:03Z"])]
    until: Annotated[
        Moment | None,
        Meta(description="Left out: until now.", examples=[None]),
    ] = None
    order: Annotated[
        Annotated[str, id_text(ids.ORDER)] | None,
        Meta(examples=[None]),
    ] = None
    include: Annotated[
        Literal["undelivered", "all"],
        Meta(
            description="`undelivered`: failed, cancelled and missed ones.",
            examples=["undelivered"],
        ),
    ] = "undelivered"
    dry_run: Annotated[bool, Meta(description="Only count, up to 10,000.")] = False

    def check_fields(self) -> Iterator[FieldError]:
        if self.until is not None and self.until <= self.since:
            yield FieldError("/until", "Must be after since.")

    def request(self) -> ReplayRequest:
        for pointer, time in (("/since", self.since), ("/until", self.until)):
            if time is not None:
                check_moment(pointer, time)
        order_id = read_id(ids.ORDER, "/order", self.order)
        everything = self.include == "all"
        return ReplayRequest(self.since, self.until, order_id, everything=everything)


_CountIsExact = Annotated[
    bool,
    Meta(
        description="False: there are more events than `count`, or there may be: counting stops at "
        "10,000 events, or after it has looked at 50,000.",
        examples=[True],
    ),
]


class RecoverOut(Output):
    """A replay that was begun, or only counted."""

    id: Annotated[
        str | None,
        Meta(description="Null after a dry run.", examples=["job_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"]),
    ]
    count: Annotated[int, Meta(description="Counted up to 10,000.", examples=[120])]
    count_is_exact: _CountIsExact


class JobOut(Output):
    """A replay and how far it has come."""

    id: Annotated[str, id_text(ids.JOB)]
    status: Literal["running", "done", "cancelled"]
    trigger: Literal["request", "catch_up"]
    since: _Time
    until: _Time
    count: Annotated[
        int, Meta(description="Events when it began, counted up to 10,000.", examples=[120])
    ]
    count_is_exact: _CountIsExact
    queued: Annotated[int, Meta(examples=[100])]
    delivered: Annotated[int, Meta(examples=[96])]
    failed: Annotated[int, Meta(examples=[0])]
    created_at: _Time
    ended_at: Annotated[
        _Time | None, Meta(description="When everything was queued, or it was cancelled.")
    ]

    @staticmethod
    def of(replay: Replay) -> "JobOut":
        return JobOut(
            id=ids.JOB.show(replay.id),
            status=replay.status,
            trigger=replay.trigger,
            since=clock.show(replay.since),
            until=clock.show(replay.until),
            count=replay.total,
            count_is_exact=replay.total_is_exact,
            queued=replay.queued,
            delivered=replay.delivered,
            failed=replay.failed,
            created_at=clock.show(replay.created_at),
            ended_at=clock.show_or_none(replay.ended_at),
        )


class WebhookHealthOut(Output):
    """How an endpoint did in the last 24 hours."""

    health: Health
    failing_since: _Time | None
    disabled_reason: str | None
    success_rate: Annotated[
        float | None, Meta(description="Of attempts, 0 to 1; null without any.", examples=[0.998])
    ]
    attempts: Annotated[int, Meta(examples=[1200])]
    p50_ms: Annotated[int | None, Meta(description="At the most.", examples=[32])]
    p99_ms: Annotated[int | None, Meta(description="At the most.", examples=[256])]
    concurrency: Annotated[
        int, Meta(description="How many deliveries may be under way to it at once.", examples=[16])
    ]
    pending: Annotated[int, Meta(description="Counted up to 10,001.", examples=[0])]
    oldest_due_seconds: Annotated[float | None, Meta(examples=[None])]
    last_success_at: _Time | None
    last_failure_at: _Time | None

    @staticmethod
    def of(subscription: Subscription, health: SubscriptionHealth) -> "WebhookHealthOut":
        # Since when it fails and what it attempted belong together: both are of one moment.
        subscription = replace(subscription, failing_since=health.failing_since)
        return WebhookHealthOut(
            health=subscription.health,
            failing_since=clock.show_or_none(health.failing_since),
            disabled_reason=subscription.disabled_reason,
            success_rate=health.success_rate,
            attempts=health.attempts,
            p50_ms=health.p50_ms,
            p99_ms=health.p99_ms,
            concurrency=health.concurrency,
            pending=health.pending,
            oldest_due_seconds=health.oldest_due_seconds,
            last_success_at=clock.show_or_none(health.last_success_at),
            last_failure_at=clock.show_or_none(health.last_failure_at),
        )


class ExplainOut(Output):
    """What became of an event at a subscription."""

    event_id: _EventIdText
    verdict: Verdict
    explanation: Annotated[str, Meta(examples=["It was delivered at 2026-11-15T01:02:03.004Z."])]
    attempts: list[DeliveryOut]

    @staticmethod
    def of(event: str, explanation: Explanation) -> "ExplainOut":
        return ExplainOut(
            event_id=event,
            verdict=explanation.verdict,
            explanation=explanation.sentence,
            attempts=[DeliveryOut.of(attempt) for attempt in explanation.attempts],
        )


class TestIn(Input):
    """Which event to pretend."""

    event: EventKind | None = None


class StepOut(Output):
    """A step on the way to the endpoint."""

    step: Literal["dns", "connect", "tls", "http"]
    ok: Annotated[bool | None, Meta(description="Null: not reached.", examples=[True])]
    took_ms: Annotated[int | None, Meta(description="From the start to its end.", examples=[12])]
    days_to_expiry: Annotated[
        int | None, Meta(description="Of the certificate, at the step `tls`.", examples=[64])
    ]
    note: Annotated[str | None, Meta(examples=["The endpoint answered 200."])]


class TestOut(Output):
    """What became of a test delivery."""

    delivered: bool
    outcome: Outcome
    status_code: Annotated[int | None, Meta(examples=[200])]
    error: AttemptErrorOut | None
    duration_ms: Annotated[int, Meta(examples=[42])]
    delivery_id: _DeliveryId
    steps: list[StepOut]
    request: AttemptRequestOut
    response: AttemptResponseOut | None

    @staticmethod
    def of(trial: Trial) -> "TestOut":
        result = trial.result
        problem = result.problem
        ends = result.certificate_ends
        days = None if ends is None else (ends - datetime.now(UTC)).days
        return TestOut(
            delivered=result.delivered,
            outcome=result.outcome,
            status_code=result.status,
            error=AttemptErrorOut.of(problem.code, problem.message) if problem else None,
            duration_ms=round(result.timings.total * 1000),
            delivery_id=ids.DELIVERY.show(trial.delivery_id),
            steps=[
                StepOut(
                    step=step.name,  # type: ignore[arg-type]
                    ok=step.ok,
                    took_ms=step.took_ms,
                    days_to_expiry=days if step.name == "tls" else None,
                    note=step.note,
                )
                for step in trial.steps
            ],
            request=AttemptRequestOut(
                url=trial.url,
                headers=_header_lines(trial.headers),
                body=trial.body.decode(),
            ),
            response=AttemptResponseOut.of(result.status, result.head, result.body),
        )


DELIVERIES: CursorList[LoggedAttempt] = CursorList(
    "deliveries", tuple[datetime, UUID], key=lambda attempt: (attempt.started_at, attempt.id)
)
PENDING_DELIVERIES: CursorList[PendingDelivery] = CursorList(
    "pending", tuple[datetime, UUID], key=lambda delivery: (delivery.due_at, delivery.id)
)
