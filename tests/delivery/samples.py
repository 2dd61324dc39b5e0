"""Sample values for tests: a claimed delivery, its subscription, the result of an attempt."""

from datetime import UTC, datetime
from inspect import signature
from typing import Any
from uuid import UUID

from tradewind.delivery.model import ClaimedDelivery, DeliveryTrigger, Destination
from tradewind.webhooks.model import Subscription

NOW = datetime(2026, 11, 15, 1, 2, 3, 4000, tzinfo=UTC)
ACCOUNT, HOOK, EVENT, ORDER = UUID(int=1), UUID(int=2), UUID(int=3), UUID(int=4)


def a_claim(**more: Any) -> ClaimedDelivery:
    plain: dict[str, Any] = {
        "claimed_at": 0.0,
        "id": UUID(int=5),
        "account_id": ACCOUNT,
        "subscription_id": HOOK,
        "generation": 7,
        "event_id": EVENT,
        "event_at": NOW,
        "event": "order.updated",
        "order_id": ORDER,
        "body": b"{}",
        "attempt": 1,
        "delivery_id": UUID(int=6),
        "trigger": DeliveryTrigger.EVENT,
        "replay_id": None,
        "due": NOW.timestamp(),
    }
    known = signature(ClaimedDelivery).parameters
    return ClaimedDelivery(
        **{name: value for name, value in (plain | more).items() if name in known}
    )


def a_destination(**more: Any) -> Destination:
    plain: dict[str, Any] = {
        "id": HOOK,
        "account_id": ACCOUNT,
        "url": "http://127.0.0.1:1/hook",
        "events": frozenset({"order.updated"}),
        "is_active": True,
        "generation": 7,
        "sealed_secret": b"",
        "catch_up": False,
        "version": 1,
    }
    return Destination(**(plain | more))


def a_subscription(**more: Any) -> Subscription:
    plain: dict[str, Any] = {
        "id": HOOK,
        "account_id": ACCOUNT,
        "url": "http://127.0.0.1:1/hook",
        "events": ["order.updated"],
        "is_active": True,
        "generation": 7,
        "description": "",
        "catch_up": False,
        "header_names": [],
        "standard_webhooks": False,
        "filter": None,
        "disabled_reason": None,
        "failing_since": None,
        "created_at": NOW,
        "updated_at": NOW,
        "secret_rotated_at": None,
    }
    return Subscription(**(plain | more))
