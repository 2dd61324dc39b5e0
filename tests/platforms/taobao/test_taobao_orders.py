"""Recorded orders and refunds, each with exactly what we make of it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from platforms.taobao.scripted import data_of

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    CloseReason,
    Goods,
    Item,
    Payment,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Refund,
    RefundState,
    Shipment,
)
from tradewind.platforms.taobao import orders, payments

ID = "2200778678370001234"
FIRST, SECOND = "2912066688476065752", "2912066688476065753"
PAID_AT = datetime(2025, 11, 15, 0, 3, 20, tzinfo=UTC)
SENT_AT = datetime(2025, 11, 15, 9, 46, 40, tzinfo=UTC)


def item(line: str = FIRST, *, shipped: bool = False) -> Item:
    return Item(line, "4096709792297020", "32248575036476", 2, 5000, shipped)


def parcel(*lines: str) -> Shipment:
    return Shipment("中通快递", "ZT7001", SENT_AT, lines)


UNPAID = PlatformOrder(
    id=ID,
    reference="ORD01J9Z3W8Q2",
    status=PlatformOrderStatus.PENDING_PAYMENT,
    raw_status="WAIT_BUYER_P",
    payment=PaymentState.UNPAID,
    total_fen=10500,
    goods_fen=10000,
    freight_fen=500,
    discount_fen=0,
    refunded_fen=0,
    items=(item(), item(SECOND)),
    shipments=(),
    close_reason=None,
    pay_before=datetime(2025, 11, 16, tzinfo=UTC),
    created_at=datetime(2025, 11, 15, tzinfo=UTC),
    paid_at=None,
    modified_at=datetime(2025, 11, 15, 0, 1, tzinfo=UTC),
)
PAID = replace(
    UNPAID,
    status=PlatformOrderStatus.PAID,
    raw_status="WAIT_SELLER_SEND_GOODS",
    payment=PaymentState.PAID,
    pay_before=None,
    paid_at=PAID_AT,
)
BOTH_SHIPPED = (item(shipped=True), item(SECOND, shipped=True))
SHIPPED = replace(
    PAID,
    status=PlatformOrderStatus.SHIPPED,
    raw_status="WAIT_BUYER_CONFIRM_GOODS",
    items=BOTH_SHIPPED,
    shipments=(
        parcel(FIRST, SECOND),
        Shipment("圆通速递", "7002", datetime(2025, 11, 15, 12, 33, 20, tzinfo=UTC), (FIRST,)),
    ),
)
CLOSED = replace(
    UNPAID, status=PlatformOrderStatus.CANCELLED, raw_status="TRADE_CLOSED", pay_before=None
)

EXPECTED = {
    "order_building": replace(
        UNPAID, status=PlatformOrderStatus.CREATING, raw_status="BULIDING", pay_before=None
    ),
    "order_unpaid": UNPAID,
    "order_unpaid_drifted": replace(UNPAID, reference="20250902", items=(item(),)),
    "order_unpaid_bare": PlatformOrder(
        id="7",
        reference=None,
        status=PlatformOrderStatus.PENDING_PAYMENT,
        raw_status="WAIT_BUYER_P",
        payment=PaymentState.UNPAID,
        total_fen=1,
        goods_fen=1,
        freight_fen=0,
        discount_fen=0,
        refunded_fen=0,
        items=(),
        shipments=(),
        close_reason=None,
        pay_before=None,
        created_at=None,
        paid_at=None,
        modified_at=None,
    ),
    "order_discounted": replace(UNPAID, goods_fen=11000, discount_fen=1000),
    "order_price_raised": replace(UNPAID, total_fen=12500, goods_fen=12000),
    "order_paid": PAID,
    "order_partially_shipped": replace(
        PAID,
        status=PlatformOrderStatus.PARTIALLY_SHIPPED,
        items=(item(shipped=True), item(SECOND)),
        shipments=(parcel(FIRST),),
    ),
    "order_half_a_line_shipped": replace(
        PAID,
        status=PlatformOrderStatus.PARTIALLY_SHIPPED,
        items=(item(),),
        shipments=(parcel(FIRST),),
    ),
    "order_shipped": SHIPPED,
    "order_finished": replace(
        PAID,
        status=PlatformOrderStatus.COMPLETED,
        raw_status="TRADE_FINISHED",
        items=BOTH_SHIPPED,
        shipments=(parcel(FIRST),),
    ),
    "order_timed_out": replace(
        CLOSED, payment=PaymentState.CLOSED, close_reason=CloseReason.TIMEOUT
    ),
    "order_refunded": replace(
        CLOSED,
        status=PlatformOrderStatus.CLOSED,
        payment=PaymentState.PAID,
        paid_at=PAID_AT,
        close_reason=CloseReason.OTHER,
    ),
    "order_partly_refunded": replace(
        SHIPPED, items=(item(), item(SECOND, shipped=True)), shipments=(parcel(SECOND),),
        dispute=True,
    ),
    "order_unknown": replace(
        UNPAID, status=None, raw_status="TRADE_ON_THE_MOON", payment=PaymentState.UNKNOWN
    ),
    "order_payment_failed": replace(UNPAID, items=(item(),)),
}  # fmt: skip


def seen(name: str) -> orders.ListedOrder:
    (item,) = orders.read_page(data_of(name)).orders
    return item


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_each_situation(name: str, expected: PlatformOrder) -> None:
    order = seen(name).order

    assert order == expected
    assert order.goods_fen + order.freight_fen - order.discount_fen == order.total_fen


def test_a_line_says_what_it_buys() -> None:
    (raw,) = data_of("order_unpaid")["purchase_orders"]
    first, second = raw["sub_purchase_orders"]
    first["sku_info"] = {
        "skuPv": {"en": '{"Colour": "Red"}', "zh": '{"颜色": "红色"}'},
        "skuImgUrl": "//img.alicdn.com/1.jpg",
    }
    first["option_fields"] = '{"shopName": "帆布小店"}'
    second |= {"quantity": 3, "sku_info": "no object"}

    items = orders.listed_order(raw).order.items

    assert items[0].goods == Goods(
        title="帆布包",
        image_url="https://img.alicdn.com/1.jpg",
        attributes={"Colour": "Red"},
        unit_price_fen=2500,
        seller_name="帆布小店",
    )
    # Three pieces for 50.00: the price of one is not known.
    assert items[1].goods == Goods(title="帆布包", seller_name="沙盒测试店")


@pytest.mark.parametrize(
    ("name", "payment"),
    [
        ("order_unpaid", Payment(PaymentState.PROCESSING)),
        ("order_paid", Payment(PaymentState.PAID)),
        ("order_refunded", Payment(PaymentState.PAID)),
        ("order_unknown", Payment(PaymentState.PROCESSING)),
        (
            "order_timed_out",
            Payment(PaymentState.FAILED, "TRADE_CLOSED", "The order was closed unpaid."),
        ),
        (
            "order_payment_failed",
            Payment(PaymentState.PROCESSING, "ACCOUNT_BALANCE_NOT_ENOUGH", "余额不足"),
        ),
    ],
)
def test_what_became_of_a_payment(name: str, payment: Payment) -> None:
    assert seen(name).payment == payment


def test_refunds_are_named_once_each() -> None:
    whole, part = seen("order_refunded"), seen("order_partly_refunded")

    assert (whole.refunds, whole.refunded) == (("110006829192",), ("110006829192",))
    assert part.refunds == ("110006829192", "110006829300")
    assert part.refunded == ("110006829192",)


@pytest.mark.parametrize(
    ("amounts", "back", "payment"),
    [
        ({"110006829192": 10500}, 10500, PaymentState.REFUNDED),
        ({"110006829192": 10499, "other": 1}, 10499, PaymentState.PARTIALLY_REFUNDED),
        ({}, 0, PaymentState.PAID),
    ],
)
def test_how_much_went_back(amounts: dict[str, int], back: int, payment: PaymentState) -> None:
    item = seen("order_refunded")

    order = orders.add_refunds(item, amounts)

    assert order == replace(item.order, refunded_fen=back, payment=payment)


@pytest.mark.parametrize(
    ("order_pay_time", "line_pay_times", "status", "payment"),
    [
        ("soon", (None, None), PlatformOrderStatus.CLOSED, PaymentState.PAID),
        (None, (1763165000000, None), PlatformOrderStatus.CLOSED, PaymentState.PAID),
        (0, ("0", ""), PlatformOrderStatus.CANCELLED, PaymentState.CLOSED),
    ],
)
def test_closed_is_told_from_cancelled_by_whether_it_was_paid(
    order_pay_time: Any,
    line_pay_times: tuple[Any, ...],
    status: PlatformOrderStatus,
    payment: PaymentState,
) -> None:
    raw = {
        "purchase_id": 1,
        "purchase_amount": 5,
        "status": "TRADE_CLOSED",
        "pay_time": order_pay_time,
        "sub_purchase_orders": [{"pay_time": at} for at in line_pay_times],
    }

    order = orders.listed_order(raw).order

    assert (order.status, order.payment) == (status, payment)


def test_lines_that_differ_are_partly_paid() -> None:
    lines = [{"pay_time": 1763165000000}, {"pay_time": None}]
    raw = {"purchase_id": 1, "purchase_amount": 5, "status": "WAIT_BUYER_P"}

    order = orders.listed_order({**raw, "sub_purchase_orders": lines}).order

    assert (order.status, order.payment) == (
        PlatformOrderStatus.PENDING_PAYMENT,
        PaymentState.PARTIALLY_PAID,
    )


@pytest.mark.parametrize(
    ("order", "lines", "status"),
    [
        ("WAIT_SELLER_SEND_GOODS", ("WAIT_SELLER_SEND_GOODS",), PlatformOrderStatus.PAID),
        ("WAIT_SELLER_SEND_GOODS", (), PlatformOrderStatus.PAID),
        (
            "WAIT_SELLER_SEND_GOODS",
            ("TRADE_CLOSED", "WAIT_BUYER_CONFIRM_GOODS"),
            PlatformOrderStatus.SHIPPED,
        ),
        ("WAIT_SELLER_SEND_GOODS", ("TRADE_CLOSED",), PlatformOrderStatus.PAID),
        (
            "WAIT_BUYER_CONFIRM_GOODS",
            ("WAIT_SELLER_SEND_GOODS", "WAIT_BUYER_CONFIRM_GOODS"),
            PlatformOrderStatus.PARTIALLY_SHIPPED,
        ),
        ("WAIT_BUYER_CONFIRM_GOODS", ("TRADE_FINISHED",), PlatformOrderStatus.SHIPPED),
        ("WAIT_BUYER_CONFIRM_GOODS", (), PlatformOrderStatus.SHIPPED),
        ("TRADE_FINISHED", ("WAIT_BUYER_CONFIRM_GOODS",), PlatformOrderStatus.COMPLETED),
    ],
)
def test_how_far_shipped_an_order_is(
    order: str, lines: tuple[str, ...], status: PlatformOrderStatus
) -> None:
    subs = [{"status": line} for line in lines]
    raw = {"purchase_id": 1, "purchase_amount": 5, "status": order, "sub_purchase_orders": subs}

    assert orders.listed_order(raw).order.status is status


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("BUYER_CANCEL", CloseReason.BUYER),
        ("SELLER_CLOSE", CloseReason.SELLER),
        ("PAY_TIMEOUT", CloseReason.TIMEOUT),
        ("买家超时未付款", CloseReason.TIMEOUT),
        ("卖家取消", CloseReason.SELLER),
        ("PLATFORM_CLOSE", CloseReason.PLATFORM),
        ("REFUND", CloseReason.OTHER),
        (None, CloseReason.OTHER),
    ],
)
def test_who_closed_it(said: str | None, reason: CloseReason) -> None:
    subs = [{"close_reason": ""}, {"close_reason": said}]
    raw = {"purchase_id": 1, "purchase_amount": 5, "sub_purchase_orders": subs}

    assert orders.listed_order({**raw, "status": "TRADE_CLOSED"}).order.close_reason is reason
    assert orders.listed_order({**raw, "status": "WAIT_BUYER_P"}).order.close_reason is None


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"purchase_orders": [{"purchase_id": 1}]},
        {"purchase_orders": [{"purchase_amount": 1}]},
        {"purchase_orders": [{"purchase_id": 0, "purchase_amount": 1}]},
        {"purchase_orders": [{"purchase_id": 1, "purchase_amount": "105.00"}]},
    ],
)
def test_what_lacks_its_essentials_is_not_an_order(data: Any) -> None:
    with pytest.raises(UnreadableResponse):
        orders.read_page(data)


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (10, RefundState.REQUESTED),
        ("20", RefundState.APPROVED),
        (30, RefundState.APPROVED),
        (100, RefundState.SUCCEEDED),
        ("-10", RefundState.REFUSED),
        (-20, RefundState.CLOSED),
        (0, RefundState.REQUESTED),
        ("77", RefundState.REQUESTED),
    ],
)
def test_every_state_of_a_refund(code: Any, state: RefundState) -> None:
    data = {"refund_order": {"refund_fee": "300", "refund_status": code}}

    assert payments.refund(data, "9", ID) == Refund("9", ID, state, 300, str(code))


@pytest.mark.parametrize("code", [0, 10, 20, 30, 100, -10, -20])
def test_a_dispute_is_a_refund_that_is_not_over(code: int) -> None:
    subs = [{"refund_status": 0}, {"refund_status": str(code), "refund_id": 5}]
    raw = {"purchase_id": 1, "purchase_amount": 5, "sub_purchase_orders": subs}

    assert orders.listed_order(raw).order.dispute is (code in {10, 20, 30})


def test_a_line_that_never_had_a_refund_names_none() -> None:
    subs = [{"refund_status": "0", "refund_id": 5}, {"refund_id": "6", "refund_status": -10}]
    raw = {"purchase_id": 1, "purchase_amount": 5, "sub_purchase_orders": subs}

    result = orders.listed_order(raw)

    assert (result.refunds, result.refunded) == (("6",), ())


@pytest.mark.parametrize(("number", "shipped"), [("ZT1", True), (None, False)])
def test_a_closed_line_was_shipped_if_it_has_a_parcel(number: str | None, *, shipped: bool) -> None:
    sub = {"status": "TRADE_CLOSED", "logistic_orders": [{"logistic_number": number}]}
    raw = {"purchase_id": 1, "purchase_amount": 5, "sub_purchase_orders": [sub]}

    (line,) = orders.listed_order(raw).order.items

    assert line.shipped is shipped


def test_a_refund_without_an_amount_is_none() -> None:
    with pytest.raises(UnreadableResponse):
        payments.refund(
            {"refund_order_aggregate": {"refund_order": {"refund_status": 10}}}, "9", ID
        )
