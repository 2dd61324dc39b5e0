"""The events that webhooks carry, as typed values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any


class InvalidEvent(ValueError):
    """A body is not an event; the message names the field. Answer 400."""


@dataclass(frozen=True, slots=True)
class OrderState:
    """The order as it was right after the change that the event reports."""

    id: str
    """Our id of the order, `ORD…`: the key to look it up."""
    platform: str
    order_id: str | None
    """The id at the marketplace; None until the order exists there."""
    status: str
    payment_status: str
    platform_payment_status: str
    total_amount_cny: Decimal | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class EventData:
    """What an event is about."""

    order: OrderState


@dataclass(frozen=True, slots=True)
class Event:
    """One event. Events of a new kind and orders with a new status are events like the others."""

    id: str
    """`evt_…`; the same in every attempt and every resend."""
    event: str
    """`order.updated` or `payment.updated`."""
    created_at: datetime
    data: EventData
    raw: Mapping[str, Any] = field(repr=False, compare=False)
    """The whole body, with the fields that this version of the SDK does not know."""

    @property
    def is_test(self) -> bool:
        """Whether it was sent by `POST /v1/webhooks/:id/test`; its order does not exist."""
        return self.id.startswith("evt_test_")


def parse_event(body: bytes) -> Event:
    """Read a verified body, or raise InvalidEvent. Unknown fields are kept in `raw` only."""
    try:
        raw = json.loads(body.decode("utf-8"), parse_float=Decimal)
    except (ValueError, RecursionError):
        raise InvalidEvent("The body is not JSON in UTF-8.") from None
    return event_from(raw)


def event_from(raw: Any) -> Event:
    """Make an event of parsed JSON, for example of an item of `GET /v1/events`."""
    raw = _object(raw, "The body")
    data = _object(raw.get("data"), "data")
    order = _object(data.get("order"), "data.order")
    return Event(
        id=_text(raw, "id"),
        event=_text(raw, "event"),
        created_at=_time(raw, "created_at"),
        data=EventData(
            OrderState(
                id=_text(order, "id", "data.order."),
                platform=_text(order, "platform", "data.order."),
                order_id=_text_or_none(order, "order_id", "data.order."),
                status=_text(order, "status", "data.order."),
                payment_status=_text(order, "payment_status", "data.order."),
                platform_payment_status=_text(order, "platform_payment_status", "data.order."),
                total_amount_cny=_amount(order, "total_amount_cny", "data.order."),
                updated_at=_time(order, "updated_at", "data.order."),
            )
        ),
        raw=raw,
    )


def read_time(value: Any) -> datetime:
    """Read a time of the API; ValueError if it is none, or has no time zone."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a time.")  # noqa: TRY004 - bad data, not a bad call
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(f"{value} has no time zone.")
    return moment


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidEvent(f"{name} is not an object.")
    return value


def _text(parent: Mapping[str, Any], name: str, path: str = "") -> str:
    value = parent.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidEvent(f"{path}{name} is not a text.")
    return value


def _text_or_none(parent: Mapping[str, Any], name: str, path: str) -> str | None:
    return None if parent.get(name) is None else _text(parent, name, path)


def _time(parent: Mapping[str, Any], name: str, path: str = "") -> datetime:
    try:
        return read_time(parent.get(name))
    except ValueError:
        raise InvalidEvent(f"{path}{name} is not a time with a time zone.") from None


def _amount(parent: Mapping[str, Any], name: str, path: str) -> Decimal | None:
    value = parent.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InvalidEvent(f"{path}{name} is not a number.")
    # A float of the API has two decimals at most; its shortest text is the amount itself.
    amount = Decimal(str(value))
    if not amount.is_finite():
        raise InvalidEvent(f"{path}{name} is not a number.")
    return amount
