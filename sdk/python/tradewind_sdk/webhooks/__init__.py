"""Receives webhooks: verify, parse, de-duplicate, ignore stale. Needs the standard library only."""

from tradewind_sdk.webhooks.dedupe import (
    AsyncDeduplicator,
    Deduplicator,
    EventInProgress,
    MemoryDeduplicator,
)
from tradewind_sdk.webhooks.events import Event, EventData, InvalidEvent, OrderState, parse_event
from tradewind_sdk.webhooks.ordering import MemoryOrdering, is_stale
from tradewind_sdk.webhooks.receiver import WebhookReceiver
from tradewind_sdk.webhooks.verify import (
    Delivery,
    VerificationError,
    VerificationFailure,
    verify,
)

__all__ = [
    "AsyncDeduplicator",
    "Deduplicator",
    "Delivery",
    "Event",
    "EventData",
    "EventInProgress",
    "InvalidEvent",
    "MemoryDeduplicator",
    "MemoryOrdering",
    "OrderState",
    "VerificationError",
    "VerificationFailure",
    "WebhookReceiver",
    "is_stale",
    "parse_event",
    "verify",
]
