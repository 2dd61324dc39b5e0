"""The connector says what the platform said, and nothing more."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from platforms.alibaba.payloads import (
    ADDRESS,
    ORDER,
    SECOND_ORDER,
    SHIRT,
    SOCKS,
    shown_order,
)
from platforms.alibaba.pushes import told
from platforms.alibaba.scripted import KEY, Market, Step, answer, never, say

from tradewind.platforms.alibaba.marketplace import TRAITS, same_dialect
from tradewind.platforms.contract import Capability, Connector, NoticeRejected
from tradewind.platforms.failures import OutcomeUnknown, Reason, Unavailable
from tradewind.platforms.model import (
    CancelState,
    Line,
    OrderRequest,
    Placed,
    PlatformOrderStatus,
    Query,
)

DRAFT = OrderRequest("ORD0001", [SHIRT, SOCKS], ADDRESS)


def jsonable(name: str) -> dict[str, Any]:
    """A recorded order with its decimals as numbers again, to be changed and sent."""
    result: dict[str, Any] = json.loads(json.dumps(shown_order(name), default=float))
    return result


def listed(*orders: dict[str, Any], total: int | None = None) -> Step:
    return answer({"result": orders, "totalRecord": len(orders) if total is None else total})


async def test_search_and_detail(market: Market, connector: Connector) -> None:
    market.by_api(keywordquery=say("search"), queryproductdetail=say("detail"))

    result = await connector.search(Query("T恤"))
    product = await connector.detail(result.offers[0].id, "en")

    assert product.offer.id == "610947572360"
    assert market.calls[1].path == (
        f"/openapi/param2/1/com.alibaba.fenxiao.crossborder/product.search.queryProductDetail/{KEY}"
    )
    asked = json.loads(market.calls[1].form["offerDetailParam"])
    assert asked == {"offerId": 610947572360, "country": "en"}


@pytest.mark.parametrize(
    "nothing",
    [
        {"result": {"success": False, "code": "404", "message": "offer not found"}},
        {"result": {"success": True, "result": None}},
    ],
)
async def test_no_such_product(nothing: Any, market: Market, connector: Connector) -> None:
    market.script(answer(nothing))

    assert (await never(connector.detail("1", "en"))).reason is Reason.NOT_FOUND


async def test_what_can_be_no_product_costs_no_call(market: Market, connector: Connector) -> None:
    bad = OrderRequest("ORD0001", [SHIRT, Line("socks", None, 1)], ADDRESS)

    assert (await never(connector.detail("socks", "en"))).reason is Reason.NOT_FOUND
    assert (await never(connector.create(bad))).reason is Reason.NOT_FOUND
    assert market.calls == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("create_one", Placed([ORDER], 4550)),
        ("create_split", Placed([ORDER, SECOND_ORDER], 5050)),
        ("create_in_part", Placed([ORDER], 2800)),
    ],
)
async def test_orders_that_exist_are_placed(
    name: str, expected: Placed, market: Market, connector: Connector
) -> None:
    market.script(say(name))

    assert await connector.create(DRAFT) == expected
    assert market.calls[0].form["outOrderId"] == "ORD0001"


async def test_offers_that_failed_are_refused_for_good(
    market: Market, connector: Connector
) -> None:
    market.script(say("create_failed_offers"))

    refusal = await never(connector.create(DRAFT))

    assert (refusal.reason, refusal.code) == (Reason.OUT_OF_STOCK, "500_004")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [([SHIRT], Reason.NOT_FOUND), ([SHIRT, SOCKS], Reason.SEVERAL_SELLERS)],
)
async def test_one_product_cannot_be_of_several_sellers(
    lines: list[Line], reason: Reason, market: Market, connector: Connector
) -> None:
    refused = {"success": False, "code": "500_003", "message": "m", "failedOfferList": []}
    market.script(answer({"success": False, "code": "500_003", "result": refused}))

    refusal = await never(connector.create(OrderRequest("ORD0001", lines, ADDRESS)))

    assert refusal.reason is reason


@pytest.mark.parametrize(
    "shape",
    [
        {"success": True, "result": {"success": True}},
        {"success": True, "result": {"failedOfferList": [{"offerId": SHIRT.product_id}]}},
        {"success": True, "result": {"success": True, "orderId": 0}},
        {"success": True, "result": {"success": True, "orderList": [{"orderId": "0"}]}},
        {"success": False, "code": "SYSTEM_ERROR", "message": "m"},
        {"success": False, "code": "REPEAT_SUBMIT", "message": "m"},
        {"success": False, "code": "DUPLICATE_ORDER", "message": "m"},
        {"success": False, "code": "FAIL_BIZ_ORDER_HAS_EXIST", "message": "m"},
        {
            "success": False,
            "code": "SYSTEM_ERROR",
            "result": {"failedOfferList": [{"offerId": "1", "errorCode": "500_004"}]},
        },
        {"success": False},
    ],
)
async def test_a_create_that_names_no_order_has_to_be_found_out(
    shape: Any, market: Market, connector: Connector
) -> None:
    market.script(answer(shape))

    with pytest.raises(OutcomeUnknown):
        await connector.create(DRAFT)
    assert len(market.calls) == 1


async def test_an_order_that_does_not_exist(market: Market, connector: Connector) -> None:
    market.script(say("read_no_order"))

    assert (await never(connector.read_one(ORDER))).reason is Reason.NOT_FOUND
    assert market.calls[0].form["webSite"] == "1688"


async def test_many_orders_in_one_call(market: Market, connector: Connector) -> None:
    market.script(say("list_two"))

    orders = await connector.read_many([ORDER, SECOND_ORDER, "5"])

    assert {order.id: order.status for order in orders} == {
        ORDER: PlatformOrderStatus.PENDING_PAYMENT,
        SECOND_ORDER: PlatformOrderStatus.CANCELLED,
    }
    assert market.calls[0].form["orderIds"] == f"[{ORDER},{SECOND_ORDER},5]"
    assert len(market.calls) == 1


async def test_orders_that_nobody_asked_for_are_left_out(
    market: Market, connector: Connector
) -> None:
    market.script(say("list_two"))

    assert [order.id for order in await connector.read_many([ORDER])] == [ORDER]
    assert await connector.read_many([]) == []


async def test_goods_on_their_way_are_read_again_for_their_parcels(
    market: Market, connector: Connector
) -> None:
    without = jsonable("order_shipped")
    del without["nativeLogistics"]["logisticsItems"]
    market.by_api(getbuyerorderlist=listed(without), buyerview=say("order_shipped"))

    [order] = await connector.read_many([ORDER])

    assert [parcel.tracking_number for parcel in order.shipments] == ["78123456789", "SF100200300"]
    assert market.apis == ["getBuyerOrderList", "buyerView"]


async def test_one_unreadable_order_does_not_hide_the_others(
    market: Market, connector: Connector
) -> None:
    broken = jsonable("order_unpaid")
    broken["baseInfo"]["totalAmount"] = "a lot"
    good = jsonable("order_unpaid")
    good["baseInfo"]["idOfStr"] = SECOND_ORDER
    market.script(listed(broken, good))

    orders = await connector.read_many([ORDER, SECOND_ORDER])

    assert [order.id for order in orders] == [SECOND_ORDER]


async def test_a_window_of_changes_is_read_page_by_page(
    market: Market, connector: Connector
) -> None:
    market.script(listed(*[jsonable("order_unpaid")] * 20, total=21), listed(total=21))
    since, until = datetime(2018, 6, 14, tzinfo=UTC), datetime(2018, 6, 15, tzinfo=UTC)

    first, more = await connector.modified_between(since, until, 1)
    second, no_more = await connector.modified_between(since, until, 2)

    assert (len(first), more, len(second), no_more) == (20, True, 0, False)
    form = market.calls[1].form
    assert form["modifyStartTime"] == "20180614080000000+0800"
    assert form["modifyEndTime"] == "20180615080000000+0800"
    assert (form["page"], form["pageSize"]) == ("2", "20")


async def test_cancelling(market: Market, connector: Connector) -> None:
    market.script(answer({"success": True}))

    assert await connector.cancel(ORDER) is CancelState.DONE
    form = market.calls[0].form
    assert (form["tradeID"], form["cancelReason"]) == (ORDER, "buyerCancel")


async def test_cancelling_too_fast_may_be_tried_again(market: Market, connector: Connector) -> None:
    market.script(answer({"success": False, "errorCode": "CLOSE_ORDER_TOO_FAST"}))

    with pytest.raises(Unavailable) as later:
        await connector.cancel(ORDER)

    assert later.value.retry_after == 10
    assert len(market.calls) == 1


async def test_a_paid_order_cannot_be_cancelled(market: Market, connector: Connector) -> None:
    market.script(answer({"success": "false", "errorCode": "ORDER_STATUS_ERROR"}))

    assert (await never(connector.cancel(ORDER))).reason is Reason.WRONG_STATE


async def test_a_push_is_verified_with_the_applications_secret(connector: Connector) -> None:
    body = told("ORDER_BATCH_PAY", {"batchPay": [{"orderId": ORDER}]})

    assert connector.read_notice({}, body, "key", "test123").order_ids == (ORDER,)
    with pytest.raises(NoticeRejected):
        connector.read_notice({}, body, "key", "another secret")


def test_the_sandbox_can_do_the_same_under_another_name() -> None:
    sandbox = same_dialect("sandbox", "Sandbox")

    assert TRAITS.capabilities == sandbox.capabilities == frozenset(Capability)
    assert (TRAITS.platform, TRAITS.aliases, TRAITS.max_lines) == ("alibaba", ("1688",), 50)
    assert (sandbox.platform, sandbox.name, sandbox.aliases) == ("sandbox", "Sandbox", ())
