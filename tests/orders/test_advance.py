"""Saving a change of an order: all of it in one statement, or nothing."""

import msgspec
import pytest
from kit.orders import BUYER, a_part
from kit.platform import ADDRESS, UNKEYED, Fake, a_buyer, current, locked, placed

from tradewind.orders import advance, decide, submit
from tradewind.orders.lease import Lease
from tradewind.orders.model import Cause, NewOrder, Order, OrderStatus
from tradewind.platforms.model import Line, OrderRequest, Placed
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import sql as web_sql
from tradewind.web.idempotency import IdempotencyKey, StoredResponse
from tradewind.web.response import Response


async def _request_cancellation(db: Database, order: Order) -> None:
    async with transaction(db) as tx:
        before = await locked(tx, order)
        advance.to(tx, before, decide.cancel_requested(before, BUYER), Cause("cancel"))


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

    await submit.send(db, Creating([a_part("A")]).connector, order, lease, stored)

    saved = await current(db, order)
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
