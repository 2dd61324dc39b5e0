"""Every connector creates orders, and finds them by id, reference and time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from connectors.stand import (
    ADDRESS,
    BUILT_SECONDS,
    CREATE_TIMES_OUT,
    NOT_SEEN_YET,
    OTHER_SELLER,
    OUT_OF_STOCK,
    PLAIN,
    PRICE_RISES,
    SELLS_OUT,
    SPLITS,
    Stand,
    adds_up,
    magic,
    new_reference,
    outcome,
)

from tradewind.platforms.failures import OutcomeUnknown, Reason, Rejected
from tradewind.platforms.model import (
    Address,
    Line,
    PaymentState,
    Placed,
    PlatformOrderStatus,
)

EXACT_IN_JAVASCRIPT = 2**53


def world_now(stand: Stand) -> datetime:
    return datetime.fromtimestamp(stand.market.clock()["now"], UTC)


async def test_a_new_order_is_what_was_asked_for(stand: Stand) -> None:
    lines = [await stand.line(quantity=2), await stand.line(quantity=1, colour=1)]
    draft = await stand.draft(*lines)
    expected = await stand.connector.preview(lines, ADDRESS)

    placed = await stand.connector.create(draft)
    at_once = await stand.connector.read_one(placed.order_ids[0])
    order = await stand.later(placed.order_ids[0], BUILT_SECONDS)

    assert placed.total_fen == expected.total_fen == 3_500
    assert stand.made(draft.reference) == set(placed.order_ids)
    assert at_once.status in NOT_SEEN_YET
    assert (order.reference, order.status) == (draft.reference, PlatformOrderStatus.PENDING_PAYMENT)
    assert order.payment is PaymentState.UNPAID
    assert (order.goods_fen, order.freight_fen, order.discount_fen) == (3_000, 500, 0)
    assert (order.total_fen, order.refunded_fen) == (3_500, 0)
    assert [(item.product_id, item.sku_id, item.quantity) for item in order.items] == [
        (line.product_id, line.sku_id, line.quantity) for line in lines
    ]
    assert [item.amount_fen for item in order.items] == [2_000, 1_000]
    assert not any(item.shipped for item in order.items)
    assert (list(order.shipments), order.close_reason, order.dispute) == ([], None, False)
    assert order.paid_at is None
    assert order.raw_status
    assert order.created_at is not None
    assert order.modified_at is not None
    assert order.pay_before is not None
    assert order.pay_before - order.created_at == timedelta(hours=12)


async def test_ids_beyond_what_a_float_holds_stay_exact(stand: Stand) -> None:
    placed = await stand.placed()
    (order_id,) = placed.order_ids

    order = await stand.connector.read_one(order_id)

    assert int(order_id) > EXACT_IN_JAVASCRIPT
    assert order.id == order_id
    assert stand.market.client.get(f"/_control/orders/{order_id}").json()["lines"][0]["id"] in (
        item.id for item in order.items
    )


async def test_every_way_of_reading_agrees(stand: Stand) -> None:
    since = world_now(stand) - timedelta(seconds=1)
    order = await stand.order(await stand.line(OTHER_SELLER, 10))
    other = await stand.order()

    many = {item.id: item for item in await stand.connector.read_many([order.id, other.id])}
    result = await stand.connector.find_by_reference(order.reference or "")
    until = world_now(stand) + timedelta(seconds=1)
    changed, more = await stand.connector.modified_between(since, until, 1)

    assert adds_up(order)
    assert order.total_fen == 9_800
    assert many == {order.id: order, other.id: other}
    assert list(result) == [order]
    assert {item.id: item for item in changed} == many
    assert not more


async def test_shipped_orders_read_the_same_in_every_way(stand: Stand) -> None:
    since = world_now(stand) - timedelta(seconds=1)
    paid = await stand.paid()
    stand.advance(paid.id, "ship")

    order = await stand.connector.read_one(paid.id)
    until = world_now(stand) + timedelta(seconds=1)
    changed, _ = await stand.connector.modified_between(since, until, 1)

    assert order.shipments
    assert list(await stand.connector.read_many([paid.id])) == [order]
    assert list(changed) == [order]


async def test_what_did_not_change_is_not_listed(stand: Stand) -> None:
    await stand.order()
    stand.wait(3_600)
    since = world_now(stand) - timedelta(seconds=1)
    later = await stand.order()

    changed, _ = await stand.connector.modified_between(since, since + timedelta(hours=1), 1)

    assert [item.id for item in changed] == [later.id]


async def test_changes_come_a_page_at_a_time(stand: Stand) -> None:
    since = world_now(stand) - timedelta(seconds=1)
    made = [
        id_
        for _ in range(23)
        for id_ in (await stand.connector.create(await stand.draft())).order_ids
    ]
    until = world_now(stand) + timedelta(seconds=1)

    seen: list[str] = []
    more, page = True, 0
    while more:
        page += 1
        orders, more = await stand.connector.modified_between(since, until, page)
        seen += [order.id for order in orders]

    assert page > 1
    assert sorted(seen) == sorted(made)


async def test_many_are_read_at_once(stand: Stand) -> None:
    most = stand.connector.traits.most_orders_a_read
    made = [(await stand.connector.create(await stand.draft())).order_ids[0] for _ in range(most)]

    result = await stand.connector.read_many([*made[1:], made[0]])

    assert sorted(item.id for item in result) == sorted(made)


async def test_what_does_not_exist_is_not_found(stand: Stand) -> None:
    order = await stand.order()

    with pytest.raises(Rejected) as refused:
        await stand.connector.read_one("1234567890123456789")
    result = await stand.connector.read_many(["1234567890123456789", order.id])

    assert refused.value.reason is Reason.NOT_FOUND
    assert [item.id for item in result] == [order.id]
    assert list(await stand.connector.read_many([])) == []
    assert list(await stand.connector.find_by_reference(new_reference())) == []


async def test_an_order_splits(stand: Stand) -> None:
    draft = await stand.draft(await stand.line(SPLITS, 4))

    placed = await stand.connector.create(draft)
    stand.wait(BUILT_SECONDS)

    result = await stand.connector.find_by_reference(draft.reference)
    assert len(set(placed.order_ids)) == 2
    assert {item.id for item in result} == set(placed.order_ids) == stand.made(draft.reference)
    assert placed.total_fen == sum(item.total_fen for item in result)
    assert sum(item.quantity for entry in result for item in entry.items) == 4
    assert all(adds_up(item) for item in result)


async def test_several_sellers_make_several_orders_or_none(stand: Stand) -> None:
    draft = await stand.draft(await stand.line(), await stand.line(OTHER_SELLER))

    result = await outcome(stand.connector.create(draft))

    if stand.connector.traits.single_seller:
        assert isinstance(result, Rejected)
        assert result.reason is Reason.SEVERAL_SELLERS
        assert stand.made(draft.reference) == set()
    else:
        assert isinstance(result, Placed)
        assert len(result.order_ids) == 2
        assert stand.made(draft.reference) == set(result.order_ids)


async def test_a_price_that_rose_is_refused_or_told(stand: Stand) -> None:
    """With a price guard nothing is made; without one, the answer says what it costs."""
    line = await stand.line(PRICE_RISES, 3)
    preview = await stand.connector.preview([line], ADDRESS)
    draft = replace(await stand.draft(line), expected_total_fen=preview.total_fen)

    result = await outcome(stand.connector.create(draft))

    if isinstance(result, Placed):
        assert result.total_fen == preview.total_fen + 600
        assert stand.made(draft.reference) == set(result.order_ids)
    else:
        assert isinstance(result, Rejected)
        assert result.reason is Reason.PRICE_CHANGED
        assert stand.made(draft.reference) == set()


@pytest.mark.parametrize(
    ("spell", "reason"),
    [(OUT_OF_STOCK, Reason.OUT_OF_STOCK), (SELLS_OUT, Reason.OUT_OF_STOCK)],
)
async def test_what_cannot_be_had_is_not_ordered(stand: Stand, spell: int, reason: Reason) -> None:
    draft = await stand.draft(await stand.line(), await stand.line(spell))

    with pytest.raises(Rejected) as refused:
        await stand.connector.create(draft)

    assert refused.value.reason is reason
    assert stand.made(draft.reference) == set()


@pytest.mark.parametrize(
    "line", [Line("no-such-product", None, 1), Line(magic(PLAIN), "987654321", 1)]
)
async def test_what_is_not_there_is_not_ordered(stand: Stand, line: Line) -> None:
    draft = await stand.draft(line)

    with pytest.raises(Rejected) as refused:
        await stand.connector.create(draft)

    assert refused.value.reason in (Reason.NOT_FOUND, Reason.NOT_FOR_SALE)
    assert stand.made(draft.reference) == set()


async def test_nothing_is_sent_to_a_bad_address(stand: Stand) -> None:
    nowhere = Address("A", "15251667788", "Atlantis", "Poseidonis", "Centre", "1 Main Street")
    draft = replace(await stand.draft(), address=nowhere)

    with pytest.raises(Rejected) as refused:
        await stand.connector.create(draft)

    assert refused.value.reason is Reason.BAD_ADDRESS
    assert stand.made(draft.reference) == set()


async def test_a_create_without_an_answer_is_found_out(stand: Stand) -> None:
    draft = await stand.draft(await stand.line(CREATE_TIMES_OUT))
    stand.hurry()
    before = stand.count("create.calls")

    with pytest.raises(OutcomeUnknown):
        await stand.connector.create(draft)

    result = await stand.connector.find_by_reference(draft.reference)
    assert {item.id for item in result} == stand.made(draft.reference)
    assert len(result) == 1
    assert stand.count("create.calls") == before + 1


@pytest.mark.parametrize("sku_id", ["1234567890", "no-such-variant"])
async def test_a_variant_that_does_not_exist_is_unavailable(stand: Stand, sku_id: str) -> None:
    """Whatever it looks like, the preview lists it, and an order with it is rejected."""
    good = await stand.line()
    unknown = replace(good, sku_id=sku_id)

    preview = await stand.connector.preview([good, unknown], ADDRESS)
    rejected = await outcome(stand.connector.create(await stand.draft(unknown)))

    assert [(line.sku_id, line.reason) for line in preview.unavailable] == [
        (sku_id, Reason.NOT_FOUND)
    ]
    assert preview.total_fen > 0
    assert isinstance(rejected, Rejected)
    assert rejected.reason is Reason.NOT_FOUND
