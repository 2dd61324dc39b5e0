"""Previews: costs, unavailable items, and what the caller must send."""

from typing import Any

import pytest
from kit.system import ADDRESS, PLAIN, System

pytestmark = pytest.mark.xdist_group("system")

SOLD_OUT, OF_A_SECOND_SELLER = "900000000002", "900000000020"


def preview(system: System, body: dict[str, Any]) -> Any:
    return system.ok("POST", "/v1/orders/preview", json=body)


def item(
    system: System, product: str, quantity: int = 1, platform: str = "sandbox"
) -> dict[str, Any]:
    return {"product_id": product, "sku_id": system.sku(product, platform), "quantity": quantity}


def test_a_preview_says_what_it_costs_seller_by_seller(system: System) -> None:
    wish = system.order_body(PLAIN, 3)

    result = preview(system, wish)

    (seller,) = result["sellers"]
    assert seller == {
        "id": None,
        "items": wish["items"],
        "goods_amount_cny": 30,
        "freight_cny": 5,
        "discount_cny": 0,
        "total_amount_cny": 35,
    }
    assert (result["total_amount_cny"], result["unavailable_items"]) == (35, [])


def test_a_discount_is_taken_off(system: System) -> None:
    (seller,) = preview(system, system.order_body("900000000020", 10))["sellers"]

    assert (seller["goods_amount_cny"], seller["freight_cny"], seller["discount_cny"]) == (
        100,
        8,
        10,
    )
    assert seller["total_amount_cny"] == 98


UNAVAILABLE = [
    ("900000000002", 1, "out_of_stock"),
    ("900000000016", 1, "below_minimum"),
    ("900000000017", 3, "mixed_batch"),
    ("900000000018", 1, "not_for_sale"),
    ("900000000019", 1, "not_for_sale"),
]


@pytest.mark.parametrize(("product", "quantity", "reason"), UNAVAILABLE)
def test_what_cannot_be_bought_is_named_with_its_reason(
    system: System, product: str, quantity: int, reason: str
) -> None:
    wish = system.order_body(PLAIN)
    bad = {"product_id": product, "sku_id": spec(system, product), "quantity": quantity}
    wish["items"].append(bad)

    result = preview(system, wish)

    assert result["unavailable_items"] == [
        {"product_id": product, "sku_id": bad["sku_id"], "reason": reason}
    ]
    problem = refused_order(system, {**wish, "items": [bad]})
    assert problem["code"] == "items_unavailable"
    assert [item["reason"] for item in problem["unavailable_items"]] == [reason]


def spec(system: System, product: str) -> str:
    """The spec id of a product's first variant, which a delisted one has as well."""
    products = system.market.client.get("/_control/magic").json()["products"]
    return str(next(item for item in products if item["id"] == product)["skus"][0]["spec"])


def refused_order(system: System, body: dict[str, Any]) -> Any:
    answer = system.place(body)
    assert answer.status_code == 422, answer.text
    assert system.ok("GET", "/v1/orders")["items"] == []
    return answer.json()


@pytest.mark.parametrize("platform", ["sandbox", "alibaba"])
def test_items_of_several_sellers_are_refused_with_the_split(system: System, platform: str) -> None:
    wish = system.order_body(PLAIN, platform=platform)
    wish["items"].append(item(system, OF_A_SECOND_SELLER, platform=platform))

    previewed = system.refused("POST", "/v1/orders/preview", 422, "several_sellers", json=wish)
    ordered = refused_order(system, wish)

    assert ordered["code"] == "several_sellers"
    assert ordered["sellers"] == previewed["sellers"]
    assert [seller["items"] for seller in previewed["sellers"]] == [
        [item] for item in wish["items"]
    ]
    assert len({seller["id"] for seller in previewed["sellers"]} - {None}) == 2
    for seller in previewed["sellers"]:
        alone = preview(system, {**wish, "items": seller["items"]})
        assert alone["total_amount_cny"] == seller["total_amount_cny"]


def test_items_of_several_sellers_are_refused_even_if_one_is_sold_out(system: System) -> None:
    wish = system.order_body(PLAIN)
    sold_out = {"product_id": SOLD_OUT, "sku_id": spec(system, SOLD_OUT), "quantity": 1}
    wish["items"] += [item(system, OF_A_SECOND_SELLER), sold_out]

    problem = system.refused("POST", "/v1/orders/preview", 422, "several_sellers", json=wish)

    assert [seller["items"] for seller in problem["sellers"]] == [
        [item] for item in wish["items"][:2]
    ]


def test_a_marketplace_that_takes_several_sellers_shows_each_of_them(system: System) -> None:
    wish = system.order_body(PLAIN, platform="taobao")
    wish["items"].append(item(system, OF_A_SECOND_SELLER, platform="taobao"))

    result = preview(system, wish)

    assert [seller["items"] for seller in result["sellers"]] == [[item] for item in wish["items"]]
    assert len({seller["id"] for seller in result["sellers"]} - {None}) == 2
    assert result["total_amount_cny"] == sum(
        seller["total_amount_cny"] for seller in result["sellers"]
    )


WRONG = [
    ({"platform": "ebay"}, "unsupported_platform", None),
    ({"items": []}, "validation_failed", "/items"),
    ({"items": [{"product_id": PLAIN, "quantity": 0}]}, "validation_failed", "/items/0/quantity"),
    ({"items": [{"product_id": PLAIN}]}, "validation_failed", "/items/0/quantity"),
    (
        {"items": [{"product_id": PLAIN, "quantity": 1}] * 2},
        "validation_failed",
        "/items/1",
    ),
    ({"address": {**ADDRESS, "phone": "no number"}}, "validation_failed", "/address/phone"),
    ({"address": {**ADDRESS, "city": "  "}}, "validation_failed", "/address/city"),
    ({"address": {**ADDRESS, "detail": ""}}, "validation_failed", "/address/detail"),
    ({"expected_total_cny": 1.001}, "validation_failed", "/expected_total_cny"),
    ({"expected_total_cny": "15"}, "validation_failed", "/expected_total_cny"),
    ({"external_id": ""}, "validation_failed", "/external_id"),
    ({"external_id": "x" * 101}, "validation_failed", "/external_id"),
    ({"metadata": {"k" * 41: "v"}}, "validation_failed", "/metadata/" + "k" * 41),
    ({"metadata": {"k": "v" * 501}}, "validation_failed", "/metadata/k"),
    ({"metadata": {f"k{n}": "v" for n in range(51)}}, "validation_failed", "/metadata"),
    ({"remark": "x" * 501}, "validation_failed", "/remark"),
    ({"colour": "red"}, "validation_failed", "/colour"),
]


@pytest.mark.parametrize(("change", "code", "pointer"), WRONG)
@pytest.mark.parametrize("path", ["/v1/orders/preview", "/v1/orders"])
def test_what_is_wrong_is_pointed_at(
    system: System, path: str, change: dict[str, Any], code: str, pointer: str | None
) -> None:
    body = {**system.order_body(), **change}

    problem = system.refused(
        "POST", path, 422, code, json=body, headers={"idempotency-key": "wrong"}
    )

    if pointer is not None:
        assert [error["pointer"] for error in problem["errors"]] == [pointer]
