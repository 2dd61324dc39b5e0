"""Payments: requested by one person, approved by another, at the amount both saw, once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kit.system import PLAIN, System

from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("system")

PRICE_GOES_UP, CLOSES_SOON = "900000000010", "900000000013"


def payment_of(system: System, payment_id: str) -> Any:
    return system.ok("GET", f"/v1/payments/{payment_id}", by=system.approver)


def test_a_request_says_who_asked_for_how_much(system: System) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}/payment"

    answer = system.call("POST", path, json={"amount_cny": 15})

    request = answer.json()
    assert answer.status_code == 201
    assert request.pop("id").startswith("pay_")
    assert request.pop("requested_at") > order["created_at"]
    assert request == {
        "status": "pending_approval",
        "amount_cny": 15,
        "mode": "auto",
        "requested_by": {
            "account_id": system.buyer.id,
            "email": system.buyer.email,
            "agent": None,
        },
        "note": None,
        "decided_by": None,
        "decided_at": None,
        "reason": None,
        "pay_url": None,
        "failure": None,
    }
    waiting = system.look(order["id"])
    assert (waiting["payment"]["amount_cny"], waiting["waiting_for"]) == (15, "approval")


def test_a_request_for_another_amount_than_it_costs_is_refused(system: System) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}/payment"

    problem = system.refused("POST", path, 409, "amount_changed", json={"amount_cny": 14.5})

    assert (problem["amount_cny"], problem["current_amount_cny"]) == (14.5, 15)
    system.refused("POST", path, 422, "validation_failed", json={"amount_cny": 14.555})
    assert system.look(order["id"])["version"] == order["version"]


def test_a_request_repeated_with_its_key_is_one(system: System) -> None:
    order = system.order()
    headers = {"idempotency-key": "pay it"}
    path = f"/v1/orders/{order['id']}/payment"

    first, second = (system.call("POST", path, headers=headers) for _ in range(2))

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["idempotent-replayed"] == "true"
    assert len(system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"]) == 1


def test_the_queue_shows_first_what_has_the_least_time_left(system: System) -> None:
    calm, urgent = system.order(), system.order(CLOSES_SOON)
    mine = [system.request_payment(order["id"])["id"] for order in (calm, urgent)]
    result: list[Any] = []
    cursor = ""
    while True:
        page = system.ok("GET", f"/v1/payments?limit=7{cursor}", by=system.approver)
        result += page["items"]
        if not page["has_more"]:
            break
        cursor = f"&cursor={page['next_cursor']}"

    times = [item["order"]["pay_before"] for item in result]
    # An order of another test may have none: it was closed on the marketplace a moment ago.
    assert times == sorted(times, key=lambda time: (time is None, time))
    assert {item["status"] for item in result} == {"pending_approval"}
    ids = [item["id"] for item in result]
    assert len(ids) == len(set(ids))
    assert [id_ for id_ in ids if id_ in mine] == mine[::-1]
    queued = next(item for item in result if item["id"] == mine[0])
    assert (queued["order"]["id"], queued["amount_cny"]) == (calm["id"], 15)
    assert queued["order"]["account_id"] == system.buyer.id


def test_payments_are_listed_by_status_the_latest_first(system: System) -> None:
    order = system.order()
    first = system.request_payment(order["id"])["id"]
    reject(system, first)
    second = system.request_payment(order["id"])["id"]
    reject(system, second)

    rejected = system.ok("GET", "/v1/payments?status=rejected,failed&limit=2", by=system.approver)
    history = system.ok("GET", f"/v1/orders/{order['id']}/payments?limit=1")
    rest = system.ok(
        "GET", f"/v1/orders/{order['id']}/payments?limit=1&cursor={history['next_cursor']}"
    )

    assert [item["id"] for item in rejected["items"]] == [second, first]
    assert [item["id"] for item in history["items"] + rest["items"]] == [second, first]
    system.refused("GET", "/v1/payments?status=lost", 422, "validation_failed", by=system.approver)


def test_payments_are_listed_by_order(system: System) -> None:
    order, other = system.order(), system.order()
    first = system.request_payment(order["id"])["id"]
    reject(system, first)
    second = system.request_payment(order["id"])["id"]
    system.request_payment(other["id"])

    def listed(query: str) -> list[str]:
        page = system.ok("GET", f"/v1/payments?order={order['id']}{query}", by=system.approver)
        assert {item["order"]["id"] for item in page["items"]} <= {order["id"]}
        return [item["id"] for item in page["items"]]

    assert listed("") == [second, first]
    assert listed("&status=rejected") == [first]
    assert listed("&status=paid") == []
    nobodys = system.ok("GET", f"/v1/payments?order=ORD{0:026}", by=system.approver)
    assert nobodys["items"] == []
    system.refused("GET", "/v1/payments?order=1", 422, "validation_failed", by=system.approver)


def test_a_withdrawn_request_says_who_withdrew_it_and_when(system: System) -> None:
    order = system.order()
    requested = system.request_payment(order["id"])

    withdrawn = system.ok("DELETE", f"/v1/orders/{order['id']}/payment")

    (shown,) = system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"]
    (change, *_) = system.ok("GET", f"/v1/orders/{order['id']}/timeline")["items"]
    assert shown == withdrawn
    assert withdrawn["status"] == "withdrawn"
    assert withdrawn["decided_by"] == requested["requested_by"] == change["by"]
    assert requested["requested_at"] < withdrawn["decided_at"] <= change["at"]
    assert payment_of(system, requested["id"])["decided_at"] == withdrawn["decided_at"]


def reject(system: System, payment_id: str) -> Any:
    return system.ok(
        "POST",
        f"/v1/payments/{payment_id}/reject",
        by=system.approver,
        json={"reason": "Too dear."},
    )


def test_a_rejection_needs_a_reason(system: System) -> None:
    payment = system.request_payment(system.order()["id"])
    path = f"/v1/payments/{payment['id']}/reject"

    for body in ({}, {"reason": ""}):
        problem = system.refused(
            "POST", path, 422, "validation_failed", by=system.approver, json=body
        )
        assert [error["pointer"] for error in problem["errors"]] == ["/reason"]

    assert payment_of(system, payment["id"])["status"] == "pending_approval"


def test_nobody_decides_about_their_own_request(system: System) -> None:
    both = system.api.person(roles=(Role.BUYER, Role.APPROVER))
    order = system.place(system.order_body(), by=both).json()
    payment = system.ok("POST", f"/v1/orders/{order['id']}/payment", by=both)
    path = f"/v1/payments/{payment['id']}"

    system.refused("POST", f"{path}/approve", 409, "own_request", by=both)
    system.refused("POST", f"{path}/reject", 409, "own_request", by=both, json={"reason": "No."})

    result = payment_of(system, payment["id"])
    assert (result["status"], result["decided_by"]) == ("pending_approval", None)
    assert result["order"]["payment_status"] == "pending_approval"


def test_payments_are_for_approvers_and_orders_for_buyers(system: System) -> None:
    payment = system.request_payment(system.order()["id"])
    path = f"/v1/payments/{payment['id']}"

    for method, where in [
        ("GET", "/v1/payments"),
        ("GET", path),
        ("POST", f"{path}/approve"),
        ("POST", f"{path}/reject"),
    ]:
        system.refused(method, where, 403, "insufficient_permissions")
    system.refused("GET", "/v1/orders", 403, "insufficient_permissions", by=system.approver)
    system.refused("GET", "/v1/events", 403, "insufficient_permissions", by=system.approver)
    unknown = "/v1/payments/pay_00000000000000000000000000"
    system.refused("GET", unknown, 404, "not_found", by=system.approver)
    system.refused("POST", f"{unknown}/approve", 404, "not_found", by=system.approver)


def test_an_approval_of_another_amount_than_was_asked_for_is_refused(system: System) -> None:
    payment = system.request_payment(system.order()["id"])
    path = f"/v1/payments/{payment['id']}/approve"

    problem = system.refused(
        "POST", path, 409, "amount_changed", by=system.approver, json={"amount_cny": 14}
    )

    assert (problem["amount_cny"], problem["current_amount_cny"]) == (14, 15)
    assert payment_of(system, payment["id"])["status"] == "pending_approval"


def test_an_approval_repeated_with_its_key_is_one(system: System) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])
    path, headers = f"/v1/payments/{payment['id']}/approve", {"idempotency-key": "yes"}

    first, second = (
        system.call("POST", path, by=system.approver, json={"amount_cny": 15}, headers=headers)
        for _ in range(2)
    )

    assert (first.status_code, second.content) == (200, first.content)
    assert second.headers["idempotent-replayed"] == "true"
    decided = first.json()
    assert (decided["status"], decided["decided_by"]["email"]) == (
        "approved",
        system.approver.email,
    )
    audited = system.ok("GET", "/v1/admin/audit?limit=100", by=system.api.operator())["items"]
    mine = [item for item in audited if item["subject"] == payment["id"]]
    assert [item["action"] for item in mine] == ["payment.approved", "payment.requested"]
    assert [item["details"]["amount_cny"] for item in mine] == [15, 15]


def test_of_two_who_approve_at_once_one_does(system: System) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])
    path = f"/v1/payments/{payment['id']}/approve"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: system.call("POST", path, by=system.approver), range(8)))

    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 7]
    system.until(order["id"], lambda order: order["payment_status"] == "paid")
    assert system.market.debits(order["order_id"]) == [1500]


def test_a_price_that_rises_supersedes_the_request(quiet: System) -> None:
    order = quiet.order(PRICE_GOES_UP)
    payment = quiet.request_payment(order["id"])
    quiet.market.clock(advance_seconds=31)

    after = quiet.look(order["id"])

    assert (after["payment_status"], after["payment"]) == ("unpaid", None)
    assert after["total_amount_cny"] == 17
    ended = payment_of(quiet, payment["id"])
    assert (ended["status"], ended["reason"]) == ("superseded", "amount_changed")
    assert ended["amount_cny"] == 15
    assert quiet.told(order["id"])[2:] == [("payment.updated", "pending_payment", "unpaid")]
    assert quiet.request_payment(order["id"])["amount_cny"] == 17


def test_an_approval_does_not_hold_for_another_price(quiet: System) -> None:
    order = quiet.order()
    payment = quiet.request_payment(order["id"])
    quiet.market.advance(order["order_id"], "change_price", fen=1600)

    quiet.approve(payment["id"])
    quiet.until_stored(order["id"], lambda row: row["payment_status"] == "unpaid")

    assert payment_of(quiet, payment["id"])["reason"] == "amount_changed"
    assert quiet.market.debits(order["order_id"]) == []
    assert quiet.told(order["id"])[2:] == [
        ("payment.updated", "pending_payment", "approved"),
        ("payment.updated", "pending_payment", "unpaid"),
    ]


@pytest.mark.parametrize("asked", [False, True])
def test_what_is_paid_by_hand_was_paid_outside(quiet: System, asked: bool) -> None:
    order = quiet.order()
    payment = quiet.request_payment(order["id"]) if asked else None
    reported = quiet.told(order["id"])
    quiet.market.advance(order["order_id"], "pay")

    after = quiet.look(order["id"])

    assert (after["status"], after["payment_status"]) == ("paid", "paid")
    assert (after["paid_outside"], after["paid_amount_cny"]) == (True, 15)
    assert after["payment"] is None
    if payment is not None:
        ended = payment_of(quiet, payment["id"])
        assert (ended["status"], ended["reason"]) == ("superseded", "paid_outside")
    assert quiet.told(order["id"]) == [
        *reported,
        ("order.updated", "paid", "paid"),
        ("payment.updated", "paid", "paid"),
    ]


@pytest.mark.parametrize("mode", ["drop", "twice", "garbage", None])
def test_a_payment_whose_answer_is_lost_or_wrong_is_made_once(
    system: System, mode: str | None
) -> None:
    order = system.order(PLAIN if mode else "900000000006")
    if mode:
        system.market.fault("pay", mode, count=1)
    system.approve(system.request_payment(order["id"])["id"])

    paid = system.until(
        order["id"], lambda order: order["payment_status"] not in ("approved", "processing")
    )

    assert (paid["status"], paid["payment_status"]) == ("paid", "paid")
    assert paid["paid_outside"] is False
    assert system.market.debits(order["order_id"]) == [1500]
