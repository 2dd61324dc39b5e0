"""Paying and cancelling: only ever accepted, never repeated, and told by the order."""

import pytest
from platforms.taobao.scripted import Stand

from tradewind.platforms.failures import OutcomeUnknown, Reason, Rejected, Unavailable
from tradewind.platforms.model import CancelState, Payment, PaymentState

ORDER = "2200778678370001234"
QUERY, PAY = "/purchase/orders/query", "/purchase/order/batch/pay"


async def test_a_cancel_is_only_ever_accepted(stand: Stand) -> None:
    stand.market.on("/purchase/order/asyn/cancel", "cancel_accepted")

    assert await stand.taobao.cancel(ORDER) is CancelState.REQUESTED
    (params,) = stand.market.asked("/purchase/order/asyn/cancel")
    assert (params["purchase_id"], params["cancel_reason"]) == (ORDER, "cancelled by the buyer")


@pytest.mark.parametrize(
    ("before", "said", "payment"),
    [
        ("order_unpaid", "pay_accepted", Payment(PaymentState.PROCESSING)),
        ("order_payment_failed", "pay_accepted", Payment(PaymentState.PROCESSING)),
    ],
)
async def test_a_payment(stand: Stand, before: str, said: str, payment: Payment) -> None:
    stand.market.on(QUERY, before)
    stand.market.on(PAY, said)

    assert await stand.taobao.pay(ORDER, 10500, "op-1") == payment
    assert [item["purchaseOrderIdList"] for item in stand.market.asked(PAY)] == [f"[{ORDER}]"]


async def test_a_payment_that_is_refused_says_why_in_our_words(stand: Stand) -> None:
    stand.market.on(QUERY, "order_unpaid")
    stand.market.on(PAY, "pay_refused")

    with pytest.raises(Rejected) as refused:
        await stand.taobao.pay(ORDER, 10500, "op-1")

    assert (refused.value.code, refused.value.word) == ("ACCOUNT_BALANCE_NOT_ENOUGH", "no_funds")
    assert refused.value.message == "The marketplace rejected the payment and gave no reason."


async def test_what_is_paid_is_not_paid_again(stand: Stand) -> None:
    stand.market.on(QUERY, "order_paid")

    assert await stand.taobao.pay(ORDER, 10500, "op-1") == Payment(PaymentState.PAID)
    assert stand.market.asked(PAY) == []


async def test_what_turns_out_to_be_paid_is_read_again(stand: Stand) -> None:
    stand.market.on(QUERY, "order_unpaid", "order_paid")
    stand.market.on(PAY, "pay_already_paid")

    assert await stand.taobao.pay(ORDER, 10500, "op-1") == Payment(PaymentState.PAID)


PRICE_CHANGED = Reason.PRICE_CHANGED


@pytest.mark.parametrize(
    ("before", "amount", "reason", "message"),
    [
        ("order_unpaid", 10499, PRICE_CHANGED, "The order costs CNY 105.00, not CNY 104.99."),
        ("order_unpaid", 10501, PRICE_CHANGED, "The order costs CNY 105.00, not CNY 105.01."),
        ("order_timed_out", 10500, Reason.WRONG_STATE, "The order was closed unpaid."),
    ],
)
async def test_no_other_amount_and_no_closed_order_is_paid(
    stand: Stand, before: str, amount: int, reason: Reason, message: str
) -> None:
    stand.market.on(QUERY, before)

    with pytest.raises(Rejected) as raised:
        await stand.taobao.pay(ORDER, amount, "op-1")

    assert (raised.value.reason, raised.value.message) == (reason, message)
    assert stand.market.asked(PAY) == []


async def test_an_order_in_the_making_is_paid_later(stand: Stand) -> None:
    stand.market.on(QUERY, "order_building")

    with pytest.raises(Unavailable) as raised:
        await stand.taobao.pay(ORDER, 10500, "op-1")

    assert type(raised.value) is Unavailable
    assert stand.market.asked(PAY) == []


async def test_a_payment_that_is_neither_accepted_nor_refused_must_be_found_out(
    stand: Stand,
) -> None:
    stand.market.on(QUERY, "order_unpaid")
    stand.market.on(PAY, "pay_neither")

    with pytest.raises(OutcomeUnknown):
        await stand.taobao.pay(ORDER, 10500, "op-1")


@pytest.mark.parametrize(
    ("order", "state"),
    [
        ("order_unpaid", PaymentState.PROCESSING),
        ("order_payment_failed", PaymentState.PROCESSING),
        ("order_paid", PaymentState.PAID),
        ("order_timed_out", PaymentState.FAILED),
    ],
)
async def test_the_order_tells_what_became_of_its_payment(
    stand: Stand, order: str, state: PaymentState
) -> None:
    stand.market.on(QUERY, order)

    assert (await stand.taobao.find_payment(ORDER, "op-1")).state is state
