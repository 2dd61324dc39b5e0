"""Creates orders on the marketplace, at most one for each of our orders."""

import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from tradewind import money
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql_leases
from tradewind.orders.advance import Advance, GiveBack
from tradewind.orders.goods import GoodsReading
from tradewind.orders.idempotency import Idempotency
from tradewind.orders.lease import Lease
from tradewind.orders.match_reference import match
from tradewind.orders.model import Cause, Order
from tradewind.orders.payments.model import Failure
from tradewind.orders.schedule import after_failure
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import (
    OutcomeUnknown,
    PlatformFailure,
    Reason,
    Rejected,
    Unavailable,
)
from tradewind.platforms.model import OrderRequest, PlatformOrder
from tradewind.storage.pool import Database

# How long a creation without a response may still happen. Only then, and only if the order cannot
# be found, is it sent again.
SETTLE = timedelta(minutes=2)
_LOOK_UP_AGAIN = (timedelta(seconds=1), timedelta(seconds=15))
_CREATE = Cause("create")


async def create(
    db: Database,
    connector: Connector,
    order: Order,
    lease: Lease,
    goods: GoodsReading | None = None,
) -> None:
    """Create an order whose lease we hold on the marketplace, or find it there.

    `goods` are those that were not known when the order was accepted.
    """
    if order.create_sent_at is not None:
        await _look_up(db, connector, order, lease, goods)
    elif order.cancel_requested:
        await _drop(db, order, lease)
    elif await sql_leases.mark_sent(db, lease.id, order.id, sent=True):
        await send(db, connector, order, lease, goods=goods)


async def send(
    db: Database,
    connector: Connector,
    order: Order,
    lease: Lease,
    idempotency: Idempotency[Order] | None = None,
    goods: GoodsReading | None = None,
) -> Order | None:
    """Create an order on the marketplace; that it is sent was recorded before.

    Return the order as it was recorded, with its result for repeats; None: nothing is known yet.
    """
    if not lease.is_good_for_a_call():
        return None
    request = OrderRequest(
        order.reference, order.lines, order.address, order.remark, order.expected_fen
    )
    try:
        if not order.previewed:
            await _check_price(connector, order)
            # The preview took time: a process that froze in it must not send what others have sent.
            if not await sql_leases.mark_sent(db, lease.id, order.id, sent=True):
                return None
        placed = await connector.create(request)
    except Rejected as rejected:
        return await _reject(db, order, lease, rejected, idempotency)
    except OutcomeUnknown as unknown:
        log.warning("order.create_unknown", order=order.reference, code=unknown.code)
        await _give_back(db, order, lease, after=_LOOK_UP_AGAIN[0])
        return None
    except Unavailable as unavailable:
        await sql_leases.mark_sent(db, lease.id, order.id, sent=False)
        await _fail(db, order, lease, unavailable)
        return None
    order_ids = list(placed.order_ids)
    return await _record_ids(db, connector, order, lease, order_ids, idempotency, goods)


async def _look_up(
    db: Database, connector: Connector, order: Order, lease: Lease, goods: GoodsReading | None
) -> None:
    """Look for an order whose creation was sent, and of which no response was recorded."""
    try:
        parts = await connector.find_by_reference(order.reference)
    except PlatformFailure as failure:
        await _fail(db, order, lease, failure)
        return
    waited = order.now - (order.create_sent_at or order.now)
    matched = match(order.lines, parts)
    if matched.surplus:
        extra = [part.id for part in matched.surplus]
        log.error("order.duplicated", order=order.reference, surplus=extra)
    if matched.parts and (matched.complete or waited >= SETTLE):
        log.info("order.found", order=order.reference, order_ids=[p.id for p in matched.parts])
        await _record(db, order, lease, matched.parts, None, goods)
    elif waited < SETTLE:
        pause = min(max(_LOOK_UP_AGAIN[0], waited / 3), _LOOK_UP_AGAIN[1])
        await _give_back(db, order, lease, after=pause)
    elif order.cancel_requested:
        await _drop(db, order, lease)
    elif await sql_leases.mark_sent(db, lease.id, order.id, sent=True):
        log.warning("order.create_again", order=order.reference, waited=str(waited))
        await send(db, connector, order, lease, goods=goods)


async def _check_price(connector: Connector, order: Order) -> None:
    """Preview an order that could not be previewed when it was accepted."""
    preview = await connector.preview(order.lines, order.address)
    for item in preview.unavailable:
        message = f"Product {item.product_id} cannot be bought."
        raise Rejected(order.platform, item.reason, message, reason=item.reason)
    expected = order.expected_fen
    if expected is not None and preview.total_fen != expected:
        message = f"The order costs {money.text(preview.total_fen)}, not {money.text(expected)}."
        raise Rejected(order.platform, "price_changed", message, reason=Reason.PRICE_CHANGED)


async def _record_ids(
    db: Database,
    connector: Connector,
    order: Order,
    lease: Lease,
    order_ids: list[str],
    idempotency: Idempotency[Order] | None,
    goods: GoodsReading | None,
) -> Order:
    """Record the marketplace's ids, with the state that it shows if it can be read."""
    try:
        parts: Sequence[PlatformOrder] = await connector.read_many(order_ids)
    except PlatformFailure as failure:
        log.warning("order.not_read", order=order.reference, error=str(failure))
        parts = []
    if {part.id for part in parts} >= set(order_ids):
        return await _record(db, order, lease, parts, idempotency, goods)

    def plan(latest: Order) -> Advance:
        if _is_another(latest, order_ids):
            return Advance(latest)
        placed = _filled(decide.placed(latest, order_ids), goods)
        return Advance(latest).then(placed, _CREATE)

    soon = GiveBack(lease.id, lambda placed: placed.now + _LOOK_UP_AGAIN[0])
    return await _save(db, order, soon, plan, idempotency)


async def _record(
    db: Database,
    order: Order,
    lease: Lease,
    parts: Sequence[PlatformOrder],
    idempotency: Idempotency[Order] | None,
    goods: GoodsReading | None,
) -> Order:
    def plan(latest: Order) -> Advance:
        if _is_another(latest, [part.id for part in parts]):
            return Advance(latest)
        # Goods of products say more than those of the marketplace's own lines.
        created = advance.by_platform(_filled(latest, goods), parts, _CREATE)
        return Advance(latest, created.steps)

    return await _save(db, order, GiveBack(lease.id), plan, idempotency)


async def _save(
    db: Database,
    order: Order,
    give_back: GiveBack,
    plan: Callable[[Order], Advance],
    idempotency: Idempotency[Order] | None,
) -> Order:
    along = None if idempotency is None else idempotency.replacement
    return await advance.record(db, order, give_back, plan, along)


def _filled(order: Order, goods: GoodsReading | None) -> Order:
    """The order with the goods that became known while it was created."""
    lines = order.lines if goods is None else goods.fill(order.lines)
    return order if lines is order.lines else replace(order, lines=lines)


def _is_another(order: Order, order_ids: Sequence[str]) -> bool:
    """Whether the order has other ids on the marketplace already: it must not get these too."""
    surplus = [
        order_id for order_id in order_ids if order.order_ids and order_id not in order.order_ids
    ]
    if surplus:
        log.error("order.duplicated", order=order.reference, surplus=surplus)
    return bool(surplus)


async def _reject(
    db: Database,
    order: Order,
    lease: Lease,
    rejected: Rejected,
    idempotency: Idempotency[Order] | None,
) -> Order:
    failure = Failure(rejected.word, rejected.message)

    def plan(latest: Order) -> Advance:
        return Advance(latest).then(decide.create_rejected(latest, failure), _CREATE)

    return await _save(db, order, GiveBack(lease.id, _never), plan, idempotency)


async def _drop(db: Database, order: Order, lease: Lease) -> None:
    def plan(latest: Order) -> Advance:
        return Advance(latest).then(decide.dropped(latest), Cause("cancel"))

    await advance.record(db, order, GiveBack(lease.id, _never), plan)


def _never(_: Order) -> None:
    """An order that does not exist on the marketplace is not synced."""


async def _give_back(db: Database, order: Order, lease: Lease, *, after: timedelta) -> None:
    at = advance.current(order).now + after
    await sql_leases.give_back(db, lease.id, [(order, at)], synced=True)


async def _fail(db: Database, order: Order, lease: Lease, failure: PlatformFailure) -> None:
    """Give an order back whose marketplace did not respond: retry later, with a backoff."""
    await sql_leases.give_back(db, lease.id, [(order, retry_at(order, failure))], synced=False)
    raise failure


def retry_at(order: Order, failure: PlatformFailure) -> datetime:
    now = advance.current(order).now
    at = after_failure(order.sync_failures, now, random.random())  # noqa: S311 - a jitter
    pause = timedelta(seconds=failure.retry_after if isinstance(failure, Unavailable) else 0)
    return max(at, now + pause)
