"""Debits: each part at its approved amount, or not at all."""

from dataclasses import replace
from datetime import timedelta

import pytest
from kit.orders import a_part
from kit.platform import Fake, approved, current, due_now, held

from tradewind.orders.model import Order
from tradewind.orders.payments import pay
from tradewind.orders.payments.model import PaymentStatus
from tradewind.platforms.failures import OutcomeUnknown, Reason, Rejected, Unavailable
from tradewind.platforms.model import Payment, PaymentState, PlatformOrder
from tradewind.platforms.model import PlatformOrderStatus as There
from tradewind.storage.pool import Database

BUSY = Unavailable("sandbox", "busy", "Come back later.")
UNKNOWN = OutcomeUnknown("sandbox", "timeout", "Nobody knows.")
REFUSED = Rejected("sandbox", "poor", "There is no money.", reason=Reason.NO_FUNDS)
LATER = timedelta(seconds=5)


async def step(db: Database, fake: Fake, order: Order) -> Order:
    """One step of the payment, as the worker makes it."""
    await due_now(db)
    await pay.pay(db, fake.connector, *await held(db, order))
    return await current(db, order)


async def requests(db: Database, order: Order) -> list[tuple[str, str | None]]:
    """Every request to pay an order, and the code of its failure."""
    query = """
        SELECT status, failure ->> 'code' AS code
          FROM payment_request WHERE purchase_order_id = $1
    """
    return [(row["status"], row["code"]) for row in await db.fetch(query, order.id)]


def at(fen: int, part: PlatformOrder) -> PlatformOrder:
    """The same at another price."""
    assert part.modified_at is not None
    later = part.modified_at + LATER
    return replace(part, total_fen=fen, goods_fen=fen - part.freight_fen, modified_at=later)


def paid(part: PlatformOrder) -> PlatformOrder:
    assert part.modified_at is not None
    return replace(
        part, status=There.PAID, payment=PaymentState.PAID, modified_at=part.modified_at + LATER
    )


async def test_a_price_that_rises_while_it_is_being_paid_is_not_paid(db: Database) -> None:
    part = a_part("P1")
    order = await approved(db, part)
    fake = Fake([part], fails={"P1": BUSY})
    with pytest.raises(Unavailable):
        await step(db, fake, order)
    assert (await current(db, order)).payment_status is PaymentStatus.PROCESSING

    fake.parts, fake.fails = [at(99900, part)], {}
    after = await step(db, fake, order)

    assert fake.calls == [("P1", 1500)]
    assert (after.payment_status, after.total_fen) == (PaymentStatus.FAILED, 99900)
    assert await requests(db, order) == [("failed", "amount_changed")]


async def test_what_was_sent_at_the_old_price_may_still_come_true(db: Database) -> None:
    part = a_part("P1")
    order = await approved(db, part)
    fake = Fake([part], fails={"P1": UNKNOWN})
    await step(db, fake, order)

    fake.parts, fake.found = [at(99900, part)], Payment(PaymentState.PROCESSING)
    after = await step(db, fake, order)

    assert after.payment_status is PaymentStatus.PROCESSING
    assert fake.calls == [("P1", 1500)]


async def test_of_a_split_order_no_part_is_paid_at_another_price(db: Database) -> None:
    first, second = a_part("S1"), a_part("S2", total=2500)
    order = await approved(db, first, second)
    fake = Fake([first, second], fails={"S1": BUSY})
    with pytest.raises(Unavailable):
        await step(db, fake, order)

    # Together they cost as much as before: neither costs what was approved for it.
    fake.parts, fake.fails = [at(2000, first), at(2000, second)], {}
    after = await step(db, fake, order)

    assert fake.calls == [("S1", 1500)]
    assert after.payment_status is PaymentStatus.FAILED


async def test_sums_that_moved_between_the_parts_end_the_approval(db: Database) -> None:
    first, second = a_part("S1"), a_part("S2", total=2500)
    order = await approved(db, first, second)
    fake = Fake([at(2500, first), at(1500, second)])

    after = await step(db, fake, order)

    assert (after.payment_status, fake.calls) == (PaymentStatus.UNPAID, [])
    assert await requests(db, order) == [("superseded", None)]


async def test_a_refused_part_ends_no_payment_of_which_another_part_is_unknown(
    db: Database,
) -> None:
    first, second = a_part("S1"), a_part("S2")
    order = await approved(db, first, second)
    fake = Fake([first, second], fails={"S1": UNKNOWN, "S2": REFUSED})

    after = await step(db, fake, order)
    assert after.payment_status is PaymentStatus.PROCESSING

    fake.found = Rejected("sandbox", "gone", "There is no such payment.", reason=Reason.NOT_FOUND)
    after = await step(db, fake, order)
    assert after.payment_status is PaymentStatus.PROCESSING

    fake.parts = [paid(first), paid(second)]
    after = await step(db, fake, order)
    assert (after.payment_status, after.paid_outside) == (PaymentStatus.PAID, False)
    assert await requests(db, order) == [("paid", None)]


async def test_the_order_of_an_unknown_and_a_refused_part_makes_no_difference(
    db: Database,
) -> None:
    first, second = a_part("S1"), a_part("S2")
    order = await approved(db, first, second)

    after = await step(db, Fake([first, second], fails={"S1": REFUSED, "S2": UNKNOWN}), order)

    assert after.payment_status is PaymentStatus.PROCESSING


async def test_what_is_refused_for_every_part_is_failed(db: Database) -> None:
    first, second = a_part("S1"), a_part("S2")
    order = await approved(db, first, second)

    after = await step(db, Fake([first, second], fails={"S1": REFUSED, "S2": REFUSED}), order)

    assert after.payment_status is PaymentStatus.FAILED
    assert await requests(db, order) == [("failed", "no_funds")]
