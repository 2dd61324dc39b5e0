"""Looking an order up by our reference: all of them, or no answer at all."""

import json
from typing import Any

import pytest
from platforms.alibaba.payloads import ORDER, SECOND_ORDER, shown_order
from platforms.alibaba.scripted import Market, Step, answer, say

from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import Unavailable

REFERENCE = "ORD0001"


def order(order_id: str = ORDER, reference: str | None = REFERENCE) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(json.dumps(shown_order("order_unpaid"), default=float))
    shown["baseInfo"] |= {"idOfStr": order_id, "outOrderId": reference}
    return shown


def listed(*orders: Any, total: int | None = None) -> Step:
    return answer({"result": orders, "totalRecord": len(orders) if total is None else total})


async def test_orders_are_found_by_our_reference(market: Market, connector: Connector) -> None:
    market.script(listed(order(), order(SECOND_ORDER)))

    result = await connector.find_by_reference(REFERENCE)

    assert [item.id for item in result] == [ORDER, SECOND_ORDER]
    assert market.calls[0].form["outOrderId"] == REFERENCE
    assert len(market.calls) == 1


async def test_they_may_fill_more_than_a_page(market: Market, connector: Connector) -> None:
    ids = [str(number) for number in range(1, 22)]
    market.script(
        listed(*[order(id_) for id_ in ids[:20]], total=21), listed(order("21"), total=21)
    )

    assert [item.id for item in await connector.find_by_reference(REFERENCE)] == ids


async def test_no_order_of_our_reference(market: Market, connector: Connector) -> None:
    market.script(say("list_none"))

    assert await connector.find_by_reference(REFERENCE) == []


@pytest.mark.parametrize(("again", "ours"), [(REFERENCE, True), ("ORD0002", False), (None, False)])
async def test_an_order_listed_without_a_reference_is_read_again(
    again: str | None, ours: bool, market: Market, connector: Connector
) -> None:
    market.by_api(
        getbuyerorderlist=listed(order(reference=None)),
        buyerview=answer({"success": True, "result": order(reference=again)}),
    )

    result = await connector.find_by_reference(REFERENCE)

    assert [item.id for item in result] == ([ORDER] if ours else [])
    assert market.apis == ["getBuyerOrderList", "buyerView"]


async def test_an_order_that_is_listed_and_cannot_be_read_leaves_it_open(
    market: Market, connector: Connector
) -> None:
    market.by_api(getbuyerorderlist=listed(order(reference=None)), buyerview=say("read_no_order"))

    with pytest.raises(Unavailable):
        await connector.find_by_reference(REFERENCE)


def unreadable() -> dict[str, Any]:
    broken = order()
    broken["baseInfo"]["totalAmount"] = "a lot"
    return broken


@pytest.mark.parametrize(
    "step",
    [
        listed(unreadable()),
        listed(order(), order("7", "ORD0002")),
        listed(order("7", "ORD0002")),
        listed("what is this"),
        listed(order(), None),
        listed(total=1),
        listed(order(), total=2),
        listed(*[order()] * 20, total=1000),
        answer({"result": [order()] * 20}),
    ],
    ids=[
        "an unreadable order", "another's beside ours", "another's alone", "no object",
        "nothing beside ours", "empty", "too short", "no end", "no end and no total",
    ],
)  # fmt: skip
async def test_what_may_not_be_all_is_no_answer(
    step: Step, market: Market, connector: Connector
) -> None:
    market.script(step)

    with pytest.raises(Unavailable):
        await connector.find_by_reference(REFERENCE)
