"""What news from the platform makes of an order: each row of the table, and what is refused."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.orders import NOW, TOTAL, a_part, a_request, an_order, paid_order
from msgspec.structs import replace

from tradewind.orders.apply_platform_state import apply_state, merged
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.model import PaymentStatus, PayMode, RequestStatus
from tradewind.platforms.model import CloseReason, PaymentState, PlatformOrder
from tradewind.platforms.model import PlatformOrderStatus as There

P, S = PaymentStatus, OrderStatus
PAID = a_part(status=There.PAID, payment=PaymentState.PAID)
DEARER = a_part(total=TOTAL + 200)
CLOSED_UNPAID = a_part(
    status=There.CANCELLED, payment=PaymentState.CLOSED, close_reason=CloseReason.TIMEOUT
)
NOT_SENT = (P.UNPAID, P.PENDING_APPROVAL, P.APPROVED, P.REJECTED, P.FAILED)
OPEN = {
    P.PENDING_APPROVAL: a_request(RequestStatus.PENDING_APPROVAL),
    P.APPROVED: a_request(RequestStatus.APPROVED),
    P.PROCESSING: a_request(RequestStatus.PROCESSING, sent_at=NOW),
}


def waiting(payment_status: PaymentStatus) -> Order:
    """An order that waits for payment, with the request that goes with where its money is."""
    return an_order(payment_status=payment_status, payment=OPEN.get(payment_status))


def only(order: Order, *news: PlatformOrder) -> Order:
    """The one step that news leads to."""
    heard = apply_state(order, news)
    assert (len(heard.steps), heard.contradictions) == (1, ())
    return heard.steps[0]


@pytest.mark.parametrize("payment_status", [P.PENDING_APPROVAL, P.APPROVED])
def test_row_8_another_amount_supersedes_the_request(payment_status: PaymentStatus) -> None:
    after = only(waiting(payment_status), DEARER)

    assert (after.status, after.payment_status) == (S.PENDING_PAYMENT, P.UNPAID)
    assert after.payment is not None
    assert after.payment.status is RequestStatus.SUPERSEDED
    assert (after.payment.reason, after.total_fen) == ("amount_changed", TOTAL + 200)


@pytest.mark.parametrize("payment_status", [P.UNPAID, P.REJECTED, P.FAILED, P.PROCESSING])
def test_another_amount_moves_no_money_where_none_was_promised_or_some_is_on_its_way(
    payment_status: PaymentStatus,
) -> None:
    before = waiting(payment_status)

    after = only(before, DEARER)

    assert (after.payment_status, after.payment) == (payment_status, before.payment)
    assert after.total_fen == TOTAL + 200


def test_row_9_a_payment_that_was_sent_is_paid() -> None:
    after = only(waiting(P.PROCESSING), PAID)

    assert (after.status, after.payment_status) == (S.PAID, P.PAID)
    assert (after.paid_fen, after.paid_outside) == (TOTAL, False)
    assert after.payment == replace(OPEN[P.PROCESSING], status=RequestStatus.PAID)


@pytest.mark.parametrize("payment_status", NOT_SENT)
def test_row_12_a_payment_that_we_did_not_send_was_made_outside(
    payment_status: PaymentStatus,
) -> None:
    after = only(waiting(payment_status), PAID)

    assert (after.status, after.payment_status, after.paid_outside) == (S.PAID, P.PAID, True)
    request = OPEN.get(payment_status)
    assert after.payment == (
        request and replace(request, status=RequestStatus.SUPERSEDED, reason="paid_outside")
    )


@pytest.mark.parametrize("payment_status", NOT_SENT)
def test_row_13_an_order_that_closes_unpaid_is_cancelled_on_both_axes(
    payment_status: PaymentStatus,
) -> None:
    after = only(waiting(payment_status), CLOSED_UNPAID)

    assert (after.status, after.payment_status) == (S.CANCELLED, P.CANCELLED)
    assert after.close_reason is CloseReason.TIMEOUT
    request = OPEN.get(payment_status)
    assert after.payment == (
        request and replace(request, status=RequestStatus.SUPERSEDED, reason="order_closed")
    )


def test_row_14_a_payment_on_its_way_fails_when_the_order_closes_unpaid() -> None:
    after = only(waiting(P.PROCESSING), CLOSED_UNPAID)

    assert (after.status, after.payment_status) == (S.CANCELLED, P.CANCELLED)
    assert after.payment is not None
    assert after.payment.status is RequestStatus.FAILED
    assert after.payment.failure is not None
    assert after.payment.failure.code == "order_closed"


@pytest.mark.parametrize(
    ("before", "refunded", "to"),
    [
        (paid_order(), 1, P.PARTIALLY_REFUNDED),
        (paid_order(), TOTAL - 1, P.PARTIALLY_REFUNDED),
        (paid_order(P.PARTIALLY_REFUNDED, refunded=1), 2, P.PARTIALLY_REFUNDED),
        (paid_order(), TOTAL, P.REFUNDED),
        (paid_order(P.PARTIALLY_REFUNDED, refunded=1), TOTAL, P.REFUNDED),
        (paid_order(), TOTAL + 1, P.REFUNDED),
    ],
)
def test_rows_15_and_16_a_refund_is_partial_until_all_that_was_paid_is_back(
    before: Order, refunded: int, to: PaymentStatus
) -> None:
    state = PaymentState.PARTIALLY_REFUNDED if refunded < TOTAL else PaymentState.REFUNDED

    after = only(before, a_part(status=There.PAID, payment=state, refunded_fen=refunded))

    assert (after.payment_status, after.refunded_fen) == (to, min(refunded, TOTAL))


@pytest.mark.parametrize("payment_status", PaymentStatus)
def test_the_same_news_twice_makes_no_step(payment_status: PaymentStatus) -> None:
    news = [DEARER]
    if payment_status in (P.PAID, P.PARTIALLY_REFUNDED, P.REFUNDED):
        order = paid_order()
        news = [a_part(status=There.SHIPPED, payment=PaymentState.PARTIALLY_REFUNDED,
                       refunded_fen=7)]  # fmt: skip
    elif payment_status is P.CANCELLED:
        order, news = an_order(), [CLOSED_UNPAID]
    else:
        order = waiting(payment_status)
    after = apply_state(order, news).steps[-1]

    assert apply_state(after, news).steps == []


def test_older_news_loses_against_newer() -> None:
    order = paid_order()
    stale = a_part(modified_at=NOW - timedelta(seconds=1))

    heard = apply_state(order, [stale])

    assert (heard.steps, heard.contradictions) == ([], ())


def test_news_without_a_time_is_told_apart_by_the_tables_alone() -> None:
    heard = apply_state(paid_order(), [a_part(modified_at=None)])

    assert heard.steps == ()
    assert heard.contradictions == ["the platform says pending_payment of an order that is paid"]


def test_a_word_that_nobody_knows_keeps_the_last_status_and_is_shown() -> None:
    after = only(paid_order(), a_part(status=None, payment=PaymentState.PAID, raw_status="paused"))

    assert (after.status, after.platform_status) == (S.PAID, "paused")
    assert after.parts[0].status is There.PAID


ENDS = [
    (paid_order(status=S.COMPLETED), a_part(status=There.SHIPPED, payment=PaymentState.PAID)),
    (paid_order(P.REFUNDED, S.CLOSED, TOTAL), PAID),
    (an_order(S.CANCELLED, P.CANCELLED, [CLOSED_UNPAID]), a_part()),
    (an_order(S.CANCELLED, P.CANCELLED, [CLOSED_UNPAID]), PAID),
    (paid_order(status=S.SHIPPED), PAID),
    (paid_order(status=S.RECEIVED), a_part(status=There.SHIPPED, payment=PaymentState.PAID)),
]


@pytest.mark.parametrize(("order", "news"), ENDS)
def test_an_order_never_goes_back(order: Order, news: PlatformOrder) -> None:
    heard = apply_state(order, [news])

    assert (list(heard.steps), len(heard.contradictions)) == ([], 1)


@pytest.mark.parametrize(
    "state",
    [PaymentState.UNPAID, PaymentState.PROCESSING, PaymentState.FAILED, PaymentState.CLOSED],
)
@pytest.mark.parametrize("payment_status", [P.PAID, P.PARTIALLY_REFUNDED, P.REFUNDED])
def test_what_was_paid_never_becomes_unpaid(
    payment_status: PaymentStatus, state: PaymentState
) -> None:
    refunded = {P.PAID: 0, P.PARTIALLY_REFUNDED: 1, P.REFUNDED: TOTAL}[payment_status]
    order = paid_order(payment_status, refunded=refunded)

    heard = apply_state(order, [a_part(status=There.SHIPPED, payment=state)])

    assert (list(heard.steps), len(heard.contradictions)) == ([], 1)


def test_money_that_went_back_is_not_forgotten() -> None:
    order = paid_order(P.PARTIALLY_REFUNDED, refunded=300)
    news = a_part(status=There.SHIPPED, payment=PaymentState.PAID, refunded_fen=0)

    after = only(order, news)

    assert (after.status, after.payment_status, after.refunded_fen) == (
        S.SHIPPED,
        P.PARTIALLY_REFUNDED,
        300,
    )


def test_money_goes_back_after_the_end_as_well() -> None:
    order = paid_order(status=S.COMPLETED)
    news = a_part(status=There.CLOSED, payment=PaymentState.REFUNDED, refunded_fen=TOTAL)

    heard = apply_state(order, [news])

    assert [(step.status, step.payment_status) for step in heard.steps] == [
        (S.COMPLETED, P.REFUNDED)
    ]
    assert heard.contradictions == ["the platform says closed of an order that is completed"]
    assert not apply_state(heard.steps[-1], [news]).steps


def test_what_happened_since_the_last_look_takes_one_step_for_each_move_of_the_money() -> None:
    news = a_part(status=There.CLOSED, payment=PaymentState.REFUNDED, refunded_fen=TOTAL)

    steps = apply_state(waiting(P.PROCESSING), [news]).steps

    assert [(step.status, step.payment_status, step.refunded_fen) for step in steps] == [
        (S.CLOSED, P.PAID, 0),
        (S.CLOSED, P.REFUNDED, TOTAL),
    ]
    assert [step.payment and step.payment.status for step in steps] == [RequestStatus.PAID] * 2


def test_an_order_that_was_paid_and_partly_refunded_before_we_looked() -> None:
    news = a_part(status=There.SHIPPED, payment=PaymentState.PARTIALLY_REFUNDED, refunded_fen=400)

    steps = apply_state(waiting(P.UNPAID), [news]).steps

    assert [(step.payment_status, step.refunded_fen, step.paid_outside) for step in steps] == [
        (P.PAID, 0, True),
        (P.PARTIALLY_REFUNDED, 400, True),
    ]


@pytest.mark.parametrize(
    ("url", "outside", "ended"),
    [
        ("https://pay.example/1", False, RequestStatus.PAID),
        (None, True, RequestStatus.SUPERSEDED),
    ],
)
def test_a_link_that_was_given_out_and_paid_is_our_payment(
    url: str | None, outside: bool, ended: RequestStatus
) -> None:
    request = a_request(RequestStatus.APPROVED, PayMode.LINK, pay_url=url)
    order = an_order(payment_status=P.APPROVED, payment=request)

    after = only(order, PAID)

    assert (after.payment_status, after.paid_outside) == (P.PAID, outside)
    assert after.payment is not None
    assert after.payment.status is ended


def test_a_link_that_was_given_out_is_superseded_when_the_amount_changes() -> None:
    request = a_request(RequestStatus.APPROVED, PayMode.LINK, pay_url="https://pay.example/1")

    after = only(an_order(payment_status=P.APPROVED, payment=request), DEARER)

    assert after.payment is not None
    assert (after.payment_status, after.payment.status) == (P.UNPAID, RequestStatus.SUPERSEDED)


def test_a_wish_to_cancel_ends_when_the_order_can_no_longer_be_cancelled() -> None:
    order = an_order(cancel_requested=True)

    assert only(order, PAID).cancel_requested is False
    assert only(order, CLOSED_UNPAID).cancel_requested is False
    assert only(order, DEARER).cancel_requested is True


def test_of_a_split_order_a_part_that_closes_makes_it_cost_less() -> None:
    parts = [a_part("1"), a_part("2")]
    order = an_order(
        parts=parts,
        payment_status=P.PENDING_APPROVAL,
        payment=a_request(amount=2 * TOTAL),
    )

    after = only(order, a_part("2", There.CANCELLED, PaymentState.CLOSED))

    assert (after.status, after.payment_status) == (S.PENDING_PAYMENT, P.UNPAID)
    assert after.total_fen == TOTAL


def test_of_two_tales_about_one_part_the_later_counts_and_new_parts_come_last() -> None:
    old, new = a_part("2"), a_part("2", There.PAID, modified_at=NOW + timedelta(seconds=1))

    assert merged([old], [a_part("1"), new]) == [new, a_part("1")]
    assert merged([new], [old]) == [new]
    assert merged([], []) == []


def test_no_news_is_no_step() -> None:
    assert apply_state(an_order(S.CREATING, parts=[]), []).steps == ()


news = st.builds(
    a_part,
    status=st.sampled_from([*There, None]),
    payment=st.sampled_from(PaymentState),
    total=st.integers(500, 3000),
    refunded_fen=st.integers(0, 4000),
    modified_at=st.sampled_from([None, NOW, NOW + timedelta(seconds=1)]),
)
beginnings = st.sampled_from([*map(waiting, (*NOT_SENT, P.PROCESSING)), paid_order()])


@given(beginnings, st.lists(st.lists(news, max_size=2), max_size=6))
def test_whatever_is_told_the_money_adds_up(order: Order, tales: list[list[PlatformOrder]]) -> None:
    for tale in tales:
        for step in apply_state(order, tale).steps:
            assert step.total_fen == (
                (step.goods_fen or 0) + (step.freight_fen or 0) - (step.discount_fen or 0)
            )
            assert order.refunded_fen <= step.refunded_fen <= step.paid_fen
            assert order.paid_fen <= step.paid_fen
            if step.payment_status is P.REFUNDED:
                assert step.refunded_fen == step.paid_fen
            elif step.payment_status is P.PARTIALLY_REFUNDED:
                assert 0 < step.refunded_fen < step.paid_fen
            else:
                assert step.refunded_fen == 0
            order = step
