"""Baskets: what is sent to price and to place one, and what the recorded answers say."""

import json
from typing import Any

import pytest
from platforms.taobao.scripted import data_of

from tradewind.platforms.failures import Reason, UnreadableResponse
from tradewind.platforms.model import (
    Address,
    Line,
    OrderRequest,
    Payment,
    PaymentState,
    Placed,
    Preview,
    SellerPreview,
    UnavailableLine,
)
from tradewind.platforms.taobao import baskets, payments, products
from tradewind.platforms.taobao.products import ItemListing, ListedSku

BAG = "641592387397"
RED = Line(BAG, "5159117406243", 2)
BLUE = Line(BAG, "5159117406244", 1)
ADDRESS = Address("李雷", "13800000000", "浙江省", "杭州市", "西湖区", "文三路 1 号")
LISTINGS = {BAG: products.listing(data_of("product"), BAG)}
ORDER = "2200778678370001234"


def test_goods_are_named_by_the_ids_that_orders_use() -> None:
    params = baskets.render_params([RED, BLUE], ADDRESS, LISTINGS)

    assert json.loads(params["render_item_List"]) == [
        {"item_id": "4096709792297020", "sku_id": "32248575036476", "quantity": 2},
        {"item_id": "4096709792297020", "sku_id": "32248575036477", "quantity": 1},
    ]
    assert json.loads(params["warehouse_address"]) == {
        "name": "李雷",
        "mobile_phone": "13800000000",
        "phone": "13800000000",
        "country": "中国",
        "state": "浙江省",
        "city": "杭州市",
        "district": "西湖区",
        "address": "文三路 1 号",
        "zip": "",
    }
    assert params["receiver_address"] == params["warehouse_address"]


@pytest.mark.parametrize(
    ("line", "listing", "named"),
    [
        (Line("7", None, 1), ItemListing("70", {"8": ListedSku("80", 5)}, None), ("70", "80")),
        (Line("7", None, 1), ItemListing("70", {}, None), ("70", None)),
        (
            Line("7", None, 1),
            ItemListing("70", {"8": ListedSku("80", 5), "9": ListedSku("90", 5)}, None),
            ("70", None),
        ),
        (Line("7", "1", 1), ItemListing("70", {"8": ListedSku("80", 5)}, None), ("70", "1")),
    ],
)
def test_which_sku_is_meant(
    line: Line, listing: ItemListing, named: tuple[str, str | None]
) -> None:
    (item,) = json.loads(baskets.render_params([line], ADDRESS, {"7": listing})["render_item_List"])

    assert (item["item_id"], item.get("sku_id")) == named


def test_a_preview_speaks_of_our_lines() -> None:
    gone = UnavailableLine("1", None, Reason.NOT_FOR_SALE)

    result = baskets.preview(data_of("render"), [RED, BLUE], LISTINGS, [gone])

    assert result == Preview(
        sellers=(
            SellerPreview(
                seller_id="2100000001",
                lines=(RED,),
                goods_fen=7980,
                freight_fen=500,
                discount_fen=300,
                total_fen=8180,
            ),
        ),
        total_fen=8180,
        unavailable=(gone, UnavailableLine(BAG, "5159117406244", Reason.OUT_OF_STOCK)),
    )


def test_a_line_without_a_sku_is_answered_without_one() -> None:
    only = {"7": ItemListing("70", {"8": ListedSku("80", 5)}, None)}
    row = {"item_id": 70, "sku_id": "80", "quantity": "3", "origin_price": 5}
    data = {
        "render_item_list": [{"nick": "甲", "order_fee": 15, "item_price_infos": [row]}],
        "unavailable_sku_list": [{"item_id": "70", "sku_id": 0, "reason": "已下架"}],
    }

    result = baskets.preview(data, [Line("7", None, 3)], only)

    assert result.sellers == (SellerPreview("甲", (Line("7", None, 3),), 15, 0, 0, 15),)
    assert result.total_fen == 15
    assert result.unavailable == (UnavailableLine("7", None, Reason.NOT_FOR_SALE),)


@pytest.mark.parametrize(
    ("price", "freight", "total", "goods", "discount"),
    [(100, 10, 210, 200, 0), (100, 10, 180, 200, 30), (100, 10, 300, 290, 0), (None, 10, 5, 0, 5)],
)
def test_goods_and_freight_less_discount_are_the_total(
    price: int | None, freight: int, total: int, goods: int, discount: int
) -> None:
    row = {"item_id": 1, "quantity": 2, "origin_price": {"amount": price}}
    part = {"order_fee": total, "mainland_shipping_fee": freight, "item_price_infos": [row]}

    (seller,) = baskets.preview({"render_item_list": [part]}, [], {}).sellers

    assert (seller.goods_fen, seller.freight_fen) == (goods, freight)
    assert (seller.discount_fen, seller.total_fen) == (discount, total)
    assert goods + freight - discount == total


@pytest.mark.parametrize("data", [None, {}, {"render_item_list": [{"order_fee": None}]}])
def test_what_is_no_preview(data: Any) -> None:
    with pytest.raises(UnreadableResponse):
        baskets.preview(data, [RED], LISTINGS)


def test_an_order_is_guarded_and_all_or_nothing() -> None:
    draft = OrderRequest("ORD1", [RED, BLUE], ADDRESS, remark="轻放")

    params = baskets.create_params(draft, LISTINGS, 8180)

    assert json.loads(params.pop("order_line_list")) == [
        {
            "itemId": "4096709792297020",
            "skuId": "32248575036476",
            "quantity": 2,
            "price": 3990,
            "currency": "CNY",
            "orderLineNo": "1",
        },
        {
            "itemId": "4096709792297020",
            "skuId": "32248575036477",
            "quantity": 1,
            "price": 4700,
            "currency": "CNY",
            "orderLineNo": "2",
        },
    ]
    assert params.pop("receiver") == params.pop("warehouse_address_info")
    assert params == {
        "outer_purchase_id": "ORD1",
        "purchase_amount": "8180",
        "support_partial_success": "false",
        "need_sys_retry": "false",
        "order_remark": "轻放",
    }


def test_every_order_that_it_became() -> None:
    assert baskets.placed(data_of("create_split")) == Placed((ORDER, "2200778678370001235"), 9680)


def test_a_cost_that_is_not_told_of_every_order_is_not_told() -> None:
    made = {"order_list": [{"purchase_id": 1, "estimate_amount": 5}, {"purchase_id": 2}]}

    assert baskets.placed(made) == Placed(("1", "2"), None)


@pytest.mark.parametrize(
    "data", [None, {}, {"order_list": []}, {"order_list": [{"purchase_id": 1}, {}]}]
)
def test_an_order_without_an_id_is_not_placed(data: Any) -> None:
    with pytest.raises(UnreadableResponse):
        baskets.placed(data)


@pytest.mark.parametrize(
    ("name", "payment"),
    [
        ("pay_accepted", Payment(PaymentState.PROCESSING)),
        ("pay_refused", Payment(PaymentState.FAILED, "ACCOUNT_BALANCE_NOT_ENOUGH", None)),
        ("pay_refused_otherwise", Payment(PaymentState.FAILED, "ACCOUNT_FROZEN", "账户冻结")),
        ("pay_refused_without_reason", Payment(PaymentState.PROCESSING, "no_code", None)),
    ],
)
def test_what_came_of_a_payment(name: str, payment: Payment) -> None:
    assert payments.payment(data_of(name), ORDER) == payment


@pytest.mark.parametrize("code", ["SYSTEM_EXCEPTION", "SOMETHING_NEW", "BALANCE_CHECK_LATE"])
def test_a_payment_that_failed_for_a_reason_that_we_do_not_know_may_be_one(code: str) -> None:
    failed = {"purchase_order_id": ORDER, "errorCode": code, "errorMessage": "m"}

    payment = payments.payment({"pay_failed_results": [failed]}, ORDER)

    assert payment == Payment(PaymentState.PROCESSING, code, "m")


def test_a_payment_that_is_neither_accepted_nor_refused() -> None:
    with pytest.raises(UnreadableResponse):
        payments.payment(data_of("pay_neither"), ORDER)
