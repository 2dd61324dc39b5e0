"""An order of the platform, situation by situation, in our words with exact amounts."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platforms.alibaba.payloads import BLUE, ITEM_A, ITEM_B, ORDER, RED, shown_order

from tradewind.platforms.alibaba import orders
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    CloseReason,
    Goods,
    Item,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Shipment,
)

CREATED = datetime(2018, 6, 14, 2, 19, 42, tzinfo=UTC)
PAID_AT = datetime(2018, 6, 14, 3, 0, tzinfo=UTC)
SHIRTS = Item(ITEM_A, "610947572360", RED, 2, 2000, shipped=False)
SOCKS = Item(ITEM_B, "610947572360", BLUE, 5, 1750, shipped=False)
SENT = [replace(SHIRTS, shipped=True), replace(SOCKS, shipped=True)]
PARCEL_A = Shipment("中通快递", "78123456789", datetime(2018, 6, 15, 1, tzinfo=UTC), [ITEM_A])
PARCEL_B = Shipment("顺丰速运", "SF100200300", datetime(2018, 6, 16, 1, tzinfo=UTC), [ITEM_B])

UNPAID = PlatformOrder(
    id=ORDER,
    reference="ORD0001",
    status=PlatformOrderStatus.PENDING_PAYMENT,
    raw_status="waitbuyerpay",
    payment=PaymentState.UNPAID,
    total_fen=4550,
    goods_fen=3750,
    freight_fen=800,
    discount_fen=0,
    refunded_fen=0,
    items=[SHIRTS, SOCKS],
    shipments=[],
    close_reason=None,
    pay_before=datetime(2018, 6, 14, 14, 19, 42, tzinfo=UTC),
    created_at=CREATED,
    paid_at=None,
    modified_at=datetime(2018, 6, 14, 2, 20, 0, 123_000, tzinfo=UTC),
)
PAID = replace(
    UNPAID,
    status=PlatformOrderStatus.PAID,
    raw_status="waitsellersend",
    payment=PaymentState.PAID,
    pay_before=None,
    paid_at=PAID_AT,
)
SHIPPED = replace(
    PAID,
    status=PlatformOrderStatus.SHIPPED,
    raw_status="waitbuyerreceive",
    items=SENT,
    shipments=[PARCEL_A, PARCEL_B],
)
COMPLETED = replace(SHIPPED, status=PlatformOrderStatus.COMPLETED, raw_status="success")
CANCELLED = replace(
    UNPAID,
    status=PlatformOrderStatus.CANCELLED,
    raw_status="cancel",
    payment=PaymentState.CLOSED,
    pay_before=None,
    close_reason=CloseReason.TIMEOUT,
)

SITUATIONS = {
    "order_unpaid": UNPAID,
    "order_discounted": replace(UNPAID, total_fen=4324, goods_fen=3750, discount_fen=226),
    "order_price_raised": replace(UNPAID, total_fen=4750, goods_fen=3950),
    "order_paying": replace(UNPAID, payment=PaymentState.PROCESSING),
    "order_paid": PAID,
    "order_partly_shipped": replace(
        PAID,
        status=PlatformOrderStatus.PARTIALLY_SHIPPED,
        items=[SENT[0], SOCKS],
        shipments=[PARCEL_A],
    ),
    "order_shipped": SHIPPED,
    "order_received": replace(
        SHIPPED, status=PlatformOrderStatus.RECEIVED, raw_status="confirm_goods"
    ),
    "order_success": COMPLETED,
    "order_cancelled_by_timeout": CANCELLED,
    "order_cancelled_by_seller": replace(CANCELLED, close_reason=CloseReason.SELLER),
    "order_cancelled_but_paid": replace(
        CANCELLED,
        status=PlatformOrderStatus.CLOSED,
        payment=PaymentState.PAID,
        paid_at=PAID_AT,
        close_reason=CloseReason.PLATFORM,
    ),
    "order_terminated": replace(
        PAID,
        status=PlatformOrderStatus.CLOSED,
        raw_status="terminated",
        payment=PaymentState.REFUNDED,
        refunded_fen=4550,
        close_reason=CloseReason.SELLER,
    ),
    "order_partly_refunded": replace(
        COMPLETED, payment=PaymentState.PARTIALLY_REFUNDED, refunded_fen=30, shipments=[]
    ),
    "order_in_dispute": replace(PAID, dispute=True),
    "order_in_steps": replace(UNPAID, payment=PaymentState.PARTIALLY_PAID, paid_at=PAID_AT),
    "order_unknown_status": replace(PAID, status=None, raw_status="waitlogisticstakein"),
    "order_drifted": replace(
        PAID,
        reference=None,
        status=PlatformOrderStatus.PARTIALLY_SHIPPED,
        items=[SHIRTS, replace(SOCKS, sku_id=None)],
        shipments=[Shipment(None, "78123456789", None, [ITEM_A])],
        modified_at=None,
    ),
    "order_sparse": replace(
        UNPAID,
        reference=None,
        goods_fen=4550,
        freight_fen=0,
        items=[],
        pay_before=None,
        created_at=None,
        modified_at=None,
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_situation_is_read_exactly(name: str) -> None:
    assert orders.order(shown_order(name)) == SITUATIONS[name]


@pytest.mark.parametrize("name", SITUATIONS)
def test_goods_and_freight_less_the_discount_are_the_total(name: str) -> None:
    order = orders.order(shown_order(name))

    assert order.goods_fen + order.freight_fen - order.discount_fen == order.total_fen


def test_a_line_says_what_it_buys() -> None:
    shown = shown_order("order_unpaid")
    shown["baseInfo"]["sellerContact"] = {"companyName": "杭州织物有限公司"}
    shown["productItems"][0] |= {
        "skuInfos": [{"name": "颜色", "value": "红色"}, {"name": "", "value": "?"}, 5],
        "productImgUrl": ["", "https://cbu01.alicdn.com/1.jpg", "https://cbu01.alicdn.com/2.jpg"],
    }

    first, second = orders.order(shown).items

    assert first.goods == Goods(
        title="纯棉T恤",
        image_url="https://cbu01.alicdn.com/1.jpg",
        attributes={"颜色": "红色"},
        unit_price_fen=1000,
        seller_name="杭州织物有限公司",
    )
    # The options of a variant are unknown, where the order does not name them.
    assert second.goods is not None
    assert (second.goods.attributes, second.goods.unit_price_fen) == (None, 350)
    del shown["productItems"][1]["name"]
    shown["productItems"][0]["productImgUrl"] = {"not": "a list"}
    again = orders.order(shown).items
    assert again[1].goods is None
    assert again[0].goods is not None
    assert again[0].goods.image_url is None


def paying(*words: Any, status: str = "waitsellersend", **base: Any) -> PlatformOrder:
    shown = shown_order("order_unpaid")
    shown["baseInfo"] |= {"status": status, **base}
    shown["tradeTerms"] = [{"payStatus": word} for word in words]
    return orders.order(shown)


@pytest.mark.parametrize(
    ("words", "base", "expected"),
    [
        (("1",), {}, PaymentState.UNPAID),
        (("7",), {}, PaymentState.UNPAID),
        (("9",), {}, PaymentState.PROCESSING),
        (("12",), {}, PaymentState.PROCESSING),
        (("2",), {}, PaymentState.PAID),
        (("6",), {}, PaymentState.PAID),
        (("4",), {}, PaymentState.REFUNDED),
        (("8",), {}, PaymentState.CLOSED),
        (("99",), {}, PaymentState.UNKNOWN),
        ((2,), {}, PaymentState.PAID),
        (("2", "1"), {}, PaymentState.PARTIALLY_PAID),
        (("2", "9"), {}, PaymentState.PARTIALLY_PAID),
        (("2", "6"), {}, PaymentState.PAID),
        (("1", "9"), {}, PaymentState.PROCESSING),
        (("1", "8"), {}, PaymentState.UNKNOWN),
        (("2",), {"refund": "0.01"}, PaymentState.PARTIALLY_REFUNDED),
        (("2",), {"refund": "45.49"}, PaymentState.PARTIALLY_REFUNDED),
        (("2",), {"refund": "45.5"}, PaymentState.REFUNDED),
        (("2",), {"refund": None, "refundPayment": 1}, PaymentState.PARTIALLY_REFUNDED),
        (("2",), {"refund": None, "refundPayment": 4550}, PaymentState.REFUNDED),
        (("2",), {"totalAmount": 0, "shippingFee": 0}, PaymentState.PAID),
    ],
)
def test_every_state_of_payment(
    words: tuple[Any, ...], base: dict[str, Any], expected: PaymentState
) -> None:
    assert paying(*words, **base).payment is expected


@pytest.mark.parametrize(
    ("status", "base", "expected"),
    [
        ("waitbuyerpay", {}, PaymentState.UNPAID),
        ("waitsellersend", {}, PaymentState.PAID),
        ("success", {}, PaymentState.PAID),
        ("cancel", {}, PaymentState.CLOSED),
        ("cancel", {"payTime": "20180614110000000+0800"}, PaymentState.PAID),
        ("terminated", {}, PaymentState.UNKNOWN),
        ("somethingnew", {}, PaymentState.UNKNOWN),
    ],
)
def test_without_terms_of_payment_the_status_tells(
    status: str, base: dict[str, Any], expected: PaymentState
) -> None:
    assert paying(status=status, **base).payment is expected


def test_fully_refunded_means_the_whole_total_even_if_no_amount_is_told() -> None:
    assert paying("4", refund=0, refundPayment=None).refunded_fen == 4550


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("2", PlatformOrderStatus.CLOSED),
        ("4", PlatformOrderStatus.CLOSED),
        ("6", PlatformOrderStatus.CLOSED),
        ("8", PlatformOrderStatus.CANCELLED),
        ("1", PlatformOrderStatus.CANCELLED),
    ],
)
def test_a_cancelled_order_that_was_paid_is_closed(
    word: str, expected: PlatformOrderStatus
) -> None:
    assert paying(word, status="cancel").status is expected


@pytest.mark.parametrize(
    ("status", "logistics", "expected"),
    [
        ("waitsellersend", "1", PlatformOrderStatus.PAID),
        ("waitsellersend", "8", PlatformOrderStatus.PAID),
        ("waitsellersend", "4", PlatformOrderStatus.PAID),
        ("waitsellersend", "2", PlatformOrderStatus.PARTIALLY_SHIPPED),
        ("waitsellersend", "3", PlatformOrderStatus.PARTIALLY_SHIPPED),
        ("waitsellersend", "5", PlatformOrderStatus.PARTIALLY_SHIPPED),
        ("waitbuyerreceive", "1", PlatformOrderStatus.SHIPPED),
        ("waitbuyerpay", "2", PlatformOrderStatus.PENDING_PAYMENT),
    ],
)
def test_some_lines_on_their_way_make_it_partially_shipped(
    status: str, logistics: str, expected: PlatformOrderStatus
) -> None:
    shown = shown_order("order_paid")
    shown["baseInfo"]["status"] = status
    shown["productItems"][0]["logisticsStatus"] = logistics

    assert orders.order(shown).status is expected


@pytest.mark.parametrize(
    ("operated", "reason", "expected"),
    [
        ("CLOSE_TRADE_BY_SELLER", "other", CloseReason.SELLER),
        ("CLOSE_TRADE_BY_BUYER", "other", CloseReason.BUYER),
        ("CLOSE_TRADE_BY_SYSTEM", "other", CloseReason.TIMEOUT),
        ("CLOSE_TRADE_BY_BOPS", "other", CloseReason.PLATFORM),
        ("CLOSE_TRADE_BY_CREADIT", "other", CloseReason.PLATFORM),
        (None, "buyerCancel", CloseReason.BUYER),
        (None, "sellerGoodsLack", CloseReason.SELLER),
        (None, "other", CloseReason.OTHER),
        ("CLOSE_TRADE_BY_NOBODY", None, CloseReason.OTHER),
        (None, None, CloseReason.OTHER),
    ],
)
def test_who_closed_an_order(
    operated: str | None, reason: str | None, expected: CloseReason
) -> None:
    order = paying("8", status="cancel", closeOperateType=operated, closeReason=reason)

    assert order.close_reason is expected


@pytest.mark.parametrize(
    "word",
    ["waitselleragree", "waitbuyermodify", "waitbuyersend", "waitsellerreceive",
     "WAIT_SELLER_AGREE", "WAIT_BUYER_MODIFY", "WAIT_BUYER_SEND", "WAIT_SELLER_RECEIVE"],
)  # fmt: skip
@pytest.mark.parametrize("field", ["refundStatus", "refundStatusForAs"])
def test_a_refund_under_way_is_a_dispute(field: str, word: str) -> None:
    assert paying("2", **{field: word}).dispute


@pytest.mark.parametrize("word", ["refundsuccess", "refundclose", "", None])
def test_a_refund_that_is_over_is_none(word: str | None) -> None:
    assert not paying("2", refundStatus=word).dispute


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("status", None), ("totalAmount", None), ("totalAmount", "a lot"), ("totalAmount", "1.005"),
     ("totalAmount", -1), ("shippingFee", []), ("discount", "1.5"), ("refund", "some")],
)  # fmt: skip
def test_an_order_without_its_essence_is_unreadable(field: str, wrong: Any) -> None:
    shown = shown_order("order_unpaid")
    shown["baseInfo"][field] = wrong

    with pytest.raises(UnreadableResponse):
        orders.order(shown)


def test_an_order_without_an_id_is_unreadable() -> None:
    shown = shown_order("order_unpaid")
    del shown["baseInfo"]["id"], shown["baseInfo"]["idOfStr"]

    with pytest.raises(UnreadableResponse):
        orders.order(shown)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.data())
def test_whatever_a_field_holds_it_is_read_or_unreadable_and_never_a_crash(data: Any) -> None:
    shown = shown_order("order_shipped")
    place = data.draw(st.sampled_from([shown, shown["baseInfo"], shown["tradeTerms"][0],
                                       shown["productItems"][0], shown["nativeLogistics"],
                                       shown["nativeLogistics"]["logisticsItems"][0]]))  # fmt: skip
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(JSON)

    try:
        order = orders.order(shown)
    except UnreadableResponse:
        return
    assert order.goods_fen + order.freight_fen - order.discount_fen == order.total_fen
