"""Creates orders on the platform: never two for one of ours, whatever is killed or dropped when."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from tradewind import money
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql, sql_leases
from tradewind.orders.lease import Lease
from tradewind.orders.match_reference import match
from tradewind.orders.model import Cause, Failure, Order
from tradewind.orders.schedule import after_failure, next_look
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
from tradewind.storage.transaction import transaction

# How long a create that was never answered may still come true. Only then, and only if it cannot
# be found, is it sent again.
SETTLE = timedelta(minutes=2)
_LOOK_AGAIN = (timedelta(seconds=1), timedelta(seconds=15))
_CREATE = Cause("create")


async def create(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Bring an order that we hold onto the platform, or find it there."""
    if order.create_sent_at is not None:
        await _look_up(db, connector, order, lease)
    elif order.cancel_requested:
        await _drop(db, order, lease)
    elif await sql_leases.mark_sent(db, lease.id, order.id, sent=True):
        await send(db, connector, order, lease)


async def send(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Ask the platform to create an order. That we would is written down already."""
    if not lease.is_good_for_a_call():
        return
    draft = OrderRequest(
        order.reference, order.lines, order.address, order.remark, order.expected_fen
    )
    try:
        if not order.previewed:
            await _check_price(connector, order)
            # The preview took its time: whoever froze in it must not send what others have sent.
            if not await sql_leases.mark_sent(db, lease.id, order.id, sent=True):
                return
        placed = await connector.create(draft)
    except Rejected as never:
        await _refuse(db, order, lease, never)
    except OutcomeUnknown as unknown:
        log.warning("order.create_unknown", order=order.reference, code=unknown.code)
        await _give_back(db, order, lease, after=_LOOK_AGAIN[0])
    except Unavailable as later:
        await sql_leases.mark_sent(db, lease.id, order.id, sent=False)
        await _fail(db, order, lease, later)
    else:
        await _adopt(db, connector, order, lease, list(placed.order_ids))


async def _look_up(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Somebody has sent it, and nobody recorded what came of it: look before doing anything."""
    try:
        found = await connector.find_by_reference(order.reference)
    except PlatformFailure as failure:
        await _fail(db, order, lease, failure)
        return
    waited = order.now - (order.create_sent_at or order.now)
    known = match(order.lines, found)
    if known.surplus:
        extra = [part.id for part in known.surplus]
        log.error("order.duplicated", order=order.reference, surplus=extra)
    if known.parts and (known.complete or waited >= SETTLE):
        log.info("order.found", order=order.reference, order_ids=[p.id for p in known.parts])
        await _record(db, order, lease, known.parts)
    elif waited < SETTLE:
        pause = min(max(_LOOK_AGAIN[0], waited / 3), _LOOK_AGAIN[1])
        await _give_back(db, order, lease, after=pause)
    elif order.cancel_requested:
        await _drop(db, order, lease)
    elif await sql_leases.mark_sent(db, lease.id, order.id, sent=True):
        log.warning("order.create_again", order=order.reference, waited=str(waited))
        await send(db, connector, order, lease)


async def _check_price(connector: Connector, order: Order) -> None:
    """The preview that was not to be had when the order was accepted."""
    preview = await connector.preview(order.lines, order.address)
    for item in preview.unavailable:
        message = f"Product {item.product_id} cannot be bought."
        raise Rejected(order.platform, item.reason, message, reason=item.reason)
    expected = order.expected_fen
    if expected is not None and preview.total_fen != expected:
        message = f"The order costs {money.text(preview.total_fen)}, not {money.text(expected)}."
        raise Rejected(order.platform, "price_changed", message, reason=Reason.PRICE_CHANGED)


async def _adopt(
    db: Database, connector: Connector, order: Order, lease: Lease, order_ids: list[str]
) -> None:
    """Record the platform's ids, with what it says about them if it can be asked."""
    try:
        news: Sequence[PlatformOrder] = await connector.read_many(order_ids)
    except PlatformFailure as failure:
        log.warning("order.not_read", order=order.reference, error=str(failure))
        news = []
    if {part.id for part in news} >= set(order_ids):
        await _record(db, order, lease, news)
        return
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None or _is_another(locked, order_ids):
            return
        order = await advance.to(tx, locked, decide.placed(locked, order_ids), _CREATE)
    await _give_back(db, order, lease, after=_LOOK_AGAIN[0])


async def _record(db: Database, order: Order, lease: Lease, news: Sequence[PlatformOrder]) -> None:
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None or _is_another(locked, [part.id for part in news]):
            return
        order = await advance.by_news(tx, locked, news, _CREATE)
    at = next_look(order, order.now, random.random())  # noqa: S311 - it only spreads the load
    await sql_leases.finish(db, lease.id, [(order, at)], heard=True)


def _is_another(order: Order, order_ids: Sequence[str]) -> bool:
    """Whether the order is on the platform under other ids already: it must not grow by these."""
    surplus = [one for one in order_ids if order.order_ids and one not in order.order_ids]
    if surplus:
        log.error("order.duplicated", order=order.reference, surplus=surplus)
    return bool(surplus)


async def _refuse(db: Database, order: Order, lease: Lease, never: Rejected) -> None:
    failure = Failure(never.word, never.message)
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None:
            return
        order = await advance.to(tx, locked, decide.create_refused(locked, failure), _CREATE)
    await sql_leases.finish(db, lease.id, [(order, None)], heard=True)


async def _drop(db: Database, order: Order, lease: Lease) -> None:
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None:
            return
        order = await advance.to(tx, locked, decide.dropped(locked), Cause("cancel"))
    await sql_leases.finish(db, lease.id, [(order, None)], heard=True)


async def _give_back(db: Database, order: Order, lease: Lease, *, after: timedelta) -> None:
    await sql_leases.finish(db, lease.id, [(order, order.now + after)], heard=True)


async def _fail(db: Database, order: Order, lease: Lease, failure: PlatformFailure) -> None:
    """The platform did not answer, or not now: come back later, and then less often."""
    await sql_leases.finish(db, lease.id, [(order, retry_at(order, failure))], heard=False)
    raise failure


def retry_at(order: Order, failure: PlatformFailure) -> datetime:
    at = after_failure(order.sync_failures, order.now, random.random())  # noqa: S311
    wanted = timedelta(seconds=failure.retry_after if isinstance(failure, Unavailable) else 0)
    return max(at, order.now + wanted)
