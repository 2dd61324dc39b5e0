"""Refunds in the 1688 dialect: what can be requested, and how it ends."""

from typing import Any

import pytest
from simulator.sandbox_kit import Market, cargo


def ask(market: Market, order: str, **changes: Any) -> Any:
    items = market.view(order)["productItems"]
    value: dict[str, Any] = {
        "orderId": order,
        "orderEntryIds": [item["subItemID"] for item in items],
        "disputeRequest": "refund",
        "applyPayment": sum(round(item["itemAmount"] * 100) for item in items),
        "applyCarriage": 0,
        "applyReasonId": 20006,
        "description": "不想要了",
        "goodsStatus": "refundWaitSellerSend",
    }
    return market.call("alibaba.trade.createRefund", **{**value, **changes})["result"]


def queried(market: Market, order: str, kind: str) -> list[Any]:
    api = "alibaba.trade.refund.OpQueryBatchRefundByOrderIdAndStatus"
    answer = market.call(api, orderId=order, queryType=kind)
    models: list[Any] = answer["result"]["opOrderRefundModels"]
    return models


@pytest.fixture
def paid(market: Market) -> str:
    number = market.order(cargo(quantity=2), cargo(quantity=1, colour=1))
    market.pay(number)
    return number


def test_everything_back_before_shipment_ends_the_order(market: Market, paid: str) -> None:
    asked = ask(market, paid, applyCarriage=500)
    active = queried(market, paid, "1")
    during = market.view(paid)
    market.advance(paid, "refund_agree")
    after = market.view(paid)

    assert asked["success"] is True
    assert asked["result"]["refundId"].startswith("TQ")
    assert (active[0]["refundId"], active[0]["status"]) == (
        asked["result"]["refundId"],
        "waitselleragree",
    )
    assert (active[0]["applyPayment"], active[0]["applyCarriage"]) == (3_000, 500)
    assert during["baseInfo"]["refundStatus"] == "waitselleragree"
    assert during["productItems"][0]["refundStatus"] == "WAIT_SELLER_AGREE"
    assert (after["baseInfo"]["status"], after["baseInfo"]["refundStatus"]) == (
        "terminated",
        "refundsuccess",
    )
    assert (after["baseInfo"]["refund"], after["baseInfo"]["refundPayment"]) == (35, 3_500)
    assert after["tradeTerms"][0]["payStatus"] == "4"
    assert queried(market, paid, "1") == []
    assert queried(market, paid, "3")[0]["refundPayment"] == 3_000
    assert [e["fen"] for e in market.state()["ledger"] if e["kind"] == "refund"] == [3_500]


def test_one_line_back_before_shipment_leaves_the_rest(market: Market, paid: str) -> None:
    first = market.view(paid)["productItems"][0]
    asked = ask(market, paid, orderEntryIds=[first["subItemID"]], applyPayment=2_000)

    market.advance(paid, "refund_agree", refund=asked["result"]["refundId"])
    market.advance(paid, "ship")
    view = market.view(paid)

    assert view["baseInfo"]["status"] == "waitbuyerreceive"
    assert [item["logisticsStatus"] for item in view["productItems"]] == [1, 2]
    assert [item["refund"] for item in view["productItems"]] == [20, 0]
    assert view["tradeTerms"][0]["payStatus"] == "2"


def test_a_part_back_with_the_goods_after_receipt(market: Market, paid: str) -> None:
    market.advance(paid, "ship")
    market.advance(paid, "receive")
    asked = ask(
        market, paid, disputeRequest="returnRefund", goodsStatus="refundBuyerReceived",
        applyPayment=700,
    )  # fmt: skip
    steps = []
    for step in ("refund_agree", "refund_return", "refund_complete"):
        market.advance(paid, step)
        steps.append(market.view(paid)["baseInfo"]["refundStatus"])

    assert asked["success"] is True
    assert steps == ["waitbuyersend", "waitsellerreceive", "refundsuccess"]
    base = market.view(paid)["baseInfo"]
    assert (base["status"], base["refundPayment"]) == ("confirm_goods", 700)


def test_a_refund_after_the_end_is_after_sales(market: Market, paid: str) -> None:
    market.advance(paid, "ship")
    market.advance(paid, "complete")

    asked = ask(market, paid, goodsStatus="aftersaleBuyerReceived", applyPayment=100)
    market.clock(advance_seconds=86_400 + 1)

    base = market.view(paid)["baseInfo"]
    assert asked["success"] is True
    assert (base["status"], base["refundStatusForAs"]) == ("success", "refundsuccess")
    assert "refundStatus" not in base


def test_a_refusal_closes_after_three_days(market: Market, paid: str) -> None:
    ask(market, paid)
    market.advance(paid, "refund_refuse")
    refused = market.view(paid)["baseInfo"]["refundStatus"]
    market.clock(advance_seconds=3 * 86_400 + 1)

    refunds = market.client.get(f"/_control/orders/{paid}").json()["refunds"]
    assert refused == "waitbuyermodify"
    assert [refund["status"] for refund in refunds] == ["refundclose"]
    assert [e for e in market.state()["ledger"] if e["kind"] == "refund"] == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"orderId": 5}, "5001"),
        ({"goodsStatus": "nonsense"}, "5003"),
        ({"applyReasonId": 1}, "5004"),
        ({"applyReasonId": 20021}, "5005"),
        ({"applyReasonId": 20023, "applyCarriage": 1}, "5006"),
        ({"goodsStatus": "refundBuyerReceived"}, "5010"),
        ({"disputeRequest": "returnRefund"}, "5010"),
        ({"orderEntryIds": [1]}, "5010"),
        ({"applyPayment": 3_001}, "5011"),
        ({"applyPayment": 2_999}, "5011"),
        ({"applyCarriage": 501}, "5011"),
        ({"description": "短"}, "5012"),
        ({"description": "长" * 151}, "5012"),
        ({"orderEntryCountList": [{"id": 1, "count": 1}]}, "5013"),
    ],
)
def test_what_cannot_be_asked_for(
    market: Market, paid: str, changes: dict[str, Any], code: str
) -> None:
    answer = ask(market, paid, **changes)

    assert (answer["success"], answer["code"]) == (False, code)
    assert market.client.get(f"/_control/orders/{paid}").json()["refunds"] == []


def test_nobody_asks_twice_for_the_same_line(market: Market, paid: str) -> None:
    ask(market, paid)

    assert ask(market, paid)["code"] == "5010"


def test_an_order_of_another_buyer_is_not_theirs_to_ask_for(market: Market, paid: str) -> None:
    answer = market.call(
        "alibaba.trade.getRefundReasonList", "alibaba", orderId=paid, orderEntryIds=[1],
        goodsStatus="refundWaitSellerSend",
    )  # fmt: skip

    assert answer["result"]["code"] == "5002"


def test_reasons_say_what_they_need(market: Market, paid: str) -> None:
    answer = market.call(
        "alibaba.trade.getRefundReasonList", orderId=paid, orderEntryIds=[1],
        goodsStatus="refundWaitSellerSend",
    )  # fmt: skip

    reasons = {reason["id"]: reason for reason in answer["result"]["result"]["reasons"]}
    assert reasons[20022]["needVoucher"] is True
    assert reasons[20023]["noRefundCarriage"] is True
    assert set(reasons[20006]) == {"id", "name", "needVoucher", "noRefundCarriage", "tip"}
