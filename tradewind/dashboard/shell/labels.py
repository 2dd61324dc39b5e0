"""Values as people read them: statuses with their tone, amounts, times, durations, IDs. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from tradewind import clock, ids
from tradewind.platforms.model import Line
from tradewind.platforms.registry import MARKETPLACES

# Counts of a page stop after this one, so that the page stays cheap.
LARGEST_COUNT = 10_000

Tone = Literal["good", "bad", "waiting", "plain"]

_GOOD = frozenset([
    "active", "approved", "completed", "connected", "delivered", "done", "healthy", "ok", "paid",
    "passed", "placed", "received", "shipped", "succeeded", "yes",
])  # fmt: skip
_BAD = frozenset([
    "blocked_address", "connect_failed", "connection_closed", "create_failed", "disabled",
    "disconnected", "dns_error", "error", "expired", "failed", "failing", "http_error",
    "invalid_response", "locked", "rejected", "revoked", "timeout", "tls_error",
])  # fmt: skip
_WAITING = frozenset([
    "checking", "creating", "expiring", "ordering", "partially_paid", "partially_refunded",
    "partially_shipped", "pending", "pending_approval", "pending_payment", "processing", "queued",
    "retrying", "running", "under_way", "unknown", "waiting",
])  # fmt: skip

_LABELS: Mapping[str, str] = {
    # The status of an order and of its payment.
    "create_failed": "Creation failed",
    "pending_payment": "Awaiting payment",
    "pending_approval": "Awaiting approval",
    # The outcome of an attempt.
    "http_error": "HTTP error",
    "timeout": "Timed out",
    "dns_error": "DNS error",
    "connect_failed": "Connection failed",
    "tls_error": "TLS error",
    "under_way": "In progress",
    # What triggered a delivery or a replay.
    "redeliver": "Resend",
    "recover": "Replay",
    "catch_up": "Automatic",
    "request": "Manual",
    # Why a delivery ended unsent.
    "subscription_deleted": "Webhook deleted",
    "subscription_inactive": "Webhook disabled",
    "event_no_longer_wanted": "Event type not selected",
    "event_filtered_out": "Filtered out",
    "recover_cancelled": "Replay cancelled",
    # The health of a webhook, and why an event did not reach it.
    "ok": "Healthy",
    "untried": "No deliveries yet",
    "disabled": "Disabled automatically",
    "inactive": "Disabled",
    "created_later": "Webhook created later",
    "filtered": "Filtered out",
    "not_queued": "Never queued",
    # How a payment is made, and why it was superseded.
    "paid_outside": "Paid at the marketplace",
    "auto": "Automatic debit",
    "link": "Payment link",
    # The capabilities of a marketplace.
    "detail": "Product details",
    "create": "Orders",
    "pay_auto": "Automatic debit",
    "pay_link": "Payment link",
}

_EXPLANATIONS: Mapping[str, str] = {
    "delivered": "The endpoint responded with a 2xx status.",
    "http_error": "The endpoint responded with a status other than 2xx.",
    "timeout": "The endpoint did not respond within 10 seconds.",
    "dns_error": "The host name does not resolve.",
    "connect_failed": "The endpoint did not accept the connection.",
    "tls_error": "The TLS handshake failed, or the certificate is not trusted.",
    "blocked_address": "The host name resolves to an address that is not allowed.",
    "connection_closed": "The endpoint closed the connection before it responded.",
    "invalid_response": "The response of the endpoint is not valid HTTP.",
    "unknown": "The request was sent, but the worker stopped before it recorded the response.",
    "cancelled": "The delivery was cancelled before it was sent.",
    "creating": "The order is being created at the marketplace.",
    "create_failed": "The marketplace rejected the order.",
    "pending_payment": "The marketplace has the order and awaits the payment.",
    "pending_approval": "Another person must approve the payment.",
    "processing": "The marketplace is processing the payment.",
}

_ID_KINDS: Mapping[str, ids.Kind] = {
    "account": ids.ACCOUNT,
    "address": ids.ADDRESS,
    "key": ids.API_KEY,
    "audit": ids.AUDIT,
    "cart_line": ids.CART_LINE,
    "checkout": ids.CHECKOUT,
    "delivery": ids.DELIVERY,
    "event": ids.EVENT,
    "import": ids.IMPORT,
    "job": ids.JOB,
    "order": ids.ORDER,
    "payment": ids.PAYMENT,
    "refund": ids.REFUND,
    "session": ids.SESSION,
    "test_event": ids.TEST_EVENT,
    "webhook": ids.SUBSCRIPTION,
}


def label(code: object) -> str:
    """A status or code in plain words: `awaiting_x` without a label of its own is "Awaiting x"."""
    text = "" if code is None else str(code)
    if not text:
        return "—"
    return _LABELS.get(text) or text[0].upper() + text[1:].replace("_", " ")


def explanation(code: object) -> str:
    """One sentence about an outcome or a status; empty if there is none."""
    return _EXPLANATIONS.get(str(code), "")


def tone(code: object) -> Tone:
    """Whether a status is good, bad, in progress, or neither."""
    text = str(code)
    if text in _GOOD:
        return "good"
    if text in _BAD:
        return "bad"
    return "waiting" if text in _WAITING else "plain"


def marketplace(platform: str) -> str:
    """The name of a marketplace: `alibaba` is 1688."""
    known = MARKETPLACES.get(platform)
    return known.traits.name if known else platform


def goods_title(lines: Sequence[Line]) -> str:
    """What an order buys, in a few words: `Denim dress and 2 more`; empty if it is not known."""
    goods = next((line.goods for line in lines if line.goods), None)
    title = (goods.title_translated or goods.title) if goods else None
    if not title:
        return ""
    return title if len(lines) == 1 else f"{title} and {len(lines) - 1:,} more"


def choices(codes: Iterable[str]) -> list[tuple[str, str]]:
    """The options of a select field: each code with its label."""
    return [(str(code), label(code)) for code in codes]


def iso(moment: datetime | str) -> str:
    """A time for machines; a text is taken to be one already."""
    return moment if isinstance(moment, str) else clock.show(moment)


def utc(moment: datetime | str) -> str:
    """A time for people, to the second, in UTC."""
    parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return f"{parsed.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def yuan(cny: float | None) -> str:
    """An amount of yuan for people: `CNY 1,234.50`."""
    return "—" if cny is None else f"CNY {cny:,.2f}"


def fen(amount: int | None) -> str:
    """An amount of fen for people: `CNY 1,234.50`."""
    return "—" if amount is None else yuan(amount / 100)


def number(count: float | None) -> str:
    return "—" if count is None else f"{count:,}"


def limited_count(count: int) -> str:
    """A count that stopped after `LARGEST_COUNT`."""
    return f"{LARGEST_COUNT:,}+" if count > LARGEST_COUNT else f"{count:,}"


def percent(share: float | None) -> str:
    """A share from 0 to 1; only a whole one is 100 %."""
    if share is None:
        return "—"
    text = f"{share * 100:.1f}"
    return "99.9 %" if text == "100.0" and share < 1 else f"{text.removesuffix('.0')} %"


def duration(seconds: float | None) -> str:
    """A duration in readable units: `40 ms`, `3.2 s`, `2 h 5 min`."""
    if seconds is None:
        return "—"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    minutes = int(seconds // 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h" if hours % 24 else f"{days} d"
    if hours:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{minutes} min"


def show_id(value: UUID | str | None, kind: str) -> str:
    """An ID as the API shows it: `{{ order.id | id("order") }}`; a text is taken to be one."""
    if value is None:
        return "—"
    return value if isinstance(value, str) else _ID_KINDS[kind].show(value)


def initials(name: str) -> str:
    """Two letters for a person: of the first and the last word, or the first two of one."""
    words = re.findall(r"\w+", name.partition("@")[0])
    letters = [word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)]
    return ("".join(letters) if len(letters) > 1 else (words or ["?"])[0][:2]).upper()
