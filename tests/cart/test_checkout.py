"""Previewing and ordering a cart: groups, errors of one group, and nothing ordered twice."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from cart.test_cart import OTHER_SELLER, add, fill, lines
from kit.system import ADDRESS, PLAIN, System

from tradewind import ids

pytestmark = pytest.mark.xdist_group("system")

SOLD_OUT, SELLS_OUT_AT_CREATE = "900000000002", "900000000012"
# What an order shows of its goods, as the cart does.
SEEN = ("title", "title_translated", "image_url", "attributes", "unit_price_cny", "seller")


def order(system: System, key: str = "", **more: Any) -> Any:
    headers = {"idempotency-key": key or f"cart-{time.time_ns()}"}
    wanted = {"address": ADDRESS, **more}
    return system.call("POST", "/v1/cart/order", json=wanted, headers=headers)


def ordered(system: System, key: str = "", **more: Any) -> Any:
    answer = order(system, key, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def orders(system: System) -> list[Any]:
    result: list[Any] = system.ok("GET", "/v1/orders?limit=100")["items"]
    return result


def products_of(group: Any) -> list[str]:
    return [item["product_id"] for item in group["items"]]


def test_lines_are_grouped_by_platform_and_seller(system: System) -> None:
    add(system, PLAIN, 3)
    add(system, OTHER_SELLER, 10)
    add(system, PLAIN, 1, platform="taobao")
    add(system, OTHER_SELLER, 1, platform="taobao")

    preview = system.ok("POST", "/v1/cart/preview", json={"address": ADDRESS})

    groups = preview["groups"]
    assert [(group["platform"], products_of(group)) for group in groups] == [
        ("sandbox", [PLAIN]),
        ("sandbox", [OTHER_SELLER]),
        ("taobao", [PLAIN, OTHER_SELLER]),
    ]
    assert groups[0]["seller"]["name"] == "杭州市沙盒测试有限公司"
    assert [group["error"] for group in groups] == [None, None, None]
    assert [group["preview"]["total_amount_cny"] for group in groups[:2]] == [35, 98]
    total = sum(group["preview"]["total_amount_cny"] for group in groups)
    assert preview["total_amount_cny"] == pytest.approx(total)
    assert orders(system) == []
    assert len(lines(system)) == 4


def test_every_group_becomes_an_order_and_leaves_the_cart(system: System) -> None:
    add(system, PLAIN, 3)
    add(system, OTHER_SELLER, 10)

    result = ordered(system)

    assert result["complete"] is True
    placed = [group["order"] for group in result["groups"]]
    assert [item["total_amount_cny"] for item in placed] == [35, 98]
    assert {order["id"] for order in orders(system)} == {item["id"] for item in placed}
    assert placed[0]["address"] == {**ADDRESS, "postal_code": None}
    for group in result["groups"]:
        (item,), (line,) = group["order"]["items"], group["items"]
        assert {name: item[name] for name in SEEN} == {name: line[name] for name in SEEN}
    assert lines(system) == []


def test_only_the_named_lines_are_ordered(system: System) -> None:
    first, second = add(system, PLAIN), add(system, OTHER_SELLER)

    result = ordered(system, lines=[second["id"], second["id"]])

    assert [products_of(group) for group in result["groups"]] == [[OTHER_SELLER]]
    assert lines(system) == [first]


def test_a_repeat_gets_the_same_bytes_and_orders_nothing(system: System) -> None:
    add(system)

    first, again = order(system, "same"), order(system, "same")

    assert (first.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert len(orders(system)) == 1
    other = order(system, "same", lines=[ids.CART_LINE.show(ids.new())])
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def rename_product(system: System, old: str, new: str) -> None:
    """Let a product vanish from its marketplace, or come back: its lines get another id."""
    system.api.fetch(
        "UPDATE cart_line SET product_id = $3 WHERE account_id = $1 AND product_id = $2",
        system.buyer.uuid,
        old,
        new,
    )
    system.api.fetch(
        """
        UPDATE cart_checkout_group SET lines = replace(lines::text, $2, $3)::json
         WHERE account_id = $1
        """,
        system.buyer.uuid,
        old,
        new,
    )


def test_a_group_that_fails_leaves_the_others_ordered_and_a_repeat_finishes_it(
    system: System,
) -> None:
    add(system, PLAIN, 2)
    add(system, OTHER_SELLER, 1)
    rename_product(system, OTHER_SELLER, "900000009999")

    half = ordered(system, "half")

    good, bad = half["groups"]
    assert half["complete"] is False
    assert (good["error"], bad["order"]) == (None, None)
    assert (bad["error"]["code"], bad["error"]["status"]) == ("items_unavailable", 422)
    assert [line["product_id"] for line in lines(system)] == ["900000009999"]
    assert [order["id"] for order in orders(system)] == [good["order"]["id"]]

    rename_product(system, "900000009999", OTHER_SELLER)
    lease = "UPDATE cart_checkout SET lease_until = now() + $2 WHERE account_id = $1"
    system.api.fetch(lease, system.buyer.uuid, timedelta(minutes=1))
    busy = order(system, "half")
    assert (busy.status_code, busy.json()["code"]) == (409, "request_in_flight")
    # The process that worked on it died, and its lease has expired.
    system.api.fetch(lease, system.buyer.uuid, timedelta(minutes=-1))
    whole, again = order(system, "half"), order(system, "half")

    assert whole.json()["complete"] is True
    assert whole.json()["groups"][0]["order"]["id"] == good["order"]["id"]
    assert len(orders(system)) == 2
    assert lines(system) == []
    assert again.content == whole.content


def test_a_line_that_cannot_be_bought_says_why(system: System) -> None:
    line = add(system, SOLD_OUT)

    preview = system.ok("POST", "/v1/cart/preview", json={"address": ADDRESS})
    result = ordered(system)

    unavailable = [{"product_id": SOLD_OUT, "sku_id": line["sku_id"], "reason": "out_of_stock"}]
    (group,) = preview["groups"]
    shown = group["error"] or group["preview"]
    assert shown["unavailable_items"] == unavailable
    (group,) = result["groups"]
    assert (group["order"], group["error"]["unavailable_items"]) == (None, unavailable)
    assert lines(system) == [line]
    assert orders(system) == []


def test_a_line_whose_product_vanished_leaves_the_others_alone(system: System) -> None:
    add(system, PLAIN)
    fill(system, 1)

    result = ordered(system)

    by_product = {products_of(group)[0]: group for group in result["groups"]}
    assert by_product[PLAIN]["order"]["status"] == "pending_payment"
    gone = by_product["made-up-1"]["error"]
    assert [item["reason"] for item in gone["unavailable_items"]] == ["not_found"]
    assert [line["product_id"] for line in lines(system)] == ["made-up-1"]


def test_a_marketplace_that_is_down_is_an_error_of_the_group(system: System) -> None:
    add(system)
    system.market.fault("preview", "error", code="500", message="broken")

    preview = system.ok("POST", "/v1/cart/preview", json={"address": ADDRESS})

    (group,) = preview["groups"]
    assert group["preview"] is None
    assert group["error"]["status"] in (502, 503)
    assert group["error"]["retry_after"] >= 1


def test_twenty_requests_with_one_key_make_each_order_once(system: System) -> None:
    add(system, PLAIN, 2)
    add(system, OTHER_SELLER, 2)

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: order(system, "storm"), range(20)))

    good = [answer for answer in answers if answer.status_code == 200]
    others = {answer.json()["code"] for answer in answers if answer.status_code != 200}
    assert good, others
    assert others <= {"request_in_flight", "too_many_concurrent_requests"}
    assert len({answer.content for answer in good}) == 1
    assert len(orders(system)) == 2
    assert lines(system) == []


def test_twenty_requests_with_their_own_keys_order_each_line_once(system: System) -> None:
    add(system, PLAIN, 2)
    add(system, OTHER_SELLER, 2)

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda number: order(system, f"own-{number}"), range(20)))

    assert {answer.status_code for answer in answers} <= {200, 422, 429}, [
        answer.text for answer in answers
    ]
    groups = [
        group
        for answer in answers
        if answer.status_code == 200
        for group in answer.json()["groups"]
    ]
    placed = [group["order"]["id"] for group in groups if group["order"]]
    errors = {group["error"]["code"] for group in groups if group["error"]}
    assert errors <= {"cart_changed"}
    assert len(set(placed)) == len(placed) == 2
    assert {order["id"] for order in orders(system)} == set(placed)
    assert lines(system) == []


def test_an_order_that_is_refused_at_create_was_ordered_once(system: System) -> None:
    add(system, SELLS_OUT_AT_CREATE)

    result = ordered(system, "refused later")

    (group,) = result["groups"]
    assert group["order"]["status"] in ("creating", "create_failed")
    assert lines(system) == []


@pytest.mark.parametrize("path", ["/v1/cart/preview", "/v1/cart/order"])
def test_an_empty_cart_and_foreign_lines(system: System, path: str) -> None:
    headers = {"idempotency-key": "nothing"}
    system.refused("POST", path, 422, "cart_empty", json={"address": ADDRESS}, headers=headers)
    other = system.api.person()
    foreign = system.ok(
        "POST",
        "/v1/cart/items",
        by=other,
        json={"platform": "sandbox", "product_id": PLAIN, "sku_id": system.sku(), "quantity": 1},
    )

    problems = [
        system.refused(
            "POST",
            path,
            422,
            "validation_failed",
            json={"address": ADDRESS, "lines": [line_id]},
            headers=headers,
        )
        for line_id in (foreign["id"], ids.CART_LINE.show(ids.new()))
    ]

    assert [problem["errors"] for problem in problems] == [
        [
            {
                "pointer": "/lines/0",
                "code": "not_found",
                "message": "Your cart has no line with this id.",
            }
        ]
    ] * 2
    assert len(lines(system, by=other)) == 1


@pytest.mark.parametrize("path", ["/v1/cart/preview", "/v1/cart/order"])
def test_an_address_of_another_account_is_as_good_as_none(system: System, path: str) -> None:
    add(system)
    other = system.api.person()
    foreign = system.ok("POST", "/v1/addresses", by=other, json=ADDRESS)["id"]

    problems = [
        system.refused(
            "POST",
            path,
            422,
            "validation_failed",
            json={"address_id": address_id},
            headers={"idempotency-key": "foreign"},
        )["errors"]
        for address_id in (foreign, ids.ADDRESS.show(ids.new()))
    ]

    assert problems[0] == problems[1]
    assert [(error["pointer"], error["code"]) for error in problems[0]] == [
        ("/address_id", "not_found")
    ]
    assert (orders(system), len(lines(system))) == ([], 1)


def test_an_address_of_the_address_book_is_taken_as_it_was_first(system: System) -> None:
    add(system)
    saved = system.ok("POST", "/v1/addresses", json=ADDRESS)
    headers = {"idempotency-key": "saved"}
    wanted = {"address_id": saved["id"]}

    preview = system.ok("POST", "/v1/cart/preview", json=wanted)
    first = system.call("POST", "/v1/cart/order", json=wanted, headers=headers)
    assert system.call("DELETE", f"/v1/addresses/{saved['id']}").status_code == 204
    again = system.call("POST", "/v1/cart/order", json=wanted, headers=headers)

    result = first.json()
    assert (first.status_code, again.content) == (200, first.content)
    assert preview["total_amount_cny"] == 15
    assert result["groups"][0]["order"]["address"] == {**ADDRESS, "postal_code": None}
    both = {**wanted, "address": ADDRESS}
    for body in ({}, both):
        problem = system.refused(
            "POST", "/v1/cart/order", 422, "validation_failed", json=body, headers=headers
        )
        assert [error["pointer"] for error in problem["errors"]] == ["/address"]


def test_an_order_needs_a_key_and_an_address(system: System) -> None:
    add(system)

    system.refused(
        "POST", "/v1/cart/order", 400, "idempotency_key_missing", json={"address": ADDRESS}
    )
    problem = system.refused(
        "POST",
        "/v1/cart/order",
        422,
        "validation_failed",
        json={"address": {**ADDRESS, "phone": "x"}, "lines": []},
        headers={"idempotency-key": "k"},
    )
    assert {error["pointer"] for error in problem["errors"]} == {"/address/phone", "/lines"}
    assert orders(system) == []
