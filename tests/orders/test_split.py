"""Split orders: a change of one part changes the order, and does not undo the other."""

from dataclasses import replace
from datetime import timedelta

from kit.orders import APPROVER, NOW, TOTAL, a_part, a_request, an_order
from kit.platform import current, locked, placed

from tradewind.orders import advance
from tradewind.orders.apply_platform_state import apply_state
from tradewind.orders.model import Cause, Order, OrderStatus
from tradewind.orders.payments.model import PaymentStatus, PayMode, RequestStatus
from tradewind.platforms.model import CloseReason, PaymentState, PlatformOrder
from tradewind.platforms.model import PlatformOrderStatus as There
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

LATER = NOW + timedelta(minutes=1)


def paid(part: PlatformOrder, status: There = There.PAID) -> PlatformOrder:
    return replace(part, status=status, payment=PaymentState.PAID, modified_at=LATER)


def given_back(part: PlatformOrder) -> PlatformOrder:
    return replace(
        part,
        status=There.CLOSED,
        payment=PaymentState.REFUNDED,
        refunded_fen=part.total_fen,
        close_reason=CloseReason.BUYER,
        modified_at=LATER + timedelta(minutes=1),
    )


async def events(db: Database, order: Order) -> list[str]:
    query = "SELECT type FROM event WHERE purchase_order_id = $1 ORDER BY number"
    return [row["type"] for row in await db.fetch(query, order.id)]


async def test_a_part_that_was_sent_and_came_back_is_refunded_where_the_other_waits(
    db: Database,
) -> None:
    sent, waiting = paid(a_part("A"), There.SHIPPED), paid(a_part("B"))
    order = await placed(db, sent, waiting)
    assert order.status is OrderStatus.PARTIALLY_SHIPPED
    before = await events(db, order)

    async with transaction(db) as tx:
        shown = [given_back(sent), waiting]
        known = await locked(tx, order)
        await advance.many(tx, [advance.by_platform(known, shown, Cause("sync"))])

    after = await current(db, order)
    assert (after.status, after.payment_status) == (
        OrderStatus.PARTIALLY_SHIPPED,
        PaymentStatus.PARTIALLY_REFUNDED,
    )
    assert (after.paid_fen, after.refunded_fen) == (2 * TOTAL, TOTAL)
    assert [part.status for part in after.parts] == [There.CLOSED, There.PAID]
    assert (await events(db, order))[len(before) :] == ["payment.updated"]


def test_going_backwards_without_an_end_is_still_contradicted() -> None:
    sent, waiting = paid(a_part("A"), There.SHIPPED), paid(a_part("B"))
    order = an_order(
        OrderStatus.PARTIALLY_SHIPPED, PaymentStatus.PAID, [sent, waiting], paid_fen=2 * TOTAL
    )

    heard = apply_state(
        order, [replace(sent, status=There.PAID, modified_at=LATER + LATER.resolution)]
    )

    assert (list(heard.steps), len(heard.contradictions)) == ([], 1)


def linked(*parts: PlatformOrder) -> Order:
    """An order that somebody pays by hand, at the link."""
    request = a_request(
        RequestStatus.APPROVED,
        PayMode.LINK,
        sum(part.total_fen for part in parts),
        sums={part.id: part.total_fen for part in parts},
        pay_url="https://pay.example/",
        decided_by=APPROVER,
        decided_at=NOW,
    )
    return an_order(payment_status=PaymentStatus.APPROVED, parts=parts, payment=request)


def test_who_pays_at_the_link_may_pay_one_part_after_another() -> None:
    first, second = a_part("A"), a_part("B", total=2500)

    half = apply_state(linked(first, second), [paid(first), second]).steps[-1]

    assert half.payment_status is PaymentStatus.APPROVED
    assert half.payment is not None
    assert half.payment.status is RequestStatus.APPROVED

    whole = apply_state(half, [paid(second)]).steps[-1]

    assert (whole.payment_status, whole.paid_outside) == (PaymentStatus.PAID, False)
    assert whole.payment is not None
    assert whole.payment.status is RequestStatus.PAID
    assert whole.paid_fen == TOTAL + 2500


def test_the_rest_at_another_price_is_not_what_was_approved() -> None:
    first, second = a_part("A"), a_part("B")
    half = apply_state(linked(first, second), [paid(first), second]).steps[-1]
    dearer = replace(second, total_fen=2500, goods_fen=2000, modified_at=LATER)

    after = apply_state(half, [dearer]).steps[-1]

    assert after.payment_status is PaymentStatus.UNPAID
    assert after.payment is not None
    assert (after.payment.status, after.payment.reason) == (
        RequestStatus.SUPERSEDED,
        "amount_changed",
    )
