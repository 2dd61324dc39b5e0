"""Cancelling: at once, later, by the worker; and not after payment."""

import pytest
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")

PATH = "/v1/orders/{}/cancel"
BOTH = [("order.updated", "cancelled", "cancelled"), ("payment.updated", "cancelled", "cancelled")]


def test_an_unpaid_order_is_cancelled_at_once(quiet: System) -> None:
    order = quiet.order()
    quiet.market.clock(advance_seconds=11)

    answer = quiet.call("POST", PATH.format(order["id"]))

    cancelled = answer.json()
    assert (answer.status_code, cancelled["status"]) == (200, "cancelled")
    assert (cancelled["payment_status"], cancelled["close_reason"]) == ("cancelled", "buyer")
    assert cancelled["cancel_requested"] is False
    # The scheduled sync may see the change at the same moment, and have it read once more.
    quiet.until_stored(order["id"], lambda shown: shown["next_sync_at"] is None)
    assert quiet.market.status(order["order_id"]) == "cancel"


def test_what_is_too_fast_for_the_platform_is_cancelled_by_the_worker(quiet: System) -> None:
    order = quiet.order()

    answer = quiet.call("POST", PATH.format(order["id"]))

    asked = answer.json()
    assert (answer.status_code, asked["status"]) == (202, "pending_payment")
    assert asked["cancel_requested"] is True
    assert quiet.told(order["id"])[1:] == []
    again = quiet.call("POST", PATH.format(order["id"]))
    assert (again.status_code, again.json()["version"]) == (202, asked["version"])

    quiet.market.clock(advance_seconds=11)
    quiet.due_now(order["id"])
    row = quiet.until_stored(order["id"], lambda shown: shown["status"] == "cancelled")

    assert row["cancel_requested"] is False
    assert quiet.told(order["id"])[1:] == BOTH


def test_what_is_being_created_is_cancelled_when_it_is_there(system: System) -> None:
    system.market.fault("create", "slow", seconds=3, count=1)
    order = system.place(system.order_body()).json()
    assert order["status"] == "creating"

    answer = system.call("POST", PATH.format(order["id"]))

    assert (answer.status_code, answer.json()["cancel_requested"]) == (202, True)
    system.until_stored(order["id"], lambda row: row["order_ids"] != [])
    system.market.clock(advance_seconds=11)
    system.due_now(order["id"])
    system.until_stored(order["id"], lambda row: row["status"] == "cancelled")
    assert system.told(order["id"])[-2:] == BOTH


def test_a_platform_that_cancels_later_says_so_later(quiet: System) -> None:
    order = quiet.place(quiet.order_body(platform="taobao")).json()
    quiet.market.clock(advance_seconds=2.5)
    order = quiet.until(order["id"], lambda order: order["status"] == "pending_payment")

    answer = quiet.call("POST", PATH.format(order["id"]))

    assert (answer.status_code, answer.json()["status"]) == (202, "pending_payment")
    quiet.market.clock(advance_seconds=6)
    after = quiet.look(order["id"])
    assert (after["status"], after["payment_status"]) == ("cancelled", "cancelled")
    assert after["cancel_requested"] is False
    assert quiet.told(order["id"])[-2:] == BOTH


def test_after_payment_it_is_too_late_and_a_refund_is_pointed_to(system: System) -> None:
    order = system.paid()

    problem = system.refused("POST", PATH.format(order["id"]), 409, "invalid_transition")

    assert (problem["current"], problem["allowed"]) == ("paid", ["refund"])
    assert system.look(order["id"])["version"] == order["version"]


def test_a_platform_that_refuses_is_quoted_and_the_wish_is_over(quiet: System) -> None:
    order = quiet.order()
    quiet.market.fault("cancel", "error", code="ORDER_STATUS_ERROR", message="不可取消")

    problem = quiet.refused("POST", PATH.format(order["id"]), 409, "cancel_refused")

    assert problem["upstream"]["code"] == "ORDER_STATUS_ERROR"
    after = quiet.look(order["id"])
    assert (after["status"], after["cancel_requested"]) == ("pending_payment", False)
    assert quiet.told(order["id"])[1:] == []


def test_a_repeat_with_the_same_key_gets_the_same_answer(quiet: System) -> None:
    order = quiet.order()
    quiet.market.clock(advance_seconds=11)
    headers = {"idempotency-key": "cancel it"}

    first = quiet.call("POST", PATH.format(order["id"]), headers=headers)
    second = quiet.call("POST", PATH.format(order["id"]), headers=headers)

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.content == first.content
    assert second.headers["idempotent-replayed"] == "true"
    quiet.refused("POST", PATH.format(order["id"]), 409, "invalid_transition")


def test_a_payment_that_waits_for_approval_ends_with_its_order(quiet: System) -> None:
    order = quiet.order()
    payment = quiet.request_payment(order["id"])
    quiet.market.clock(advance_seconds=11)

    quiet.ok("POST", PATH.format(order["id"]))

    ended = quiet.ok("GET", f"/v1/payments/{payment['id']}", by=quiet.approver)
    assert (ended["status"], ended["reason"]) == ("superseded", "order_closed")
    assert ended["order"]["status"] == "cancelled"
