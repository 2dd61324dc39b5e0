"""Explaining a delivery: every verdict."""

from datetime import timedelta
from typing import Any

import pytest
from delivery.samples import NOW, a_subscription

from tradewind import ids
from tradewind.delivery.explain import explain
from tradewind.delivery.model import DeliveryTrigger, LoggedAttempt, QueuedDelivery
from tradewind.delivery.test_delivery import body_of
from tradewind.egress.result import Outcome
from tradewind.events.catalogue import EventKind
from tradewind.webhooks.model import EventFilter

_KIND: EventKind = "order.updated"
_ID = ids.new()


def attempt(outcome: str, number: int = 1, message: str | None = None) -> LoggedAttempt:
    return LoggedAttempt(
        id=ids.new(),
        subscription_id=_ID,
        event_id=_ID,
        event=_KIND,
        order_id=None,
        attempt=number,
        trigger=DeliveryTrigger.EVENT,
        outcome=Outcome(outcome),
        final=False,
        late=False,
        status_code=None,
        error_code=None,
        error_message=message,
        started_at=NOW,
        duration_ms=None,
        next_attempt_at=None,
    )


def queued(
    number: int = 1, *, under_way: bool = False, reason: str | None = None
) -> QueuedDelivery:
    return QueuedDelivery(_ID, number, NOW, under_way, reason)


_FAILED = [attempt("timeout", 3, "No answer."), attempt("http_error", 2), attempt("dns_error", 1)]
_GONE = [attempt("cancelled", 2, "It was switched off."), attempt("http_error", 1)]
_BEFORE = NOW - timedelta(seconds=1)
# Of an order on sandbox that is paid.
_BODY = body_of(_ID, _KIND)


@pytest.mark.parametrize(
    ("subscription", "kind", "created_at", "row", "attempts", "verdict", "words"),
    [
        ({}, _KIND, NOW, None, [attempt("delivered")], "delivered", "at 2026-11-15T01:02:03.004Z"),
        ({}, _KIND, NOW, queued(), [attempt("delivered")], "delivered", "delivered at"),
        ({}, _KIND, NOW, None, [attempt("delivered", 2), attempt("timeout")], "delivered", "at"),
        ({"is_active": False}, _KIND, NOW, None, [attempt("delivered")], "delivered", "at"),
        ({}, _KIND, NOW, queued(2), [attempt("http_error")], "waiting", "attempt 2, due at 2026"),
        ({}, _KIND, NOW, queued(), [], "waiting", "attempt 1"),
        ({}, _KIND, NOW, queued(3, under_way=True), [], "under_way", "Attempt 3 is being made"),
        ({}, _KIND, NOW, queued(), _FAILED, "waiting", "attempt 1"),
        (
            {},
            _KIND,
            NOW,
            queued(2, reason="subscription_inactive"),
            [attempt("http_error")],
            "cancelled",
            "It was cancelled: The subscription was switched off",
        ),
        (
            {},
            _KIND,
            NOW,
            queued(2, under_way=True, reason="subscription_inactive"),
            [],
            "under_way",
            "Attempt 2 is being made",
        ),
        ({}, _KIND, NOW, None, _FAILED, "failed", "Attempt 3 was the last, and failed: No answer."),
        ({}, _KIND, NOW, None, _GONE, "cancelled", "It was cancelled: It was switched off."),
        ({}, _KIND, _BEFORE, None, _FAILED, "failed", "Attempt 3"),
        (
            {},
            _KIND,
            _BEFORE,
            None,
            [],
            "created_later",
            "created later, at 2026-11-15T01:02:03.004Z",
        ),
        ({"is_active": False}, _KIND, _BEFORE, None, [], "created_later", "created later"),
        ({}, "payment.updated", NOW, None, [], "filtered", "does not list payment.updated"),
        (
            {"filter": EventFilter(["alibaba", "taobao"])},
            _KIND,
            NOW,
            None,
            [],
            "filtered",
            "the platform sandbox is not one of alibaba, taobao",
        ),
        (
            {"filter": EventFilter(["sandbox"], ["shipped"]), "is_active": False},
            _KIND,
            NOW,
            None,
            [],
            "filtered",
            "the status paid is not one of shipped",
        ),
        ({"filter": EventFilter(None, ["paid"])}, _KIND, NOW, None, [], "not_queued", "filtered"),
        ({"is_active": False}, _KIND, NOW, None, [], "inactive", "switched off"),
        ({}, _KIND, NOW, None, [], "not_queued", "It was not queued"),
    ],
)
def test_every_verdict(
    subscription: dict[str, Any],
    kind: str,
    created_at: Any,
    row: Any,
    attempts: list[Any],
    verdict: str,
    words: str,
) -> None:
    result = explain(a_subscription(**subscription), kind, created_at, _BODY, row, attempts)

    assert result.verdict == verdict
    assert words in result.sentence
