"""The catalogue of event types: every cause with an example in the bytes that are sent."""

import re

import msgspec
import pytest
from kit.system import System

from tradewind.events.catalogue import EventBody
from tradewind.events.event_types import EVENT_TYPES
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments.model import PaymentStatus

pytestmark = pytest.mark.xdist_group("system")

_VALUE = re.compile(rb'":(?:"[^"]*"|[0-9.]+|null)')


def test_examples_are_spelled_as_deliveries_are(quiet: System) -> None:
    order = quiet.paid()
    journal = quiet.call("GET", f"/v1/events?order={order['id']}").content
    answer = quiet.call("GET", "/v1/event-types")

    assert answer.status_code == 200
    (spelling,) = {
        _VALUE.sub(b'":', body)
        for body in re.findall(rb'\{"id":"evt_.*?\}\}\}', journal + answer.content)
    }
    assert spelling.startswith(b'{"id":,"event":,"created_at":,"data":{"order":{"id":,')
    items = answer.json()["items"]
    assert [item["event"] for item in items] == ["order.updated", "payment.updated"]
    for item in items:
        for cause in item["causes"]:
            body = msgspec.convert(cause["example"], EventBody)
            assert msgspec.json.encode(body) in answer.content
            assert body.event == item["event"]
            assert body.data.order.status in list(OrderStatus)
            assert body.data.order.payment_status in list(PaymentStatus)
    assert quiet.call("GET", "/v1/event-types?x=1").status_code == 422


def test_every_example_has_an_id_of_its_own() -> None:
    examples = [cause.example for kind in EVENT_TYPES for cause in kind.causes]

    assert len({example.id for example in examples}) == len(examples) == 12
