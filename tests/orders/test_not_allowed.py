"""Every command in a state that does not allow it: 409 with the allowed ones, nothing changed."""

from typing import Any

import pytest
from kit.system import System

from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("system")

# What may be done while an order waits for payment and its money is so.
ALLOWED = {
    "unpaid": ["request_payment", "cancel"],
    "pending_approval": ["withdraw_payment", "approve", "reject", "cancel"],
    "approved": ["cancel"],
    "rejected": ["request_payment", "cancel"],
    "processing": [],
    "paid": ["refund"],
    "failed": ["request_payment", "cancel"],
    "partially_refunded": ["refund"],
    "refunded": [],
    "cancelled": [],
}
GONE_BACK = {"partially_refunded": 1, "refunded": 1500}
COMMANDS = ["request_payment", "withdraw_payment", "approve", "reject", "cancel", "refund"]
DECISIONS = ["approve", "reject"]


def with_request(system: System) -> tuple[str, str]:
    """A new order with a request to pay it; the ids of both."""
    order = system.order()
    return order["id"], system.request_payment(order["id"])["id"]


def send(system: System, command: str, order_id: str, payment_id: str) -> Any:
    """The answer to a command, by whoever may give it."""
    if command == "refund":
        return system.refund(order_id, amount_cny=1)
    method, path, by, body = {
        "request_payment": ("POST", f"/v1/orders/{order_id}/payment", system.buyer, None),
        "withdraw_payment": ("DELETE", f"/v1/orders/{order_id}/payment", system.buyer, None),
        "approve": ("POST", f"/v1/payments/{payment_id}/approve", system.approver, None),
        "reject": ("POST", f"/v1/payments/{payment_id}/reject", system.approver, {"reason": "no"}),
        "cancel": ("POST", f"/v1/orders/{order_id}/cancel", system.buyer, None),
    }[command]
    return system.call(method, path, by=by, **({"json": body} if body else {}))


def refuse_all(
    system: System,
    ids: tuple[str, str],
    commands: list[str],
    current: str,
    allowed: list[str],
    request: str | None = None,
) -> None:
    """Give every command, and see that it is refused and leaves no trace.

    A decision about a `request` that is over is refused for what became of that. Of what is
    `allowed`, buyers are told of their own commands, approvers of theirs.
    """
    before, reported = system.facts(ids[0]), system.told(ids[0])

    for command in commands:
        answer = send(system, command, *ids)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (409, "invalid_transition"), command
        decides = command in DECISIONS
        expected = request if decides and request else current
        theirs = [item for item in allowed if (item in DECISIONS) == decides]
        assert (problem["current"], problem["allowed"]) == (expected, theirs), command

    assert system.facts(ids[0]) == before
    assert system.told(ids[0]) == reported


@pytest.mark.parametrize("payment_status", ALLOWED)
def test_what_the_money_does_not_allow_is_refused(quiet: System, payment_status: str) -> None:
    ids = with_request(quiet)
    if payment_status in ("paid", "partially_refunded", "refunded"):
        money = {"paid_fen": 1500, "refunded_fen": GONE_BACK.get(payment_status, 0)}
        quiet.force(ids[0], status="paid", payment_status=payment_status, **money)
    elif payment_status == "cancelled":
        quiet.force(ids[0], status="cancelled", payment_status=payment_status)
    else:
        quiet.force(ids[0], payment_status=payment_status)
    allowed = ALLOWED[payment_status]

    is_open = payment_status in ("pending_approval", "approved", "processing")
    refused = [command for command in COMMANDS if command not in allowed]
    request = None if is_open else "superseded"
    refuse_all(quiet, ids, refused, payment_status, allowed, request)


UNPAYABLE = {
    # what still may be done with an unpaid order that stands there
    "creating": ["cancel"],
    "create_failed": [],
    "paid": [],
    "partially_shipped": [],
    "shipped": [],
    "received": [],
    "completed": [],
    "cancelled": [],
    "closed": [],
    "unknown": ["cancel"],
}


@pytest.mark.parametrize("status", UNPAYABLE)
def test_what_the_platform_does_not_wait_for_is_neither_paid_nor_cancelled(
    quiet: System, status: str
) -> None:
    order_id = quiet.order()["id"]
    quiet.force(order_id, status=status)
    allowed = UNPAYABLE[status]
    commands = ["request_payment", *(["cancel"] if "cancel" not in allowed else [])]

    refuse_all(quiet, (order_id, ""), commands, status, allowed)


@pytest.mark.parametrize("status", ["unknown", "paid"])
def test_a_payment_is_not_approved_unless_the_platform_waits_for_it(
    quiet: System, status: str
) -> None:
    ids = with_request(quiet)
    quiet.force(ids[0], status=status)
    allowed = ["withdraw_payment", "reject", *UNPAYABLE[status]]

    refuse_all(quiet, ids, ["approve"], status, allowed)


def test_what_is_being_cancelled_is_neither_asked_nor_approved_to_be_paid(quiet: System) -> None:
    asked, fresh = with_request(quiet), quiet.order()["id"]
    for order_id in (asked[0], fresh):
        quiet.force(order_id, cancel_requested=True)

    refuse_all(
        quiet,
        asked,
        ["approve"],
        "cancel_requested",
        ["withdraw_payment", "reject", "cancel"],
    )
    refuse_all(quiet, (fresh, ""), ["request_payment"], "cancel_requested", ["cancel"])


@pytest.mark.parametrize("end", ["withdrawn", "rejected", "superseded"])
def test_a_request_that_is_over_is_not_decided_again(quiet: System, end: str) -> None:
    ids = with_request(quiet)
    if end == "withdrawn":
        send(quiet, "withdraw_payment", *ids)
    elif end == "rejected":
        send(quiet, "reject", *ids)
    else:
        quiet.advance(ids[0], "price_changed", total_cny=16)

    refuse_all(quiet, ids, ["approve", "reject"], end, ["request_payment", "cancel"])


def test_an_order_that_is_not_there_yet_cannot_be_moved(system: System) -> None:
    system.market.fault("create", "slow", seconds=3, count=1)
    order = system.place(system.order_body()).json()

    problem = system.refused(
        "POST",
        f"/v1/sandbox/orders/{order['id']}/advance",
        409,
        "invalid_transition",
        json={"to": "paid"},
    )

    assert (problem["current"], problem["allowed"]) == ("creating", ["cancel"])


def test_whoever_is_buyer_and_approver_is_told_of_what_they_may_do(quiet: System) -> None:
    both = quiet.api.person(roles=(Role.BUYER, Role.APPROVER))
    own = System(quiet.api, quiet.market, both, quiet.approver, quiet.skus)
    mine, of_another = with_request(own), with_request(quiet)

    asked_twice = own.call("POST", f"/v1/orders/{mine[0]}/payment").json()
    quiet.force(of_another[0], cancel_requested=True)
    approves = own.call("POST", f"/v1/payments/{of_another[1]}/approve").json()

    # Nobody decides about their own request, nor commands the order of another account.
    assert asked_twice["allowed"] == ["withdraw_payment", "cancel"]
    assert approves["allowed"] == ["reject"]
