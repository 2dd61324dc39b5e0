"""Batches of orders: none blocks another, none is forgotten, no deadlocks."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from kit.orders import a_part
from kit.platform import Fake, a_buyer, current, due_in, due_now, held, locked, placed

from tradewind.orders import sql_leases, sync
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.refresh import Refreshes
from tradewind.orders.scheduled_sync import sync_modified
from tradewind.platforms.model import PaymentState, PlatformOrder
from tradewind.platforms.model import PlatformOrderStatus as There
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

SOON = timedelta(0)
ROUNDS, MANY = 60, 40


def paid(part: PlatformOrder) -> PlatformOrder:
    assert part.modified_at is not None
    at = part.modified_at + timedelta(seconds=9)
    return replace(part, status=There.PAID, payment=PaymentState.PAID, modified_at=at)


@asynccontextmanager
async def somebody_has(db: Database, order: Order) -> AsyncIterator[None]:
    """Somebody locks an order, and then does nothing after all."""
    with suppress(ZeroDivisionError):
        async with transaction(db) as tx:
            await locked(tx, order)
            yield
            raise ZeroDivisionError


async def test_an_order_that_cannot_be_saved_holds_up_no_other_and_is_put_off(
    db: Database,
) -> None:
    parts = [a_part(name) for name in ("G1", "B1", "G2")]
    first, bad, second = [await placed(db, part) for part in parts]
    await db.execute("ALTER TABLE purchase_order ADD CHECK (total_fen <> 6666)")
    await due_now(db)
    good, odd, fine = [paid(part) for part in parts]
    fake = Fake([good, replace(odd, total_fen=6666, goods_fen=6166), fine])

    assert await sync.sync_due(db, fake.connector)

    for order in (first, second):
        assert (await current(db, order)).status is OrderStatus.PAID
    after = await current(db, bad)
    assert (after.status, after.version, after.sync_failures) == (bad.status, bad.version, 1)
    assert await due_in(db, bad.id) > SOON
    assert not await sync.sync_due(db, fake.connector)

    await due_now(db)
    await sync.sync_due(db, fake.connector)
    assert (await current(db, bad)).sync_failures == 2
    fake.parts = [good, odd, fine]
    await due_now(db)
    await sync.sync_due(db, fake.connector)
    after = await current(db, bad)
    assert (after.status, after.sync_failures) == (OrderStatus.PAID, 0)


async def test_news_of_an_order_that_somebody_has_is_not_lost_when_they_do_nothing(
    db: Database,
) -> None:
    parts = [a_part("F1"), a_part("L1")]
    free, taken = [await placed(db, part) for part in parts]
    fake = Fake([paid(part) for part in parts])
    await due_now(db)
    read_first = asyncio.Event()
    go_on = asyncio.Event()

    async def pause() -> None:
        read_first.set()
        await go_on.wait()

    fake.meanwhile = pause
    following = asyncio.create_task(sync.sync_due(db, fake.connector))
    await read_first.wait()
    async with somebody_has(db, taken):
        go_on.set()
        await asyncio.sleep(0.2)
    assert await asyncio.wait_for(following, 5)

    assert (await current(db, free)).status is OrderStatus.PAID
    assert (await current(db, taken)).status is OrderStatus.PENDING_PAYMENT
    assert await due_in(db, taken.id) <= SOON
    assert await sync.sync_due(db, fake.connector)
    assert (await current(db, taken)).status is OrderStatus.PAID


async def test_who_looks_at_an_order_that_somebody_has_waits_and_sees_the_news(
    db: Database,
) -> None:
    part = a_part("L1")
    order = await placed(db, part)
    fake = Fake([paid(part)])
    holding = asyncio.Event()
    looked = asyncio.Event()

    async def hold() -> None:
        async with somebody_has(db, order):
            holding.set()
            await looked.wait()
            await asyncio.sleep(0.2)

    tasks: list[asyncio.Task[None]] = []

    async def locked_meanwhile() -> None:
        tasks.append(asyncio.create_task(hold()))
        await holding.wait()
        looked.set()

    fake.meanwhile = locked_meanwhile
    refreshes = Refreshes(db, fake.platforms, timedelta(0))

    shown, stale = await refreshes.fresh(order.account_id, order.id)

    await asyncio.gather(*tasks)
    await refreshes.close()
    assert (shown.status, stale) == (OrderStatus.PAID, False)


async def test_a_change_that_nobody_sees_is_no_error_long_after_the_end(db: Database) -> None:
    part = a_part("T1", There.COMPLETED, PaymentState.PAID)
    order = await placed(db, part)
    await db.execute(
        "UPDATE purchase_order SET updated_at = tradewind_now() - interval '40 days',"
        " work = 'none', next_sync_at = NULL"
    )
    assert part.modified_at is not None
    later = replace(part, modified_at=part.modified_at + timedelta(days=1))
    fake = Fake([later])
    refreshes = Refreshes(db, fake.platforms, timedelta(0))

    shown, stale = await refreshes.fresh(order.account_id, order.id)

    await refreshes.close()
    assert (shown.status, shown.parts, stale) == (OrderStatus.COMPLETED, [later], False)
    row = await db.fetchrow("SELECT work, next_sync_at, sync_failures FROM purchase_order")
    assert row is not None
    assert tuple(row) == ("none", None, 0)


@pytest.mark.parametrize(
    ("before_the_look", "hinted"),
    [
        (timedelta(seconds=-30), True),
        (timedelta(seconds=30), True),
        (timedelta(minutes=10), False),
    ],
)
async def test_a_sweep_takes_no_chances_with_what_changed_about_when_we_looked(
    db: Database, before_the_look: timedelta, *, hinted: bool
) -> None:
    part = a_part("W1")
    order = await placed(db, part)
    changed = replace(part, modified_at=(await current(db, order)).now - before_the_look)

    await sync_modified(db, Fake([changed]).connector)

    assert (await due_in(db, order.id) <= SOON) is hinted


async def test_those_who_give_back_and_those_who_hint_never_wait_in_a_circle(db: Database) -> None:
    names = [f"D{number}" for number in range(MANY)]
    buyer = await a_buyer(db)
    orders = [await placed(db, a_part(name), by=buyer) for name in names]
    _, lease = await held(db, orders[0])
    await db.execute("UPDATE purchase_order SET lease = $1", lease.id)
    at = orders[0].now + timedelta(days=1)
    chance = random.Random(7)  # noqa: S311 - any order will do

    async def give_back() -> None:
        mine = chance.sample(orders, MANY)
        later = [(order, at) for order in mine]
        await sql_leases.give_back(db, lease.id, later, synced=True)

    async def hint() -> None:
        await sql_leases.hint(db, "sandbox", chance.sample(names, MANY))

    async def hint_later() -> None:
        changed = [(name, at) for name in chance.sample(names, MANY)]
        await sql_leases.hint_later_than(db, "sandbox", changed, margin=timedelta(0))

    for _ in range(ROUNDS):
        await asyncio.wait_for(asyncio.gather(give_back(), hint(), hint_later()), 20)
