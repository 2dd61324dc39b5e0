"""Payments: once, however often requested; by debit, link or page."""

from typing import Any

import pytest
from simulator.sandbox_kit import Market, cargo


def test_a_debit_pays_the_order_once(market: Market) -> None:
    number = market.order()

    paid = market.pay(number, "op-1", payAmount=1_500, payChannel="alipay")

    assert paid["success"] is True
    assert paid["result"] == {"payChannel": "alipay", "paySuccess": True}
    view = market.view(number)
    assert view["baseInfo"]["status"] == "waitsellersend"
    assert view["tradeTerms"][0]["payStatus"] == "2"
    assert len(view["baseInfo"]["payTime"]) == 22
    assert market.debits(number) == [1_500]


def test_the_same_operation_again_debits_nothing_and_succeeds(market: Market) -> None:
    number = market.order()

    answers = [market.pay(number, "op-1") for _ in range(3)]

    assert [answer["result"]["paySuccess"] for answer in answers] == [True, True, True]
    assert market.debits(number) == [1_500]


def test_another_operation_on_a_paid_order_is_refused(market: Market) -> None:
    number = market.order()
    market.pay(number, "op-1")

    again = market.pay(number, "op-2")

    assert (again["success"], again["code"]) == (False, "ORDER_ALREADY_PAID")
    assert again["result"] is None
    assert market.debits(number) == [1_500]


def test_an_operation_belongs_to_one_order(market: Market) -> None:
    first, second = market.order(), market.order()
    market.pay(first, "op-1")

    answer = market.pay(second, "op-1")

    assert (answer["success"], answer["code"]) == (False, "PARAM_ILLEGAL")
    assert market.debits(second) == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"payAmount": 1_499}, "PAY_AMOUNT_NOT_MATCH"),
        ({"payChannel": "cash"}, "PARAM_ILLEGAL"),
        ({"orderId": 5}, "ORDER_NOT_EXIST"),
    ],
)
def test_what_is_refused_debits_nothing(market: Market, given: dict[str, Any], code: str) -> None:
    number = market.order()

    answer = market.pay(number, "op-1", **given)

    assert (answer["success"], answer["code"]) == (False, code)
    assert market.state()["ledger"] == []
    assert market.status(number) == "waitbuyerpay"


def test_a_closed_order_cannot_be_paid(market: Market) -> None:
    number = market.order()
    market.advance(number, "close_by_seller")

    answer = market.pay(number)

    assert (answer["success"], answer["code"]) == (False, "ORDER_STATUS_ERROR")
    assert market.state()["ledger"] == []


@pytest.mark.parametrize(
    "api",
    ["alibaba.alipay.url.get", "alibaba.crossBorderPay.url.get", "alibaba.creditPay.url.get"],
)
def test_a_link_leads_to_a_cashier_where_a_person_pays(market: Market, api: str) -> None:
    first, second, paid = market.order(), market.order(), market.order()
    market.pay(paid)

    link = market.call(api, orderIdList=[first, second, paid])
    page = market.client.get(link["payUrl"])
    after = market.client.post(link["payUrl"])

    assert link["success"] is True
    assert link["payUrl"].endswith(f"/order/cashier.htm?orderId={first};{second}")
    assert link["payFailureOrderList"] == [int(paid)]
    assert "<button>" in page.text
    assert "<button>" not in after.text
    assert market.status(first) == market.status(second) == "waitsellersend"
    assert market.debits(paid) == [1_500]


def test_a_link_for_nothing_that_can_be_paid(market: Market) -> None:
    answer = market.call("alibaba.alipay.url.get", orderIdList=[5])

    assert answer["success"] is False
    assert answer["erroMsg"]
    assert answer["payFailureOrderList"] == [5]


def test_ways_to_pay_and_the_agreement(market: Market) -> None:
    number = market.order(cargo(quantity=2))

    ways = market.call("alibaba.trade.payWay.query", orderId=number)
    agreed = market.call("alibaba.trade.pay.protocolPay.isopen")

    assert ways["resultList"]["payFee"] == 2_500
    assert agreed["result"]["success"] is True
