"""Payments and refunds on the wire, in fen."""

import json
from dataclasses import replace

import pytest
from platforms.alibaba.payloads import ITEM_A, ITEM_B, ORDER, payload, shown_order

from tradewind.platforms.alibaba import orders, payments
from tradewind.platforms.alibaba.payments import RefundReason
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    Payment,
    PaymentState,
    PlatformOrderStatus,
    Refund,
    RefundKind,
    RefundRequest,
    RefundState,
)

REQUEST = RefundRequest(ORDER, RefundKind.REFUND_ONLY, 2000, 800, "changed my mind", None)
OTHER = RefundReason("20028", "其他", needs_voucher=False)
UNWANTED = RefundReason("20006", "不想要了/拍错了", needs_voucher=False)
BROKEN = RefundReason("20021", "质量问题", needs_voucher=True)


def test_a_debit_is_asked_for_in_fen() -> None:
    params = payments.pay_params(ORDER, 4550, "pay_1", "alipay")

    assert json.loads(params["tradeWithholdPreparePayParam"]) == {
        "orderId": 1997017368132345941,
        "payChannel": "alipay",
        "payAmount": 4550,
        "opRequestId": "pay_1",
    }


def test_a_confirmed_debit_is_paid() -> None:
    assert payments.payment(payload("pay_done")) == Payment(PaymentState.PAID)


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"success": True, "result": {"paySuccess": False}}},
        {"result": {"success": True, "result": {"paySuccess": "false"}}},
        {"result": {"success": True, "result": None}},
        {"result": {"success": False, "code": "PAY_TIMEOUT"}},
        {"result": None},
        {},
    ],
)
def test_anything_less_is_processing_and_never_a_failure(answer: dict[str, object]) -> None:
    assert payments.payment(answer).state is PaymentState.PROCESSING


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (PaymentState.UNPAID, PaymentState.UNPAID),
        (PaymentState.PROCESSING, PaymentState.PROCESSING),
        (PaymentState.PAID, PaymentState.PAID),
        (PaymentState.PARTIALLY_PAID, PaymentState.PROCESSING),
        (PaymentState.PARTIALLY_REFUNDED, PaymentState.PAID),
        (PaymentState.REFUNDED, PaymentState.PAID),
        (PaymentState.CLOSED, PaymentState.FAILED),
        (PaymentState.FAILED, PaymentState.PROCESSING),
        (PaymentState.UNKNOWN, PaymentState.PROCESSING),
    ],
)
def test_what_an_order_says_of_its_payment(seen: PaymentState, expected: PaymentState) -> None:
    order = replace(orders.order(shown_order("order_unpaid")), payment=seen)

    assert payments.payment_of_order(order).state is expected


def test_a_payment_link_must_be_an_address() -> None:
    expected = f"https://trade.1688.com/order/cashier.htm?orderId={ORDER};1997017368132345942"
    assert payments.pay_url(payload("pay_link")) == expected
    with pytest.raises(UnreadableResponse):
        payments.pay_url({"payUrl": "javascript:alert(1)"})


@pytest.mark.parametrize(
    ("status", "shipped", "kind", "expected"),
    [
        (PlatformOrderStatus.PENDING_PAYMENT, False, RefundKind.REFUND_ONLY, None),
        (PlatformOrderStatus.PAID, False, RefundKind.REFUND_ONLY, "refundWaitSellerSend"),
        (
            PlatformOrderStatus.PARTIALLY_SHIPPED,
            False,
            RefundKind.REFUND_ONLY,
            "refundWaitSellerSend",
        ),
        (
            PlatformOrderStatus.PARTIALLY_SHIPPED,
            True,
            RefundKind.REFUND_ONLY,
            "refundWaitBuyerReceive",
        ),
        (PlatformOrderStatus.SHIPPED, True, RefundKind.REFUND_ONLY, "refundWaitBuyerReceive"),
        (PlatformOrderStatus.SHIPPED, True, RefundKind.RETURN_AND_REFUND, "refundBuyerReceived"),
        (PlatformOrderStatus.RECEIVED, True, RefundKind.REFUND_ONLY, "refundBuyerReceived"),
        (
            PlatformOrderStatus.COMPLETED,
            True,
            RefundKind.RETURN_AND_REFUND,
            "aftersaleBuyerReceived",
        ),
        (PlatformOrderStatus.CANCELLED, False, RefundKind.REFUND_ONLY, None),
        (PlatformOrderStatus.CLOSED, False, RefundKind.REFUND_ONLY, None),
        (None, False, RefundKind.REFUND_ONLY, None),
    ],
)
def test_where_the_goods_are(
    status: PlatformOrderStatus | None, shipped: bool, kind: RefundKind, expected: str | None
) -> None:
    order = replace(orders.order(shown_order("order_paid")), status=status)
    items = [replace(item, shipped=shipped) for item in order.items]

    assert payments.goods_status(order, items, kind) == expected


@pytest.mark.parametrize(
    ("said", "offered", "expected"),
    [
        ("20006", [BROKEN, UNWANTED, OTHER], UNWANTED),
        ("质量问题", [BROKEN, UNWANTED, OTHER], BROKEN),
        ("anything", [BROKEN, UNWANTED, OTHER], OTHER),
        ("anything", [BROKEN, UNWANTED], UNWANTED),
        ("anything", [BROKEN], None),
        ("anything", [], None),
    ],
)
def test_a_reason_is_chosen(
    said: str, offered: list[RefundReason], expected: RefundReason | None
) -> None:
    assert payments.choose_reason(said, offered) == expected


def test_the_reasons_are_read() -> None:
    assert payments.refund_reasons(payload("refund_reasons")) == [BROKEN, UNWANTED, OTHER]


def test_a_refund_is_asked_for_with_freight_apart() -> None:
    items = orders.order(shown_order("order_paid")).items

    params = payments.refund_params(REQUEST, items, "refundWaitSellerSend", OTHER)

    assert params == {
        "orderId": ORDER,
        "orderEntryIds": f"[{ITEM_A},{ITEM_B}]",
        "goodsStatus": "refundWaitSellerSend",
        "disputeRequest": "refund",
        "applyPayment": "2000",
        "applyCarriage": "800",
        "applyReasonId": "20028",
        "description": "changed my mind",
    }


@pytest.mark.parametrize(
    ("reason", "note", "expected"),
    [
        ("why", "a note", "a note"),
        ("why", " ", "why"),
        ("x", None, "其他"),
        ("", "n" * 200, "n" * 150),
    ],
)
def test_a_description_has_2_to_150_letters(reason: str, note: str | None, expected: str) -> None:
    request = replace(REQUEST, reason=reason, note=note)

    assert payments.refund_params(request, [], "", OTHER)["description"] == expected


def test_a_refund_has_an_id() -> None:
    assert payments.refund_id(payload("refund_created")) == "TQ34931008034741532"


def test_refunds_of_both_queries() -> None:
    under_way = payments.refunds(payload("refunds_under_way"), ORDER, "1")
    paid_back = payments.refunds(payload("refunds_paid_back"), ORDER, "3")

    assert under_way == [
        Refund("TQ34931008034741532", ORDER, RefundState.REQUESTED, 2800, "waitselleragree"),
        Refund("TQ34931008034741533", ORDER, RefundState.REFUSED, 100, "WAIT_BUYER_MODIFY"),
        Refund("TQ34931008034741534", ORDER, RefundState.REQUESTED, 50, "somethingnew"),
    ]
    assert paid_back == [
        Refund("TQ34931008034741530", ORDER, RefundState.SUCCEEDED, 1700, "refundsuccess")
    ]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("waitselleragree", RefundState.REQUESTED),
        ("waitbuyermodify", RefundState.REFUSED),
        ("waitbuyersend", RefundState.APPROVED),
        ("WAIT_SELLER_RECEIVE", RefundState.APPROVED),
        ("refundsuccess", RefundState.SUCCEEDED),
        ("REFUND_CLOSED", RefundState.CLOSED),
        ("refundclose", RefundState.CLOSED),
    ],
)
def test_every_state_of_a_refund(raw: str, expected: RefundState) -> None:
    answer = payload("refunds_under_way")
    answer["result"]["opOrderRefundModels"][0]["status"] = raw

    assert payments.refunds(answer, ORDER, "1")[0].state is expected
