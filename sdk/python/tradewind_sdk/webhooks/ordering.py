"""Detects stale events: those older than the state of the order that is held already."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tradewind_sdk.webhooks.events import Event, read_time


def is_stale(event: Event | Mapping[str, Any], held: datetime | str | None) -> bool:
    """Whether to ignore an event, because a newer state of its order is held already.

    `held` is the `data.order.updated_at` of the newest event that you have applied to the order,
    as it came or as a datetime; None if there is none. An equally new event is not stale: an
    order and its payment may change together, and then two events show the same state.

    Compare and store in one transaction, with the order's row locked. Otherwise two events that
    arrive together may both win.
    """
    return held is not None and updated_at(event) < _aware(held)


def updated_at(event: Event | Mapping[str, Any]) -> datetime:
    """When the order in an event last changed; ValueError if the event does not say."""
    if isinstance(event, Event):
        return event.data.order.updated_at
    try:
        text = event["data"]["order"]["updated_at"]
    except (KeyError, TypeError):
        raise ValueError("The event has no data.order.updated_at.") from None
    return _aware(text)


def _aware(value: datetime | str) -> datetime:
    if not isinstance(value, datetime):
        return read_time(value)
    if value.tzinfo is None:
        raise ValueError(f"{value} has no time zone.")
    return value
