"""Follows orders: reads many at once from the platform, and brings them to where they are there."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql, sql_leases
from tradewind.orders.apply_platform_state import hear
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Cause, Order, Work
from tradewind.orders.schedule import after_failure, next_look
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.model import PlatformOrder
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

# Announced when an order should be looked at now.
FOLLOW = "follow"
_SYNC = Cause("sync")
# How many reads of a platform one batch makes.
_READS = 4


@dataclass(slots=True)
class Read:
    """What a platform said about orders, and the failure where it said nothing."""

    news: dict[str, PlatformOrder] = field(default_factory=dict)
    failures: dict[str, PlatformFailure] = field(default_factory=dict)


async def follow_due(db: Database, connector: Connector) -> bool:
    """Sync a batch of orders that are due; whether there were any.

    If the platform answers nothing at all, its failure is raised, so that the caller pauses.
    """
    traits = connector.traits
    lease = Lease()
    held = await sql_leases.claim_due(
        db,
        traits.platform,
        [Work.FOLLOW],
        lease=lease.id,
        held=HELD,
        limit=traits.most_orders_a_read * _READS,
    )
    if not held:
        return False
    read = await read_orders(connector, held)
    await apply(db, connector, lease, held, read)
    if read.failures and not read.news:
        raise next(iter(read.failures.values()))
    return True


async def read_orders(connector: Connector, orders: Sequence[Order]) -> Read:
    """Ask the platform about all parts of these orders, as many in a call as it takes."""
    wanted = list(dict.fromkeys(one for order in orders for one in order.order_ids))
    size = connector.traits.most_orders_a_read
    chunks = [wanted[start : start + size] for start in range(0, len(wanted), size)]
    read = Read()

    async def ask(chunk: Sequence[str]) -> None:
        try:
            for part in await connector.read_many(chunk):
                read.news[part.id] = part
        except PlatformFailure as failure:
            read.failures.update(dict.fromkeys(chunk, failure))

    await asyncio.gather(*(ask(chunk) for chunk in chunks))
    return read


async def apply(
    db: Database, connector: Connector, lease: Lease, held: Sequence[Order], read: Read
) -> None:
    """Record what was read of the orders that we hold, and give them back."""
    told: list[tuple[Order, Sequence[PlatformOrder]]] = []
    untold: list[Order] = []
    for order in held:
        parts = [read.news[one] for one in order.order_ids if one in read.news]
        if len(parts) == len(order.order_ids):
            told.append((order, parts))
        else:
            untold.append(order)
    broken: set[UUID] = set()
    current = await _advance(db, told, broken)
    for before, _ in told:
        after = current.get(before.id)
        if after is not None and _may_have_refunds(before, after):
            current[before.id] = await _look_at_refunds(db, connector, after)
        elif after is None and before.id in broken:
            untold.append(before)
        elif after is None:
            await sql_leases.release(db, lease.id, before.id)  # due again at once
    if current:
        looks = [(order, _next(order)) for order in current.values()]
        await sql_leases.finish(db, lease.id, looks, heard=True, only_looked=True)
    if untold:
        _tell_missing(untold, read)
        later = [(order, _later(order)) for order in untold]
        await sql_leases.finish(db, lease.id, later, heard=False, only_looked=True)


async def _advance(
    db: Database, told: Sequence[tuple[Order, Sequence[PlatformOrder]]], broken: set[UUID]
) -> dict[UUID, Order]:
    """Bring orders to where the news says; those that were, as they are now. Most news is none.

    `broken` gets those that can never be saved as the platform tells them.
    """
    current = {order.id: order for order, _ in told}
    news = {order.id: parts for order, parts in told if hear(order, parts).steps}
    saved = await _saved(db, news, broken) if news else {}
    return {
        one: saved.get(one, order)
        for one, order in current.items()
        if one not in news or one in saved
    }


async def _saved(
    db: Database, news: Mapping[UUID, Sequence[PlatformOrder]], broken: set[UUID]
) -> dict[UUID, Order]:
    """Save a batch. If it cannot be, each is tried alone: one that breaks holds up no other."""
    try:
        return await _save(db, news)
    except (asyncpg.IntegrityConstraintViolationError, RuntimeError) as error:
        if len(news) == 1:
            broken.update(news)
            log.error("order.not_saved", order=ids.ORDER.show(next(iter(news))), error=str(error))
            return {}
    found: dict[UUID, Order] = {}
    for order_id, parts in news.items():
        found |= await _saved(db, {order_id: parts}, broken)
    return found


async def _save(db: Database, news: Mapping[UUID, Sequence[PlatformOrder]]) -> dict[UUID, Order]:
    """In a batch, whoever is being changed by somebody else is passed over.

    Who waited for them here would journal later what happened earlier.
    """
    async with transaction(db) as tx:
        lock = sql.lock_orders if len(news) == 1 else sql.lock_free_orders
        moves = [advance.heard(one, news[one.id], _SYNC) for one in await lock(tx, list(news))]
        return {order.id: order for order in await advance.many(tx, moves)}


def _may_have_refunds(before: Order, after: Order) -> bool:
    """Whether the platform may have news of a refund."""
    waiting = any(decide.is_open(refund) for refund in after.refunds)
    return after.dispute or waiting or after.refunded_fen != before.refunded_fen


async def _look_at_refunds(db: Database, connector: Connector, order: Order) -> Order:
    """Ask about an order's refunds; a failure leaves it to the next time."""
    try:
        heard = [one for part in order.order_ids for one in await connector.refunds(part)]
    except PlatformFailure as failure:
        log.warning("order.refunds_not_read", order=order.reference, error=str(failure))
        return order
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None:
            return order
        step = decide.refunds_heard(locked, heard, [ids.new() for _ in heard], locked.now)
        return await advance.to(tx, locked, step, _SYNC)


def _tell_missing(orders: Sequence[Order], read: Read) -> None:
    for order in orders:
        if not any(one in read.failures for one in order.order_ids):
            log.error("order.missing_on_platform", order=order.reference, ids=order.order_ids)


def _next(order: Order) -> datetime | None:
    return next_look(order, order.now, random.random())  # noqa: S311 - it only spreads the load


def _later(order: Order) -> datetime:
    return after_failure(order.sync_failures, order.now, random.random())  # noqa: S311
