"""Placing orders: the agreed price, one order per key, and a slow marketplace."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kit import scorecard
from kit.system import PLAIN, System

pytestmark = pytest.mark.xdist_group("system")

DEARER_AT_CREATE = "900000000003"

_KEPT = "SELECT 1 FROM idempotency_key WHERE account_id = $1"
PRICE_RISES, SOLD_OUT_MEANWHILE = "900000000003", "900000000012"
# `make chaos` sends more keys, each twenty times at once; no buyer exceeds the rate limit.
_KEYS = int(os.environ.get("SOAK_KEYS", "1"))
_KEYS_OF_A_BUYER = 20


def made_there(system: System, order_id: str) -> int:
    """How many orders the marketplace has for one of ours."""
    state = system.market.client.get(f"/_control/state?reference={order_id}").json()
    return int(state["orders_total"])


def listed(system: System) -> list[str]:
    return [item["id"] for item in system.ok("GET", "/v1/orders?limit=100")["items"]]


def test_an_order_shows_every_field_from_the_beginning(system: System) -> None:
    wish = system.order_body(
        PLAIN, 2, external_id="PO-7", metadata={"team": "shoes"}, remark="Soon, please."
    )

    placed = system.place(wish)

    order = placed.json()
    assert placed.status_code == 201
    assert placed.headers["location"] == f"/v1/orders/{order['id']}"
    assert (order["status"], order["payment_status"]) == ("pending_payment", "unpaid")
    assert (order["platform"], order["platform_payment_status"]) == ("sandbox", "unpaid")
    assert (order["total_amount_cny"], order["goods_amount_cny"]) == (25, 20)
    assert (order["freight_cny"], order["discount_cny"]) == (5, 0)
    (item,), (wanted,) = order["items"], wish["items"]
    assert {name: item[name] for name in wanted} == wanted
    assert order["external_id"] == "PO-7"
    assert (order["metadata"], order["remark"]) == ({"team": "shoes"}, "Soon, please.")
    assert order["address"] == {**wish["address"], "postal_code": None}
    assert order["account_id"] == system.buyer.id
    assert [order["order_id"] for order in order["platform_orders"]] == [order["order_id"]]
    assert (order["shipments"], order["refunds"], order["payment"]) == ([], [], None)
    assert (order["waiting_for"], order["stale"]) == ("payment", False)
    assert order["pay_before"] > order["created_at"]
    assert made_there(system, order["id"]) == 1


def test_an_order_at_another_price_than_expected_is_refused_and_not_made(system: System) -> None:
    answer = system.place(system.order_body(expected_total_cny=14.99))

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "price_changed")
    assert (problem["expected_total_cny"], problem["current_total_cny"]) == (14.99, 15)
    assert problem["detail"] == "The order costs CNY 15.00 now, not CNY 14.99."
    assert listed(system) == []


def test_an_order_at_the_price_expected_is_made(system: System) -> None:
    assert system.place(system.order_body(expected_total_cny=15)).status_code == 201


def test_a_price_that_rises_after_the_preview_shows_in_the_order(system: System) -> None:
    order = system.order(PRICE_RISES, expected_total_cny=15)

    assert (order["status"], order["total_amount_cny"]) == ("pending_payment", 17)


def test_a_refusal_after_the_preview_ends_in_create_failed_with_the_reason(system: System) -> None:
    placed = system.place(system.order_body(SOLD_OUT_MEANWHILE))

    assert placed.status_code == 201
    order = system.look(placed.json()["id"])
    assert (order["status"], order["failure"]["code"]) == ("create_failed", "out_of_stock")
    assert (order["order_id"], order["next_sync_at"]) == (None, None)
    assert system.told(order["id"]) == [("order.updated", "create_failed", "unpaid")]
    assert system.events(order["id"])[0]["data"]["order"]["order_id"] is None
    assert system.events(order["id"])[0]["data"]["order"]["total_amount_cny"] is None


def test_an_external_id_is_taken_once_and_says_by_which_order(system: System) -> None:
    first = system.order(external_id="PO-1")

    answer = system.place(system.order_body(external_id="PO-1"))

    assert (answer.status_code, answer.json()["code"]) == (409, "external_id_taken")
    assert answer.json()["order"] == first["id"]
    assert listed(system) == [first["id"]]
    other = system.api.person()
    assert system.place(system.order_body(external_id="PO-1"), by=other).status_code == 201


def test_an_order_needs_an_idempotency_key(system: System) -> None:
    system.refused("POST", "/v1/orders", 400, "idempotency_key_missing", json=system.order_body())

    assert listed(system) == []


def test_a_repeat_gets_the_same_bytes_and_makes_no_second_order(system: System) -> None:
    wish = system.order_body()

    first, second = system.place(wish, key="again"), system.place(wish, key="again")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["location"] == first.headers["location"]
    assert second.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert listed(system) == [first.json()["id"]]
    assert made_there(system, first.json()["id"]) == 1


def test_a_key_that_was_used_for_something_else_is_refused(system: System) -> None:
    system.place(system.order_body(), key="used")

    answer = system.place(system.order_body(quantity=2), key="used")

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert len(listed(system)) == 1


def test_two_accounts_may_use_the_same_key(system: System) -> None:
    other = system.api.person()

    mine, theirs = (
        system.place(system.order_body(), key="k"),
        system.place(system.order_body(), key="k", by=other),
    )

    assert mine.json()["id"] != theirs.json()["id"]


def test_a_refusal_is_not_kept_so_the_same_key_may_be_sent_again(system: System) -> None:
    assert system.place(system.order_body(expected_total_cny=1), key="twice").status_code == 409

    assert system.place(system.order_body(expected_total_cny=15), key="twice").status_code == 201


def test_of_twenty_requests_with_one_key_at_once_one_makes_an_order(system: System) -> None:
    orders: list[str] = []
    others: set[str] = set()
    there = wrong = 0
    with ThreadPoolExecutor(20) as pool:
        for first in range(0, _KEYS, _KEYS_OF_A_BUYER):
            buyer = system.api.person()
            mine = System(system.api, system.market, buyer, system.approver, system.skus)
            wish = mine.order_body()
            keys = [f"storm {n}" for n in range(first, min(first + _KEYS_OF_A_BUYER, _KEYS))]

            def place(key: str, mine: System = mine, wish: dict[str, Any] = wish) -> Any:
                return mine.place(wish, key=key)

            for key in keys:
                answers = list(pool.map(place, [key] * 20))
                others |= {answer.json()["code"] for answer in answers if answer.status_code != 201}
                made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
                wrong += len(made) != 1
            orders += listed(mine)
            there += sum(made_there(mine, order_id) for order_id in listed(mine))
    scorecard.record(
        11,
        20 * _KEYS,
        lost=max(_KEYS - len(orders), 0),
        duplicates=max(len(orders), there) - _KEYS,
        violations=wrong,
    )

    assert others <= {"request_in_flight"}
    assert wrong == 0, "each key has one response"
    assert len(orders) == _KEYS
    assert there == _KEYS


@pytest.mark.parametrize(
    ("metadata", "status"),
    [
        ({"k" * 40: "v" * 500}, 201),
        ({f"k{n}": "" for n in range(50)}, 201),
        ({"k": 1}, 422),
        ({"": "v"}, 422),
    ],
)
def test_metadata_has_limits(system: System, metadata: dict[str, Any], status: int) -> None:
    answer = system.place(system.order_body(metadata=metadata))

    assert answer.status_code == status
    if status == 201:
        assert answer.json()["metadata"] == metadata


def test_a_create_that_is_never_answered_is_found_again_and_not_repeated(system: System) -> None:
    system.market.fault("create", "drop", count=1)

    placed = system.place(system.order_body())

    order_id = placed.json()["id"]
    assert placed.status_code == 201
    order = system.until(order_id, lambda shown: shown["status"] != "creating")
    assert order["status"] == "pending_payment"
    assert made_there(system, order_id) == 1


def test_an_order_is_accepted_though_the_platform_gives_no_preview(system: System) -> None:
    system.market.fault("preview", "http500")

    placed = system.place(system.order_body(expected_total_cny=14))

    assert (placed.status_code, placed.json()["status"]) == (201, "creating")
    system.market.client.delete("/_control/faults")
    order = system.until(placed.json()["id"], lambda order: order["status"] != "creating")
    assert (order["status"], order["failure"]["code"]) == ("create_failed", "price_changed")
    assert order["failure"]["message"] == "The order costs CNY 15.00, not CNY 14.00."
    assert made_there(system, order["id"]) == 0


def test_a_price_that_rose_after_the_preview_is_told_in_cny(system: System) -> None:
    placed = system.place(system.order_body(DEARER_AT_CREATE, platform="taobao"))

    order = system.until(placed.json()["id"], lambda order: order["status"] != "creating")

    assert order["status"] == "create_failed"
    assert order["failure"] == {
        "code": "price_changed",
        "message": "The order costs more than CNY 15.00 now.",
    }


def test_a_repeat_while_the_order_is_being_created_is_told_to_come_back(system: System) -> None:
    system.market.fault("create", "slow", seconds=1.5, count=1)
    wish = system.order_body()

    with ThreadPoolExecutor(1) as pool:
        placing = pool.submit(system.place, wish, key="slow")
        deadline = time.monotonic() + 5
        while not system.api.fetch(_KEPT, system.buyer.uuid):
            assert time.monotonic() < deadline
        early = system.place(wish, key="slow")
        first = placing.result()
    late = system.place(wish, key="slow")

    assert (early.status_code, early.json()["code"]) == (409, "request_in_flight")
    assert early.headers["retry-after"] == "1"
    assert (first.status_code, first.json()["status"]) == (201, "pending_payment")
    assert (late.status_code, late.content) == (201, first.content)
    assert late.headers["idempotent-replayed"] == "true"
    assert listed(system) == [first.json()["id"]]
    assert made_there(system, first.json()["id"]) == 1
