"""Races about money: one of several exclusive commands wins, with one debit at most."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")

DECIDED = {
    "approve": "approved",
    "reject": "rejected",
    "withdraw": "unpaid",
}


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [item.result() for item in [pool.submit(call) for call in calls]]


def decisions(system: System, order_id: str, payment_id: str) -> dict[str, Callable[[], Any]]:
    path = f"/v1/payments/{payment_id}"
    return {
        "approve": lambda: system.call("POST", f"{path}/approve", by=system.approver),
        "reject": lambda: system.call(
            "POST", f"{path}/reject", by=system.approver, json={"reason": "No."}
        ),
        "withdraw": lambda: system.call("DELETE", f"/v1/orders/{order_id}/payment"),
    }


def test_of_three_decisions_at_once_one_is_made(system: System) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])
    commands = decisions(system, order["id"], payment["id"])

    answers = dict(zip(commands, at_once(*commands.values()), strict=True))

    (winner,) = (name for name, answer in answers.items() if answer.status_code == 200)
    losers = [answer for name, answer in answers.items() if name != winner]
    assert [loser.json()["code"] for loser in losers] == ["invalid_transition"] * 2
    assert system.told(order["id"])[2] == ("payment.updated", "pending_payment", DECIDED[winner])


def test_an_order_is_paid_or_cancelled_and_never_both(system: System) -> None:
    orders = [system.order() for _ in range(4)]
    payments = [system.request_payment(order["id"]) for order in orders]
    system.market.clock(advance_seconds=11)

    def approve(payment: Any) -> Callable[[], Any]:
        return lambda: system.call(
            "POST", f"/v1/payments/{payment['id']}/approve", by=system.approver
        )

    def cancel(order: Any) -> Callable[[], Any]:
        return lambda: system.call("POST", f"/v1/orders/{order['id']}/cancel")

    at_once(*map(approve, payments), *map(cancel, orders))

    for order in orders:
        ended = system.until(
            order["id"], lambda order: order["payment_status"] in ("paid", "cancelled")
        )
        debits = system.market.debits(order["order_id"])
        assert (ended["status"], debits) in [("paid", [1500]), ("cancelled", [])]
        assert ended["status"] == ended["payment_status"]


def test_twenty_who_ask_for_payment_at_once_make_one_request(system: System) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}/payment"

    answers = at_once(*[lambda: system.call("POST", path)] * 20)

    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 19]
    assert len(system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"]) == 1
    assert len(system.told(order["id"])) == 2


def test_refunds_asked_for_at_once_are_together_no_more_than_was_paid(system: System) -> None:
    order = system.paid()
    system.advance(order["id"], "shipped")

    answers = at_once(*[lambda: system.refund(order["id"], amount_cny=6)] * 5)

    assert [answer.status_code for answer in answers].count(201) <= 2
    after = system.look(order["id"])
    assert (
        sum(refund["amount_cny"] for refund in after["refunds"]) <= after["paid_amount_cny"] == 15
    )


def test_a_platform_that_pays_later_is_waited_for_and_pays_once(quiet: System) -> None:
    placed = quiet.place(quiet.order_body(platform="taobao")).json()
    quiet.market.clock(advance_seconds=2.5)
    order = quiet.until(placed["id"], lambda order: order["status"] == "pending_payment")

    quiet.approve(quiet.request_payment(order["id"])["id"])
    sent = quiet.until(order["id"], lambda order: order["payment_status"] == "processing")
    assert (sent["status"], sent["waiting_for"]) == ("pending_payment", "payment_result")
    quiet.due_now(order["id"])
    quiet.market.clock(advance_seconds=4)
    paid = quiet.until(order["id"], lambda order: order["payment_status"] == "paid")

    assert (paid["status"], paid["paid_outside"]) == ("paid", False)
    assert len(quiet.market.debits(order["order_id"])) == 1
    assert [event for event, *_ in quiet.told(order["id"])[-2:]] == [
        "order.updated",
        "payment.updated",
    ]
