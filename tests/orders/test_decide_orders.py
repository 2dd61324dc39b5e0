"""Decisions about orders: the result of each command, or the error."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.orders import (
    APPROVER,
    BUYER,
    NOW,
    PAYMENT_ID,
    TOTAL,
    a_part,
    a_request,
    an_order,
    paid_order,
)
from msgspec.structs import replace

from tradewind.orders import decide as orders
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments import decide
from tradewind.orders.payments.errors import AmountChanged, OwnRequest, RefundTooLarge
from tradewind.orders.payments.model import (
    Failure,
    OrderRefund,
    PaymentStatus,
    PayMode,
    RequestStatus,
)
from tradewind.platforms.model import (
    CloseReason,
    PaymentState,
    Refund,
    RefundKind,
    RefundState,
)
from tradewind.platforms.model import PlatformOrderStatus as PlatformStatus

P, S = PaymentStatus, OrderStatus
BROKE = Failure("insufficient_balance", "There is not enough money.")


def asked(amount: int = 100, freight: int = 0, number: int = 9, **more: Any) -> OrderRefund:
    plain: dict[str, Any] = {"platform_id": None, "state": RefundState.REQUESTED}
    return OrderRefund(
        id=UUID(int=number),
        order_id="900",
        kind=RefundKind.REFUND_ONLY,
        amount_fen=amount,
        freight_fen=freight,
        reason="damaged",
        note=None,
        failure=None,
        requested_at=NOW,
        updated_at=NOW,
        **(plain | more),
    )


def pending(**more: Any) -> Order:
    return an_order(payment_status=P.PENDING_APPROVAL, payment=a_request(), **more)


def request(order: Order, seen: int | None = None) -> Order:
    return decide.payment_requested(order, PAYMENT_ID, BUYER, PayMode.AUTO, seen, NOW)


@pytest.mark.parametrize("payment_status", [P.UNPAID, P.REJECTED, P.FAILED])
def test_a_request_is_for_what_is_left_to_pay(payment_status: PaymentStatus) -> None:
    paid = a_part("899", PlatformStatus.PAID, PaymentState.PAID, total=400)
    parts = [paid, a_part()]

    after = request(an_order(payment_status=payment_status, parts=parts, paid_fen=400), TOTAL)

    assert after.payment_status is P.PENDING_APPROVAL
    assert after.payment == a_request(amount=TOTAL)


@pytest.mark.parametrize(
    "status", [orderstatu for orderstatu in OrderStatus if orderstatu is not S.PENDING_PAYMENT]
)
def test_money_is_asked_for_only_while_the_platform_waits_for_it(status: OrderStatus) -> None:
    with pytest.raises(InvalidTransition) as refused:
        request(an_order(status))

    assert refused.value.facts["current"] == status


def test_a_request_for_another_amount_than_the_order_costs_is_refused() -> None:
    with pytest.raises(AmountChanged) as refused:
        request(an_order(), TOTAL + 1)

    assert refused.value.facts == {"amount_cny": 15.01, "current_amount_cny": 15}


def test_what_is_being_cancelled_is_neither_asked_nor_approved_to_be_paid() -> None:
    with pytest.raises(InvalidTransition) as asking:
        request(an_order(cancel_requested=True))
    with pytest.raises(InvalidTransition) as approving:
        decide.payment_approved(pending(cancel_requested=True), APPROVER, None, NOW)

    assert asking.value.facts["current"] == "cancel_requested"
    assert approving.value.facts["current"] == "cancel_requested"


def test_a_request_that_is_withdrawn_leaves_the_order_unpaid() -> None:
    after = decide.payment_withdrawn(pending(), BUYER, NOW)

    assert after.payment_status is P.UNPAID
    assert after.payment == a_request(RequestStatus.WITHDRAWN, decided_by=BUYER, decided_at=NOW)


def test_an_approval_names_who_gave_it() -> None:
    after = decide.payment_approved(pending(), APPROVER, TOTAL, NOW)

    assert after.payment_status is P.APPROVED
    assert after.payment == a_request(RequestStatus.APPROVED, decided_by=APPROVER, decided_at=NOW)


def test_a_rejection_says_why() -> None:
    after = decide.payment_rejected(pending(), APPROVER, "Too dear.", NOW)

    assert after.payment_status is P.REJECTED
    assert after.payment == a_request(
        RequestStatus.REJECTED, decided_by=APPROVER, decided_at=NOW, reason="Too dear."
    )


def test_nobody_decides_about_their_own_request() -> None:
    with pytest.raises(OwnRequest):
        decide.payment_approved(pending(), BUYER, None, NOW)
    with pytest.raises(OwnRequest):
        decide.payment_rejected(pending(), BUYER, "No.", NOW)


def test_an_approval_of_another_amount_is_refused() -> None:
    with pytest.raises(AmountChanged) as refused:
        decide.payment_approved(pending(), APPROVER, TOTAL - 1, NOW)

    assert refused.value.facts == {"amount_cny": 14.99, "current_amount_cny": 15}


def test_a_payment_is_written_down_before_it_is_sent_and_may_then_be_refused() -> None:
    approved = a_request(RequestStatus.APPROVED, decided_by=APPROVER, decided_at=NOW)

    sent = decide.payment_sent(an_order(payment_status=P.APPROVED, payment=approved), NOW)
    assert sent.payment_status is P.PROCESSING
    assert sent.payment == replace(approved, status=RequestStatus.PROCESSING, sent_at=NOW)

    failed = decide.payment_failed(sent, BROKE)
    assert failed.payment_status is P.FAILED
    assert failed.payment == replace(sent.payment, status=RequestStatus.FAILED, failure=BROKE)


def test_a_link_is_kept_with_its_request() -> None:
    order = an_order(payment_status=P.APPROVED, payment=a_request(RequestStatus.APPROVED))

    after = decide.link_received(order, "https://pay.example/1")

    assert after.payment is not None
    assert (after.payment_status, after.payment.pay_url) == (P.APPROVED, "https://pay.example/1")


def test_a_refused_create_is_an_end() -> None:
    creating = an_order(S.CREATING, parts=[], cancel_requested=True)

    after = orders.create_rejected(creating, BROKE)

    assert (after.status, after.failure, after.cancel_requested) == (S.CREATE_FAILED, BROKE, False)
    with pytest.raises(InvalidTransition):
        orders.create_rejected(an_order(), BROKE)


def test_an_order_that_no_platform_has_heard_of_is_dropped() -> None:
    after = orders.dropped(an_order(S.CREATING, parts=[], cancel_requested=True))

    assert (after.status, after.payment_status) == (S.CANCELLED, P.CANCELLED)
    assert after.platform_payment_status is PaymentState.CLOSED
    assert (after.close_reason, after.cancel_requested) == (CloseReason.BUYER, False)
    with pytest.raises(InvalidTransition):
        orders.dropped(an_order(S.CREATING))


@pytest.mark.parametrize(
    ("order", "current"),
    [
        (an_order(payment_status=P.PROCESSING), "processing"),
        (paid_order(), "paid"),
        (paid_order(P.PARTIALLY_REFUNDED, refunded=1), "partially_refunded"),
        (paid_order(P.REFUNDED, S.CLOSED, TOTAL), "refunded"),
        (an_order(S.CANCELLED, P.CANCELLED), "cancelled"),
        (an_order(S.CREATE_FAILED, parts=[]), "create_failed"),
        (an_order(S.SHIPPED), "shipped"),
    ],
)
def test_what_may_be_paid_is_not_cancelled(order: Order, current: str) -> None:
    with pytest.raises(InvalidTransition) as refused:
        orders.cancel_requested(order, BUYER)

    assert refused.value.facts["current"] == current


def test_a_refund_counts_from_when_it_is_asked_for_until_it_is_refused() -> None:
    order = decide.refund_requested(paid_order(), asked(600, 400), BUYER)
    assert decide.refundable(order) == TOTAL - 1000

    with pytest.raises(RefundTooLarge) as refused:
        decide.refund_requested(order, asked(501, number=10), BUYER)
    assert refused.value.facts == {"left_cny": 5}

    both = decide.refund_requested(order, asked(500, number=10), BUYER)
    assert decide.refundable(both) == 0
    again = decide.refund_dropped(both, UUID(int=9))
    assert [refund.id for refund in again.refunds] == [UUID(int=10)]
    assert decide.refundable(again) == TOTAL - 500


def test_a_refund_of_nothing_is_refused() -> None:
    with pytest.raises(RefundTooLarge):
        decide.refund_requested(paid_order(), asked(0), BUYER)


@pytest.mark.parametrize("payment_status", sorted({*P} - {P.PAID, P.PARTIALLY_REFUNDED}))
def test_only_what_was_paid_is_asked_back(payment_status: PaymentStatus) -> None:
    with pytest.raises(InvalidTransition) as refused:
        decide.refund_requested(an_order(payment_status=payment_status), asked(), BUYER)

    assert refused.value.facts["current"] == payment_status


def test_a_refund_that_was_heard_of_before_it_was_named_is_one() -> None:
    heard = asked(number=10, platform_id="TQ1", state=RefundState.APPROVED)
    order = paid_order(refunds=[asked(), heard])

    after = decide.refund_accepted(order, UUID(int=9), "TQ1", NOW)

    assert after.refunds == [asked(platform_id="TQ1", state=RefundState.APPROVED)]


def told(name: str = "TQ1", amount: int = 100, state: RefundState = RefundState.REFUSED) -> Refund:
    return Refund(name, "900", state, amount, "refundclose")


def test_refunds_are_known_again_by_the_platforms_id_or_else_by_their_amount() -> None:
    named = asked(number=9, amount=70, platform_id="TQ1")
    unnamed = asked(number=10, amount=60, freight=40)
    later = NOW + timedelta(seconds=1)

    after = decide.refunds_synced(
        paid_order(refunds=[named, unnamed]), [told(), told("TQ2")], [UUID(int=11)], later
    )

    assert [(refund.id.int, refund.platform_id, refund.state) for refund in after.refunds] == [
        (9, "TQ1", RefundState.REFUSED),
        (10, "TQ2", RefundState.REFUSED),
    ]
    assert {refund.updated_at for refund in after.refunds} == {later}


def test_a_refund_that_somebody_asked_for_on_the_platform_is_shown_too() -> None:
    order = paid_order()

    after = decide.refunds_synced(order, [told()], [UUID(int=11)], NOW)

    assert [(refund.id.int, refund.amount_fen, refund.kind) for refund in after.refunds] == [
        (11, 100, None)
    ]
    assert decide.refunds_synced(after, [told()], [UUID(int=12)], NOW) is after


def test_a_refund_that_never_arrived_is_given_up_after_ten_minutes() -> None:
    order = paid_order(refunds=[asked()])
    limit = timedelta(minutes=10)

    assert decide.refunds_synced(order, [], [], NOW + limit) is order
    after = decide.refunds_synced(order, [], [], NOW + limit + timedelta(milliseconds=1))

    assert [(refund.state, refund.failure and refund.failure.code) for refund in after.refunds] == [
        (RefundState.CLOSED, "refund_lost")
    ]
    assert decide.refundable(after) == TOTAL


@given(st.lists(st.tuples(st.integers(0, TOTAL), st.integers(0, 600)), max_size=8))
def test_however_often_it_is_asked_refunds_never_exceed_what_was_paid(
    wishes: list[tuple[int, int]],
) -> None:
    order = paid_order()
    for number, (goods, freight) in enumerate(wishes):
        try:
            order = decide.refund_requested(order, asked(goods, freight, number), BUYER)
        except RefundTooLarge:
            continue

    together = sum(refund.amount_fen + refund.freight_fen for refund in order.refunds)
    assert together <= order.paid_fen
    assert decide.refundable(order) == order.paid_fen - together
