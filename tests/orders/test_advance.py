"""Saving a change of an order: all of it in one statement, or nothing."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from kit.orders import BUYER, NOW, a_part
from kit.platform import ADDRESS, UNKEYED, Fake, a_buyer, current, locked, placed

from tradewind import ids
from tradewind.orders import advance, decide, submit
from tradewind.orders.lease import Lease
from tradewind.orders.model import Cause, NewOrder, Order, OrderStatus
from tradewind.orders.payments import decide as pay_decide
from tradewind.orders.payments.model import PayMode
from tradewind.platforms.model import Line, OrderRequest, PaymentState, Placed, PlatformOrder
from tradewind.platforms.model import PlatformOrderStatus as There
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import sql as web_sql
from tradewind.web.idempotency import IdempotencyKey, StoredResponse
from tradewind.web.response import Response


async def _request_cancellation(db: Database, order: Order) -> None:
    async with transaction(db) as tx:
        before = await locked(tx, order)
        advance.to(tx, before, decide.cancel_requested(before, BUYER), Cause("cancel"))


def shipped(part: PlatformOrder) -> PlatformOrder:
    later = NOW + timedelta(minutes=1)
    return replace(part, status=There.SHIPPED, payment=PaymentState.PAID, modified_at=later)


async def _events(db: Database, order: Order) -> int:
    query = "SELECT count(*) FROM event WHERE purchase_order_id = $1"
    events: int = await db.fetchval(query, order.id)
    return events


@pytest.mark.parametrize("is_changed", [False, True])
async def test_the_stored_response_is_that_of_the_order_which_was_saved(
    db: Database, *, is_changed: bool
) -> None:
    """Somebody may change the order while it is created on the marketplace."""
    by = await a_buyer(db)
    key = IdempotencyKey(by.id, "POST /orders", "key-1", b"fingerprint")
    stored: StoredResponse[Order] = StoredResponse(
        key,
        lambda order: Response([order.status, order.cancel_requested, order.version], 201),
    )
    wanted = NewOrder("sandbox", [Line("7", None, 1)], ADDRESS, None, None, None, {})
    lease = Lease()
    order = await advance.accept(
        db, by, wanted, await UNKEYED.check(db), lease, stored, previewed=True
    )

    class Creating(Fake):
        async def create(self, _request: OrderRequest) -> Placed:
            if is_changed:
                await _request_cancellation(db, order)
            return Placed(["A"], None)

    sent = await submit.send(db, Creating([a_part("A")]).connector, order, lease, stored)

    saved = await current(db, order)
    assert sent is not None
    if not is_changed:
        assert (sent.synced_at, sent.next_sync_at) == (saved.synced_at, saved.next_sync_at)
    response = await web_sql.find_response(db, key.account_id, key.route, key.key)
    assert response.row is not None
    assert not response.is_pending
    assert msgspec.json.decode(response.row.body) == [
        OrderStatus.PENDING_PAYMENT,
        is_changed,
        saved.version,
    ]
    assert (saved.status, saved.cancel_requested) == (OrderStatus.PENDING_PAYMENT, is_changed)
    assert await _events(db, order) == 1


async def test_an_order_on_the_marketplace_belongs_to_one_order_of_ours(db: Database) -> None:
    first = await placed(db, a_part("A"))
    by = await a_buyer(db)
    wanted = NewOrder("sandbox", [Line("7", None, 1)], ADDRESS, None, None, None, {})
    lease = Lease()
    second = await advance.accept(
        db, by, wanted, await UNKEYED.check(db), lease, UNKEYED, previewed=True
    )

    def plan(known: Order) -> advance.Advance:
        return advance.by_platform(known, [a_part("A")], Cause("create"))

    with pytest.raises(RuntimeError, match=f"{second.reference} belongs to another order"):
        await advance.record(db, second, advance.GiveBack(lease.id), plan)

    assert (await current(db, second)).status is OrderStatus.CREATING
    assert await _events(db, second) == 0
    assert (await current(db, first)).order_ids == ["A"]


async def test_an_id_that_the_marketplace_names_twice_is_one(db: Database) -> None:
    class Doubling(Fake):
        async def create(self, _request: OrderRequest) -> Placed:
            return Placed(["A", "A"], None)

    lease = Lease()
    by = await a_buyer(db)
    wanted = NewOrder("sandbox", [Line("7", None, 1)], ADDRESS, None, None, None, {})
    order = await advance.accept(
        db, by, wanted, await UNKEYED.check(db), lease, UNKEYED, previewed=True
    )
    saved = await submit.send(db, Doubling([]).connector, order, lease)

    assert saved is not None
    assert {*saved.order_ids} == {"A"}
    assert await db.fetchval("SELECT count(*) FROM platform_order") == 1


async def test_an_order_takes_one_step_in_a_transaction(db: Database) -> None:
    order = await placed(db, a_part("A"))

    async def two_steps() -> None:
        async with transaction(db) as tx:
            before = await locked(tx, order)
            for _ in range(2):
                advance.to(tx, before, decide.cancel_requested(before, BUYER), Cause("cancel"))

    with pytest.raises(RuntimeError, match="one step"):
        await two_steps()

    assert not (await current(db, order)).cancel_requested


async def test_who_waits_for_the_journal_never_waits_for_a_locked_order(db: Database) -> None:
    """Commands lock their orders, and then wait for a turn that jobs on these orders have."""
    by = await a_buyer(db)
    orders = [await placed(db, a_part(name), by=by) for name in "AB"]
    are_locked, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def command(order: Order) -> None:
        async with transaction(db) as tx:
            before = await locked(tx, order)
            are_locked.release()
            await go_on.wait()
            step = pay_decide.payment_requested(
                before, ids.new(), by, PayMode.AUTO, None, before.now
            )
            advance.to(tx, before, step, Cause("payment_requested"))

    async def job(order: Order, part: PlatformOrder) -> None:
        async with transaction(db) as tx:
            await advance.unlocked(
                tx, order, lambda known: advance.by_platform(known, [part], Cause("sync"))
            )

    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # locks are waited for longer
        for order in orders:
            group.create_task(command(order))
            await are_locked.acquire()
        for order, name in zip(orders, "AB", strict=True):
            group.create_task(job(order, shipped(a_part(name))))
        await asyncio.sleep(0.1)  # until both jobs wait
        go_on.set()

    for order in orders:
        after = await current(db, order)
        assert (after.status, after.version) == (OrderStatus.SHIPPED, order.version + 2)
