"""Every connector reads refunds and, where the marketplace allows it, requests them."""

import pytest
from connectors.stand import REFUND_REFUSED, SOON_SECONDS, Stand, outcome

from tradewind.platforms.contract import Capability
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Reason, Rejected
from tradewind.platforms.model import (
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Refund,
    RefundKind,
    RefundRequest,
    RefundState,
)

DAY = 86_401.0


def wanted(
    order: PlatformOrder,
    goods_fen: int,
    freight_fen: int = 0,
    kind: RefundKind = RefundKind.REFUND_ONLY,
) -> RefundRequest:
    return RefundRequest(order.id, kind, goods_fen, freight_fen, "other", "not as described")


async def asked(stand: Stand, order: PlatformOrder, goods_fen: int, freight_fen: int = 0) -> str:
    """A refund: asked for by the connector, or on the marketplace's own pages if it cannot."""
    if stand.can(Capability.REFUND):
        return await stand.connector.refund(wanted(order, goods_fen, freight_fen))
    stand.advance(order.id, "refund_request", fen=goods_fen + freight_fen)
    (refund,) = await stand.connector.refunds(order.id)
    return refund.id


async def only_refund(stand: Stand, order: PlatformOrder) -> Refund:
    (refund,) = await stand.connector.refunds(order.id)
    return refund


async def shipped(stand: Stand, quantity: int = 3) -> PlatformOrder:
    order = await stand.paid(await stand.line(quantity=quantity))
    stand.advance(order.id, "ship")
    return await stand.connector.read_one(order.id)


async def test_an_order_without_refunds(stand: Stand) -> None:
    order = await stand.paid()

    assert list(await stand.connector.refunds(order.id)) == []


async def test_everything_goes_back(stand: Stand) -> None:
    order = await stand.paid()

    refund_id = await asked(stand, order, order.goods_fen, order.freight_fen)
    under_way = await stand.connector.read_one(order.id)
    requested = await only_refund(stand, order)
    stand.advance(order.id, "refund_agree")
    closed = await stand.connector.read_one(order.id)
    done = await only_refund(stand, order)

    assert under_way.dispute
    assert (under_way.status, under_way.payment) == (PlatformOrderStatus.PAID, PaymentState.PAID)
    assert (requested.id, requested.order_id) == (refund_id, order.id)
    assert (requested.state, requested.amount_fen) == (RefundState.REQUESTED, 1_500)
    assert (done.id, done.state, done.amount_fen) == (refund_id, RefundState.SUCCEEDED, 1_500)
    assert (closed.status, closed.payment) == (PlatformOrderStatus.CLOSED, PaymentState.REFUNDED)
    assert closed.refunded_fen == closed.total_fen == 1_500
    assert not closed.dispute


async def test_a_part_goes_back(stand: Stand) -> None:
    order = await shipped(stand)

    await asked(stand, order, 1_234)
    stand.advance(order.id, "refund_agree")
    after = await stand.connector.read_one(order.id)
    refund = await only_refund(stand, order)

    assert (refund.state, refund.amount_fen) == (RefundState.SUCCEEDED, 1_234)
    assert after.payment is PaymentState.PARTIALLY_REFUNDED
    assert (after.refunded_fen, after.total_fen) == (1_234, 3_500)
    assert after.status is PlatformOrderStatus.SHIPPED


async def test_a_refund_is_seen_wherever_the_order_is_read(stand: Stand) -> None:
    order = await shipped(stand)
    await asked(stand, order, 1_234)
    stand.advance(order.id, "refund_agree")

    after = await stand.connector.read_one(order.id)

    assert list(await stand.connector.read_many([order.id])) == [after]
    assert [
        item.refunded_fen for item in await stand.connector.find_by_reference(order.reference or "")
    ] == [1_234]


async def test_freight_goes_back_too(stand: Stand) -> None:
    order = await shipped(stand)

    await asked(stand, order, order.goods_fen, 200)
    stand.advance(order.id, "refund_agree")

    after = await stand.connector.read_one(order.id)
    assert (after.refunded_fen, after.payment) == (3_200, PaymentState.PARTIALLY_REFUNDED)


async def test_a_refund_after_the_sale(stand: Stand) -> None:
    order = await shipped(stand)
    stand.advance(order.id, "complete")

    await asked(stand, order, 500)
    stand.advance(order.id, "refund_agree")

    after = await stand.connector.read_one(order.id)
    assert (after.status, after.refunded_fen) == (PlatformOrderStatus.COMPLETED, 500)
    assert after.payment is PaymentState.PARTIALLY_REFUNDED


async def test_a_refund_is_refused(stand: Stand) -> None:
    paid = await stand.paid(await stand.line(REFUND_REFUSED))
    stand.advance(paid.id, "ship")
    order = await stand.connector.read_one(paid.id)

    await asked(stand, order, 300)
    if stand.can(Capability.REFUND):
        stand.wait(SOON_SECONDS)
    else:
        stand.advance(order.id, "refund_refuse")
    refused = await only_refund(stand, order)
    after = await stand.connector.read_one(order.id)

    assert (refused.state, refused.amount_fen) == (RefundState.REFUSED, 300)
    assert (after.payment, after.refunded_fen) == (PaymentState.PAID, 0)
    assert after.status is PlatformOrderStatus.SHIPPED


async def test_goods_go_back_before_the_money(stand: Stand) -> None:
    order = await shipped(stand)
    if stand.can(Capability.REFUND):
        request = wanted(order, 1_000, kind=RefundKind.RETURN_AND_REFUND)
        await stand.connector.refund(request)
    else:
        stand.advance(order.id, "refund_request", fen=1_000, with_return=True)

    states = [(await only_refund(stand, order)).state]
    for _ in range(4):
        stand.wait(DAY)
        states.append((await only_refund(stand, order)).state)

    assert list(dict.fromkeys(states)) == [
        RefundState.REQUESTED,
        RefundState.APPROVED,
        RefundState.SUCCEEDED,
    ]
    assert (await stand.connector.read_one(order.id)).refunded_fen == 1_000


async def test_asking_for_too_much(stand: Stand) -> None:
    order = await shipped(stand)

    with pytest.raises(Rejected) as refused:
        await stand.connector.refund(wanted(order, order.total_fen + 1))

    can = stand.can(Capability.REFUND)
    assert refused.value.reason is (Reason.REFUND_TOO_LARGE if can else Reason.NOT_SUPPORTED)
    assert list(await stand.connector.refunds(order.id)) == []


async def test_asking_for_money_that_was_never_paid(stand: Stand) -> None:
    order = await stand.order()

    with pytest.raises(Rejected) as refused:
        await stand.connector.refund(wanted(order, order.goods_fen))

    can = stand.can(Capability.REFUND)
    assert refused.value.reason is (Reason.WRONG_STATE if can else Reason.NOT_SUPPORTED)
    assert list(await stand.connector.refunds(order.id)) == []


@pytest.mark.parametrize("mode", ["drop", "garbage", "http500", "twice"])
async def test_a_refund_is_not_asked_for_twice(stand: Stand, mode: str) -> None:
    """An answer that got lost is found out by `refunds`; the connector does not ask again."""
    order = await shipped(stand)
    before = stand.count("refund.calls")
    stand.fault("refund", mode, after=True, count=1)

    result = await outcome(stand.connector.refund(wanted(order, 700)))

    if not stand.can(Capability.REFUND):
        assert isinstance(result, Rejected)
        assert result.reason is Reason.NOT_SUPPORTED
        return
    (refund,) = await stand.connector.refunds(order.id)
    assert stand.count("refund.calls") == before + 1
    assert refund.amount_fen == 700
    if isinstance(result, PlatformFailure):
        # The second of two answers may be that it was asked for already.
        assert isinstance(result, OutcomeUnknown if mode != "twice" else Rejected)
