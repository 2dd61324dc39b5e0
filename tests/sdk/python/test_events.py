"""Events as typed values: what the server sends is read, and what is no event is named."""

import copy
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from tradewind_sdk.webhooks import InvalidEvent, is_stale, parse_event

from tradewind import ids
from tradewind.events.catalogue import PAYMENT_UPDATED, OrderNews, compose

NOW = datetime(2026, 11, 15, 8, 0, 0, 500_000, UTC)
NEWS = OrderNews(
    id="ORD1",
    platform="sandbox",
    order_id=None,
    status="paid",
    payment_status="paid",
    platform_payment_status="paid",
    total_amount_cny=128.1,
    updated_at="2026-11-15T08:00:00.500Z",
)


def body(**changes: Any) -> bytes:
    """An event as the server composes it, with other fields of its order."""
    content = json.loads(compose(ids.new(), ids.new(), PAYMENT_UPDATED, NEWS, NOW).body)
    content["data"]["order"].update(changes)
    return json.dumps(content).encode()


def test_what_the_server_sends_is_read() -> None:
    event = parse_event(body())

    assert event.event == "payment.updated"
    assert event.id.startswith("evt_")
    assert not event.is_test
    assert event.created_at == NOW
    order = event.data.order
    assert {name: getattr(order, name) for name in order.__dataclass_fields__} == {
        **msgspec.to_builtins(NEWS),
        "total_amount_cny": Decimal("128.1"),
        "updated_at": NOW,
    }
    assert not is_stale(event, NOW)
    assert is_stale(event, "2026-11-15T08:00:00.501Z")


@pytest.mark.parametrize(
    ("amount", "read"), [(None, None), (128, Decimal(128)), (0.01, Decimal("0.01")), (1e9, 10**9)]
)
def test_amounts_are_exact(amount: float | None, read: Decimal | None) -> None:
    assert parse_event(body(total_amount_cny=amount)).data.order.total_amount_cny == read


def test_new_fields_and_values_are_no_error() -> None:
    content = json.loads(body(status="new", parcels=[1]))
    content |= {"event": "parcel.lost", "version": 2}

    event = parse_event(json.dumps(content).encode())

    assert (event.event, event.data.order.status) == ("parcel.lost", "new")
    assert (event.raw["version"], event.raw["data"]["order"]["parcels"]) == (2, [1])


@pytest.mark.parametrize(
    ("pointer", "value", "sentence"),
    [
        (["id"], None, "id is not a text."),
        (["id"], "", "id is not a text."),
        (["event"], 1, "event is not a text."),
        (["created_at"], "yesterday", "created_at is not a time with a time zone."),
        (["data"], [], "data is not an object."),
        (["data", "order"], None, "data.order is not an object."),
        (["data", "order", "id"], {}, "data.order.id is not a text."),
        (["data", "order", "order_id"], 1688001, "data.order.order_id is not a text."),
        (
            ["data", "order", "total_amount_cny"],
            "1",
            "data.order.total_amount_cny is not",
        ),
        (["data", "order", "total_amount_cny"], True, "total_amount_cny is not a number."),
        (["data", "order", "total_amount_cny"], float("nan"), "total_amount_cny is not a number."),
        (["data", "order", "updated_at"], "2026-11-15T08:00:00", "data.order.updated_at is not"),
        (["data", "order", "updated_at"], 5, "data.order.updated_at is not a time"),
    ],
)
def test_the_wrong_field_is_named(pointer: list[str], value: Any, sentence: str) -> None:
    content = json.loads(body())
    parent = content
    for name in pointer[:-1]:
        parent = parent[name]
    parent[pointer[-1]] = copy.deepcopy(value)

    with pytest.raises(InvalidEvent) as error:
        parse_event(json.dumps(content).encode())

    assert sentence in str(error.value)


@pytest.mark.parametrize("wrong", [b"", b"{", b"\xff", b"[" * 100_000, b'"evt_1"', b"null"])
def test_what_is_not_an_object_is_no_event(wrong: bytes) -> None:
    with pytest.raises(InvalidEvent):
        parse_event(wrong)
