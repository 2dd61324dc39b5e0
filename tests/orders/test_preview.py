"""Previews: costs, unavailable items, and what the caller must send."""

from typing import Any

import pytest
from kit.store import ADDRESS, PLAIN, Store

pytestmark = pytest.mark.xdist_group("store")

SOLD_OUT, OF_A_SECOND_SELLER = "900000000002", "900000000020"


def preview(store: Store, body: dict[str, Any]) -> Any:
    return store.ok("POST", "/v1/orders/preview", json=body)


def item(
    store: Store, product: str, quantity: int = 1, platform: str = "sandbox"
) -> dict[str, Any]:
    return {"product_id": product, "sku_id": store.sku(product, platform), "quantity": quantity}


def test_a_preview_says_what_it_costs_seller_by_seller(store: Store) -> None:
    wish = store.wish(PLAIN, 3)

    found = preview(store, wish)

    (seller,) = found["sellers"]
    assert seller == {
        "id": None,
        "items": wish["items"],
        "goods_amount_cny": 30,
        "freight_cny": 5,
        "discount_cny": 0,
        "total_amount_cny": 35,
    }
    assert (found["total_amount_cny"], found["unavailable_items"]) == (35, [])


def test_a_discount_is_taken_off(store: Store) -> None:
    (seller,) = preview(store, store.wish("900000000020", 10))["sellers"]

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
    store: Store, product: str, quantity: int, reason: str
) -> None:
    wish = store.wish(PLAIN)
    bad = {"product_id": product, "sku_id": spec(store, product), "quantity": quantity}
    wish["items"].append(bad)

    found = preview(store, wish)

    assert found["unavailable_items"] == [
        {"product_id": product, "sku_id": bad["sku_id"], "reason": reason}
    ]
    problem = refused_order(store, {**wish, "items": [bad]})
    assert problem["code"] == "items_unavailable"
    assert [one["reason"] for one in problem["unavailable_items"]] == [reason]


def spec(store: Store, product: str) -> str:
    """The spec id of a product's first variant, which a delisted one has as well."""
    found = store.market.client.get("/_control/magic").json()["products"]
    return str(next(one for one in found if one["id"] == product)["skus"][0]["spec"])


def refused_order(store: Store, body: dict[str, Any]) -> Any:
    answer = store.place(body)
    assert answer.status_code == 422, answer.text
    assert store.ok("GET", "/v1/orders")["items"] == []
    return answer.json()


@pytest.mark.parametrize("platform", ["sandbox", "alibaba"])
def test_items_of_several_sellers_are_refused_with_the_split(store: Store, platform: str) -> None:
    wish = store.wish(PLAIN, platform=platform)
    wish["items"].append(item(store, OF_A_SECOND_SELLER, platform=platform))

    previewed = store.refused("POST", "/v1/orders/preview", 422, "several_sellers", json=wish)
    ordered = refused_order(store, wish)

    assert ordered["code"] == "several_sellers"
    assert ordered["sellers"] == previewed["sellers"]
    assert [one["items"] for one in previewed["sellers"]] == [[one] for one in wish["items"]]
    assert len({one["id"] for one in previewed["sellers"]} - {None}) == 2
    for one in previewed["sellers"]:
        alone = preview(store, {**wish, "items": one["items"]})
        assert alone["total_amount_cny"] == one["total_amount_cny"]


def test_items_of_several_sellers_are_refused_even_if_one_is_sold_out(store: Store) -> None:
    wish = store.wish(PLAIN)
    sold_out = {"product_id": SOLD_OUT, "sku_id": spec(store, SOLD_OUT), "quantity": 1}
    wish["items"] += [item(store, OF_A_SECOND_SELLER), sold_out]

    problem = store.refused("POST", "/v1/orders/preview", 422, "several_sellers", json=wish)

    assert [one["items"] for one in problem["sellers"]] == [[one] for one in wish["items"][:2]]


def test_a_marketplace_that_takes_several_sellers_shows_each_of_them(store: Store) -> None:
    wish = store.wish(PLAIN, platform="taobao")
    wish["items"].append(item(store, OF_A_SECOND_SELLER, platform="taobao"))

    found = preview(store, wish)

    assert [one["items"] for one in found["sellers"]] == [[one] for one in wish["items"]]
    assert len({one["id"] for one in found["sellers"]} - {None}) == 2
    assert found["total_amount_cny"] == sum(one["total_amount_cny"] for one in found["sellers"])


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
    store: Store, path: str, change: dict[str, Any], code: str, pointer: str | None
) -> None:
    body = {**store.wish(), **change}

    problem = store.refused(
        "POST", path, 422, code, json=body, headers={"idempotency-key": "wrong"}
    )

    if pointer is not None:
        assert [one["pointer"] for one in problem["errors"]] == [pointer]
