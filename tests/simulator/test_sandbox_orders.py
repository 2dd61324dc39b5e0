"""Orders in the 1688 dialect: preview, create, read, list, cancel; units and spelling exact."""

import time
from typing import Any

import pytest
from simulator.sandbox_kit import (
    ADDRESS,
    OTHER_SELLERS,
    OUT_OF_STOCK,
    PLAIN,
    Market,
    cargo,
    spec,
)
from tradewind_simulator import times


def test_preview_has_its_sums_in_fen_and_its_prices_in_yuan(market: Market) -> None:
    answer = market.preview(cargo(quantity=3), cargo(quantity=2, colour=1))

    assert answer["success"] is True
    (part,) = answer["orderPreviewResuslt"]
    assert part["sumPaymentNoCarriage"] == 5_000
    assert part["sumCarriage"] == 500
    assert part["discountFee"] == 0
    assert part["sumPayment"] == 5_500
    assert part["cargoList"][0] == {
        "amount": 30,
        "finalUnitPrice": 10,
        "specId": spec(PLAIN),
        "skuId": PLAIN * 100,
        "offerId": PLAIN,
        "cargoPromotionList": [],
    }
    assert market.state()["orders_total"] == 0


def test_a_discount_comes_off_the_total(market: Market) -> None:
    (part,) = market.preview(cargo(OTHER_SELLERS, 12))["orderPreviewResuslt"]

    assert part["discountFee"] == 1_000
    assert part["sumPayment"] == 12_000 + part["sumCarriage"] - 1_000


@pytest.mark.parametrize(
    ("basket", "code"),
    [
        ([cargo(OUT_OF_STOCK)], "500_004"),
        ([cargo(PLAIN, 100_001)], "500_004"),
        ([cargo(PLAIN, 60_000), cargo(PLAIN, 60_000)], "500_004"),
        ([cargo(900000000016, 99)], "500_005"),
        ([cargo(900000000017, 15)], "500_006"),
        ([cargo(900000000018)], "500_008"),
        ([cargo(900000000019)], "500_001"),
        ([{"offerId": 1, "specId": "x", "quantity": 1}], "500_001"),
        ([{"offerId": PLAIN, "specId": "nonsense", "quantity": 1}], "500_003"),
        ([{"offerId": PLAIN, "quantity": 1}], "500_002"),
        ([cargo(PLAIN), cargo(OTHER_SELLERS)], "500_002"),
    ],
)
def test_what_cannot_be_had(market: Market, basket: list[Any], code: str) -> None:
    preview = market.preview(*basket)
    create = market.create(*basket)

    assert preview["success"] is False
    assert preview["errorCode"] == code
    assert str(basket[-1]["offerId"]) in preview["errorMsg"]
    assert preview["orderPreviewResuslt"] == []
    assert (create["success"], create["code"]) == (False, code)
    assert create["result"]["failedOfferList"][0]["errorCode"] == code
    assert market.state()["orders_total"] == 0


def test_enough_for_the_minimum_and_by_tens(market: Market) -> None:
    assert market.create(cargo(900000000016, 60), cargo(900000000016, 40, 1))["success"] is True
    assert market.create(cargo(900000000017, 20))["success"] is True


@pytest.mark.parametrize(
    "address",
    [
        {**ADDRESS, "fullName": ""},
        {**ADDRESS, "mobile": ""},
        {**ADDRESS, "provinceText": "Atlantis"},
    ],
)
def test_an_address_must_be_whole(market: Market, address: dict[str, str]) -> None:
    answer = market.create(cargo(), addressParam=address)

    assert (answer["success"], answer["code"]) == (False, "400")


def test_create_and_read(market: Market) -> None:
    made = market.create(cargo(quantity=2), outOrderId="ORD-1", message="请尽快发货")
    result = made["result"]

    assert made["success"] is True
    assert result["totalSuccessAmount"] == 2_500
    assert result["postFee"] == 500
    assert isinstance(result["orderId"], str)
    assert result["failedOfferList"] == []
    number = result["orderId"]
    answer = market.call("alibaba.trade.get.buyerView", webSite="1688", orderId=number)
    assert answer["success"] == "true"
    base = answer["result"]["baseInfo"]
    assert base["id"] == int(number) > 2**53
    assert base["idOfStr"] == number
    assert (base["status"], base["outOrderId"]) == ("waitbuyerpay", "ORD-1")
    assert (base["totalAmount"], base["shippingFee"]) == (25, 5)
    assert (base["discount"], base["refund"], base["refundPayment"]) == (0, 0, 0)
    assert base["payTimeout"] == 43_200
    assert base["buyerFeedback"] == "请尽快发货"
    assert len(base["createTime"]) == 22
    assert base["createTime"].endswith("+0800")
    assert "payTime" not in base
    (item,) = answer["result"]["productItems"]
    assert (item["quantity"], item["price"], item["itemAmount"]) == (2, 10, 20)
    assert (item["status"], item["logisticsStatus"]) == ("waitbuyerpay", 1)
    assert item["subItemIDString"] == str(item["subItemID"])
    (term,) = answer["result"]["tradeTerms"]
    assert (term["payStatus"], term["phasAmount"]) == ("1", 25)
    assert answer["result"]["nativeLogistics"]["province"] == "浙江省"


def test_the_reference_is_for_looking_up_only(market: Market) -> None:
    first = market.order(outOrderId="ORD-2")
    second = market.order(outOrderId="ORD-2")

    result = market.call("alibaba.trade.getBuyerOrderList", outOrderId="ORD-2")
    by_reference = market.call("alibaba.trade.get.buyerView", webSite="1688", outOrderId="ORD-2")

    assert first != second
    assert result["totalRecord"] == 2
    assert [item["baseInfo"]["idOfStr"] for item in result["result"]] == [second, first]
    assert by_reference["result"]["baseInfo"]["idOfStr"] == first


def test_an_order_of_another_buyer_does_not_exist(market: Market) -> None:
    number = market.order()

    read = market.call("alibaba.trade.get.buyerView", "alibaba", webSite="1688", orderId=number)
    cancel = market.call(
        "alibaba.trade.cancel", "alibaba", webSite="1688", tradeID=number, cancelReason="other"
    )

    assert (read["success"], read["errorCode"]) == ("false", "ORDER_NOT_EXIST")
    assert (cancel["success"], cancel["errorCode"]) == (False, "400_3")


def test_many_orders_in_one_call_without_parcels(market: Market) -> None:
    orders = [market.order() for _ in range(3)]
    market.advance(orders[0], "pay")
    market.advance(orders[0], "ship")

    result = market.call("alibaba.trade.getBuyerOrderList", orderIds=[*orders, "1"])

    assert result["totalRecord"] == 3
    by_id = {item["baseInfo"]["idOfStr"]: item for item in result["result"]}
    assert by_id[orders[0]]["baseInfo"]["status"] == "waitbuyerreceive"
    assert by_id[orders[0]]["productItems"][0]["logisticsStatus"] == 2
    assert "logisticsItems" not in by_id[orders[0]]["nativeLogistics"]


def test_a_list_is_narrowed_by_status_and_by_time_of_change(market: Market) -> None:
    old = market.order()
    market.clock(advance_seconds=100)
    since = times.compact(market.state()["now"])
    new = market.order()
    market.clock(advance_seconds=100)
    market.advance(old, "pay")

    def listed(**narrow: Any) -> set[str]:
        result = market.call("alibaba.trade.getBuyerOrderList", **narrow)["result"]
        return {item["baseInfo"]["idOfStr"] for item in result}

    assert listed(createStartTime=since) == {new}
    assert listed(createEndTime=since) == {old}
    assert listed(modifyStartTime=since) == {old, new}
    assert listed(orderStatus="waitsellersend") == {old}
    assert listed(orderStatus="waitbuyerpay") == {new}


def test_pages_hold_twenty_at_most(market: Market) -> None:
    orders = [market.order() for _ in range(23)]

    first = market.call("alibaba.trade.getBuyerOrderList", pageSize=100)
    second = market.call("alibaba.trade.getBuyerOrderList", page=2)

    seen = [item["baseInfo"]["idOfStr"] for item in (*first["result"], *second["result"])]
    assert first["totalRecord"] == 23
    assert seen == orders[::-1]


def test_cancelling_too_fast_in_time_and_too_late(market: Market) -> None:
    number = market.order()

    def cancel() -> Any:
        value = {"webSite": "1688", "tradeID": number, "cancelReason": "buyerCancel"}
        return market.call("alibaba.trade.cancel", **value)

    too_fast = cancel()
    market.clock(advance_seconds=10)
    done = cancel()
    again = cancel()

    assert (too_fast["success"], too_fast["errorCode"]) == (False, "CLOSE_ORDER_TOO_FAST")
    assert done == {"success": True}
    assert again["errorCode"] == "ORDER_STATUS_ERROR"
    base = market.view(number)["baseInfo"]
    assert (base["status"], base["closeReason"]) == ("cancel", "buyerCancel")
    assert base["closeOperateType"] == "CLOSE_TRADE_BY_BUYER"
    assert market.view(number)["tradeTerms"][0]["payStatus"] == "8"


def test_a_paid_order_cannot_be_cancelled(market: Market) -> None:
    number = market.order()
    market.clock(advance_seconds=60)
    market.pay(number)

    answer = market.call(
        "alibaba.trade.cancel", webSite="1688", tradeID=number, cancelReason="buyerCancel"
    )
    unknown = market.call(
        "alibaba.trade.cancel", webSite="1688", tradeID="5", cancelReason="buyerCancel"
    )

    assert answer["errorCode"] == "ORDER_STATUS_ERROR"
    assert unknown["errorCode"] == "ORDER_NOT_EXIST"
    assert market.status(number) == "waitsellersend"


def test_an_unpaid_order_closes_when_its_time_is_up(market: Market) -> None:
    number = market.order()

    market.clock(advance_seconds=43_190)
    before = market.status(number)
    market.clock(advance_seconds=20)

    base = market.view(number)["baseInfo"]
    assert before == "waitbuyerpay"
    assert (base["status"], base["closeOperateType"]) == ("cancel", "CLOSE_TRADE_BY_SYSTEM")


def test_stock_is_taken_and_given_back(market: Market) -> None:
    def left() -> int:
        wanted = {"offerId": PLAIN, "country": "en"}
        shown = market.call("product.search.queryProductDetail", offerDetailParam=wanted)
        amount: int = shown["result"]["result"]["productSkuInfos"][0]["amountOnSale"]
        return amount

    before = left()
    number = market.order(cargo(quantity=7))
    during = left()
    market.advance(number, "close_by_seller")

    assert (before - during, left()) == (7, before)


def test_an_order_lives_to_its_end_as_time_passes(market: Market) -> None:
    number = market.order(cargo(quantity=2))
    market.pay(number)
    seen = [market.status(number)]
    for _ in range(24):
        market.clock(advance_seconds=12 * 3_600)
        if market.status(number) != seen[-1]:
            seen.append(market.status(number))

    view = market.view(number)
    assert seen[0] == "waitsellersend"
    assert seen[-1] == "success"
    assert "waitbuyerreceive" in seen
    (parcel,) = view["nativeLogistics"]["logisticsItems"]
    assert parcel["logisticsBillNo"]
    assert parcel["subItemIds"] == view["productItems"][0]["subItemIDString"]
    assert view["productItems"][0]["logisticsStatus"] == 3
    assert view["tradeTerms"][0]["payStatus"] == "6"


def test_a_fast_clock_moves_orders_by_itself(market: Market) -> None:
    number = market.order()
    market.pay(number)

    market.clock(speed=1_000_000)
    deadline = time.monotonic() + 5
    while market.status(number) != "success" and time.monotonic() < deadline:
        time.sleep(0.05)
    market.clock(speed=1)

    assert market.status(number) == "success"


def test_partial_shipment_shows_on_the_lines(market: Market) -> None:
    number = market.order(cargo(quantity=2), cargo(quantity=1, colour=1))
    market.pay(number)

    market.advance(number, "partial_ship")
    view = market.view(number)
    market.advance(number, "ship")
    whole = market.view(number)

    assert view["baseInfo"]["status"] == "waitsellersend"
    assert [item["logisticsStatus"] for item in view["productItems"]] == [2, 1]
    assert [item["status"] for item in view["productItems"]] == [
        "waitbuyerreceive",
        "waitsellersend",
    ]
    assert whole["baseInfo"]["status"] == "waitbuyerreceive"
    assert len(whole["nativeLogistics"]["logisticsItems"]) == 2


def test_half_of_an_only_line_can_be_sent(market: Market) -> None:
    number = market.order(cargo(quantity=3))
    market.pay(number)

    market.advance(number, "partial_ship")

    assert market.view(number)["productItems"][0]["logisticsStatus"] == 5


def test_a_seller_changes_the_price(market: Market) -> None:
    number = market.order(cargo(quantity=2), cargo(quantity=1, colour=1))

    market.advance(number, "change_price", fen=2_999)
    view = market.view(number)

    base = view["baseInfo"]
    assert (base["totalAmount"], base["discount"]) == (29.99, -501)
    assert view["orderBizInfo"]["abnormalPriceChange"] is True
    assert sum(item["entryDiscount"] for item in view["productItems"]) == -501
    paid = sum(round(item["itemAmount"] * 100) for item in view["productItems"])
    assert paid + round(base["shippingFee"] * 100) == 2_999


def test_a_seller_raises_the_price(market: Market) -> None:
    number = market.order()

    market.advance(number, "change_price", fen=2_000)

    base = market.view(number)["baseInfo"]
    assert (base["totalAmount"], base["discount"]) == (20, 500)


def test_fields_can_be_left_out(market: Market) -> None:
    number = market.order()

    shown = market.call(
        "alibaba.trade.get.buyerView", webSite="1688", orderId=number, includeFields="RateDetail"
    )

    assert "nativeLogistics" not in shown["result"]
