"""Every cause in the contract produces its event once, and nothing else does."""

from typing import Any

import pytest
from kit.system import PLAIN, System

pytestmark = pytest.mark.xdist_group("system")

ORDER, PAYMENT = "order.updated", "payment.updated"


def order_there(system: System, order: Any, to: str, **details: Any) -> None:
    """Move an order on the marketplace, behind our back."""
    system.market.advance(order["order_id"], to, **details)


def test_a_look_tells_what_it_found(quiet: System) -> None:
    order = quiet.paid()
    before = quiet.told(order["id"])
    order_there(quiet, order, "ship")
    assert quiet.told(order["id"]) == before

    quiet.look(order["id"])
    quiet.look(order["id"])

    assert quiet.told(order["id"]) == [*before, (ORDER, "shipped", "paid")]


def test_the_scheduled_sync_tells_what_it_found_though_nobody_looks(quiet: System) -> None:
    order = quiet.paid()
    before = quiet.told(order["id"])
    order_there(quiet, order, "ship")

    quiet.due_now(order["id"])
    quiet.until_stored(order["id"], lambda row: row["status"] == "shipped")

    assert quiet.told(order["id"]) == [*before, (ORDER, "shipped", "paid")]


def test_a_notice_makes_the_change_known_at_once_though_nobody_looks(system: System) -> None:
    order = system.paid()
    before = system.told(order["id"])

    order_there(system, order, "ship")
    system.until_stored(order["id"], lambda row: row["status"] == "shipped")

    assert system.told(order["id"]) == [*before, (ORDER, "shipped", "paid")]


def test_a_new_order_tells_once_that_it_waits_for_payment(system: System) -> None:
    order = system.order()

    assert system.told(order["id"]) == [(ORDER, "pending_payment", "unpaid")]


def test_a_cancellation_moves_both_axes_and_tells_both_with_the_same_tale(quiet: System) -> None:
    order = quiet.order()
    quiet.market.clock(advance_seconds=11)

    cancelled = quiet.ok("POST", f"/v1/orders/{order['id']}/cancel")

    assert cancelled["status"] == "cancelled"
    assert quiet.told(order["id"])[1:] == [
        (ORDER, "cancelled", "cancelled"),
        (PAYMENT, "cancelled", "cancelled"),
    ]
    item, other = quiet.events(order["id"])[1:]
    assert item["data"] == other["data"]
    assert item["id"] != other["id"]
    assert item["data"]["order"]["updated_at"] == cancelled["updated_at"]


def test_asking_for_payment_and_taking_it_back_tell_one_thing_each(system: System) -> None:
    order = system.order()

    system.request_payment(order["id"])
    assert system.told(order["id"])[1:] == [(PAYMENT, "pending_payment", "pending_approval")]
    withdrawn = system.ok("DELETE", f"/v1/orders/{order['id']}/payment")

    assert withdrawn["status"] == "withdrawn"
    assert system.told(order["id"])[2:] == [(PAYMENT, "pending_payment", "unpaid")]


def test_an_approval_and_what_the_platform_makes_of_it_are_told_step_by_step(
    system: System,
) -> None:
    order = system.paid()

    assert system.told(order["id"])[1:] == [
        (PAYMENT, "pending_payment", "pending_approval"),
        (PAYMENT, "pending_payment", "approved"),
        (PAYMENT, "pending_payment", "processing"),
        (ORDER, "paid", "paid"),
        (PAYMENT, "paid", "paid"),
    ]


def test_a_rejection_is_told(system: System) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])

    rejected = system.ok(
        "POST",
        f"/v1/payments/{payment['id']}/reject",
        by=system.approver,
        json={"reason": "Too dear."},
    )

    assert (rejected["status"], rejected["reason"]) == ("rejected", "Too dear.")
    assert system.told(order["id"])[2:] == [(PAYMENT, "pending_payment", "rejected")]


def test_a_payment_that_the_platform_refuses_is_told_and_may_be_asked_for_again(
    system: System,
) -> None:
    order = system.order("900000000004")
    payment = system.request_payment(order["id"])
    system.approve(payment["id"])
    failed = system.until(order["id"], lambda order: order["payment_status"] == "failed")

    assert failed["payment"] is None
    assert system.told(order["id"])[2:] == [
        (PAYMENT, "pending_payment", "approved"),
        (PAYMENT, "pending_payment", "processing"),
        (PAYMENT, "pending_payment", "failed"),
    ]
    past = system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"]
    assert [(item["id"], item["status"]) for item in past] == [(payment["id"], "failed")]
    assert past[0]["failure"]["code"] == "no_funds"
    assert system.market.debits(order["order_id"]) == []
    assert system.request_payment(order["id"])["status"] == "pending_approval"


def test_refunds_are_told_when_the_money_is_back_first_some_then_all(system: System) -> None:
    order = system.paid()
    system.advance(order["id"], "shipped")
    before = system.told(order["id"])

    system.refund(order["id"], amount_cny=1)
    assert system.told(order["id"]) == before
    system.advance(order["id"], "refund_agreed")
    assert system.told(order["id"]) == [*before, (PAYMENT, "shipped", "partially_refunded")]

    again = system.refund(order["id"])
    assert again.status_code == 201, again.text
    system.advance(order["id"], "refund_agreed")

    assert system.told(order["id"])[len(before) + 1 :] == [
        (ORDER, "closed", "refunded"),
        (PAYMENT, "closed", "refunded"),
    ]


def test_another_price_is_no_event_but_a_new_version_with_both_amounts(system: System) -> None:
    order = system.order()
    reported = system.told(order["id"])

    after = system.advance(order["id"], "price_changed", total_cny=20)

    assert system.told(order["id"]) == reported
    assert (after["total_amount_cny"], after["version"]) == (20, order["version"] + 1)
    assert after["updated_at"] > order["updated_at"]
    latest = system.ok("GET", f"/v1/orders/{order['id']}/timeline")["items"][0]
    assert (latest["version"], latest["cause"]) == (after["version"], "sync")
    assert latest["changes"]["total_amount_cny"] == {"from": 15, "to": 20}
    assert latest["events"] == []


def test_another_parcel_is_no_event_but_a_new_version(system: System) -> None:
    order = system.paid(PLAIN, 4)
    first = system.advance(order["id"], "partially_shipped")
    reported = system.told(order["id"])

    second = system.advance(order["id"], "partially_shipped")

    assert (first["status"], second["status"]) == ("partially_shipped", "partially_shipped")
    assert [len(item["shipments"]) for item in (first, second)] == [1, 2]
    assert system.told(order["id"]) == reported
    assert second["updated_at"] > first["updated_at"]
    latest = system.ok("GET", f"/v1/orders/{order['id']}/timeline")["items"][0]
    assert latest["version"] == second["version"] > first["version"]
    assert "shipments" in latest["changes"]
    assert latest["events"] == []


def test_asking_for_a_refund_is_no_event_but_new_versions(system: System) -> None:
    order = system.paid()
    order = system.advance(order["id"], "shipped")
    reported = system.told(order["id"])

    asked = system.refund(order["id"], amount_cny=1)

    assert asked.status_code == 201, asked.text
    assert asked.json()["status"] == "requested"
    after = system.look(order["id"])
    assert system.told(order["id"]) == reported
    assert [refund["id"] for refund in after["refunds"]] == [asked.json()["id"]]
    assert after["version"] > order["version"]
    assert after["updated_at"] > order["updated_at"]
    timeline = system.ok("GET", f"/v1/orders/{order['id']}/timeline")["items"]
    assert "refund_requested" in [item["cause"] for item in timeline]


def test_an_order_that_was_only_accepted_is_told_of_to_nobody(system: System) -> None:
    system.market.fault("create", "slow", seconds=4, count=1)

    placed = system.place(system.order_body())

    assert placed.status_code == 201
    body = placed.json()
    assert (body["status"], body["order_id"], body["waiting_for"]) == (
        "creating",
        None,
        "platform_create",
    )
    assert system.events(body["id"]) == []
    timeline = system.ok("GET", f"/v1/orders/{body['id']}/timeline")["items"]
    assert [(item["version"], item["cause"], item["by"]["email"]) for item in timeline] == [
        (1, "accepted", system.buyer.email)
    ]
    system.until(body["id"], lambda order: order["status"] == "pending_payment")
    assert system.told(body["id"]) == [(ORDER, "pending_payment", "unpaid")]


def test_every_event_has_exactly_the_keys_of_the_contract(system: System) -> None:
    order = system.paid()

    for event in system.events(order["id"]):
        assert list(event) == ["id", "event", "created_at", "data"]
        assert list(event["data"]) == ["order"]
        assert list(event["data"]["order"]) == [
            "id",
            "platform",
            "order_id",
            "status",
            "payment_status",
            "platform_payment_status",
            "total_amount_cny",
            "updated_at",
        ]
        assert None not in event["data"]["order"].values()
        assert event["id"].startswith("evt_")
        assert event["data"]["order"]["id"] == order["id"]
