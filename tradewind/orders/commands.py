"""Carries out commands on orders: decides from the order as it is, and saves what it becomes."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tradewind.errors import existing
from tradewind.ids import Kind
from tradewind.orders import rows, sql
from tradewind.orders.advance import OrderChanged
from tradewind.orders.idempotency import CommandIdempotency
from tradewind.orders.model import Order
from tradewind.orders.sql import WhichOrder
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction

Result = TypeVar("Result")


async def carry_out(
    db: Database,
    which: WhichOrder,
    kind: Kind,
    idempotency: CommandIdempotency[Result],
    act: Callable[[Tx, Order], Result],
    check: Callable[[Database | Tx, Order], Awaitable[None]] | None = None,
) -> Result:
    """Act on an order, or raise what is wrong; return and store the result.

    `kind` is what is not found if there is no such order. `check` reads what else `act` relies on.

    The order is read without a lock and saved if nobody changed it meanwhile, in two statements. If
    somebody did, it is locked, and everything is done again in one transaction. The first of two
    requests with the same key may commit while the second waits for the lock: the result of the
    first is looked up after that.
    """
    row = await idempotency.check_with(db, which.query, which.args)
    order = existing(None if row is None else rows.read_order(row), kind)
    if check is not None:
        await check(db, order)
    try:
        async with transaction(db) as tx:
            return _act(tx, order, idempotency, act)
    except OrderChanged:
        pass
    async with transaction(db) as tx:
        order = existing(await sql.lock(tx, which), kind)
        await idempotency.check(tx)
        if check is not None:
            await check(tx, order)
        return _act(tx, order, idempotency, act)


def _act(
    tx: Tx,
    order: Order,
    idempotency: CommandIdempotency[Result],
    act: Callable[[Tx, Order], Result],
) -> Result:
    result = act(tx, order)
    idempotency.store(tx, result)
    return result
