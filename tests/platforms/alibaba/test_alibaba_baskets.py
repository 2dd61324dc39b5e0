"""Baskets, previews and new orders on the wire."""

import json
from dataclasses import replace

import pytest
from platforms.alibaba.payloads import (
    ADDRESS,
    BLUE,
    ORDER,
    RED,
    SECOND_ORDER,
    SHIRT,
    SOCKS,
    payload,
)

from tradewind.platforms.alibaba import baskets
from tradewind.platforms.failures import ErrorResponse, Reason, UnreadableResponse
from tradewind.platforms.model import Line, OrderRequest, Placed, SellerPreview, UnavailableLine

NO_STOCK = f"商品[610947572361_{BLUE}]库存不足"


def test_a_draft_is_asked_for_with_our_reference() -> None:
    draft = OrderRequest(
        "ORD0001", [SHIRT, Line("610947572362", None, 1)], ADDRESS, "请用纸箱", 4550
    )

    params = baskets.create_params(draft, "general")

    assert json.loads(params.pop("cargoParamList")) == [
        {"offerId": 610947572360, "specId": RED, "quantity": 2},
        {"offerId": 610947572362, "quantity": 1},
    ]
    assert json.loads(params.pop("addressParam")) == {
        "fullName": "张三",
        "mobile": "15251667788",
        "provinceText": "浙江省",
        "cityText": "杭州市",
        "areaText": "滨江区",
        "address": "网商路699号",
        "postCode": "310000",
    }
    assert params == {"flow": "general", "outOrderId": "ORD0001", "message": "请用纸箱"}


@pytest.mark.parametrize(
    ("given", "field", "sent"),
    [
        ("15251667788", "mobile", "15251667788"),
        ("0086 15251667788", "mobile", "15251667788"),
        ("0571-85022088", "phone", "0571-85022088"),
        ("+49 30 1234567", "phone", "+49 30 1234567"),
    ],
)
def test_a_number_is_a_mobile_or_a_phone(given: str, field: str, sent: str) -> None:
    params = baskets.basket_params([SHIRT], replace(ADDRESS, phone=given), "general")

    address = json.loads(params["addressParam"])
    assert {name: address[name] for name in ("mobile", "phone") if name in address} == {field: sent}


@pytest.mark.parametrize(
    "wrong", ["", "abc", "12a", "-1", "1.5", "٣", "1" * 20, "0", "0610947572360", "1\n"]
)
def test_what_can_be_no_offer(wrong: str) -> None:
    assert baskets.offer_id(wrong) is None


def test_a_preview_adds_up() -> None:
    preview = baskets.preview(payload("preview_one"), [SHIRT, SOCKS])

    assert preview.unavailable == []
    assert preview.sellers == [SellerPreview("", [SHIRT, SOCKS], 3750, 800, 226, 4324)]


def test_a_preview_of_several_parts_says_which_lines_are_in_which() -> None:
    preview = baskets.preview(payload("preview_split"), [SHIRT, SOCKS])

    assert preview.sellers == [
        SellerPreview("", [SHIRT], 2000, 800, 0, 2800),
        SellerPreview("", [SOCKS], 1750, 500, 0, 2250),
    ]


def test_one_line_may_be_split_in_two() -> None:
    answer = payload("preview_split")
    for part, amount in zip(answer["orderPreviewResuslt"], (20, 10), strict=True):
        part["cargoList"][0] |= {
            "offerId": 610947572360, "specId": RED, "amount": amount, "finalUnitPrice": 10,
        }  # fmt: skip

    preview = baskets.preview(answer, [replace(SHIRT, quantity=3)])

    assert [part.lines for part in preview.sellers] == [
        [replace(SHIRT, quantity=2)],
        [replace(SHIRT, quantity=1)],
    ]


def test_a_part_that_is_refused_makes_its_lines_unavailable() -> None:
    preview = baskets.preview(payload("preview_part_refused"), [SHIRT, SOCKS])

    assert [part.lines for part in preview.sellers] == [[SHIRT]]
    assert preview.unavailable == [UnavailableLine(SOCKS.product_id, BLUE, Reason.OUT_OF_STOCK)]


@pytest.mark.parametrize(
    "answer", [{}, {"orderPreviewResuslt": []}, {"orderPreviewResuslt": [{"sumCarriage": 1}]}]
)
def test_a_preview_without_a_sum_is_unreadable(answer: dict[str, object]) -> None:
    with pytest.raises(UnreadableResponse):
        baskets.preview(answer, [SHIRT])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (NO_STOCK, [SOCKS]),
        ("商品[610947572361]购买数量不满足起批量限制", [SOCKS]),
        ("商品[610947572360]不支持在线交易", [SHIRT]),
        ("商品[999]不支持在线交易", []),
        ("库存不足", []),
    ],
)
def test_a_sentence_names_the_lines_it_is_about(message: str, expected: list[Line]) -> None:
    assert baskets.lines_in_message(message, [SHIRT, SOCKS]) == expected


def test_a_sentence_that_names_a_variant_is_about_that_one_alone() -> None:
    other = replace(SOCKS, sku_id=RED)

    assert baskets.lines_in_message(NO_STOCK, [SOCKS, other]) == [SOCKS]


def test_one_order_was_made() -> None:
    assert baskets.placed(payload("create_one")) == Placed([ORDER], 4550)


def test_several_orders_were_made() -> None:
    assert baskets.placed(payload("create_split")) == Placed([ORDER, SECOND_ORDER], 5050)


@pytest.mark.parametrize("zero", [0, "0", "00", "", None])
def test_an_order_numbered_zero_is_none(zero: object) -> None:
    assert baskets.placed({"result": {"orderId": zero}}) is None
    assert baskets.placed({"result": {"orderList": [{"orderId": zero}]}}) is None


def test_an_order_is_not_lost_for_its_amount() -> None:
    answer = payload("create_one")
    answer["result"]["totalSuccessAmount"] = "a lot"

    assert baskets.placed(answer) == Placed([ORDER], None)


def test_offers_that_failed_made_no_order() -> None:
    answer = payload("create_failed_offers")

    assert baskets.placed(answer) is None
    message = f"商品[610947572360_{RED}]库存不足，请核对库存后下单"  # noqa: RUF001 - Chinese
    assert baskets.failed_offers(answer) == {"610947572360": ErrorResponse("500_004", message)}
