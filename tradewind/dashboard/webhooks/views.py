"""A webhook and its attempts for people: state, request and response, advice, test steps. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from shlex import quote
from typing import NamedTuple
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.dashboard.shell.forms import show_time
from tradewind.dashboard.shell.labels import label, marketplace
from tradewind.delivery.attempt import headers
from tradewind.delivery.model import (
    AttemptDetail,
    DeliveryTrigger,
    LoggedAttempt,
    SubscriptionHealth,
)
from tradewind.delivery.test_delivery import Trial, body_of
from tradewind.egress.result import headers_of
from tradewind.egress.sender import USER_AGENT
from tradewind.webhooks import headers as names
from tradewind.webhooks.model import EventFilter, Subscription

_SECRET_PLACEHOLDER = "whsec_…"  # noqa: S105 - not a secret
_LARGEST_PRETTY = 256 * 1024
# Headers of an attempt that no longer fit when it is signed again.
_SIGNED_ANEW = {
    names.TIMESTAMP,
    names.SIGNATURE,
    names.STANDARD_ID,
    names.STANDARD_TIMESTAMP,
    names.STANDARD_SIGNATURE,
}

VERIFY_PYTHON = """\
import os

from tradewind_sdk.webhooks import VerificationError, verify

SECRET = os.environ["TRADEWIND_WEBHOOK_SECRET"]

# In the request handler; body is the raw bytes, before any parsing.
try:
    verify(SECRET, request.headers, body)
except VerificationError as error:
    return 401, str(error)
"""
VERIFY_PLAIN = """\
import hashlib, hmac, os, time

secret = os.environ["TRADEWIND_WEBHOOK_SECRET"].encode()
timestamp = headers["X-Service-Timestamp"]
signed = timestamp.encode() + b"." + body
expected = "sha256=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()
genuine = hmac.compare_digest(expected, headers["X-Service-Signature"])
fresh = abs(time.time() - int(timestamp)) <= 300
"""
VERIFY_OPENSSL = """\
# body.json holds the raw body; the result is X-Service-Signature after "sha256=".
{ printf '%s.' "$TIMESTAMP"; cat body.json; } | openssl dgst -sha256 -hmac "$SECRET"
"""


class HeaderLine(NamedTuple):
    """One header; a repeated name is a line of its own."""

    name: str
    value: str


def curl_as_sent(url: str, headers: Sequence[HeaderLine], body: str) -> str:
    """The request as it was sent; an endpoint that checks the timestamp rejects it later."""
    return _curl(url, [quote(f"{header.name}: {header.value}") for header in headers], quote(body))


def curl_signed_now(url: str, headers: Sequence[HeaderLine], body: str) -> str:
    """The same request, signed when the command is run."""
    fixed = [
        quote(f"{header.name}: {header.value}")
        for header in headers
        if header.name not in _SIGNED_ANEW
    ]
    fresh = [f'"{names.TIMESTAMP}: $NOW"', f'"{names.SIGNATURE}: sha256=$SIGNATURE"']
    return (
        f"SECRET={quote(_SECRET_PLACEHOLDER)}  # the secret of the webhook\n"
        f"BODY={quote(body)}\n"
        "NOW=$(date +%s)\n"
        'SIGNATURE=$(printf \'%s.%s\' "$NOW" "$BODY" | '
        "openssl dgst -sha256 -hmac \"$SECRET\" | sed 's/^.* //')\n"
        + _curl(url, [*fixed, *fresh], '"$BODY"')
    )


def _curl(url: str, headers: list[str], body: str) -> str:
    lines = [f"curl -X POST {quote(url)}", *(f"-H {header}" for header in headers)]
    return " \\\n  ".join([*lines, f"--data-raw {body}"])


def pretty(text: str | None) -> str | None:
    r"""Indented JSON; None if the text is not JSON, or cannot be shown so.

    A few kilobytes of brackets become megabytes of spaces, and `\ud800` is not a character.
    """
    try:
        shown = json.dumps(json.loads(text or ""), indent=2, ensure_ascii=False)
        return shown if len(shown.encode()) <= _LARGEST_PRETTY else None
    except (ValueError, RecursionError):
        return None


_BY_CODE: Mapping[str, str] = {
    "redirect": "Set the URL of the webhook to the target of the redirect, including a trailing "
    "slash and www.",
    "connection_refused": "Check that the endpoint is running, that it listens on the port of the "
    "URL, and that its firewall allows connections from the internet.",
    "connect_timeout": "Check that the host is up, that its firewall does not drop packets, and "
    "that the port of the URL is right.",
    "tls_timeout": "The endpoint accepted the connection but did not start TLS. Check for an "
    "overloaded proxy, or a port that does not use TLS.",
    "response_timeout": "Respond with 2xx as soon as the event is stored, and process it "
    "afterwards: an attempt waits ten seconds.",
    "certificate_expired": "Renew the certificate and reload the server.",
    "certificate_not_yet_valid": "Check the clock of the machine that issued the certificate.",
    "certificate_self_signed": "Use a certificate of an authority that browsers trust.",
    "certificate_unknown_issuer": "Serve the whole certificate chain: usually an intermediate "
    "certificate is missing. Browsers download it themselves, which hides the mistake.",
    "certificate_wrong_name": "Use a certificate for the host name of the URL, or a URL with the "
    "host name of the certificate.",
    "tls_handshake_failed": "Enable TLS 1.2 or 1.3, do not require a client certificate, and check "
    "that the port of the URL is the TLS port.",
    "connection_closed": "Check the log of the endpoint for a crash or a restart, and any proxy "
    "in front of it. A server that closes connections after its responses must say so: "
    "Connection: close. If this happened once, nothing needs to be done.",
    "headers_incomplete": "Check the log of the endpoint for a crash while it responded, and any "
    "proxy in front of it.",
    "headers_too_large": "Send fewer or shorter response headers. The response body is not used.",
    "not_http": "Check that the port of the URL is the port of a web server.",
    "subscription_deleted": "A deleted webhook receives nothing. Create a new one and replay the "
    "missed events.",
    "subscription_inactive": "Enable the webhook, then replay the events it missed.",
    "event_no_longer_wanted": "Edit the webhook and select this event type again.",
    "event_filtered_out": "Edit the filter of the webhook if it should get such events.",
    "event_expired": "Read the order itself: it has the current state.",
    "recover_cancelled": "Start another replay if you need the events.",
}
_BY_STATUS: Mapping[int, str] = {
    400: "The endpoint rejected the request. Parse the body as JSON, and verify the signature over "
    "the raw bytes.",
    401: "The endpoint did not accept the signature. Check that it uses the current secret, "
    "including whsec_, and that it verifies the raw bytes before it parses them.",
    403: "Something in front of the endpoint blocked the request. Check the web application "
    "firewall, IP allow lists, and CSRF protection for this path.",
    404: "Nothing is at this path. Compare the URL of the webhook with the route of the endpoint.",
    405: "The path does not accept POST. Compare the URL with the route of the endpoint.",
    410: "The endpoint is gone for good. Change the URL, or delete the webhook.",
    413: "A proxy in front of the endpoint limits the body size. Deliveries are a few kilobytes.",
    415: "Let the endpoint accept Content-Type: application/json.",
    429: "The endpoint, or a proxy in front of it, limits the rate. Deliveries slow down "
    "automatically; raise the limit for this path if that is not enough.",
    502: "A proxy in front of the endpoint cannot reach it. Check that the endpoint is running.",
    503: "The endpoint is not ready. If this persists, check the services it depends on.",
    504: "A proxy in front of the endpoint timed out. Respond first, process afterwards.",
}
_BY_OUTCOME: Mapping[str, str] = {
    "dns_error": "Check the spelling of the host name, and that its DNS record exists.",
    "blocked_address": "Only public addresses are allowed. Use a public host name, or a tunnel "
    "with a public host name during development.",
    "tls_error": "Check the certificate and the TLS settings of the endpoint.",
    "connect_failed": _BY_CODE["connection_refused"],
    "timeout": _BY_CODE["response_timeout"],
    "connection_closed": _BY_CODE["connection_closed"],
    "invalid_response": "Check what responds at this URL: it is not a working web server.",
    "unknown": "Nothing needs to be done: the delivery is retried automatically. The endpoint may "
    "have received it already, so process every event once.",
}
_CLIENT_ERROR = "The endpoint rejected the request. Its response below may contain the reason."
_SERVER_ERROR = "The endpoint failed. Check its log at the time of the attempt."


def advice(outcome: str, code: str | None, status: int | None) -> str:
    """How to fix it, in one or two sentences; empty if the attempt succeeded."""
    if outcome == "delivered":
        return ""
    if code is not None and code in _BY_CODE:
        return _BY_CODE[code]
    if status is not None and status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and outcome == "http_error":
        return _CLIENT_ERROR if status < 500 else _SERVER_ERROR  # noqa: PLR2004 - HTTP's classes
    return _BY_OUTCOME.get(outcome, "")


def advice_about(attempt: LoggedAttempt) -> str:
    """How to fix a logged attempt."""
    return advice(attempt.outcome, attempt.error_code, attempt.status_code)


def webhook_path(subscription_id: UUID) -> str:
    return f"/webhooks/{ids.SUBSCRIPTION.show(subscription_id)}"


def webhook_state(webhook: Subscription, health: SubscriptionHealth) -> str:
    """The health of an active webhook; otherwise `inactive`, or `disabled` after failures.

    A webhook that was never tried is `untried`, not healthy.
    """
    if not webhook.is_active:
        return "disabled" if webhook.disabled_reason else "inactive"
    was_tried = health.last_success_at or health.last_failure_at or health.failing_since
    return str(webhook.health) if was_tried else "untried"


def show_filter(event_filter: EventFilter | None) -> str:
    """Which orders a webhook is about, in one line."""
    if event_filter is None:
        return "None: all orders"
    platforms = ", ".join(map(marketplace, event_filter.platforms or ()))
    statuses = ", ".join(map(label, event_filter.statuses or ()))
    return "; ".join(filter(None, [platforms, statuses]))


def show_headers(header_names: Sequence[str]) -> str:
    """The headers of a webhook as the form shows them: a line each, the values masked."""
    return "\n".join(f"{name}: {names.MASK}" for name in header_names)


def read_headers(text: str) -> dict[str, str]:
    """Headers as people type them, a line each: `Name: value`."""
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


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
        return curl_as_sent(self.url or "", self.headers, self.body or "")

    @property
    def curl_signed_now(self) -> str:
        return curl_signed_now(self.url or "", self.headers, self.body or "")


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
        sent = headers(
            attempt.event, attempt.id, attempt.sent_at, attempt.signature, attempt.more_headers
        )
        lines = [f"User-Agent: {USER_AGENT}", *sent]
    parts = (line.partition(": ") for line in lines)
    return RequestView(
        url=attempt.url,
        headers=[HeaderLine(name, value) for name, _, value in parts],
        body=body,
        pretty_body=pretty(body),
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
        pretty_body=pretty(body),
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
