"""Goods on orders: what was bought, as it was seen when the order was placed."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kit.pages import Pages
from kit.system import PLAIN, System
from simulator.sandbox_kit import spec

pytestmark = pytest.mark.xdist_group("system")

DISCOUNTED = "900000000020"
UNKNOWN = {
    "title": None,
    "title_translated": None,
    "image_url": None,
    "attributes": None,
    "unit_price_cny": None,
    "seller": {"id": None, "name": None},
}


def detail_calls(system: System) -> int:
    calls: int = system.market.state()["counters"].get("detail.calls", 0)
    return calls


def goods(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name in UNKNOWN}


@pytest.mark.parametrize("platform", ["sandbox", "alibaba", "taobao"])
def test_an_order_shows_what_its_product_showed(system: System, platform: str) -> None:
    product = system.ok("GET", f"/v1/products/{platform}/{DISCOUNTED}")
    variant = product["skus"][0]
    body = system.order_body(DISCOUNTED, 3, platform=platform)

    placed = system.place(body).json()

    (item,) = placed["items"]
    assert {name: item[name] for name in body["items"][0]} == body["items"][0]
    assert goods(item) == {
        "title": product["title"],
        "title_translated": product["title_translated"],
        "image_url": variant["image_url"] or product["image_url"],
        "attributes": variant["attributes"],
        "unit_price_cny": 10,
        "seller": product["seller"],
    }
    assert product["seller"]["name"]
    assert system.look(placed["id"])["items"] == placed["items"]
    listed = system.ok("GET", "/v1/orders")["items"]
    assert [order["items"] for order in listed] == [placed["items"]]


def test_goods_are_a_part_of_the_first_version_and_of_no_change(system: System) -> None:
    order = system.place(system.order_body()).json()

    timeline = system.ok("GET", f"/v1/orders/{order['id']}/timeline")["items"]

    assert order["items"][0]["title"]
    assert [entry["version"] for entry in timeline] == list(range(order["version"], 0, -1))
    assert not any("items" in entry["changes"] for entry in timeline)
    assert timeline[-1]["changes"] == {}


def test_an_order_after_a_look_at_its_product_needs_no_further_call(system: System) -> None:
    for platform in ("sandbox", "alibaba"):
        system.ok("GET", f"/v1/products/{platform}/{DISCOUNTED}")
        body = system.order_body(DISCOUNTED, platform=platform)
        before = detail_calls(system)

        order = system.place(body).json()

        assert order["items"][0]["title"]
        assert detail_calls(system) == before


def test_each_variant_of_a_product_has_its_own_goods(system: System) -> None:
    product, body = PLAIN, system.order_body()
    variants = system.ok("GET", f"/v1/products/sandbox/{product}")["skus"]
    body["items"] = [
        {"product_id": product, "sku_id": variant["id"], "quantity": 1} for variant in variants
    ]

    order = system.place(body).json()

    attributes = [item["attributes"] for item in order["items"]]
    assert attributes == [variant["attributes"] for variant in variants]
    assert len({item["title"] for item in order["items"]}) == 1


@pytest.mark.parametrize("mode", ["http500", "hang", "garbage", "drop"])
def test_an_order_is_placed_in_time_although_its_goods_cannot_be_read(
    system: System, mode: str
) -> None:
    product = {"http500": 900000000004, "hang": 900000000005, "garbage": 900000000006}
    number = product.get(mode, 900000000015)
    body = system.order_body(platform="alibaba")
    body["items"] = [{"product_id": str(number), "sku_id": spec(number), "quantity": 1}]
    system.market.fault("detail", mode)
    began = time.monotonic()

    placed = system.place(body)

    assert placed.status_code == 201, placed.text
    assert time.monotonic() - began < 4


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("platform", ["sandbox", "alibaba", "taobao"])
def test_an_order_without_goods_gets_those_that_its_marketplace_names(
    quiet: System, platform: str, closing: ExitStack
) -> None:
    order = quiet.order(DISCOUNTED, 3, platform=platform)
    (known,) = order["items"]
    line = {name: known[name] for name in ("product_id", "sku_id", "quantity")}
    later = datetime.now(UTC) + timedelta(hours=1)
    quiet.force(order["id"], items=json.dumps([line]), next_sync_at=later)
    pages = Pages(quiet.api, quiet.buyer)
    closing.callback(pages.client.close)
    operator = Pages(quiet.api, quiet.api.operator())
    closing.callback(operator.client.close)
    (listed,) = quiet.ok("GET", "/v1/orders")["items"]
    assert listed["items"] == [{**line, **UNKNOWN}]
    for path in ("/orders", f"/orders/{order['id']}"):
        assert f"Product {DISCOUNTED}" in pages.get(path).text

    seen = quiet.look(order["id"])

    (item,) = seen["items"]
    assert item["title"] == known["title"]
    assert item["title_translated"] is None
    assert item["image_url"].endswith(".svg")
    assert list(item["attributes"].values()) != []
    assert item["unit_price_cny"] == known["unit_price_cny"] == 10
    assert item["seller"] == {"id": None, "name": known["seller"]["name"]}
    # It is a change that callers see, and no event.
    assert (seen["version"], seen["status"]) == (order["version"] + 1, order["status"])
    change = quiet.ok("GET", f"/v1/orders/{order['id']}/timeline")["items"][0]
    assert (change["cause"], change["events"]) == ("sync", [])
    assert change["changes"] == {"items": {"from": [{**line, **UNKNOWN}], "to": [item]}}
    for path in ("/orders", f"/orders/{order['id']}"):
        assert item["title"] in pages.get(path).text
    assert item["title"] in operator.get("/admin/orders").text
    # A second sync finds nothing new.
    assert quiet.look(order["id"])["version"] == seen["version"]


def test_the_timeline_names_what_was_ordered_and_what_is_in_a_parcel(system: System) -> None:
    body = system.order_body()
    variants = system.ok("GET", f"/v1/products/sandbox/{PLAIN}")["skus"][:2]
    body["items"] = [
        {"product_id": PLAIN, "sku_id": variant["id"], "quantity": number}
        for number, variant in enumerate(variants, 2)
    ]
    order = system.place(body).json()
    title, variant = order["items"][0]["title_translated"], order["items"][0]["attributes"]
    pages = Pages(system.api, system.buyer)

    timeline = pages.get(f"/orders/{order['id']}").text.partition('id="timeline"')[2]

    accepted = timeline.partition("Order accepted")[2]
    assert f"2 \u00d7 {' · '.join([title, *variant.values()])}" in accepted
    pages.client.close()


def test_a_note_goes_with_the_request(system: System) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}/payment"
    for body, pointer in (({"note": "x" * 501}, "/note"), ({"note": 5}, "/note")):
        problem = system.refused("POST", path, 422, "validation_failed", json=body)
        assert [error["pointer"] for error in problem["errors"]] == [pointer]

    requested = system.ok("POST", path, json={"note": "  Restock.\nSoon. "})

    assert requested["note"] == "Restock.\nSoon."
    seen = system.ok("GET", f"/v1/payments/{requested['id']}", by=system.approver)
    assert (seen["note"], seen["order"]["payment"]["note"]) == (requested["note"],) * 2
    system.refused(
        "POST",
        f"/v1/payments/{requested['id']}/approve",
        422,
        "validation_failed",
        by=system.approver,
        json={"note": "mine"},
    )
    approved = system.approve(requested["id"])
    assert approved["note"] == requested["note"]


def test_a_blank_note_is_none(system: System) -> None:
    order = system.order()

    requested = system.ok("POST", f"/v1/orders/{order['id']}/payment", json={"note": " \n "})

    assert requested["note"] is None
