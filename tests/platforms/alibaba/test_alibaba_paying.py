"""Paying and asking for money back: what is certain, and what only the order will tell."""

import pytest
from platforms.alibaba.payloads import ITEM_A, ORDER, SECOND_ORDER, payload
from platforms.alibaba.scripted import Market, Step, answer, never, say

from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import Reason
from tradewind.platforms.model import Payment, PaymentState, RefundKind, RefundRequest

REFUND = RefundRequest(ORDER, RefundKind.REFUND_ONLY, 2000, 800, "why", None)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (say("pay_done"), PaymentState.PAID),
        (say("pay_not_confirmed"), PaymentState.PROCESSING),
        (answer({"result": {"success": False, "code": "PAY_TIMEOUT"}}), PaymentState.PROCESSING),
        (answer({"result": {"success": False, "code": "NEW_CODE"}}), PaymentState.PROCESSING),
        (answer({"result": {"success": False}}), PaymentState.PROCESSING),
        (answer({}), PaymentState.PROCESSING),
    ],
)
async def test_a_debit_is_paid_or_may_have_been(
    step: Step, expected: PaymentState, market: Market, connector: Connector
) -> None:
    market.script(step)

    assert (await connector.pay(ORDER, 4550, "pay_1")).state is expected
    assert len(market.calls) == 1


async def test_a_doubtful_debit_keeps_the_platforms_words(
    market: Market, connector: Connector
) -> None:
    said = {"success": False, "code": "NEW_CODE", "message": "m"}
    market.script(answer({"result": said}))

    payment = await connector.pay(ORDER, 4550, "pay_1")

    assert payment == Payment(PaymentState.PROCESSING, "NEW_CODE", "m")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("ACCOUNT_BALANCE_NOT_ENOUGH", Reason.NO_FUNDS),
        ("ACCOUNT_FROZEN", Reason.ACCOUNT_FROZEN),
        ("ORDER_ALREADY_PAID", Reason.ALREADY_PAID),
        ("ORDER_STATUS_ERROR", Reason.WRONG_STATE),
        ("PAY_AMOUNT_NOT_MATCH", Reason.PRICE_CHANGED),
    ],
)
async def test_a_debit_is_refused(
    code: str, reason: Reason, market: Market, connector: Connector
) -> None:
    market.script(answer({"result": {"success": False, "code": code, "message": "m"}}))

    assert (await never(connector.pay(ORDER, 4550, "pay_1"))).reason is reason


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("order_unpaid", PaymentState.UNPAID),
        ("order_paying", PaymentState.PROCESSING),
        ("order_paid", PaymentState.PAID),
        ("order_terminated", PaymentState.PAID),
        ("order_cancelled_by_timeout", PaymentState.FAILED),
    ],
)
async def test_the_order_tells_what_became_of_a_payment(
    name: str, expected: PaymentState, market: Market, connector: Connector
) -> None:
    market.script(say(name))

    assert (await connector.find_payment(ORDER, "pay_1")).state is expected


async def test_a_link_to_pay_by_hand(market: Market, connector: Connector) -> None:
    market.script(say("pay_link"))

    url = await connector.pay_link([ORDER, SECOND_ORDER])

    assert url == payload("pay_link")["payUrl"]
    assert market.calls[0].form["orderIdList"] == f"[{ORDER},{SECOND_ORDER}]"


@pytest.mark.parametrize("name", ["pay_link_in_part", "pay_link_refused"])
async def test_a_link_that_leaves_orders_out_is_no_link(
    name: str, market: Market, connector: Connector
) -> None:
    market.script(say(name))

    assert (await never(connector.pay_link([ORDER, SECOND_ORDER]))).reason is Reason.WRONG_STATE


async def test_asking_for_money_back(market: Market, connector: Connector) -> None:
    market.by_api(
        buyerview=say("order_paid"),
        getrefundreasonlist=say("refund_reasons"),
        createrefund=say("refund_created"),
    )
    request = RefundRequest(ORDER, RefundKind.REFUND_ONLY, 2000, 0, "20006", None, [ITEM_A])

    assert await connector.refund(request) == "TQ34931008034741532"

    form = market.calls[2].form
    assert form["orderEntryIds"] == f"[{ITEM_A}]"
    assert (form["applyPayment"], form["applyCarriage"]) == ("2000", "0")
    assert (form["applyReasonId"], form["goodsStatus"]) == ("20006", "refundWaitSellerSend")


@pytest.mark.parametrize(
    ("name", "item_ids"),
    [("order_unpaid", []), ("order_terminated", []), ("order_paid", ["5"]),
     ("order_paid", [ITEM_A, "5"])],
)  # fmt: skip
async def test_what_cannot_be_refunded_is_not_asked_for(
    name: str, item_ids: list[str], market: Market, connector: Connector
) -> None:
    market.script(say(name))
    request = RefundRequest(ORDER, RefundKind.REFUND_ONLY, 1, 0, "why", None, item_ids)

    assert (await never(connector.refund(request))).reason is Reason.WRONG_STATE
    assert market.apis == ["buyerView"]


async def test_a_refund_that_is_too_large(market: Market, connector: Connector) -> None:
    market.by_api(
        buyerview=say("order_paid"),
        getrefundreasonlist=say("refund_reasons"),
        createrefund=answer({"result": {"success": False, "code": "5011", "message": "m"}}),
    )

    assert (await never(connector.refund(REFUND))).reason is Reason.REFUND_TOO_LARGE


async def test_refunds_under_way_and_paid_back(market: Market, connector: Connector) -> None:
    market.script(say("refunds_under_way"), say("refunds_paid_back"))

    refunds = await connector.refunds(ORDER)

    assert [refund.amount_fen for refund in refunds] == [2800, 100, 50, 1700]
    assert [call.form["queryType"] for call in market.calls] == ["1", "3"]
