"""The cart: lines with their goods, limits, and what is wrong with a request."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kit.system import PLAIN, System

from tradewind import ids
from tradewind.cart.model import LARGEST_QUANTITY, MOST_LINES

pytestmark = pytest.mark.xdist_group("system")

OTHER_SELLER = "900000000020"


def body(system: System, product: str = PLAIN, quantity: int = 1, **more: Any) -> dict[str, Any]:
    """What to add to the cart: the first variant of a product."""
    platform = more.get("platform", "sandbox")
    item = {"product_id": product, "sku_id": system.sku(product, platform), "quantity": quantity}
    return {"platform": platform, **item, **more}


def add(system: System, product: str = PLAIN, quantity: int = 1, **more: Any) -> Any:
    return system.ok("POST", "/v1/cart/items", json=body(system, product, quantity, **more))


def lines(system: System, **options: Any) -> list[Any]:
    result: list[Any] = system.ok("GET", "/v1/cart", **options)["items"]
    return result


def test_a_line_keeps_what_was_seen(system: System) -> None:
    answer = system.call("POST", "/v1/cart/items", json=body(system, PLAIN, 3))

    line = answer.json()
    product = system.ok("GET", f"/v1/products/sandbox/{PLAIN}")
    variant = product["skus"][0]
    assert answer.status_code == 201
    assert (line["platform"], line["product_id"], line["sku_id"]) == (
        "sandbox",
        PLAIN,
        variant["id"],
    )
    assert (line["quantity"], line["unit_price_cny"]) == (3, 10)
    assert (line["title"], line["title_translated"]) == (
        product["title"],
        product["title_translated"],
    )
    assert (line["image_url"], line["attributes"]) == (variant["image_url"], variant["attributes"])
    assert line["seller"] == product["seller"]
    cart = system.ok("GET", "/v1/cart")
    assert cart == {"items": [line], "pieces": 3, "goods_amount_cny": 30}


def test_adding_again_adds_the_quantity(system: System) -> None:
    first = add(system, PLAIN, 2)

    again = system.call("POST", "/v1/cart/items", json=body(system, PLAIN, 5))

    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    assert [(line["id"], line["quantity"]) for line in lines(system)] == [(first["id"], 7)]


def test_an_alias_of_a_platform_is_the_same_line(system: System) -> None:
    add(system, platform="1688")
    add(system, platform="alibaba")

    assert [(line["platform"], line["quantity"]) for line in lines(system)] == [("alibaba", 2)]


def test_a_quantity_is_changed_and_a_line_removed(system: System) -> None:
    line = add(system)
    path = f"/v1/cart/items/{line['id']}"

    changed = system.ok("PATCH", path, json={"quantity": 12})

    assert (changed["quantity"], changed["title"]) == (12, line["title"])
    assert changed["updated_at"] >= line["updated_at"]
    assert system.call("DELETE", path).status_code == 204
    assert lines(system) == []
    system.refused("DELETE", path, 404, "not_found")
    system.refused("PATCH", path, 404, "not_found", json={"quantity": 1})


def test_another_account_has_another_cart_and_cannot_touch_this_one(system: System) -> None:
    line = add(system)
    other = system.api.person()
    nothing = ids.CART_LINE.show(ids.new())

    for line_id in (line["id"], nothing):
        path = f"/v1/cart/items/{line_id}"
        system.refused("PATCH", path, 404, "not_found", by=other, json={"quantity": 9})
        system.refused("DELETE", path, 404, "not_found", by=other)

    assert lines(system, by=other) == []
    assert lines(system) == [line]


@pytest.mark.parametrize("quantity", [0, -1, 10**12, 1.5, "2", None, LARGEST_QUANTITY + 1])
def test_a_quantity_that_cannot_be_ordered(system: System, quantity: Any) -> None:
    line = add(system)

    problem = system.refused(
        "POST",
        "/v1/cart/items",
        422,
        "validation_failed",
        json={**body(system), "quantity": quantity},
    )
    assert [error["pointer"] for error in problem["errors"]] == ["/quantity"]
    path = f"/v1/cart/items/{line['id']}"
    system.refused("PATCH", path, 422, "validation_failed", json={"quantity": quantity})
    assert lines(system) == [line]


def test_a_quantity_that_grows_too_large(system: System) -> None:
    line = add(system, PLAIN, LARGEST_QUANTITY)

    problem = system.refused(
        "POST", "/v1/cart/items", 422, "validation_failed", json=body(system, PLAIN, 1)
    )

    assert problem["errors"][0]["pointer"] == "/quantity"
    assert "1,000,000" in problem["detail"]
    assert lines(system) == [line]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"product_id": "123"}, "/product_id", "not_found"),
        ({"product_id": "no such thing"}, "/product_id", "not_found"),
        ({"sku_id": "f" * 32}, "/sku_id", "not_found"),
        ({"sku_id": None}, "/sku_id", "missing"),
        ({"product_id": ""}, "/product_id", "invalid"),
        ({"product_id": "x" * 51}, "/product_id", "invalid"),
        ({"sku_id": "x" * 101}, "/sku_id", "invalid"),
    ],
)
def test_what_does_not_exist_is_named(
    system: System, change: dict[str, Any], pointer: str, code: str
) -> None:
    problem = system.refused(
        "POST", "/v1/cart/items", 422, "validation_failed", json={**body(system), **change}
    )

    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [(pointer, code)]
    assert lines(system) == []


def test_a_platform_that_does_not_exist(system: System) -> None:
    wanted = {**body(system), "platform": "nowhere"}

    system.refused("POST", "/v1/cart/items", 422, "unsupported_platform", json=wanted)


def fill(system: System, count: int) -> None:
    """Put so many lines of made-up products into the cart."""
    system.api.fetch(
        """
        INSERT INTO cart_line (id, account_id, platform, product_id, quantity, goods, created_at,
                               updated_at)
        SELECT gen_random_uuid(), $1, 'sandbox', 'made-up-' || n, 1, '{}', now(), now()
          FROM generate_series(1, $2) AS n
        """,
        system.buyer.uuid,
        count,
    )


def test_the_201st_line_is_refused_even_if_two_come_at_once(system: System) -> None:
    fill(system, MOST_LINES - 1)
    wanted = [body(system, product) for product in (PLAIN, OTHER_SELLER)]

    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda item: system.call("POST", "/v1/cart/items", json=item), wanted)
        )

    assert sorted(answer.status_code for answer in answers) == [201, 409]
    (full,) = (answer.json() for answer in answers if answer.status_code == 409)
    assert (full["code"], full["limit"]) == ("cart_full", MOST_LINES)
    assert len(lines(system)) == MOST_LINES
    added = next(answer.json() for answer in answers if answer.status_code == 201)
    again = body(system, added["product_id"])
    assert system.call("POST", "/v1/cart/items", json=again).status_code == 200


def test_ten_at_once_are_all_counted(system: System) -> None:
    wanted = body(system, PLAIN, 3)

    with ThreadPoolExecutor(5) as pool:
        statuses = [
            answer.status_code
            for answer in pool.map(
                lambda _: system.call("POST", "/v1/cart/items", json=wanted), range(10)
            )
        ]

    added = [status for status in statuses if status in (200, 201)]
    assert set(statuses) - {429} == set(added), statuses
    assert [line["quantity"] for line in lines(system)] == [3 * len(added)]


def test_a_repeat_with_a_key_adds_once(system: System) -> None:
    options: dict[str, Any] = {
        "json": body(system, PLAIN, 4),
        "headers": {"idempotency-key": "add-once"},
    }

    first, again = (system.call("POST", "/v1/cart/items", **options) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    assert [line["quantity"] for line in lines(system)] == [4]


def test_a_marketplace_that_fails_adds_nothing(system: System) -> None:
    wanted = body(system, OTHER_SELLER)
    system.market.fault("detail", "error", code="500", message="broken")

    answer = system.call("POST", "/v1/cart/items", json=wanted)

    assert answer.status_code in (502, 503), answer.text
    assert lines(system) == []
