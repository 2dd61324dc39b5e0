"""A webhook and its attempts for people: state, request and response, test steps. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.dashboard.shell.forms import show_time
from tradewind.dashboard.webhooks import request_code
from tradewind.dashboard.webhooks.request_code import HeaderLine
from tradewind.delivery.attempt import headers
from tradewind.delivery.model import AttemptDetail, DeliveryTrigger
from tradewind.delivery.test_delivery import Trial, body_of
from tradewind.egress.result import headers_of
from tradewind.egress.sender import USER_AGENT
from tradewind.webhooks.model import Subscription


def webhook_path(subscription_id: UUID) -> str:
    return f"/webhooks/{ids.SUBSCRIPTION.show(subscription_id)}"


def webhook_state(webhook: Subscription) -> str:
    """The health of an active webhook; otherwise `inactive`, or `disabled` after failures."""
    if webhook.is_active:
        return str(webhook.health)
    return "disabled" if webhook.disabled_reason else "inactive"


@dataclass(frozen=True, slots=True)
class RequestView:
    """The request of an attempt; without headers, nothing was sent.

    `body` is None if the event is no longer stored.
    """

    url: str | None
    headers: Sequence[HeaderLine]
    body: str | None
    pretty_body: str | None
    body_bytes: int
    signed_text: str
    signature: str

    @property
    def was_sent(self) -> bool:
        return self.url is not None and self.body is not None and bool(self.headers)

    @property
    def curl_as_sent(self) -> str:
        return request_code.curl_as_sent(self.url or "", self.headers, self.body or "")

    @property
    def curl_signed_now(self) -> str:
        return request_code.curl_signed_now(self.url or "", self.headers, self.body or "")


@dataclass(frozen=True, slots=True)
class ResponseView:
    """The response to an attempt: the headers, and the first 4 KiB of the body."""

    status_code: int
    headers: Sequence[HeaderLine]
    body: str
    pretty_body: str | None


def request_view(attempt: AttemptDetail) -> RequestView:
    is_test = attempt.trigger is DeliveryTrigger.TEST
    content = body_of(attempt.event_id, attempt.event) if is_test else attempt.body
    body = None if content is None else content.decode()
    lines: Sequence[str] = ()
    if attempt.sent_at is not None and attempt.signature is not None:
        sent = headers(attempt.event, attempt.id, attempt.sent_at, attempt.signature)
        lines = [f"User-Agent: {USER_AGENT}", *sent]
    parts = (line.partition(": ") for line in lines)
    return RequestView(
        url=attempt.url,
        headers=[HeaderLine(name, value) for name, _, value in parts],
        body=body,
        pretty_body=request_code.pretty(body),
        body_bytes=len(content or b""),
        signed_text=f"{attempt.sent_at}.{body}",
        signature=attempt.signature or "",
    )


def response_view(attempt: AttemptDetail) -> ResponseView | None:
    """The response; None if there was none."""
    if attempt.status_code is None:
        return None
    body = (attempt.response_body or b"").decode("utf-8", "replace")
    return ResponseView(
        status_code=attempt.status_code,
        headers=[
            HeaderLine(name, value) for name, value in headers_of(attempt.response_head or b"")
        ],
        body=body,
        pretty_body=request_code.pretty(body),
    )


class TestStepView(msgspec.Struct, frozen=True):
    """A step of a test: `ok` is None if it was not reached."""

    step: str
    ok: bool | None
    took_ms: int | None
    note: str | None
    days_to_expiry: int | None


def test_steps(trial: Trial) -> Sequence[TestStepView]:
    """The steps of a test, with the days until the certificate expires."""
    ends = trial.result.certificate_ends
    days = None if ends is None else (ends - datetime.now(UTC)).days
    return [
        TestStepView(
            step.name, step.ok, step.took_ms, step.note, days if step.name == "tls" else None
        )
        for step in trial.steps
    ]


def replay_presets(now: datetime, failing_since: datetime | None) -> Sequence[tuple[str, str]]:
    """Common start times of a replay: a label and the time as a URL carries it."""
    spans = (("Last hour", 1), ("Last 24 hours", 24), ("Last 7 days", 168), ("Last 30 days", 720))
    presets = [(label, now - timedelta(hours=hours)) for label, hours in spans]
    if failing_since is not None:
        presets.insert(0, ("Since the first failure", failing_since))
    return [(label, show_time(moment)) for label, moment in presets]
