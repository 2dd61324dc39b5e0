"""Finding, pricing and placing: what the connector asks for, and what it makes of it."""

import json
from collections.abc import Callable

import pytest
from platforms.taobao.scripted import KEY, SECRET, Answer, Stand, answer, recorded, refusal

from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.failures import OutcomeUnknown, Reason, Rejected
from tradewind.platforms.model import (
    Address,
    Line,
    OrderRequest,
    Placed,
    Query,
    RefundKind,
    RefundRequest,
    UnavailableLine,
)
from tradewind.platforms.taobao.gateway import sign_notice
from tradewind.platforms.taobao.marketplace import TRAITS

ORDER = "2200778678370001234"
BAG = "641592387397"
LINES = [Line(BAG, "5159117406243", 2)]
ADDRESS = Address("李雷", "13800000000", "浙江省", "杭州市", "西湖区", "文三路 1 号")
SEARCH, PRODUCT = "/traffic/item/search", "/product/get"
RENDER, CREATE = "/purchase/order/render", "/purchase/order/create"


def catalogue(total: int) -> Callable[[dict[str, str]], Answer]:
    """A search over products 1 to `total`, page by page."""

    def search(params: dict[str, str]) -> Answer:
        size, page = int(params["page_size"]), int(params["page_no"])
        ids = range(1, total + 1)[(page - 1) * size : page * size]
        return answer({"data": [{"item_id": id_, "title": "x"} for id_ in ids]})

    return search


async def test_it_keeps_the_contract(stand: Stand) -> None:
    connector: Connector = stand.taobao

    assert connector.traits is TRAITS
    assert Capability.PAY_LINK not in TRAITS.capabilities
    assert Capability.REFUND not in TRAITS.capabilities
    assert TRAITS.single_seller is False


@pytest.mark.parametrize(
    ("page", "size", "found", "total", "pages"),
    [
        (1, 20, range(1, 21), 21, [("1", "20")]),
        (2, 10, range(11, 21), 21, [("2", "10")]),
        (1, 50, range(1, 51), 51, [("1", "20"), ("2", "20"), ("3", "20")]),
        (2, 50, range(51, 71), 70, [("3", "20"), ("4", "20"), ("5", "20")]),
        (3, 35, range(0), 70, [("4", "20"), ("5", "20"), ("6", "20")]),
        (5, 20, range(0), 70, [("4", "20"), ("5", "20")]),
        (9, 20, range(0), 70, [("4", "20"), ("8", "20"), ("9", "20")]),
    ],
)
async def test_a_search_of_seventy(
    stand: Stand, page: int, size: int, found: range, total: int, pages: list[tuple[str, str]]
) -> None:
    stand.market.on(SEARCH, catalogue(70))

    result = await stand.taobao.search(Query("bag", page=page, size=size))

    assert [offer.id for offer in result.offers] == [str(item) for item in found]
    assert (result.total, result.page, result.size) == (total, page, size)
    asked = [(item["page_no"], item["page_size"]) for item in stand.market.asked(SEARCH)]
    assert sorted(asked) == pages


async def test_a_search_fails_as_a_whole(stand: Stand) -> None:
    stand.market.on(SEARCH, catalogue(70), refusal("PARAM_ILLEGAL"))

    with pytest.raises(Rejected):
        await stand.taobao.search(Query("bag", size=50))


async def test_a_detail_knows_the_least_quantity(stand: Stand) -> None:
    stand.market.on("/traffic/item/get", "item")
    stand.market.on(PRODUCT, "product")

    product = await stand.taobao.detail(BAG, "en")

    assert (product.offer.id, product.offer.min_order_quantity) == (BAG, 2)
    assert product.offer.url == f"https://item.taobao.com/item.htm?id={BAG}"
    (params,) = stand.market.asked("/traffic/item/get")
    assert (params["item_id"], params["language"]) == (BAG, "en")


async def test_a_product_that_cannot_be_ordered_is_shown_all_the_same(stand: Stand) -> None:
    stand.market.on("/traffic/item/get", "item")
    stand.market.on(PRODUCT, refusal("ITEM_NOT_FOUND"))

    assert (await stand.taobao.detail(BAG, "en")).offer.min_order_quantity is None


@pytest.mark.parametrize("said", [refusal("ITEM_NOT_FOUND"), answer(None)])
async def test_a_product_that_is_not_there(stand: Stand, said: Answer) -> None:
    stand.market.on("/traffic/item/get", said)
    stand.market.on(PRODUCT, said)

    with pytest.raises(Rejected) as raised:
        await stand.taobao.detail("1", "en")
    assert raised.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize("wrong", ["", "x", "0", "0641592387397", "1" * 20, "-1", "\u0661"])
async def test_what_can_be_no_product_costs_no_call(stand: Stand, wrong: str) -> None:
    draft = OrderRequest("ORD1", [*LINES, Line(wrong, None, 1)], ADDRESS, expected_total_fen=1)

    for asked in (stand.taobao.detail(wrong, "en"), stand.taobao.create(draft)):
        with pytest.raises(Rejected) as raised:
            await asked
        assert raised.value.reason is Reason.NOT_FOUND
    assert len((await stand.taobao.preview([Line(wrong, None, 1)], ADDRESS)).unavailable) == 1
    assert stand.market.calls == []


async def test_a_preview_goes_on_without_what_is_gone(stand: Stand) -> None:
    def product(params: dict[str, str]) -> Answer:
        known = params["item_id"] == BAG
        return Answer(recorded("product")) if known else refusal("ITEM_NOT_FOUND")

    stand.market.on(PRODUCT, product)
    stand.market.on(RENDER, "render")

    preview = await stand.taobao.preview([Line("1", "2", 1), *LINES], ADDRESS)

    assert preview.total_fen == 8180
    assert preview.unavailable[0] == UnavailableLine("1", "2", Reason.NOT_FOR_SALE)
    (params,) = stand.market.asked(RENDER)
    assert len(json.loads(params["render_item_List"])) == 1


async def test_a_preview_of_nothing_that_is_left_asks_for_nothing(stand: Stand) -> None:
    stand.market.on(PRODUCT, refusal("ITEM_NOT_FOUND"))

    preview = await stand.taobao.preview(LINES, ADDRESS)

    assert (preview.sellers, preview.total_fen, len(preview.unavailable)) == ((), 0, 1)
    assert stand.market.asked(RENDER) == []


async def test_an_order_is_placed_at_most_for_what_is_expected(stand: Stand) -> None:
    stand.market.on(PRODUCT, "product")
    stand.market.on(CREATE, "create_split")

    placed = await stand.taobao.create(
        OrderRequest("ORD1", LINES, ADDRESS, expected_total_fen=8180)
    )

    assert placed == Placed((ORDER, "2200778678370001235"), 9680)
    (params,) = stand.market.asked(CREATE)
    assert (params["outer_purchase_id"], params["purchase_amount"]) == ("ORD1", "8180")
    assert stand.market.asked(RENDER) == []


async def test_without_an_expectation_the_price_of_now_is_the_limit(stand: Stand) -> None:
    stand.market.on(PRODUCT, "product")
    stand.market.on(
        RENDER,
        answer({"render_item_list": [{"order_fee": 77}], "total_real_pay_price": {"amount": 77}}),
    )
    stand.market.on(CREATE, "create_split")

    await stand.taobao.create(OrderRequest("ORD1", LINES, ADDRESS))

    assert stand.market.asked(CREATE)[0]["purchase_amount"] == "77"


async def test_without_an_expectation_nothing_is_placed_that_cannot_be_had(stand: Stand) -> None:
    stand.market.on(PRODUCT, "product")
    stand.market.on(RENDER, "render")

    with pytest.raises(Rejected) as raised:
        await stand.taobao.create(OrderRequest("ORD1", LINES, ADDRESS))

    assert raised.value.reason is Reason.OUT_OF_STOCK
    assert stand.market.asked(CREATE) == []


async def test_a_price_above_the_limit_is_refused(stand: Stand) -> None:
    stand.market.on(PRODUCT, "product")
    stand.market.on(CREATE, "create_refused_inside")

    with pytest.raises(Rejected) as raised:
        await stand.taobao.create(OrderRequest("ORD1", LINES, ADDRESS, expected_total_fen=8180))
    assert raised.value.reason is Reason.PRICE_CHANGED


async def test_a_product_that_is_gone_is_not_placed(stand: Stand) -> None:
    stand.market.on(PRODUCT, refusal("ITEM_NOT_FOUND"))

    with pytest.raises(Rejected) as raised:
        await stand.taobao.create(OrderRequest("ORD1", LINES, ADDRESS, expected_total_fen=1))

    assert raised.value.reason is Reason.NOT_FOR_SALE
    assert stand.market.asked(CREATE) == []


async def test_a_success_without_orders_must_be_found_out(stand: Stand) -> None:
    stand.market.on(PRODUCT, "product")
    stand.market.on(CREATE, answer({"success": True, "order_list": []}))

    with pytest.raises(OutcomeUnknown):
        await stand.taobao.create(OrderRequest("ORD1", LINES, ADDRESS, expected_total_fen=1))


async def test_what_the_marketplace_does_not_offer(stand: Stand) -> None:
    request = RefundRequest(ORDER, RefundKind.REFUND_ONLY, 1, 0, "reason", None)

    for asked in (stand.taobao.pay_link([ORDER]), stand.taobao.refund(request)):
        with pytest.raises(Rejected) as raised:
            await asked
        assert raised.value.reason is Reason.NOT_SUPPORTED
    assert stand.market.calls == []


async def test_a_push_is_read_with_the_keys_of_the_app(stand: Stand) -> None:
    body = b'{"message_type":8,"data":{"purchase_id":"7"}}'

    notice = stand.taobao.read_notice(
        {"authorization": sign_notice(SECRET, KEY, body)}, body, KEY, SECRET
    )

    assert (notice.kind, notice.order_ids) == ("price_change", ("7",))
