"""Which lines of a basket are at fault, where the platform refuses it as a whole."""

import json
from dataclasses import replace
from typing import Any

import pytest
from platforms.alibaba.payloads import ADDRESS, BLUE, RED, SHIRT, SOCKS
from platforms.alibaba.scripted import DROP, Call, Market, Step, answer, say

from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import Reason, Rejected, Unavailable
from tradewind.platforms.model import Line, Preview, SellerPreview, UnavailableLine

NO_STOCK, BELOW, SELLERS = "500_004", "500_005", "500_002"


def refuse(code: str, message: str = "不行") -> Step:
    return answer({"success": False, "errorCode": code, "errorMsg": message})


def cost(basket: list[dict[str, Any]]) -> Step:
    """Ten yuan a piece and five for sending."""
    goods = sum(1000 * item["quantity"] for item in basket)
    part = {"status": True, "sumPayment": goods + 500, "sumCarriage": 500, "discountFee": 0}
    return answer({"success": True, "orderPreviewResuslt": [part]})


def basket_of(call: Call) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(call.form["cargoParamList"])
    return result


def refusing(
    market: Market, bad: set[tuple[int, str | None]], code: str, message: str = ""
) -> None:
    """Refuse every basket that has a bad line in it; a sentence with {} names that line."""

    def respond(call: Call) -> Step:
        basket = basket_of(call)
        for item in basket:
            if (item["offerId"], item.get("specId")) in bad:
                return refuse(code, message.format(f"{item['offerId']}_{item.get('specId')}"))
        return cost(basket)

    market.respond = respond


def number(line: Line) -> tuple[int, str | None]:
    return int(line.product_id), line.sku_id


def gone(line: Line, reason: Reason) -> UnavailableLine:
    return UnavailableLine(line.product_id, line.sku_id, reason)


async def test_a_good_basket_costs_one_call(market: Market, connector: Connector) -> None:
    market.script(say("preview_one"))

    preview = await connector.preview([SHIRT, SOCKS], ADDRESS)

    assert preview == Preview([SellerPreview("", [SHIRT, SOCKS], 3750, 800, 226, 4324)], 4324, [])
    assert len(market.calls) == 1


async def test_a_line_that_the_sentence_names_is_set_aside(
    market: Market, connector: Connector
) -> None:
    refusing(market, {number(SOCKS)}, NO_STOCK, "商品[{}]库存不足")

    preview = await connector.preview([SHIRT, SOCKS], ADDRESS)

    part = SellerPreview("", [SHIRT], 2000, 500, 0, 2500)
    assert preview == Preview([part], 2500, [gone(SOCKS, Reason.OUT_OF_STOCK)])
    assert len(market.calls) == 2


async def test_without_a_name_every_offer_is_asked_about(
    market: Market, connector: Connector
) -> None:
    third = Line("610947572369", None, 1)
    refusing(market, {number(SOCKS), number(third)}, NO_STOCK)

    preview = await connector.preview([SHIRT, SOCKS, third], ADDRESS)

    assert preview.unavailable == [
        gone(SOCKS, Reason.OUT_OF_STOCK),
        gone(third, Reason.OUT_OF_STOCK),
    ]
    assert [part.lines for part in preview.sellers] == [[SHIRT]]
    assert len(market.calls) == 5


async def test_of_one_offer_every_variant_is_asked_about(
    market: Market, connector: Connector
) -> None:
    blue = replace(SHIRT, sku_id=BLUE)
    refusing(market, {number(blue)}, NO_STOCK)

    preview = await connector.preview([SHIRT, blue], ADDRESS)

    assert preview.unavailable == [gone(blue, Reason.OUT_OF_STOCK)]
    assert [part.lines for part in preview.sellers] == [[SHIRT]]


async def test_variants_that_miss_a_minimum_together_are_all_set_aside(
    market: Market, connector: Connector
) -> None:
    blue = replace(SHIRT, sku_id=BLUE)
    market.script(refuse(BELOW))

    preview = await connector.preview([SHIRT, blue], ADDRESS)

    assert preview == Preview(
        (), 0, [gone(SHIRT, Reason.BELOW_MINIMUM), gone(blue, Reason.BELOW_MINIMUM)]
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("500_001", Reason.NOT_FOR_SALE),
        ("500_002", Reason.NOT_FOUND),
        ("500_003", Reason.NOT_FOUND),
        ("500_004", Reason.OUT_OF_STOCK),
        ("500_005", Reason.BELOW_MINIMUM),
        ("500_006", Reason.MIXED_BATCH),
        ("500_008", Reason.NOT_FOR_SALE),
        ("500_009", Reason.BELOW_MINIMUM),
    ],
)
async def test_a_single_line_is_its_own_culprit(
    code: str, reason: Reason, market: Market, connector: Connector
) -> None:
    market.script(refuse(code))

    preview = await connector.preview([SHIRT], ADDRESS)

    assert preview == Preview((), 0, [gone(SHIRT, reason)])
    assert len(market.calls) == 1


async def test_what_no_line_causes_is_refused_as_it_is(
    market: Market, connector: Connector
) -> None:
    market.script(refuse("500_007"))

    with pytest.raises(Rejected) as refused:
        await connector.preview([SHIRT, SOCKS], ADDRESS)

    assert refused.value.reason is Reason.NOT_SUPPORTED
    assert len(market.calls) == 1


async def test_a_variant_that_does_not_exist_is_told_from_several_sellers(
    market: Market, connector: Connector
) -> None:
    refusing(market, {number(SOCKS)}, "500_003", "商品[{}]不属于同一个卖家")

    preview = await connector.preview([SHIRT, SOCKS], ADDRESS)

    assert preview.unavailable == [gone(SOCKS, Reason.NOT_FOUND)]
    assert [part.lines for part in preview.sellers] == [[SHIRT]]


async def test_several_sellers_come_back_as_several_parts(
    market: Market, connector: Connector
) -> None:
    third = Line("610947572369", RED, 1)

    def respond(call: Call) -> Step:
        if call.api.endswith("queryProductDetail"):
            offer = json.loads(call.form["offerDetailParam"])["offerId"]
            seller = "BBBother" if offer == int(SOCKS.product_id) else "BBBv5Z2jq"
            shown = {"offerId": offer, "sellerOpenId": seller}
            return answer({"result": {"success": True, "result": shown}})
        basket = basket_of(call)
        offers = {item["offerId"] for item in basket}
        mixed = int(SOCKS.product_id) in offers and len(offers) > 1
        return refuse(SELLERS) if mixed else cost(basket)

    market.respond = respond

    preview = await connector.preview([SHIRT, SOCKS, third], ADDRESS)

    assert preview == Preview(
        [
            SellerPreview("BBBv5Z2jq", [SHIRT, third], 3000, 500, 0, 3500),
            SellerPreview("BBBother", [SOCKS], 5000, 500, 0, 5500),
        ],
        9000,
        [],
    )


async def test_sellers_that_nobody_names_are_a_refusal(
    market: Market, connector: Connector
) -> None:
    def respond(call: Call) -> Step:
        if call.api.endswith("queryProductDetail"):
            return answer({"result": {"success": True, "result": {"offerId": 1}}})
        basket = basket_of(call)
        return refuse(SELLERS) if len(basket) > 1 else cost(basket)

    market.respond = respond

    with pytest.raises(Rejected) as refused:
        await connector.preview([SHIRT, SOCKS], ADDRESS)

    assert refused.value.reason is Reason.SEVERAL_SELLERS


async def test_what_can_be_no_product_is_not_even_asked_for(
    market: Market, connector: Connector
) -> None:
    nothing = Line("no-such-thing", None, 1)

    preview = await connector.preview([nothing], ADDRESS)

    assert preview == Preview((), 0, [gone(nothing, Reason.NOT_FOUND)])
    assert market.calls == []


async def test_too_many_offers_are_not_asked_about_one_by_one(
    market: Market, connector: Connector
) -> None:
    market.script(refuse(NO_STOCK))

    with pytest.raises(Rejected) as refused:
        await connector.preview([Line(str(number), None, 1) for number in range(1, 22)], ADDRESS)

    assert refused.value.reason is Reason.OUT_OF_STOCK
    assert len(market.calls) == 1


async def test_an_outage_in_the_middle_is_a_failure_and_blames_no_line(
    market: Market, connector: Connector
) -> None:
    market.respond = lambda call: refuse(NO_STOCK) if len(basket_of(call)) > 1 else DROP

    with pytest.raises(Unavailable):
        await connector.preview([SHIRT, SOCKS], ADDRESS)
