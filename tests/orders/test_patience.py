"""Scheduling: due jobs run although many clients read, and backoff is respected."""

import asyncio
import time
from datetime import timedelta

import pytest
from kit.orders import BUYER, a_part
from kit.platform import Fake, approved, current, due_in, due_now, held, locked, placed

from tradewind.orders import advance, cancel, decide, sql_leases
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Cause, Order
from tradewind.orders.platform_jobs import Submitter
from tradewind.orders.refresh import Refreshes
from tradewind.platforms.failures import BudgetUsedUp, Unavailable
from tradewind.platforms.model import PaymentState, PlatformOrderStatus
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

LATEST_SECONDS = 5


async def look(db: Database, order: Order) -> Lease | None:
    """Take an order as those do who only want to see it; None when they must wait."""
    lease = Lease()
    taken = await sql_leases.take_lease(
        db, order.account_id, order.id, lease=lease.id, held=HELD, only_sync=True
    )
    return None if taken is None else lease


async def due_since(db: Database, seconds: int) -> None:
    statement = "UPDATE purchase_order SET next_sync_at = tradewind_now() - $1::interval"
    await db.execute(statement, timedelta(seconds=seconds))


async def test_many_who_look_do_not_keep_a_payment_from_being_made(db: Database) -> None:
    part = a_part("P1")
    order = await approved(db, part)
    fake = Fake([part])
    fake.meanwhile = lambda: asyncio.sleep(0.25)
    refreshes = Refreshes(db, fake.platforms, timedelta(0))

    async def poll() -> None:
        while not fake.calls:
            await refreshes.fresh(order.account_id, order.id)

    pollers = [asyncio.create_task(poll()) for _ in range(3)]
    await asyncio.sleep(0.1)
    submitter = Submitter(db)
    deadline = time.monotonic() + LATEST_SECONDS
    try:
        while not fake.calls:
            assert time.monotonic() < deadline, "those who look have kept it"
            await submitter.step(fake.connector)
            await asyncio.sleep(0.7)
    finally:
        fake.calls.append(("stop", 0))
        await asyncio.gather(*pollers)
        await submitter.close()
        await refreshes.close()

    assert fake.calls[0] == ("P1", 1500)


async def test_who_only_looks_leaves_what_is_due_to_the_worker_for_a_moment(db: Database) -> None:
    order = await approved(db, a_part("P1"))
    await due_now(db)

    assert await look(db, order) is None
    await due_since(db, 3)  # no worker came

    assert await look(db, order) is not None


async def test_after_a_long_look_it_is_the_workers_turn(db: Database) -> None:
    order = await approved(db, a_part("P1"))
    await due_since(db, 3)
    lease = await look(db, order)
    assert lease is not None
    seen = await current(db, order)
    later = seen.now + timedelta(minutes=5)
    await sql_leases.give_back(db, lease.id, [(seen, later)], synced=True, only_synced=True)

    assert await look(db, order) is None

    await held(db, order)


async def test_what_waits_for_nobody_is_looked_at_whenever_it_is_due(db: Database) -> None:
    order = await placed(db, a_part("P1"))
    await due_now(db)

    assert await look(db, order) is not None


@pytest.mark.parametrize("has_budget", [False, True])
async def test_a_refresh_without_budget_shows_what_is_stored_and_delays_no_sync(
    db: Database, *, has_budget: bool
) -> None:
    order = await placed(db, a_part("P1"))
    fake = Fake([a_part("P1", PlatformOrderStatus.PAID, PaymentState.PAID)], has_budget=has_budget)

    async def used_up() -> None:
        raise BudgetUsedUp("sandbox", retry_after=1)

    fake.meanwhile = used_up
    refreshes = Refreshes(db, fake.platforms, timedelta(0))
    before = await current(db, order)

    shown, stale = await refreshes.fresh(order.account_id, order.id)

    assert (shown.version, stale) == (order.version, True)
    after = await current(db, order)
    assert (after.next_sync_at, after.sync_failures) == (before.next_sync_at, 0)
    assert await look(db, order) is not None  # nobody holds it
    await refreshes.close()


@pytest.mark.parametrize(("wanted", "least"), [(0, 4), (60, 59)])
async def test_a_cancel_that_is_put_off_is_asked_for_again_when_the_platform_likes(
    db: Database, wanted: float, least: int
) -> None:
    part = a_part("C1")
    order = await placed(db, part)
    async with transaction(db) as tx:
        before = await locked(tx, order)
        advance.to(tx, before, decide.cancel_requested(before, BUYER), Cause("cancel"))
    fake = Fake([part], {"C1": Unavailable("sandbox", "busy", "Not now.", retry_after=wanted)})
    submitter = Submitter(db)
    await due_now(db)

    for _ in range(3):
        await submitter.step(fake.connector)
        await submitter.close()

    assert fake.cancels == ["C1"]
    assert await due_in(db, order.id) > timedelta(seconds=least)
    assert (await current(db, order)).cancel_requested


async def test_a_cancel_that_was_put_off_is_done_later(db: Database) -> None:
    part = a_part("C1")
    order = await placed(db, part)
    async with transaction(db) as tx:
        before = await locked(tx, order)
        advance.to(tx, before, decide.cancel_requested(before, BUYER), Cause("cancel"))
    fake = Fake([part], {"C1": Unavailable("sandbox", "busy", "Not now.")})
    await cancel.carry_out(db, fake.connector, *await held(db, order))
    assert (await current(db, order)).cancel_sent_at is None

    fake.fails = {}
    await cancel.carry_out(db, fake.connector, *await held(db, order))

    assert fake.cancels == ["C1", "C1"]
    assert (await current(db, order)).cancel_sent_at is not None
