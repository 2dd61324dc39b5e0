"""Every connector pays an order once, and never reports a debit as failed."""

import asyncio

import pytest
from connectors.stand import (
    PAYMENT_FAILS,
    PAYMENT_SEEMS_TO_FAIL,
    PAYMENT_TIMES_OUT,
    SETTLED_SECONDS,
    SPLITS,
    Stand,
    is_refused,
    new_operation,
    outcome,
)

from tradewind.platforms.contract import Capability
from tradewind.platforms.failures import OutcomeUnknown, Reason, Rejected, Unavailable
from tradewind.platforms.model import Payment, PaymentState, PlatformOrderStatus

UNDER_WAY = frozenset({PaymentState.PAID, PaymentState.PROCESSING})


async def test_an_order_is_paid(stand: Stand) -> None:
    order = await stand.order()

    payment = await stand.connector.pay(order.id, order.total_fen, new_operation())
    paid = await stand.later(order.id)

    assert payment.state in UNDER_WAY
    assert (paid.status, paid.payment) == (PlatformOrderStatus.PAID, PaymentState.PAID)
    assert paid.paid_at is not None
    assert stand.debits(order.id) == [order.total_fen]


async def test_a_payment_that_is_not_yet_seen_is_not_called_paid(stand: Stand) -> None:
    """What `pay` answers is never ahead of the money."""
    order = await stand.order()

    payment = await stand.connector.pay(order.id, order.total_fen, new_operation())

    if payment.state is PaymentState.PAID:
        assert stand.debits(order.id) == [order.total_fen]


async def test_the_same_operation_never_debits_twice(stand: Stand) -> None:
    order, operation = await stand.order(), new_operation()
    await stand.connector.pay(order.id, order.total_fen, operation)

    soon = await stand.connector.pay(order.id, order.total_fen, operation)
    stand.wait(SETTLED_SECONDS)
    later = await stand.connector.pay(order.id, order.total_fen, operation)

    assert soon.state in UNDER_WAY
    assert later.state is PaymentState.PAID
    assert stand.debits(order.id) == [order.total_fen]


async def test_the_same_operation_many_times_at_once(stand: Stand) -> None:
    order, operation = await stand.order(), new_operation()

    payments = await asyncio.gather(
        *(stand.connector.pay(order.id, order.total_fen, operation) for _ in range(8))
    )
    stand.wait(SETTLED_SECONDS)

    assert {payment.state for payment in payments} <= UNDER_WAY
    assert stand.debits(order.id) == [order.total_fen]


async def test_another_operation_on_a_paid_order_debits_nothing(stand: Stand) -> None:
    order = await stand.paid()

    result = await outcome(stand.connector.pay(order.id, order.total_fen, new_operation()))

    if isinstance(result, Payment):
        assert result.state is PaymentState.PAID
    else:
        assert isinstance(result, Rejected)
        assert result.reason is Reason.ALREADY_PAID
    assert stand.debits(order.id) == [order.total_fen]


async def test_an_amount_that_is_not_the_orders_is_not_paid(stand: Stand) -> None:
    order = await stand.order()

    with pytest.raises(Rejected) as refused:
        await stand.connector.pay(order.id, order.total_fen - 1, new_operation())
    stand.wait(SETTLED_SECONDS)

    assert refused.value.reason is Reason.PRICE_CHANGED
    assert stand.debits(order.id) == []


async def test_a_price_that_changed_is_not_paid_at_the_old_one(stand: Stand) -> None:
    order = await stand.order()
    stand.advance(order.id, "change_price", fen=order.total_fen + 1)

    with pytest.raises(Rejected) as refused:
        await stand.connector.pay(order.id, order.total_fen, new_operation())
    stand.wait(SETTLED_SECONDS)

    assert refused.value.reason is Reason.PRICE_CHANGED
    assert stand.debits(order.id) == []


async def test_a_payment_that_fails(stand: Stand) -> None:
    order, operation = await stand.order(await stand.line(PAYMENT_FAILS)), new_operation()

    result = await outcome(stand.connector.pay(order.id, order.total_fen, operation))
    stand.wait(SETTLED_SECONDS)
    results = await stand.connector.find_payment(order.id, operation)

    assert isinstance(result, Rejected)
    assert (result.code, result.word) == ("ACCOUNT_BALANCE_NOT_ENOUGH", "no_funds")
    assert results.state is not PaymentState.PAID
    assert (await stand.connector.read_one(order.id)).status is PlatformOrderStatus.PENDING_PAYMENT
    assert stand.debits(order.id) == []


@pytest.mark.parametrize("spell", [PAYMENT_TIMES_OUT, PAYMENT_SEEMS_TO_FAIL])
async def test_a_debit_that_nobody_confirmed_is_found_out(stand: Stand, spell: int) -> None:
    order, operation = await stand.order(await stand.line(spell)), new_operation()
    stand.hurry()

    result = await outcome(stand.connector.pay(order.id, order.total_fen, operation))
    stand.wait(SETTLED_SECONDS)
    results = await stand.connector.find_payment(order.id, operation)
    again = await stand.connector.pay(order.id, order.total_fen, operation)

    if isinstance(result, Payment):
        assert result.state is PaymentState.PROCESSING
    else:
        assert isinstance(result, OutcomeUnknown)
    assert results.state is PaymentState.PAID
    assert again.state is PaymentState.PAID
    assert stand.debits(order.id) == [order.total_fen]


async def test_a_payment_that_was_never_sent_is_not_found(stand: Stand) -> None:
    order = await stand.order()

    result = await stand.connector.find_payment(order.id, new_operation())

    assert result.state not in (PaymentState.PAID, PaymentState.FAILED)


async def test_a_cancelled_order_is_not_paid(stand: Stand) -> None:
    order, operation = await stand.order(), new_operation()
    await stand.connector.cancel(order.id)
    stand.wait(SETTLED_SECONDS)

    result = await outcome(stand.connector.pay(order.id, order.total_fen, operation))
    results = await stand.connector.find_payment(order.id, operation)

    assert is_refused(result)
    assert results.state is PaymentState.FAILED
    assert stand.debits(order.id) == []


async def test_paying_at_once_is_done_or_later(stand: Stand) -> None:
    """An order that is still being made says later, and is paid then."""
    placed = await stand.connector.create(await stand.draft())
    (order_id,), total, operation = placed.order_ids, placed.total_fen or 0, new_operation()

    first = await outcome(stand.connector.pay(order_id, total, operation))
    if isinstance(first, Unavailable):
        stand.wait(first.retry_after)
        first = await stand.connector.pay(order_id, total, operation)

    assert isinstance(first, Payment)
    assert (await stand.later(order_id)).payment is PaymentState.PAID
    assert stand.debits(order_id) == [total]


async def test_each_part_of_a_split_order_is_paid_alone(stand: Stand) -> None:
    placed = await stand.placed(await stand.line(SPLITS, 4))
    first, second = await stand.connector.read_many(placed.order_ids)

    await stand.connector.pay(first.id, first.total_fen, new_operation())
    paid = await stand.later(first.id)

    assert paid.payment is PaymentState.PAID
    assert (await stand.connector.read_one(second.id)).payment is PaymentState.UNPAID
    assert stand.debits(second.id) == []


async def test_paying_what_does_not_exist(stand: Stand) -> None:
    result = await outcome(stand.connector.pay("1234567890123456789", 1, new_operation()))

    assert isinstance(result, Rejected)
    assert result.reason is Reason.NOT_FOUND


async def test_a_person_pays_by_a_link(stand: Stand) -> None:
    order, other = await stand.order(), await stand.order()
    both = [order.id, other.id]

    if not stand.can(Capability.PAY_LINK):
        with pytest.raises(Rejected) as refused:
            await stand.connector.pay_link(both)
        assert refused.value.reason is Reason.NOT_SUPPORTED
        return
    link = await stand.connector.pay_link(both)
    stand.market.client.post(link).raise_for_status()

    orders = await stand.connector.read_many(both)
    assert {order.payment for order in orders} == {PaymentState.PAID}
    assert [stand.debits(item) for item in both] == [[1_500], [1_500]]


async def test_a_link_that_would_leave_an_order_out_is_refused(stand: Stand) -> None:
    order, paid = await stand.order(), await stand.paid()

    with pytest.raises(Rejected) as refused:
        await stand.connector.pay_link([order.id, paid.id])

    expected = Reason.WRONG_STATE if stand.can(Capability.PAY_LINK) else Reason.NOT_SUPPORTED
    assert refused.value.reason is expected


async def test_an_order_that_was_paid_by_hand_is_not_debited(stand: Stand) -> None:
    order, operation = await stand.order(), new_operation()
    stand.advance(order.id, "pay")

    await outcome(stand.connector.pay(order.id, order.total_fen, operation))
    result = await stand.connector.find_payment(order.id, operation)

    assert result.state is PaymentState.PAID
    assert stand.debits(order.id) == [order.total_fen]
