"""Every connector syncs an order to its end: cancelled, shipped, closed by the seller, repriced."""

from dataclasses import replace

import pytest
from connectors.stand import (
    CLOSES_SOON,
    NOT_SEEN_YET,
    PRICE_RAISED,
    SELLER_CLOSES,
    SELLER_CLOSES_PAID,
    SHIPS_IN_PARTS,
    SOON_SECONDS,
    Stand,
    adds_up,
    outcome,
    standing,
)
from simulator.sandbox_kit import Market

from tradewind.platforms.alibaba.connector import AlibabaConnector
from tradewind.platforms.failures import Reason, Rejected, Unavailable
from tradewind.platforms.model import (
    CancelState,
    CloseReason,
    PaymentState,
    PlatformOrderStatus,
    Query,
)
from tradewind.platforms.registry import MARKETPLACES

TWO_HOURS = 7_201.0


async def test_cancelling_an_unpaid_order(stand: Stand) -> None:
    order = await stand.order()

    said = await stand.connector.cancel(order.id)
    cancelled = await stand.later(order.id)

    assert said in (CancelState.DONE, CancelState.REQUESTED)
    assert cancelled.status is PlatformOrderStatus.CANCELLED
    assert cancelled.payment is PaymentState.CLOSED
    assert cancelled.close_reason is CloseReason.BUYER


async def test_cancelling_at_once_is_done_or_too_fast(stand: Stand) -> None:
    """A marketplace that is not ready says later; later, it does it."""
    (order_id,) = (await stand.connector.create(await stand.draft())).order_ids

    first = await outcome(stand.connector.cancel(order_id))
    if isinstance(first, Unavailable):
        assert first.retry_after > 0
        assert (await stand.connector.read_one(order_id)).status in NOT_SEEN_YET
        stand.wait(first.retry_after)
        first = await stand.connector.cancel(order_id)

    assert isinstance(first, CancelState)
    assert (await stand.later(order_id)).status is PlatformOrderStatus.CANCELLED


async def test_cancelling_after_payment_never_works(stand: Stand) -> None:
    order = await stand.paid()

    with pytest.raises(Rejected) as refused:
        await stand.connector.cancel(order.id)

    assert refused.value.reason is Reason.WRONG_STATE
    assert (await stand.later(order.id)).status is PlatformOrderStatus.PAID


async def test_cancelling_what_does_not_exist(stand: Stand) -> None:
    with pytest.raises(Rejected) as refused:
        await stand.connector.cancel("1234567890123456789")

    assert refused.value.reason is Reason.NOT_FOUND


async def test_an_order_goes_its_way(stand: Stand) -> None:
    order = await stand.paid()
    assert (order.status, order.payment) == (PlatformOrderStatus.PAID, PaymentState.PAID)
    assert order.paid_at is not None

    stand.advance(order.id, "ship")
    shipped = await stand.connector.read_one(order.id)
    stand.advance(order.id, "receive")
    received = await stand.connector.read_one(order.id)
    stand.advance(order.id, "complete")
    complete = await stand.connector.read_one(order.id)

    (parcel,) = shipped.shipments
    assert shipped.status is PlatformOrderStatus.SHIPPED
    assert parcel.carrier
    assert parcel.tracking_number
    assert set(parcel.item_ids) <= {item.id for item in order.items}
    assert all(item.shipped for item in shipped.items)
    # Not every marketplace tells received goods from shipped ones.
    assert received.status in (PlatformOrderStatus.RECEIVED, PlatformOrderStatus.SHIPPED)
    assert (complete.status, complete.payment) == (PlatformOrderStatus.COMPLETED, PaymentState.PAID)
    assert list(complete.shipments) == list(shipped.shipments)
    times = [item.modified_at for item in (order, shipped, received, complete)]
    assert times == sorted(time for time in times if time is not None)


async def test_an_order_ships_in_two_parts(stand: Stand) -> None:
    lines = [await stand.line(SHIPS_IN_PARTS), await stand.line(SHIPS_IN_PARTS, colour=1)]
    order = await stand.paid(*lines)

    partly = await stand.later(order.id, SOON_SECONDS)
    wholly = await stand.later(order.id, TWO_HOURS)

    assert partly.status is PlatformOrderStatus.PARTIALLY_SHIPPED
    assert [item.shipped for item in partly.items] == [True, False]
    assert [list(shipment.item_ids) for shipment in partly.shipments] == [[partly.items[0].id]]
    assert wholly.status is PlatformOrderStatus.SHIPPED
    assert [item.shipped for item in wholly.items] == [True, True]
    assert len({shipment.tracking_number for shipment in wholly.shipments}) == 2


async def test_half_of_a_line_ships(stand: Stand) -> None:
    order = await stand.paid(await stand.line(SHIPS_IN_PARTS, 4))

    partly = await stand.later(order.id, SOON_SECONDS)

    assert partly.status is PlatformOrderStatus.PARTIALLY_SHIPPED
    assert [item.shipped for item in partly.items] == [False]
    assert len(partly.shipments) == 1


@pytest.mark.parametrize(
    ("spell", "seconds", "reason"),
    [(SELLER_CLOSES, SOON_SECONDS, CloseReason.SELLER), (CLOSES_SOON, 61.0, CloseReason.TIMEOUT)],
)
async def test_an_unpaid_order_is_closed_by_others(
    stand: Stand, spell: int, seconds: float, reason: CloseReason
) -> None:
    order = await stand.order(await stand.line(spell))

    closed = await stand.later(order.id, seconds)

    assert (closed.status, closed.close_reason) == (PlatformOrderStatus.CANCELLED, reason)
    assert (closed.payment, closed.refunded_fen) == (PaymentState.CLOSED, 0)


async def test_a_paid_order_is_closed_and_all_money_goes_back(stand: Stand) -> None:
    order = await stand.paid(await stand.line(SELLER_CLOSES_PAID))

    closed = await stand.later(order.id, SOON_SECONDS)

    assert closed.status is PlatformOrderStatus.CLOSED
    # Not every marketplace tells who closed an order once its money went back.
    assert closed.close_reason in (CloseReason.SELLER, CloseReason.OTHER)
    assert closed.payment is PaymentState.REFUNDED
    assert closed.refunded_fen == closed.total_fen == 1_500


async def test_a_seller_raises_the_price(stand: Stand) -> None:
    order = await stand.order(await stand.line(PRICE_RAISED, 2))

    raised = await stand.later(order.id, SOON_SECONDS)

    assert (order.total_fen, raised.total_fen) == (2_500, 2_900)
    assert adds_up(raised)
    assert raised.status is PlatformOrderStatus.PENDING_PAYMENT
    assert raised.modified_at is not None
    assert order.modified_at is not None
    assert raised.modified_at > order.modified_at


async def test_a_seller_takes_something_off(stand: Stand) -> None:
    order = await stand.order(await stand.line(quantity=2))
    stand.advance(order.id, "change_price", fen=2_001, freight_fen=400)

    cheaper = await stand.connector.read_one(order.id)

    assert (cheaper.total_fen, cheaper.freight_fen) == (2_001, 400)
    assert adds_up(cheaper)
    assert min(cheaper.goods_fen, cheaper.discount_fen) >= 0


@pytest.mark.xdist_group("connector-alibaba")
async def test_the_sandbox_is_the_connector_of_1688(simulator: Market) -> None:
    """It has its own name, credentials and buyer; everything else is tested as `alibaba`."""
    simulator.control("reset")
    traits, alibaba = MARKETPLACES["sandbox"].traits, MARKETPLACES["alibaba"].traits
    names = replace(alibaba, platform="sandbox", name="Sandbox", aliases=(), picture_origins=())
    assert traits == names

    async with standing("sandbox", simulator) as stand:
        assert isinstance(stand.connector, AlibabaConnector)
        order = await stand.paid()
        result = await stand.connector.search(Query("backpack"))

    assert (order.status, order.payment) == (PlatformOrderStatus.PAID, PaymentState.PAID)
    assert result.total > 0
