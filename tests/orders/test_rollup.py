"""Split orders: one status from two parts, for every pair of statuses."""

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.orders import NOW, TOTAL, a_part

from tradewind.orders.rollup import roll_up
from tradewind.platforms.model import CloseReason, PaymentState, PlatformOrder, PlatformOrderStatus

# The standing of two parts that have these statuses. Below the diagonal it is the same.
PROGRESS = """
                   creating pending_payment paid             partially_shipped shipped           received          completed         cancelled         closed            unknown
creating           creating creating        creating         creating          creating          creating          creating          creating          creating          unknown
pending_payment    .        pending_payment pending_payment  pending_payment   pending_payment   pending_payment   pending_payment   pending_payment   pending_payment   unknown
paid               .        .               paid             partially_shipped partially_shipped partially_shipped partially_shipped paid              paid              unknown
partially_shipped  .        .               .                partially_shipped partially_shipped partially_shipped partially_shipped partially_shipped partially_shipped unknown
shipped            .        .               .                .                 shipped           shipped           shipped           shipped           shipped           unknown
received           .        .               .                .                 .                 received          received          received          received          unknown
completed          .        .               .                .                 .                 .                 completed         completed         completed         unknown
cancelled          .        .               .                .                 .                 .                 .                 cancelled         closed            unknown
closed             .        .               .                .                 .                 .                 .                 .                 closed            unknown
unknown            .        .               .                .                 .                 .                 .                 .                 .                 unknown
"""  # noqa: E501 - a table is read across
MONEY = """
                   unpaid paid           partially_paid partially_refunded refunded           processing     failed         closed         unknown
unpaid             unpaid partially_paid partially_paid partially_paid     partially_paid     processing     failed         unknown        unknown
paid               .      paid           partially_paid partially_refunded partially_refunded partially_paid partially_paid partially_paid partially_paid
partially_paid     .      .              partially_paid partially_paid     partially_paid     partially_paid partially_paid partially_paid partially_paid
partially_refunded .      .              .              partially_refunded partially_refunded partially_paid partially_paid partially_paid partially_paid
refunded           .      .              .              .                  refunded           partially_paid partially_paid partially_paid partially_paid
processing         .      .              .              .                  .                  processing     failed         processing     processing
failed             .      .              .              .                  .                  .              failed         failed         failed
closed             .      .              .              .                  .                  .              .              closed         unknown
unknown            .      .              .              .                  .                  .              .              .              unknown
"""  # noqa: E501 - a table is read across
REFUNDED = {PaymentState.PARTIALLY_REFUNDED: 100, PaymentState.REFUNDED: TOTAL}


def table(text: str) -> dict[tuple[str, str], str]:
    head, *rows = [line.split() for line in text.strip().splitlines()]
    result = {}
    for first, *cells in rows:
        for second, cell in zip(head, cells, strict=True):
            if cell != ".":
                result[first, second] = result[second, first] = cell
    return result


@pytest.mark.parametrize(
    ("first", "second"), [*itertools.product(PlatformOrderStatus, PlatformOrderStatus)]
)
def test_the_least_progress_of_two_parts_is_that_of_the_order(
    first: PlatformOrderStatus, second: PlatformOrderStatus
) -> None:
    result = roll_up([a_part("1", first), a_part("2", second)])

    assert result.status == table(PROGRESS)[first, second]


@pytest.mark.parametrize("other", PlatformOrderStatus)
def test_a_part_with_a_word_that_nobody_knows_leaves_the_order_where_it_was(
    other: PlatformOrderStatus,
) -> None:
    result = roll_up([a_part("1", None), a_part("2", other)])

    assert result.status is None


@pytest.mark.parametrize(("first", "second"), [*itertools.product(PaymentState, PaymentState)])
def test_two_payments_are_one(first: PaymentState, second: PaymentState) -> None:
    parts = [
        a_part(name, payment=state, refunded_fen=REFUNDED.get(state, 0))
        for name, state in (("1", first), ("2", second))
    ]

    result = roll_up(parts)

    assert result.payment == table(MONEY)[first, second]
    got = [part for part in parts if part.payment in ("paid", "partially_refunded", "refunded")]
    assert result.paid_fen == TOTAL * len(got)
    assert result.refunded_fen == sum(part.refunded_fen for part in got)


def test_two_parts_that_ended_unpaid_are_closed_if_one_of_them_got_money() -> None:
    paid = a_part("1", PlatformOrderStatus.CANCELLED, PaymentState.REFUNDED, refunded_fen=TOTAL)
    unpaid = a_part("2", PlatformOrderStatus.CANCELLED, PaymentState.CLOSED)

    assert roll_up([paid, unpaid]).status == "closed"
    assert roll_up([unpaid, unpaid]).status == "cancelled"


def test_what_was_cancelled_unpaid_costs_nothing_unless_it_is_all_there_is() -> None:
    going, gone = a_part("1"), a_part("2", PlatformOrderStatus.CANCELLED, PaymentState.CLOSED)

    assert roll_up([going, gone]).total_fen == TOTAL
    assert roll_up([gone, gone]).total_fen == 2 * TOTAL


def test_the_earliest_time_to_pay_and_every_word_of_the_platform_are_told() -> None:
    late = a_part("1", pay_before=NOW + timedelta(hours=1), raw_status="b")
    soon = a_part("2", pay_before=NOW, raw_status="a", dispute=True)

    result = roll_up([late, soon, replace(late, id="3")])

    assert (result.pay_before, result.raw_status, result.dispute) == (NOW, "b, a", True)


def test_why_it_closed_is_told_once_it_is_over() -> None:
    gone = a_part(
        "1", PlatformOrderStatus.CANCELLED, PaymentState.CLOSED, close_reason=CloseReason.SELLER
    )

    assert roll_up([gone, a_part("2")]).close_reason is None
    assert roll_up([gone]).close_reason is CloseReason.SELLER


parts = st.builds(
    a_part,
    name=st.uuids().map(str),
    status=st.sampled_from([*PlatformOrderStatus, None]),
    payment=st.sampled_from(PaymentState),
    total=st.integers(500, 100_000),
    refunded_fen=st.integers(0, 200_000),
)


@given(st.lists(parts, min_size=1, max_size=5))
def test_the_amounts_of_the_whole_add_up(found: list[PlatformOrder]) -> None:
    whole = roll_up(found)

    assert whole.total_fen == whole.goods_fen + whole.freight_fen - whole.discount_fen
    assert 0 <= whole.refunded_fen <= whole.paid_fen <= whole.total_fen
