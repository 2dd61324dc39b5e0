"""The courses that orders take on the platform: split, in parts, closed early, out of time."""

from typing import Any

import pytest
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")

SPLITS, CLOSES_UNPAID, CLOSES_PAID = "900000000007", "900000000008", "900000000009"
TIMES_OUT, IN_TWO_PARTS = "900000000013", "900000000014"


def test_a_split_order_is_one_of_ours_and_goes_at_the_pace_of_its_slowest_part(
    quiet: System,
) -> None:
    order = quiet.order(SPLITS, 2)
    first, second = (order["order_id"] for order in order["platform_orders"])
    assert order["order_id"] == first
    assert order["total_amount_cny"] == sum(
        order["total_amount_cny"] for order in order["platform_orders"]
    )
    by_second = quiet.ok("GET", f"/v1/orders?order_id={second}")["items"]
    assert [item["id"] for item in by_second] == [order["id"]]

    payment = quiet.request_payment(order["id"])
    assert payment["amount_cny"] == order["total_amount_cny"]
    quiet.approve(payment["id"])
    paid = quiet.until(order["id"], lambda order: order["payment_status"] == "paid")
    assert (paid["status"], paid["paid_amount_cny"]) == ("paid", order["total_amount_cny"])
    assert [len(quiet.market.debits(part)) for part in (first, second)] == [1, 1]

    quiet.market.advance(first, "ship")
    assert quiet.look(order["id"])["status"] == "partially_shipped"
    quiet.market.advance(second, "ship")
    shipped = quiet.look(order["id"])
    assert shipped["status"] == "shipped"
    assert {shipment["order_id"] for shipment in shipped["shipments"]} == {first, second}
    quiet.market.advance(first, "receive")
    assert quiet.look(order["id"])["status"] == "shipped"
    quiet.market.advance(second, "complete")
    assert quiet.look(order["id"])["status"] == "received"

    moves = [status for event, status, _ in quiet.told(order["id"]) if event == "order.updated"]
    assert moves == ["pending_payment", "paid", "partially_shipped", "shipped", "received"]


def test_of_a_split_order_one_part_paid_by_hand_leaves_the_rest_to_pay(quiet: System) -> None:
    order = quiet.order(SPLITS, 2)
    request = quiet.request_payment(order["id"])
    first, second = order["platform_orders"]
    quiet.market.advance(first["order_id"], "pay")

    after = quiet.look(order["id"])

    assert (after["status"], after["payment_status"]) == ("pending_payment", "unpaid")
    assert after["platform_payment_status"] == "partially_paid"
    assert after["paid_amount_cny"] == first["total_amount_cny"]
    ended = quiet.ok("GET", f"/v1/payments/{request['id']}", by=quiet.approver)
    assert (ended["status"], ended["reason"]) == ("superseded", "amount_changed")
    rest = quiet.request_payment(order["id"])
    assert rest["amount_cny"] == second["total_amount_cny"]
    quiet.approve(rest["id"])
    paid = quiet.until(order["id"], lambda order: order["payment_status"] == "paid")
    assert paid["paid_amount_cny"] == order["total_amount_cny"]
    assert len(quiet.market.debits(second["order_id"])) == 1


@pytest.mark.parametrize("platform", ["sandbox", "taobao"])
def test_a_seller_who_ships_in_two_parts_is_followed_parcel_by_parcel(
    quiet: System, platform: str
) -> None:
    order = quiet.paid(IN_TWO_PARTS, 2, platform=platform)

    quiet.market.clock(advance_seconds=31)
    first = quiet.look(order["id"])
    assert (first["status"], first["waiting_for"]) == ("partially_shipped", "seller_shipment")
    assert _parcels(first) == [[None]]
    quiet.market.clock(advance_seconds=7200)
    rest = quiet.look(order["id"])

    assert (rest["status"], rest["waiting_for"]) == ("shipped", "receipt")
    assert _parcels(rest) == [[1], [1]]
    numbers = [shipment["tracking_number"] for shipment in rest["shipments"]]
    for number in numbers:
        items = quiet.ok("GET", f"/v1/orders?tracking_number={number}")["items"]
        assert [item["id"] for item in items] == [order["id"]]


def test_a_seller_who_closes_after_payment_gives_all_money_back(quiet: System) -> None:
    order = quiet.paid(CLOSES_PAID)
    reported = quiet.told(order["id"])

    quiet.market.clock(advance_seconds=31)
    after = quiet.look(order["id"])

    assert (after["status"], after["payment_status"]) == ("closed", "refunded")
    assert (after["close_reason"], after["platform_payment_status"]) == ("seller", "refunded")
    assert after["refunded_amount_cny"] == after["paid_amount_cny"] == 15
    assert [(refund["status"], refund["type"]) for refund in after["refunds"]] == [
        ("succeeded", None)
    ]
    assert quiet.told(order["id"]) == [
        *reported,
        ("order.updated", "closed", "refunded"),
        ("payment.updated", "closed", "refunded"),
    ]


@pytest.mark.parametrize(
    ("product", "seconds", "reason"), [(TIMES_OUT, 61, "timeout"), (CLOSES_UNPAID, 31, "seller")]
)
def test_an_order_that_closes_unpaid_is_cancelled_on_both_axes(
    quiet: System, product: str, seconds: int, reason: str
) -> None:
    order = quiet.order(product)

    quiet.market.clock(advance_seconds=seconds)
    after = quiet.look(order["id"])

    assert (after["status"], after["payment_status"]) == ("cancelled", "cancelled")
    assert (after["close_reason"], after["waiting_for"]) == (reason, "none")
    assert after["platform_payment_status"] == "closed"
    assert quiet.told(order["id"])[1:] == [
        ("order.updated", "cancelled", "cancelled"),
        ("payment.updated", "cancelled", "cancelled"),
    ]


def test_an_order_is_followed_to_its_end(quiet: System) -> None:
    order = quiet.paid()

    for to, status in [
        ("shipped", "shipped"),
        ("received", "received"),
        ("completed", "completed"),
    ]:
        assert quiet.advance(order["id"], to)["status"] == status

    last = quiet.look(order["id"])
    assert (last["status"], last["payment_status"]) == ("completed", "paid")
    assert last["next_sync_at"] is not None


def test_of_an_order_that_is_over_refunds_are_still_heard(quiet: System) -> None:
    order = quiet.paid()
    for to in ("shipped", "completed"):
        quiet.advance(order["id"], to)
    reported = quiet.told(order["id"])
    quiet.market.advance(order["order_id"], "refund_request", fen=300)
    asked = quiet.look(order["id"])
    assert [(refund["status"], refund["amount_cny"]) for refund in asked["refunds"]] == [
        ("requested", 3)
    ]
    assert quiet.told(order["id"]) == reported

    quiet.market.advance(order["order_id"], "refund_agree")
    after = quiet.look(order["id"])

    assert (after["status"], after["payment_status"]) == ("completed", "partially_refunded")
    assert quiet.told(order["id"]) == [
        *reported,
        ("payment.updated", "completed", "partially_refunded"),
    ]


def test_a_step_that_is_not_possible_there_is_refused_here(system: System) -> None:
    order = system.order()
    path = f"/v1/sandbox/orders/{order['id']}/advance"

    problem = system.refused("POST", path, 409, "invalid_transition", json={"to": "shipped"})
    assert problem["current"] == "pending_payment"
    assert problem["allowed"] == ["request_payment", "cancel"]
    system.refused("POST", path, 422, "validation_failed", json={"to": "price_changed"})
    system.refused("POST", path, 422, "validation_failed", json={"to": "lost"})

    assert system.look(order["id"])["version"] == order["version"]


def _parcels(order: Any) -> list[list[int | None]]:
    """How many pieces of its lines each parcel of an order holds."""
    return [[item["quantity"] for item in parcel["items"]] for parcel in order["shipments"]]
