"""Refunds: full and partial, goods and freight, never more than was paid."""

from typing import Any

import pytest
from kit.system import PLAIN, System

pytestmark = pytest.mark.xdist_group("system")

SPLITS, REFUSES = "900000000007", "900000000015"


def shipped(system: System, product: str = PLAIN, quantity: int = 2) -> Any:
    """An order of two pieces that is on its way: 20.00 of goods and 5.00 of freight."""
    order = system.paid(product, quantity)
    return system.advance(order["id"], "shipped")


def asked(system: System, order_id: str, /, **body: Any) -> Any:
    answer = system.refund(order_id, **body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_everything_is_asked_back_when_no_amount_is_named(quiet: System) -> None:
    order = quiet.paid(PLAIN, 2)

    refund = asked(quiet, order["id"], note="The box was open.")

    assert (refund["status"], refund["type"]) == ("requested", "refund_only")
    assert (refund["amount_cny"], refund["freight_cny"]) == (20, 5)
    assert (refund["reason"], refund["note"]) == ("damaged", "The box was open.")
    assert refund["order_id"] == order["order_id"]
    after = quiet.advance(order["id"], "refund_agreed")
    assert (after["status"], after["payment_status"]) == ("closed", "refunded")
    assert (after["refunded_amount_cny"], after["platform_payment_status"]) == (25, "refunded")
    assert [(refund["id"], refund["status"]) for refund in after["refunds"]] == [
        (refund["id"], "succeeded")
    ]


def test_goods_and_freight_are_asked_back_apart(quiet: System) -> None:
    order = shipped(quiet)

    refund = asked(quiet, order["id"], amount_cny=2.5, freight_cny=1.25)

    assert (refund["amount_cny"], refund["freight_cny"]) == (2.5, 1.25)
    after = quiet.advance(order["id"], "refund_agreed")
    assert after["payment_status"] == "partially_refunded"
    assert after["refunded_amount_cny"] == 3.75
    rest = asked(quiet, order["id"])
    assert (rest["amount_cny"], rest["freight_cny"]) == (17.5, 3.75)
    assert quiet.advance(order["id"], "refund_agreed")["payment_status"] == "refunded"


@pytest.mark.parametrize("body", [{"amount_cny": 25.01}, {"amount_cny": 20, "freight_cny": 5.01}])
def test_no_more_is_asked_back_than_was_paid(quiet: System, body: dict[str, float]) -> None:
    order = shipped(quiet)

    answer = quiet.refund(order["id"], **body)

    assert (answer.status_code, answer.json()["code"]) == (422, "refund_too_large")
    assert answer.json()["left_cny"] == 25
    after = quiet.look(order["id"])
    assert (after["refunds"], after["version"]) == ([], order["version"])


def test_what_is_asked_for_already_is_not_asked_for_twice(quiet: System) -> None:
    order = shipped(quiet)
    asked(quiet, order["id"], amount_cny=15)

    answer = quiet.refund(order["id"], amount_cny=10.01)

    assert answer.json()["code"] == "refund_too_large"
    assert answer.json()["left_cny"] == 10


def test_a_seller_who_refuses_keeps_the_money(quiet: System) -> None:
    order = shipped(quiet, REFUSES)
    reported = quiet.told(order["id"])
    refund = asked(quiet, order["id"], amount_cny=1)
    quiet.market.clock(advance_seconds=31)

    after = quiet.look(order["id"])

    assert (after["payment_status"], after["refunded_amount_cny"]) == ("paid", 0)
    assert [(refund["id"], refund["status"]) for refund in after["refunds"]] == [
        (refund["id"], "refused")
    ]
    assert quiet.told(order["id"]) == reported


def test_a_refund_that_the_platform_does_not_take_leaves_nothing_behind(quiet: System) -> None:
    order = quiet.paid(PLAIN, 2)  # before it is sent, a line is refunded whole
    headers = {"idempotency-key": "try"}
    wish = {"type": "refund_only", "reason": "damaged", "amount_cny": 1}
    path = f"/v1/orders/{order['id']}/refunds"

    problem = quiet.refused("POST", path, 422, "refund_refused", json=wish, headers=headers)

    assert problem["upstream"]["code"] == "5011"
    assert quiet.look(order["id"])["refunds"] == []
    assert quiet.ok("GET", path)["items"] == []
    whole = {**wish, "amount_cny": 20}
    assert quiet.call("POST", path, json=whole, headers=headers).status_code == 201


def test_goods_that_go_back_first_are_agreed_to_and_paid_later(quiet: System) -> None:
    order = shipped(quiet)
    quiet.advance(order["id"], "received")
    refund = asked(quiet, order["id"], type="return_and_refund", amount_cny=5)

    agreed = quiet.advance(order["id"], "refund_agreed")
    assert [refund["status"] for refund in agreed["refunds"]] == ["approved"]
    assert agreed["payment_status"] == "paid"
    done = quiet.advance(order["id"], "refund_completed")

    assert [(refund["id"], refund["status"]) for refund in done["refunds"]] == [
        (refund["id"], "succeeded")
    ]
    assert done["payment_status"] == "partially_refunded"


def test_of_a_split_order_the_part_must_be_named(quiet: System) -> None:
    order = quiet.paid(SPLITS, 2)
    first, second = (order["order_id"] for order in order["platform_orders"])

    nameless = quiet.refund(order["id"])
    wrong = quiet.refund(order["id"], order_id="123")

    for answer in (nameless, wrong):
        assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed")
        (error,) = answer.json()["errors"]
        assert error["pointer"] == "/order_id"
        assert first in error["message"]
        assert second in error["message"]
    refund = asked(quiet, order["id"], order_id=second)
    assert (refund["order_id"], refund["amount_cny"], refund["freight_cny"]) == (second, 10, 5)
    quiet.market.advance(second, "refund_agree")
    after = quiet.look(order["id"])
    assert (after["status"], after["payment_status"]) == ("paid", "partially_refunded")
    assert after["refunded_amount_cny"] == 15


def test_a_platform_without_refunds_says_so(quiet: System) -> None:
    order = quiet.place(quiet.order_body(platform="taobao")).json()
    quiet.force(order["id"], status="paid", payment_status="paid", paid_fen=1500)

    answer = quiet.refund(order["id"])

    assert (answer.status_code, answer.json()["code"]) == (422, "capability_not_supported")


def test_a_refund_whose_answer_is_lost_is_one(quiet: System) -> None:
    order = shipped(quiet)
    quiet.market.fault("refund", "drop", count=1)

    refund = asked(quiet, order["id"], amount_cny=2)
    after = quiet.until(order["id"], lambda order: order["refunds"][0]["platform_refund_id"])

    assert [refund["id"] for refund in after["refunds"]] == [refund["id"]]
    done = quiet.advance(order["id"], "refund_agreed")
    assert [(refund["id"], refund["status"]) for refund in done["refunds"]] == [
        (refund["id"], "succeeded")
    ]


def test_a_refund_needs_a_key_and_repeated_with_it_is_one(quiet: System) -> None:
    order = shipped(quiet)
    path = f"/v1/orders/{order['id']}/refunds"
    wish = {"type": "refund_only", "reason": "damaged", "amount_cny": 1}
    quiet.refused("POST", path, 400, "idempotency_key_missing", json=wish)
    headers = {"idempotency-key": "one yuan"}

    first, second = (quiet.call("POST", path, json=wish, headers=headers) for _ in range(2))

    assert (first.status_code, second.content) == (201, first.content)
    assert second.headers["idempotent-replayed"] == "true"
    listed = quiet.ok("GET", path)["items"]
    assert [item["id"] for item in listed] == [first.json()["id"]]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"type": "gift"}, "/type"),
        ({"reason": ""}, "/reason"),
        ({"amount_cny": 1.001}, "/amount_cny"),
        ({"amount_cny": -1}, "/amount_cny"),
        ({"freight_cny": -1}, "/freight_cny"),
        ({"note": "x" * 151}, "/note"),
    ],
)
def test_what_is_wrong_with_a_refund_is_pointed_at(
    quiet: System, change: dict[str, Any], pointer: str
) -> None:
    order = quiet.paid()

    answer = quiet.refund(order["id"], **change)

    assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize("body", [{"amount_cny": 0}, {"amount_cny": 0, "freight_cny": 0}])
def test_a_refund_of_nothing_is_a_wrong_amount(quiet: System, body: dict[str, Any]) -> None:
    order = quiet.paid()

    answer = quiet.refund(order["id"], **body)

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "validation_failed")
    (error,) = problem["errors"]
    assert error["pointer"] == "/amount_cny"
    assert "more than CNY 0.00" in error["message"]
    assert quiet.look(order["id"])["refunds"] == []


def test_freight_alone_is_asked_back_with_an_amount_of_zero(quiet: System) -> None:
    order = shipped(quiet)
    asked(quiet, order["id"], amount_cny=order["goods_amount_cny"])
    quiet.advance(order["id"], "refund_agreed")

    no_freight = quiet.refund(order["id"], freight_cny=0).json()
    freight = asked(quiet, order["id"], amount_cny=0, freight_cny=order["freight_cny"])
    nothing_left = quiet.refund(order["id"]).json()

    assert no_freight["code"] == "validation_failed"
    assert [error["pointer"] for error in no_freight["errors"]] == ["/freight_cny"]
    assert "more than CNY 0.00" in no_freight["errors"][0]["message"]
    assert (freight["amount_cny"], freight["freight_cny"]) == (0, order["freight_cny"])
    assert (nothing_left["code"], nothing_left["left_cny"]) == ("refund_too_large", 0)
    assert nothing_left["detail"].startswith("Nothing is left to refund")
