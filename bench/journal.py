"""The cost of numbering events per account."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from uuid import UUID

from bench.results import Results
from tradewind import ids
from tradewind.observability import logs
from tradewind.orders import advance, rows, sql
from tradewind.orders.advance import Advance, GiveBack
from tradewind.orders.lease import Lease
from tradewind.orders.model import Cause, NewOrder, Order
from tradewind.orders.payments import decide
from tradewind.orders.payments.model import PaymentStatus, PayMode
from tradewind.orders.person import Person
from tradewind.orders.rows import COLUMNS
from tradewind.orders.sql import WITH_PAYMENT
from tradewind.platforms.model import (
    Address,
    Line,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
)
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web.idempotency import StoredResponse
from tradewind.web.response import Response

_WRITERS = (1, 8, 32)
_ROUNDS = 5
_SECONDS = 1.0
_BATCH = 100
_BATCHES = 5
_ADDRESS = Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号")
_TOTAL_FEN = 1500
_CREATED = Cause("created")
_UNKEYED: StoredResponse[object] = StoredResponse(None, lambda _: Response())


async def run(database_url: str, results: Results) -> None:
    """Tell how many changes a second writers make who share an account, and who do not."""
    logs.configure("json", "warning")
    db = Database(database_url, size=max(_WRITERS), name="bench")
    await db.open()
    try:
        fsync = await db.fetchval("SELECT current_setting('fsync')")
        results.section(
            "Journal: orders of one account changed, against many accounts", f" (fsync {fsync})"
        )
        shared = await make_orders(db, _BATCH, accounts=1)
        spread = await make_orders(db, _BATCH, accounts=_BATCH)
        for writers in _WRITERS:
            name = f"{writers} at once"
            pair = shared[:writers], spread[:writers]
            results.tell(*await _compare(name, db, _one_by_one, *pair))
        name = f"{_BATCH} in a transaction"
        results.tell(*await _compare(name, db, _together, shared, spread))
    finally:
        await db.close()


async def _compare(
    name: str,
    db: Database,
    measure: Callable[[Database, Sequence[UUID]], Awaitable[float]],
    shared: Sequence[UUID],
    spread: Sequence[UUID],
) -> tuple[float, str]:
    """The ratio of the rates, and its name.

    Both are measured in turns, so that whatever else the machine does meets both.
    """
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        rates[0].append(await measure(db, shared))
        rates[1].append(await measure(db, spread))
    one, many = map(median, rates)
    return one / many, f"{name} ({one:,.0f}/s against {many:,.0f}/s)"


async def _one_by_one(db: Database, orders: Sequence[UUID]) -> float:
    """Changes a second where each order has a writer, and each change a transaction."""
    started = perf_counter()
    made = 0

    async def write(order_id: UUID) -> None:
        nonlocal made
        while perf_counter() - started < _SECONDS:
            async with transaction(db) as tx:
                await _change(tx, order_id)
            made += 1

    await asyncio.gather(*map(write, orders))
    return made / (perf_counter() - started)


async def _together(db: Database, order_ids: Sequence[UUID]) -> float:
    """Changes a second where one transaction changes all orders, as a sync does.

    They are read by one statement and not locked: a sync reads them when it claims them.
    """
    started = perf_counter()
    for _ in range(_BATCHES):
        async with transaction(db) as tx:
            records = await tx.fetch(
                f"SELECT {COLUMNS} FROM {WITH_PAYMENT} WHERE o.id = ANY ($1::uuid[])",  # noqa: S608
                order_ids,
            )
            await advance.many(tx, [_toggled(rows.read_order(record)) for record in records])
    return _BATCHES * len(order_ids) / (perf_counter() - started)


async def _change(tx: Tx, order_id: UUID) -> None:
    """Request the payment of an order, or withdraw the request: one event either way."""
    order = await sql.lock_order(tx, None, order_id)
    if order is not None:
        await advance.many(tx, [_toggled(order)])


def _toggled(order: Order) -> Advance:
    by = Person(order.account_id, "bench@bench.example")
    if order.payment_status is PaymentStatus.PENDING_APPROVAL:
        step = decide.payment_withdrawn(order, by, order.now)
        return Advance(order, [(step, Cause("payment_withdrawn", by))])
    step = decide.payment_requested(order, ids.new(), by, PayMode.AUTO, None, order.now)
    return Advance(order, [(step, Cause("payment_requested", by))])


async def make_orders(db: Database, count: int, *, accounts: int) -> Sequence[UUID]:
    """Orders that wait for payment, dealt out over new accounts."""
    owners = [ids.new() for _ in range(accounts)]
    for account_id in owners:
        await db.execute(
            """
            INSERT INTO account (id, email, roles, plan, created_at, updated_at)
            VALUES ($1, $1::uuid::text || '@bench.example', '{buyer}', 'pro', now(), now())
            """,
            account_id,
        )
    made = []
    for number in range(count):
        by = Person(owners[number % accounts], "bench@bench.example")
        wanted = NewOrder("sandbox", [Line("7", None, 1)], _ADDRESS, None, None, None, {})
        lease, at = Lease(), await _UNKEYED.check(db)
        order = await advance.accept(db, by, wanted, at, lease, _UNKEYED, previewed=True)
        created = partial(advance.by_platform, parts=[_placed(str(order.id))], cause=_CREATED)
        made.append((await advance.record(db, order, GiveBack(lease.id), created)).id)
    return made


def _placed(order_id: str) -> PlatformOrder:
    return PlatformOrder(
        id=order_id,
        reference=None,
        status=PlatformOrderStatus.PENDING_PAYMENT,
        raw_status="waitbuyerpay",
        payment=PaymentState.UNPAID,
        total_fen=_TOTAL_FEN,
        goods_fen=_TOTAL_FEN,
        freight_fen=0,
        discount_fen=0,
        refunded_fen=0,
        items=[],
        shipments=[],
        close_reason=None,
        pay_before=None,
        created_at=None,
        paid_at=None,
        modified_at=None,
    )
