"""Races about money: one of several exclusive commands wins, with one debit at most."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kit.store import Store

pytestmark = pytest.mark.xdist_group("store")

DECIDED = {
    "approve": "approved",
    "reject": "rejected",
    "withdraw": "unpaid",
}


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def decisions(store: Store, order_id: str, payment_id: str) -> dict[str, Callable[[], Any]]:
    path = f"/v1/payments/{payment_id}"
    return {
        "approve": lambda: store.call("POST", f"{path}/approve", by=store.approver),
        "reject": lambda: store.call(
            "POST", f"{path}/reject", by=store.approver, json={"reason": "No."}
        ),
        "withdraw": lambda: store.call("DELETE", f"/v1/orders/{order_id}/payment"),
    }


def test_of_three_decisions_at_once_one_is_made(store: Store) -> None:
    order = store.order()
    payment = store.request_payment(order["id"])
    commands = decisions(store, order["id"], payment["id"])

    answers = dict(zip(commands, at_once(*commands.values()), strict=True))

    (winner,) = (name for name, answer in answers.items() if answer.status_code == 200)
    losers = [answer for name, answer in answers.items() if name != winner]
    assert [one.json()["code"] for one in losers] == ["invalid_transition"] * 2
    assert store.told(order["id"])[2] == ("payment.updated", "pending_payment", DECIDED[winner])


def test_an_order_is_paid_or_cancelled_and_never_both(store: Store) -> None:
    orders = [store.order() for _ in range(4)]
    payments = [store.request_payment(order["id"]) for order in orders]
    store.market.clock(advance_seconds=11)

    def approve(payment: Any) -> Callable[[], Any]:
        return lambda: store.call(
            "POST", f"/v1/payments/{payment['id']}/approve", by=store.approver
        )

    def cancel(order: Any) -> Callable[[], Any]:
        return lambda: store.call("POST", f"/v1/orders/{order['id']}/cancel")

    at_once(*map(approve, payments), *map(cancel, orders))

    for order in orders:
        ended = store.until(order["id"], lambda one: one["payment_status"] in ("paid", "cancelled"))
        debits = store.market.debits(order["order_id"])
        assert (ended["status"], debits) in [("paid", [1500]), ("cancelled", [])]
        assert ended["status"] == ended["payment_status"]


def test_twenty_who_ask_for_payment_at_once_make_one_request(store: Store) -> None:
    order = store.order()
    path = f"/v1/orders/{order['id']}/payment"

    answers = at_once(*[lambda: store.call("POST", path)] * 20)

    assert sorted(one.status_code for one in answers) == [201, *[409] * 19]
    assert len(store.ok("GET", f"/v1/orders/{order['id']}/payments")["items"]) == 1
    assert len(store.told(order["id"])) == 2


def test_refunds_asked_for_at_once_are_together_no_more_than_was_paid(store: Store) -> None:
    order = store.paid()
    store.advance(order["id"], "shipped")

    answers = at_once(*[lambda: store.refund(order["id"], amount_cny=6)] * 5)

    assert [one.status_code for one in answers].count(201) <= 2
    after = store.look(order["id"])
    assert sum(one["amount_cny"] for one in after["refunds"]) <= after["paid_amount_cny"] == 15


def test_a_platform_that_pays_later_is_waited_for_and_pays_once(quiet: Store) -> None:
    placed = quiet.place(quiet.wish(platform="taobao")).json()
    quiet.market.clock(advance_seconds=2.5)
    order = quiet.until(placed["id"], lambda one: one["status"] == "pending_payment")

    quiet.approve(quiet.request_payment(order["id"])["id"])
    sent = quiet.until(order["id"], lambda one: one["payment_status"] == "processing")
    assert (sent["status"], sent["waiting_for"]) == ("pending_payment", "payment_result")
    quiet.due_now(order["id"])
    quiet.market.clock(advance_seconds=4)
    paid = quiet.until(order["id"], lambda one: one["payment_status"] == "paid")

    assert (paid["status"], paid["paid_outside"]) == ("paid", False)
    assert len(quiet.market.debits(order["order_id"])) == 1
    assert [event for event, *_ in quiet.told(order["id"])[-2:]] == [
        "order.updated",
        "payment.updated",
    ]
