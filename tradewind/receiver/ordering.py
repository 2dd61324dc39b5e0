"""Ordering: detects outdated events of an order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def is_old(event: Mapping[str, Any], held: datetime | str | None) -> bool:
    """Whether to ignore an event, because a newer state of its order is held already.

    `held` is the `data.order.updated_at` of the newest event that you have applied to the order, as
    it came or as a datetime; None if there is none. An equally new event is not old: an order
    and its payment may change together, and then two events tell of the same state.

    Compare and store in one transaction, with the order's row locked, or two events that arrive
    together may both win.
    """
    return held is not None and updated_at(event) < _time(held)


def updated_at(event: Mapping[str, Any]) -> datetime:
    """When the order in an event was last changed; ValueError if the event does not say."""
    try:
        text = event["data"]["order"]["updated_at"]
    except (KeyError, TypeError):
        raise ValueError("The event has no data.order.updated_at.") from None
    return _time(text)


def _time(value: datetime | str) -> datetime:
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    if time.tzinfo is None:
        raise ValueError(f"{value} does not say in which time zone it is.")
    return time
