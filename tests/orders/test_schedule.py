"""The sync schedule: never in the past, with jitter, and with an end."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.orders import NOW, a_request, an_order, paid_order

from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.model import PaymentStatus, RequestStatus
from tradewind.orders.schedule import TAIL, after_failure, next_sync

P, S = PaymentStatus, OrderStatus
MIDDLE = 0.5  # of the chances: it moves nothing
SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=n) for n in (1, 60, 3600, 86400))
LINK = a_request(RequestStatus.APPROVED, pay_url="https://pay.example/1")
CALM = [
    (an_order(S.CREATING, parts=[]), 5 * SECOND),
    (an_order(), 5 * MINUTE),
    (an_order(payment_status=P.PENDING_APPROVAL), 5 * MINUTE),
    (an_order(payment_status=P.APPROVED), timedelta(0)),
    (an_order(payment_status=P.APPROVED, payment=LINK), 30 * SECOND),
    (an_order(payment_status=P.PROCESSING), 5 * SECOND),
    (an_order(cancel_requested=True), 5 * SECOND),
    (an_order(pay_before=NOW + MINUTE), MINUTE + SECOND),
    (an_order(pay_before=NOW + DAY), 5 * MINUTE),
    (an_order(pay_before=NOW - DAY), 5 * MINUTE),
    (paid_order(), 15 * MINUTE),
    (paid_order(status=S.PARTIALLY_SHIPPED), HOUR),
    (paid_order(status=S.SHIPPED), 3 * HOUR),
    (paid_order(status=S.RECEIVED), 3 * HOUR),
    (paid_order(status=S.COMPLETED), DAY),
    (paid_order(P.REFUNDED, S.CLOSED, 1500), DAY),
    (an_order(S.UNKNOWN), 10 * MINUTE),
]


@pytest.mark.parametrize(("order", "pause"), CALM)
def test_the_calmer_an_order_is_the_later_it_is_looked_at(order: Order, pause: timedelta) -> None:
    assert next_sync(order, NOW, MIDDLE) == NOW + pause


@pytest.mark.parametrize(
    "order",
    [
        an_order(S.CREATE_FAILED, parts=[]),
        an_order(S.CANCELLED, P.CANCELLED),
        paid_order(status=S.COMPLETED, updated_at=NOW - TAIL - SECOND),
        paid_order(P.REFUNDED, S.CLOSED, 1500, updated_at=NOW - TAIL - SECOND),
    ],
)
def test_what_is_over_is_looked_at_no_more(order: Order) -> None:
    assert next_sync(order, NOW, MIDDLE) is None


def test_refunds_are_looked_for_to_the_end_of_thirty_days_after_completion() -> None:
    assert timedelta(days=30) == TAIL
    completed = paid_order(status=S.COMPLETED, updated_at=NOW - TAIL)

    assert next_sync(completed, NOW, MIDDLE) == NOW + DAY


@pytest.mark.parametrize(
    ("waited", "pause"),
    [(SECOND, 5 * SECOND), (100 * SECOND, 20 * SECOND), (HOUR, 10 * MINUTE)],
)
def test_a_payment_is_asked_about_less_often_the_longer_it_takes(
    waited: timedelta, pause: timedelta
) -> None:
    order = an_order(payment_status=P.PROCESSING, updated_at=NOW - waited)

    assert next_sync(order, NOW, MIDDLE) == NOW + pause


def test_failures_in_a_row_are_tried_again_later_and_later_up_to_ten_minutes() -> None:
    pauses = [(after_failure(n, NOW, MIDDLE) - NOW) / SECOND for n in range(12)]

    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]


orders = st.builds(
    lambda status, money, waited, left: an_order(
        status, money, updated_at=NOW - waited, pay_before=NOW + left
    ),
    st.sampled_from(OrderStatus),
    st.sampled_from(PaymentStatus),
    st.timedeltas(timedelta(0), timedelta(days=60)),
    st.timedeltas(timedelta(days=-2), timedelta(days=2)),
)


@given(orders, st.floats(0, 1))
def test_no_look_is_in_the_past_and_chance_moves_it_by_a_tenth(order: Order, chance: float) -> None:
    look, middle = next_sync(order, NOW, chance), next_sync(order, NOW, MIDDLE)

    if middle is None:
        assert look is None
        return
    assert look is not None
    assert look >= NOW
    slack = timedelta(microseconds=2)
    assert 0.9 * (middle - NOW) - slack <= look - NOW <= 1.1 * (middle - NOW) + slack


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_what_failed_is_tried_again_within_two_seconds_to_eleven_minutes(
    failures: int, chance: float
) -> None:
    pause = after_failure(failures, NOW, chance) - NOW

    assert 1.8 * SECOND <= pause <= 11 * MINUTE
