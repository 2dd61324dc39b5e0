"""Words: statuses and codes as people read them, and whether they are good news. Pure."""

from collections.abc import Mapping
from typing import Any

from tradewind.dashboard.shell.flash import Tone

_GOOD = frozenset(
    {
        "delivered",
        "paid",
        "completed",
        "ok",
        "active",
        "approved",
        "received",
        "shipped",
        "done",
        "healthy",
        "connected",
        "passed",
        "succeeded",
        "yes",
    }
)
_BAD = frozenset(
    {
        "failed",
        "rejected",
        "create_failed",
        "http_error",
        "timeout",
        "dns_error",
        "connect_failed",
        "tls_error",
        "blocked_address",
        "connection_closed",
        "invalid_response",
        "failing",
        "locked",
        "revoked",
        "disabled",
        "refused",
        "error",
        "expired",
        "disconnected",
    }
)
_WAITING = frozenset(
    {
        "pending",
        "pending_payment",
        "pending_approval",
        "processing",
        "creating",
        "waiting",
        "under_way",
        "queued",
        "running",
        "partially_shipped",
        "partially_paid",
        "partially_refunded",
        "unknown",
        "retrying",
        "expiring",
    }
)

_WORDS: Mapping[str, str] = {
    # An order, and its money.
    "creating": "being placed",
    "create_failed": "could not be placed",
    "pending_payment": "waits for payment",
    "partially_shipped": "partly shipped",
    "pending_approval": "waits for approval",
    "partially_refunded": "partly refunded",
    "partially_paid": "partly paid",
    # An attempt to deliver.
    "http_error": "error answer",
    "timeout": "no answer in time",
    "dns_error": "name not found",
    "connect_failed": "no connection",
    "tls_error": "TLS failed",
    "blocked_address": "address not allowed",
    "connection_closed": "Connection closed",
    "invalid_response": "unreadable answer",
    "under_way": "under way",
    # Why something was delivered.
    "redeliver": "sent again",
    "recover": "recovery",
    # Why a delivery ended unsent.
    "subscription_deleted": "webhook was deleted",
    "subscription_inactive": "webhook was switched off",
    "event_no_longer_wanted": "event no longer wanted",
    "event_expired": "event no longer kept",
    "recover_cancelled": "recovery was cancelled",
    # How a webhook is, and what became of an event at it.
    "ok": "healthy",
    "disabled": "switched off: only failed",
    "inactive": "switched off",
    "created_later": "webhook is younger",
    "filtered": "kind not listed",
    "not_queued": "never queued",
    "catch_up": "by itself",
    "request": "asked for",
    # How a payment is made.
    "superseded": "overtaken",
    "amount_changed": "the amount changed",
    "paid_outside": "paid on the platform itself",
    "order_closed": "the order was closed",
    "auto": "debited by us",
    "link": "paid by a person",
    # What a marketplace can.
    "detail": "look at products",
    "pay_auto": "pay by debit",
    "pay_link": "pay by link",
}

_EXPLAINED: Mapping[str, str] = {
    "delivered": "The receiver answered with a status from 200 to 299.",
    "http_error": "The receiver answered, but not with a status from 200 to 299.",
    "timeout": "The receiver did not answer within ten seconds.",
    "dns_error": "The name in the URL leads to no address.",
    "connect_failed": "Nobody accepted the connection at the receiver's address.",
    "tls_error": "The receiver's certificate or its TLS could not be trusted.",
    "blocked_address": "The name leads to an address that must not be called from here.",
    "connection_closed": "The endpoint closed the connection before it answered.",
    "invalid_response": "What the receiver answered is not HTTP that can be read.",
    "unknown": "It was sent, but the process that sent it ended before it saw the answer.",
    "cancelled": "It was not sent any more.",
    "creating": "The order is being placed at its marketplace.",
    "create_failed": "The marketplace refused the order; the reason stands beside it.",
    "pending_payment": "The marketplace has the order, and waits for the money.",
    "pending_approval": "A payment was requested; somebody else must approve it.",
    "processing": "The payment is under way at the marketplace.",
}


def word(code: Any) -> str:
    """A status or code in plain words; one that has no words of its own, with its lines away."""
    text = "" if code is None else str(code)
    return _WORDS.get(text, text.replace("_", " ")) or "—"


def explained(code: Any) -> str:
    """One sentence about an outcome or a status; empty when there is none."""
    return _EXPLAINED.get(str(code), "")


def tone(code: Any) -> Tone:
    """Whether a status is good news, bad news, on its way, or neither."""
    text = str(code)
    if text in _GOOD:
        return "good"
    if text in _BAD:
        return "bad"
    return "waiting" if text in _WAITING else "plain"
