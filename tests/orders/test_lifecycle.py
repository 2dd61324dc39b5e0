"""The two state tables: every pair of states, as docs/reference/orders.md shows them."""

import itertools
from dataclasses import replace

import pytest
from kit.orders import APPROVER, BUYER, a_request, an_order, paid_order

from tradewind.auth.model import Role
from tradewind.orders import lifecycle
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.lifecycle import ENDED, FOLLOWS
from tradewind.orders.model import Order, OrderStatus, PlatformJob
from tradewind.orders.payments.decide import moved
from tradewind.orders.payments.lifecycle import MOVES, Trigger
from tradewind.orders.payments.model import PaymentStatus, RequestStatus
from tradewind.orders.person import Person

# Which status may follow which; a dot where it may not. Rows and columns in the same sequence.
MAY_FOLLOW = """
    creating           .  x  x  x  x  x  x  x  x  x  x
    create_failed      .  .  .  .  .  .  .  .  .  .  .
    pending_payment    .  .  .  x  x  x  x  x  x  x  x
    paid               .  .  .  .  x  x  x  x  .  x  x
    partially_shipped  .  .  .  .  .  x  x  x  .  x  x
    shipped            .  .  .  .  .  .  x  x  .  x  x
    received           .  .  .  .  .  .  .  x  .  x  x
    completed          .  .  .  .  .  .  .  .  .  .  .
    cancelled          .  .  .  .  .  .  .  .  .  .  .
    closed             .  .  .  .  .  .  .  .  .  .  .
    unknown            .  .  x  x  x  x  x  x  x  x  .
"""
# How `payment_status` moves: from any of these, by this trigger, to that.
PAYMENT_MOVES = """
    unpaid rejected failed                            request_payment   pending_approval
    pending_approval                                  withdraw_payment  unpaid
    pending_approval                                  approve           approved
    pending_approval                                  reject            rejected
    approved                                          submit            processing
    pending_approval approved                         amount_changed    unpaid
    processing                                        paid              paid
    processing                                        failed           failed
    unpaid pending_approval approved rejected failed  paid              paid
    unpaid pending_approval approved rejected failed  closed            cancelled
    processing                                        closed            cancelled
    paid partially_refunded                           partly_refunded   partially_refunded
    paid partially_refunded                           refunded          refunded
"""


def may_follow() -> dict[tuple[str, str], bool]:
    rows = [row.split() for row in MAY_FOLLOW.strip().splitlines()]
    words = [row[0] for row in rows]
    return {
        (before, after): mark == "x"
        for before, *marks in rows
        for after, mark in zip(words, marks, strict=True)
    }


def moves() -> dict[tuple[str, str], str]:
    result: dict[tuple[str, str], str] = {}
    for row in PAYMENT_MOVES.strip().splitlines():
        *before, trigger, after = row.split()
        result |= {(item, trigger): after for item in before}
    return result


def test_every_status_leads_where_the_reference_says_and_nowhere_else() -> None:
    leads = {
        (before.value, after.value): after in FOLLOWS[before]
        for before, after in itertools.product(OrderStatus, OrderStatus)
    }
    assert leads == may_follow()


def test_an_order_ends_where_nothing_follows() -> None:
    assert {status.value for status in ENDED} == {
        "create_failed",
        "completed",
        "cancelled",
        "closed",
    }


def test_every_payment_status_moves_as_the_reference_says_and_not_otherwise() -> None:
    expected = moves()
    assert {trigger.value for trigger in Trigger} == {trigger for _, trigger in expected}

    moved = {
        (status.value, trigger.value): MOVES.get((status, trigger))
        for status, trigger in itertools.product(PaymentStatus, Trigger)
    }
    assert moved == {pair: expected.get(pair) for pair in moved}


@pytest.mark.parametrize(
    ("status", "trigger"),
    [pair for pair in itertools.product(PaymentStatus, Trigger) if pair not in MOVES],
)
def test_what_the_table_does_not_have_is_refused(status: PaymentStatus, trigger: Trigger) -> None:
    order = an_order(payment_status=status)

    with pytest.raises(InvalidTransition) as rejected:
        moved(order, trigger, BUYER)

    assert rejected.value.facts["current"] == status
    assert rejected.value.facts["allowed"] == lifecycle.allowed(order, BUYER)


COMMANDS = {
    "unpaid": ["request_payment", "cancel"],
    "pending_approval": ["withdraw_payment", "approve", "reject", "cancel"],
    "approved": ["cancel"],
    "rejected": ["request_payment", "cancel"],
    "failed": ["request_payment", "cancel"],
    "processing": [],
    "paid": ["refund"],
    "partially_refunded": ["refund"],
    "refunded": [],
    "cancelled": [],
}


@pytest.mark.parametrize("payment_status", PaymentStatus)
def test_people_may_do_with_an_unpaid_order_what_its_money_allows(
    payment_status: PaymentStatus,
) -> None:
    assert lifecycle.commands(an_order(payment_status=payment_status)) == COMMANDS[payment_status]


ASKED = an_order(payment_status=PaymentStatus.PENDING_APPROVAL, payment=a_request())
BOTH = frozenset({Role.BUYER, Role.APPROVER})


@pytest.mark.parametrize(
    ("by", "allowed"),
    [
        (BUYER, ["withdraw_payment", "cancel"]),
        (APPROVER, ["approve", "reject"]),
        (replace(BUYER, roles=BOTH), ["withdraw_payment", "cancel"]),
        (replace(APPROVER, roles=BOTH), ["approve", "reject"]),
        (replace(APPROVER, roles=frozenset({Role.BUYER})), []),
        (replace(BUYER, roles=frozenset({Role.OPERATOR})), []),
        (None, []),
    ],
)
def test_people_are_told_only_of_what_they_themselves_may_do(
    by: Person | None, allowed: list[str]
) -> None:
    assert lifecycle.allowed(ASKED, by) == allowed


@pytest.mark.parametrize("status", OrderStatus)
def test_an_unpaid_order_can_be_cancelled_until_it_goes_on_its_way(status: OrderStatus) -> None:
    cancellable = status in (OrderStatus.CREATING, OrderStatus.PENDING_PAYMENT, OrderStatus.UNKNOWN)

    assert lifecycle.may_cancel(an_order(status)) is cancellable
    payable = ["request_payment"] if status is OrderStatus.PENDING_PAYMENT else []
    assert lifecycle.commands(an_order(status)) == payable + ["cancel"] * cancellable


def test_an_order_of_which_a_part_is_paid_cannot_be_cancelled() -> None:
    assert not lifecycle.may_cancel(an_order(paid_fen=1))


WORK = [
    (an_order(OrderStatus.CREATING, parts=[]), PlatformJob.CREATE),
    (an_order(OrderStatus.CREATING), PlatformJob.SYNC),
    (an_order(OrderStatus.CREATE_FAILED, parts=[]), PlatformJob.NONE),
    (an_order(), PlatformJob.SYNC),
    (an_order(cancel_requested=True), PlatformJob.CANCEL),
    (an_order(OrderStatus.CREATING, parts=[], cancel_requested=True), PlatformJob.CREATE),
    (an_order(OrderStatus.CANCELLED, PaymentStatus.CANCELLED), PlatformJob.NONE),
    (an_order(payment_status=PaymentStatus.PENDING_APPROVAL), PlatformJob.SYNC),
    (an_order(payment_status=PaymentStatus.APPROVED), PlatformJob.PAY),
    (an_order(payment_status=PaymentStatus.PROCESSING), PlatformJob.PAY),
    (
        an_order(
            payment_status=PaymentStatus.APPROVED,
            payment=a_request(RequestStatus.APPROVED, pay_url="https://pay.example/1"),
        ),
        PlatformJob.SYNC,
    ),
    (paid_order(), PlatformJob.SYNC),
    (paid_order(status=OrderStatus.COMPLETED), PlatformJob.SYNC),
    (paid_order(PaymentStatus.REFUNDED, OrderStatus.CLOSED, 1500), PlatformJob.SYNC),
]


@pytest.mark.parametrize(("order", "work"), WORK)
def test_what_is_to_be_done_at_the_platform(order: Order, work: PlatformJob) -> None:
    assert lifecycle.next_job(order) is work


LINK = a_request(RequestStatus.APPROVED, pay_url="https://pay.example/1")
WAITING = [
    (an_order(OrderStatus.CREATING, parts=[]), "platform_create"),
    (an_order(OrderStatus.CREATE_FAILED, parts=[]), "none"),
    (an_order(), "payment"),
    (an_order(payment_status=PaymentStatus.REJECTED), "payment"),
    (an_order(payment_status=PaymentStatus.FAILED), "payment"),
    (an_order(payment_status=PaymentStatus.PENDING_APPROVAL), "approval"),
    (an_order(payment_status=PaymentStatus.APPROVED), "payment_result"),
    (an_order(payment_status=PaymentStatus.APPROVED, payment=LINK), "payment"),
    (an_order(payment_status=PaymentStatus.PROCESSING), "payment_result"),
    (paid_order(), "seller_shipment"),
    (paid_order(status=OrderStatus.PARTIALLY_SHIPPED), "seller_shipment"),
    (paid_order(status=OrderStatus.SHIPPED), "receipt"),
    (paid_order(status=OrderStatus.RECEIVED), "none"),
    (paid_order(status=OrderStatus.COMPLETED), "none"),
    (an_order(OrderStatus.CANCELLED, PaymentStatus.CANCELLED), "none"),
    (an_order(OrderStatus.UNKNOWN), "none"),
]


@pytest.mark.parametrize(("order", "word"), WAITING)
def test_whom_an_order_waits_for(order: Order, word: str) -> None:
    assert lifecycle.waiting_for(order) == word
