"""Magic products: each has its one fixed misbehaviour."""

import threading
from typing import Any

import httpx
import pytest
from simulator.sandbox_kit import Market, cargo, line

SPELLS = {
    "splits": 900000000007,
    "seller_closes": 900000000008,
    "seller_closes_paid": 900000000009,
    "price_modified": 900000000010,
    "create_times_out": 900000000011,
    "sells_out": 900000000012,
    "short_deadline": 900000000013,
    "ships_in_parts": 900000000014,
    "refund_refused": 900000000015,
    "price_rises": 900000000003,
    "payment_fails": 900000000004,
    "payment_times_out": 900000000005,
    "payment_seems_to_fail": 900000000006,
}


def test_the_price_rises_at_create(market: Market) -> None:
    item = cargo(SPELLS["price_rises"], 2)
    (preview,) = market.preview(item)["orderPreviewResuslt"]
    made = market.create(item)["result"]
    guarded = market.purchase(line(SPELLS["price_rises"]), purchase_amount=1_500)

    assert (preview["sumPayment"], made["totalSuccessAmount"]) == (2_500, 2_900)
    assert guarded["error_code"] == "PURCHASE_AMOUNT_CHANGED"


def test_stock_is_gone_at_create(market: Market) -> None:
    item = cargo(SPELLS["sells_out"])

    assert market.preview(item)["success"] is True
    refused = market.create(item)
    assert refused["code"] == "500_004"
    assert refused["result"]["failedOfferList"][0]["offerId"] == str(SPELLS["sells_out"])


def test_payment_fails(market: Market) -> None:
    number = market.order(cargo(SPELLS["payment_fails"]))
    purchase = market.purchased(line(SPELLS["payment_fails"]))

    refused = market.pay(number)
    batch = market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[purchase])["data"]

    assert (refused["success"], refused["code"]) == (False, "ACCOUNT_BALANCE_NOT_ENOUGH")
    assert market.status(number) == "waitbuyerpay"
    assert batch["will_pay_purchase_order_ids"] == []
    assert batch["pay_failed_results"][0]["reason"] == "ACCOUNT_BALANCE_NOT_ENOUGH"
    assert market.state()["ledger"] == []


def test_payment_times_out_after_debiting(market: Market) -> None:
    number = market.order(cargo(SPELLS["payment_times_out"]))
    path, form = market.alibaba_request(
        "alibaba.trade.pay.protocolPay.preparePay",
        tradeWithholdPreparePayParam={"orderId": number, "opRequestId": "op-1"},
    )

    with pytest.raises(httpx.TimeoutException):
        httpx.post(market.url + path, data=form, timeout=0.5)

    assert market.debits(number) == [1_500]
    assert market.status(number) == "waitsellersend"
    assert market.pay(number, "op-1")["result"]["paySuccess"] is True
    assert market.debits(number) == [1_500]


def test_a_batch_payment_times_out_after_it_was_accepted(market: Market) -> None:
    number = market.purchased(line(SPELLS["payment_times_out"]))
    path = "/purchase/order/batch/pay"
    form = market.taobao_request(path, purchaseOrderIdList=[number])

    with pytest.raises(httpx.TimeoutException):
        httpx.post(f"{market.url}/rest{path}", data=form, timeout=0.5)
    market.clock(advance_seconds=3.5)

    assert market.debits(number) == [1_500]


def test_payment_seems_to_fail_after_debiting(market: Market) -> None:
    number = market.order(cargo(SPELLS["payment_seems_to_fail"]))

    answer = market.pay(number, "op-1")

    assert (answer["success"], answer["result"]["paySuccess"]) == (True, False)
    assert market.debits(number) == [1_500]
    assert market.status(number) == "waitsellersend"


def test_an_order_splits_in_halves_or_by_lines(market: Market) -> None:
    product = SPELLS["splits"]
    previews = market.preview(cargo(product, 5))["orderPreviewResuslt"]
    halves = market.create(cargo(product, 5), outOrderId="S-1")["result"]
    lines = market.create(cargo(product, 2), cargo(product, 2, 1))["result"]

    assert [preview["sumPayment"] for preview in previews] == [3_500, 2_500]
    assert "orderId" not in halves
    assert "totalSuccessAmount" not in halves
    assert [halve["orderAmmount"] for halve in halves["orderList"]] == [3_500, 2_500]
    assert all(isinstance(halve["orderId"], str) for halve in halves["orderList"])
    assert len(lines["orderList"]) == 2
    assert market.call("alibaba.trade.getBuyerOrderList", outOrderId="S-1")["totalRecord"] == 2


def test_the_seller_closes_what_is_unpaid(market: Market) -> None:
    number = market.order(cargo(SPELLS["seller_closes"]))

    market.clock(advance_seconds=31)

    base = market.view(number)["baseInfo"]
    assert (base["status"], base["closeReason"]) == ("cancel", "sellerGoodsLack")
    assert base["closeOperateType"] == "CLOSE_TRADE_BY_SELLER"


def test_the_seller_closes_what_is_paid_and_gives_it_back(market: Market) -> None:
    number = market.order(cargo(SPELLS["seller_closes_paid"]))
    market.pay(number)

    market.clock(advance_seconds=31)

    view = market.view(number)
    assert (view["baseInfo"]["status"], view["baseInfo"]["refundPayment"]) == ("terminated", 1_500)
    assert view["tradeTerms"][0]["payStatus"] == "4"
    kinds = [(entry["kind"], entry["fen"]) for entry in market.state()["ledger"]]
    assert kinds == [("refund", 1_500), ("debit", 1_500)]


def test_the_seller_raises_the_price_after_create(market: Market) -> None:
    number = market.order(cargo(SPELLS["price_modified"], 2))
    before = market.view(number)["baseInfo"]["totalAmount"]

    market.clock(advance_seconds=31)

    view = market.view(number)
    assert (before, view["baseInfo"]["totalAmount"]) == (25, 29)
    assert view["orderBizInfo"]["abnormalPriceChange"] is True
    assert market.pay(number, payAmount=2_500)["code"] == "PAY_AMOUNT_NOT_MATCH"


def test_create_times_out_after_creating(market: Market) -> None:
    value: dict[str, Any] = {
        "flow": "general",
        "outOrderId": "T-1",
        "cargoParamList": [cargo(SPELLS["create_times_out"])],
    }
    address = {"addressId": 1}
    path, form = market.alibaba_request(
        "alibaba.trade.createCrossOrder", addressParam=address, **value
    )

    with pytest.raises(httpx.TimeoutException):
        httpx.post(market.url + path, data=form, timeout=0.5)

    assert market.call("alibaba.trade.getBuyerOrderList", outOrderId="T-1")["totalRecord"] == 1


def test_it_closes_unpaid_after_a_minute(market: Market) -> None:
    number = market.order(cargo(SPELLS["short_deadline"]))

    assert market.view(number)["baseInfo"]["payTimeout"] == 60
    market.clock(advance_seconds=61)
    assert market.status(number) == "cancel"


def test_it_ships_in_two_parts(market: Market) -> None:
    number = market.order(cargo(SPELLS["ships_in_parts"], 4))
    market.pay(number)

    market.clock(advance_seconds=31)
    partly = market.view(number)
    market.clock(advance_seconds=7_200)
    whole = market.view(number)

    assert partly["baseInfo"]["status"] == "waitsellersend"
    assert partly["productItems"][0]["logisticsStatus"] == 5
    assert whole["baseInfo"]["status"] == "waitbuyerreceive"
    assert len(whole["nativeLogistics"]["logisticsItems"]) == 2


def test_its_refund_is_refused(market: Market) -> None:
    number = market.order(cargo(SPELLS["refund_refused"]))
    market.pay(number)
    (item,) = market.view(number)["productItems"]
    asked = market.call(
        "alibaba.trade.createRefund", orderId=number, orderEntryIds=[item["subItemID"]],
        disputeRequest="refund", applyPayment=1_000, applyCarriage=0, applyReasonId=20006,
        description="不想要了", goodsStatus="refundWaitSellerSend",
    )  # fmt: skip

    market.clock(advance_seconds=31)

    assert asked["result"]["success"] is True
    assert market.view(number)["baseInfo"]["refundStatus"] == "waitbuyermodify"


def test_they_are_listed(market: Market) -> None:
    listed = market.client.get("/_control/magic").json()["products"]

    assert set(SPELLS.values()) <= {int(product["id"]) for product in listed}
    assert len(listed) == 20


def test_debits_of_many_threads_are_one(market: Market) -> None:
    """Not magic, but what the magic is for: the same operation from many sides at once."""
    number = market.order()
    result: list[Any] = []

    def pay() -> None:
        mine = Market(market.url)
        result.append(mine.pay(number, "op-1"))
        mine.client.close()

    threads = [threading.Thread(target=pay) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [item["result"]["paySuccess"] for item in result] == [True] * 8
    assert market.debits(number) == [1_500]
