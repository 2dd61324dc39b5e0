"""Orders in the Taobao dialect: fen, one order per reference, results that come later."""

from typing import Any

import pytest
from simulator.sandbox_kit import (
    OTHER_SELLERS,
    OUT_OF_STOCK,
    PLAIN,
    RECEIVER,
    Market,
    line,
)


def render(market: Market, *lines: dict[str, Any]) -> Any:
    items = [
        {"item_id": str(line["itemId"]), "sku_id": str(line["skuId"]), "quantity": line["quantity"]}
        for line in lines
    ]
    answer = market.rest(
        "/purchase/order/render", render_item_List=items, receiver_address=RECEIVER
    )
    return answer["result"]


def test_render_prices_what_can_be_had_and_names_the_rest(market: Market) -> None:
    result = render(market, line(quantity=2), line(OTHER_SELLERS), line(OUT_OF_STOCK))

    data = result["data"]
    assert result["success"] is True
    assert data["total_real_pay_price"] == {"amount": 2_500 + 1_800, "currency": "CNY"}
    assert [item["order_fee"]["amount"] for item in data["render_item_list"]] == [2_500, 1_800]
    (gone,) = data["unavailable_sku_list"]
    assert (gone["item_id"], gone["error_code"]) == (OUT_OF_STOCK, "500_004")


def test_create_splits_by_seller(market: Market) -> None:
    made = market.purchase(line(quantity=2), line(OTHER_SELLERS), reference="TB-1")

    data = made["data"]
    assert (made["success"], data["outer_purchase_id"]) == (True, "TB-1")
    first, second = data["order_list"]
    assert first["purchase_id"] != second["purchase_id"]
    assert isinstance(first["purchase_id"], int)
    assert first["order_line_list"][0]["item_id"] == str(PLAIN)
    assert first["order_line_list"][0]["sub_purchase_order_id"] > 2**53
    assert f"{first['purchase_id']};{second['purchase_id']}" in data["payment_url"]


def test_the_reference_makes_one_order_however_often_it_is_sent(market: Market) -> None:
    first = market.purchase(line(), reference="TB-2")["data"]
    again = market.purchase(line(quantity=5), reference="TB-2")["data"]

    assert again["order_list"][0]["purchase_id"] == first["order_list"][0]["purchase_id"]
    assert market.state()["orders_total"] == 1


def test_the_planned_amount_guards_the_price(market: Market) -> None:
    refused = market.purchase(line(), purchase_amount=1_499)
    taken = market.purchase(line(), purchase_amount=1_500)

    assert (refused["success"], refused["error_code"]) == (False, "PURCHASE_AMOUNT_CHANGED")
    assert refused["data"] is None
    assert taken["success"] is True
    assert market.state()["orders_total"] == 1


def test_a_part_is_created_only_where_that_was_asked_for(market: Market) -> None:
    lines = (line(), line(OUT_OF_STOCK))

    refused = market.purchase(*lines)
    partly = market.purchase(*lines, support_partial_success="true")

    assert (refused["success"], refused["error_code"]) == (False, "500_004")
    (order,) = partly["data"]["order_list"]
    assert [item["item_id"] for item in order["order_line_list"]] == [str(PLAIN)]


def test_an_order_is_built_before_it_can_be_paid(market: Market) -> None:
    number = market.purchase(line())["data"]["order_list"][0]["purchase_id"]

    (building,) = market.purchases(number)
    early = market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[number])
    market.clock(advance_seconds=2.5)
    (unpaid,) = market.purchases(number)

    assert building["status"] == "BULIDING"
    assert early["data"]["pay_failure_purchase_order_ids"] == [number]
    assert unpaid["status"] == "WAIT_BUYER_P"
    assert unpaid["pay_time"] is None
    assert (unpaid["purchase_amount"], unpaid["pay_amount"]) == (1_500, 0)
    assert unpaid["domestic_post_fee"] == 500
    assert unpaid["next_close_time_without_payment"] - unpaid["created_time"] == 43_200_000
    (sub,) = unpaid["sub_purchase_orders"]
    assert (sub["status"], sub["refund_status"], sub["logistic_orders"]) == (
        "WAIT_BUYER_P",
        0,
        [],
    )


def test_a_batch_payment_is_accepted_first_and_made_later(market: Market) -> None:
    number = market.purchased()

    accepted = market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[number, 5])
    again = market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[number])
    (waiting,) = market.purchases(number)
    market.clock(advance_seconds=3.5)
    (paid,) = market.purchases(number)
    late = market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[number])

    assert accepted["data"]["will_pay_purchase_order_ids"] == [number]
    assert accepted["data"]["pay_failed_results"] == [
        {"purchase_order_id": 5, "reason": "ORDER_NOT_EXIST"}
    ]
    assert again["data"]["will_pay_purchase_order_ids"] == [number]
    assert (waiting["status"], waiting["pay_time"]) == ("WAIT_BUYER_P", None)
    assert paid["status"] == "WAIT_SELLER_SEND_GOODS"
    assert paid["pay_time"] > paid["created_time"]
    assert paid["pay_amount"] == 1_500
    assert late["data"]["pay_failed_results"][0]["reason"] == "ORDER_ALREADY_PAID"
    assert market.debits(number) == [1_500]


def test_ten_orders_at_most_are_paid_at_once(market: Market) -> None:
    answer = market.rest("/purchase/order/batch/pay", purchaseOrderIdList=list(range(11)))

    assert (answer["success"], answer["error_code"]) == (False, "PARAM_ILLEGAL")


def test_a_cancel_is_accepted_first_and_made_later(market: Market) -> None:
    number = market.purchased()
    value = {"purchase_id": number, "cancel_reason": "don't want"}

    accepted = market.rest("/purchase/order/asyn/cancel", **value)
    (waiting,) = market.purchases(number)
    market.clock(advance_seconds=5.5)
    (closed,) = market.purchases(number)
    late = market.rest("/purchase/order/asyn/cancel", **value)

    assert accepted["success"] is True
    assert waiting["status"] == "WAIT_BUYER_P"
    assert (closed["status"], closed["pay_time"]) == ("TRADE_CLOSED", None)
    assert closed["sub_purchase_orders"][0]["close_reason"] == "BUYER_CANCEL"
    assert (late["success"], late["error_code"]) == (False, "ORDER_STATUS_ERROR")


def test_a_payment_that_comes_first_beats_the_cancel(market: Market) -> None:
    number = market.purchased()
    market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[number])
    market.rest("/purchase/order/asyn/cancel", purchase_id=number, cancel_reason="x")

    market.clock(advance_seconds=10)

    assert market.purchases(number)[0]["status"] == "WAIT_SELLER_SEND_GOODS"


def test_a_cancel_that_comes_first_beats_the_payment(market: Market) -> None:
    number = market.purchased()
    market.rest("/purchase/order/asyn/cancel", purchase_id=number, cancel_reason="x")
    market.clock(advance_seconds=4)
    market.rest("/purchase/order/batch/pay", purchaseOrderIdList=[number])

    market.clock(advance_seconds=10)

    assert market.purchases(number)[0]["status"] == "TRADE_CLOSED"
    assert market.debits(number) == []


def test_orders_are_found_by_reference_status_and_time_of_change(market: Market) -> None:
    first = market.purchase(line(), reference="TB-3")["data"]["order_list"][0]["purchase_id"]
    market.clock(advance_seconds=60)
    since = int(market.state()["now"] * 1000)
    market.clock(advance_seconds=60)
    second = market.purchased()

    def found(**narrow: Any) -> list[int]:
        answer = market.rest("/purchase/orders/query", sort_type="ASC", **narrow)
        return [order["purchase_id"] for order in answer["data"]["purchase_orders"]]

    assert found(outer_purchase_id="TB-3") == [first]
    assert found(modify_time_start=since) == [second]
    assert found(modify_time_end=since) == [first]
    assert found(status="WAIT_BUYER_P") == [first, second]
    assert found(status="TRADE_CLOSED") == []
    assert found(page_size=1, page_no=2) == [second]
    assert found(purchase_ids=f"{first},{second}") == [first, second]


def test_parcels_show_on_the_lines_they_hold(market: Market) -> None:
    number = market.purchased(line(quantity=1), line(quantity=1, colour=1))
    market.advance(number, "pay")
    market.advance(number, "partial_ship")

    (order,) = market.purchases(number)
    sent, unsent = order["sub_purchase_orders"]
    detail = market.rest(
        "/logistics/detail/get", purchase_order_line_id=sent["sub_purchase_order_id"]
    )

    assert order["status"] == "WAIT_SELLER_SEND_GOODS"
    assert (sent["status"], unsent["status"]) == (
        "WAIT_BUYER_CONFIRM_GOODS",
        "WAIT_SELLER_SEND_GOODS",
    )
    assert unsent["logistic_orders"] == []
    number_on_parcel = sent["logistic_orders"][0]["logistic_number"]
    (parcel,) = detail["result"]["data"]["pnm_logistics_details"]
    assert parcel["mail_no"] == number_on_parcel


def test_the_end_of_an_order(market: Market) -> None:
    number = market.purchased()
    for step in ("pay", "ship", "complete"):
        market.advance(number, step)

    assert market.purchases(number)[0]["status"] == "TRADE_FINISHED"


@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        (["refund_agree"], [10, 100]),
        (["refund_refuse", "refund_close"], [10, -10, -20]),
    ],
)
def test_refunds_can_be_queried(market: Market, steps: list[str], codes: list[int]) -> None:
    number = market.purchased()
    market.advance(number, "pay")
    market.advance(number, "refund_request")
    seen = []

    for step in [None, *steps]:
        if step:
            market.advance(number, step)
        (order,) = market.purchases(number)
        refund = order["sub_purchase_orders"][0]["refund_id"]
        answer = market.rest("/order/refund/query", refundId=refund)["result"]
        refund_order = answer["data"]["refund_order_aggregate"]["refund_order"]
        assert refund_order["refund_fee"] == 1_500
        assert refund_order["refund_status"] == order["sub_purchase_orders"][0]["refund_status"]
        seen.append(refund_order["refund_status"])

    assert seen == codes


def test_a_refunded_order_is_closed_with_a_time_of_payment(market: Market) -> None:
    number = market.purchased()
    for step in ("pay", "refund_request", "refund_agree"):
        market.advance(number, step)

    (order,) = market.purchases(number)

    assert order["status"] == "TRADE_CLOSED"
    assert order["pay_time"] is not None


def test_an_unknown_refund_and_an_unknown_path(market: Market) -> None:
    assert market.rest("/order/refund/query", refundId=5)["result"]["success"] is False
    assert market.rest("/no/such/path")["code"] == "InvalidApiPath"
    assert market.rest("/purchase/order/batch/pay")["code"] == "MissingParameter"
