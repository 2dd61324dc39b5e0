"""Reading orders: by id, by reference, by time, in parts and pages, with their refunds."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from platforms.taobao.scripted import Answer, Stand, answer, recorded, refusal

from tradewind.platforms.failures import Reason, Rejected, Unavailable
from tradewind.platforms.model import PaymentState, Refund, RefundState

ORDER = "2200778678370001234"
QUERY, REFUND = "/purchase/orders/query", "/order/refund/query"


def shelf(orders: list[dict[str, Any]]) -> Callable[[dict[str, str]], Answer]:
    """A query over these orders, in pages of at most ten."""

    def query(params: dict[str, str]) -> Answer:
        wanted = json.loads(params.get("purchase_ids", "null"))
        result = [order for order in orders if wanted is None or order["purchase_id"] in wanted]
        page = int(params["page_no"])
        here = result[(page - 1) * 10 : page * 10]
        return answer({"results_total": len(result), "page_size": 10, "purchase_orders": here})

    return query


def plain(order_id: int, reference: str | None = "ORD1") -> dict[str, Any]:
    return {
        "purchase_id": order_id,
        "outer_purchase_id": reference,
        "status": "WAIT_BUYER_P",
        "purchase_amount": 100,
    }


async def test_many_orders_are_read_in_parts_and_pages(stand: Stand) -> None:
    stand.market.on(QUERY, shelf([plain(number) for number in range(1, 26)]))
    ids = [str(number) for number in range(1, 31)]

    result = await stand.taobao.read_many([*ids, "no number", "\u0661", "1"])

    assert sorted(int(order.id) for order in result) == list(range(1, 26))
    asked = {item["purchase_ids"]: item["page_size"] for item in stand.market.asked(QUERY)}
    assert sorted(len(json.loads(ids)) for ids in asked) == [10, 20]
    assert set(asked.values()) == {"20"}


async def test_an_order_that_is_not_there(stand: Stand) -> None:
    stand.market.on(QUERY, shelf([]))

    for order_id in ("5", "five"):
        with pytest.raises(Rejected) as raised:
            await stand.taobao.read_one(order_id)
        assert raised.value.reason is Reason.NOT_FOUND


async def test_orders_that_were_not_asked_for_are_not_handed_out(stand: Stand) -> None:
    both = {"results_total": 2, "purchase_orders": [plain(6), plain(5)]}
    stand.market.on(QUERY, answer(both))

    assert (await stand.taobao.read_one("5")).id == "5"
    assert [order.id for order in await stand.taobao.read_many(["5", "7"])] == ["5"]


async def test_reading_none_asks_nothing(stand: Stand) -> None:
    assert list(await stand.taobao.read_many([])) == []
    assert stand.market.calls == []


async def test_orders_are_found_again_by_our_reference(stand: Stand) -> None:
    stand.market.on(QUERY, shelf([plain(number) for number in range(1, 13)] + [plain(99, "ORD2")]))

    result = await stand.taobao.find_by_reference("ORD1")

    assert [order.id for order in result] == [str(number) for number in range(1, 13)]
    assert {item["outer_purchase_id"] for item in stand.market.asked(QUERY)} == {"ORD1"}


async def test_a_reference_that_was_never_placed(stand: Stand) -> None:
    stand.market.on(QUERY, shelf([]))

    assert list(await stand.taobao.find_by_reference("ORD1")) == []


@pytest.mark.parametrize(("again", "ours"), [("ORD1", True), ("ORD2", False), (None, False)])
async def test_an_order_listed_without_a_reference_is_read_again(
    stand: Stand, again: str | None, *, ours: bool
) -> None:
    def query(params: dict[str, str]) -> Answer:
        item = plain(5, again if "purchase_ids" in params else None)
        return answer({"results_total": 1, "purchase_orders": [item]})

    stand.market.on(QUERY, query)

    result = await stand.taobao.find_by_reference("ORD1")

    assert [order.id for order in result] == (["5"] if ours else [])
    assert stand.market.asked(QUERY)[1]["purchase_ids"] == "[5]"


@pytest.mark.parametrize(
    "shown",
    [
        {"results_total": 1, "purchase_orders": []},
        {"results_total": 1, "purchase_orders": None},
        {"purchase_orders": None},
        {"purchase_orders": "[{broken"},
        {"purchase_orders": ["what is this"]},
        {"results_total": 2, "purchase_orders": [plain(1)]},
        {"results_total": 1, "purchase_orders": [plain(5, None)]},
    ],
)
async def test_an_answer_in_part_is_no_proof_that_there_is_no_order(
    stand: Stand, shown: dict[str, Any]
) -> None:
    """The last of them is listed, and then not there."""

    def query(params: dict[str, str]) -> Answer:
        nothing = {"results_total": 0, "purchase_orders": []}
        return answer(nothing if "purchase_ids" in params else shown)

    stand.market.on(QUERY, query)

    with pytest.raises(Unavailable):
        await stand.taobao.find_by_reference("ORD1")


async def test_no_list_at_all_of_no_orders_is_none(stand: Stand) -> None:
    stand.market.on(QUERY, answer({"results_total": 0, "purchase_orders": None}))

    assert list(await stand.taobao.find_by_reference("ORD1")) == []


async def test_a_query_that_never_ends_is_given_up(stand: Stand) -> None:
    endless = {"results_total": 10**6, "page_size": 1, "purchase_orders": [plain(1)]}
    stand.market.on(QUERY, answer(endless))

    with pytest.raises(Unavailable):
        await stand.taobao.find_by_reference("ORD1")


@pytest.mark.parametrize(
    ("page", "ids", "more"), [(1, range(1, 11), True), (3, range(21, 24), False), (4, (), False)]
)
async def test_what_changed_comes_page_by_page(
    stand: Stand, page: int, ids: range, *, more: bool
) -> None:
    stand.market.on(QUERY, shelf([plain(number) for number in range(1, 24)]))
    since = datetime(2025, 11, 14, 23, 59, 59, 999000, tzinfo=UTC)

    result, goes_on = await stand.taobao.modified_between(
        since, datetime(2025, 11, 15, tzinfo=UTC), page
    )

    assert [order.id for order in result] == [str(id_) for id_ in ids]
    assert goes_on is more
    (params,) = stand.market.asked(QUERY)
    assert params["modify_time_start"] == "1763164799999"
    assert params["modify_time_end"] == "1763164800000"
    assert (params["sort_field"], params["sort_type"]) == ("modify_time", "ASC")


async def test_refunds_are_asked_about_for_their_amounts(stand: Stand) -> None:
    stand.market.on(QUERY, "order_refunded")
    stand.market.on(REFUND, "refund_done")

    order = await stand.taobao.read_one(ORDER)

    assert (order.payment, order.refunded_fen) == (PaymentState.REFUNDED, 10500)
    assert [item["refundId"] for item in stand.market.asked(REFUND)] == ["110006829192"]


async def test_a_refund_that_nobody_knows_does_not_hide_its_order(stand: Stand) -> None:
    stand.market.on(QUERY, "order_refunded")
    stand.market.on(REFUND, refusal("REFUND_NOT_EXIST"))

    order = await stand.taobao.read_one(ORDER)

    assert (order.payment, order.refunded_fen) == (PaymentState.PAID, 0)


async def test_the_refunds_of_an_order(stand: Stand) -> None:
    def refund(params: dict[str, str]) -> Answer:
        done = params["refundId"] == "110006829192"
        return Answer(recorded("refund_done" if done else "refund_asked"))

    stand.market.on(QUERY, "order_partly_refunded")
    stand.market.on(REFUND, refund)

    assert list(await stand.taobao.refunds(ORDER)) == [
        Refund("110006829192", ORDER, RefundState.SUCCEEDED, 10500, "100"),
        Refund("110006829300", ORDER, RefundState.REQUESTED, 3000, "10"),
    ]
