"""Syncs orders: reads many at once from the marketplace, and applies the states that it shows."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.observability import tracing
from tradewind.observability.logs import log
from tradewind.orders import advance, sql_leases
from tradewind.orders.advance import Advance, GiveBack
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Cause, Order, PlatformJob
from tradewind.orders.payments import decide
from tradewind.orders.schedule import after_failure
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.model import PlatformOrder, Refund
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_SYNC = Cause("sync")
# How many reads of a marketplace one batch makes.
_READS = 4


def sync_topic(platform: str) -> str:
    """The topic that is announced when orders of this marketplace should be synced now."""
    return f"sync {platform}"


@dataclass(slots=True)
class Read:
    """The parts of orders that a marketplace showed, and the failures where it did not."""

    parts: dict[str, PlatformOrder] = field(default_factory=dict)
    failures: dict[str, PlatformFailure] = field(default_factory=dict)


async def sync_due(db: Database, connector: Connector) -> bool:
    """Sync a batch of orders that are due; return whether there were any.

    If the marketplace does not respond at all, its failure is raised, so that the caller pauses.
    """
    traits = connector.traits
    lease = Lease()
    held = await sql_leases.claim_due(
        db,
        traits.platform,
        [PlatformJob.SYNC],
        lease=lease.id,
        held=HELD,
        limit=traits.most_orders_a_read * _READS,
    )
    if not held:
        return False
    with tracing.span("orders sync", **{"tradewind.platform": traits.platform}):
        read = await read_orders(connector, held)
        await apply(db, connector, lease, held, read)
    if read.failures and not read.parts:
        raise next(iter(read.failures.values()))
    return True


async def read_orders(connector: Connector, orders: Sequence[Order]) -> Read:
    """Read all parts of these orders, as many in a call as the marketplace takes."""
    order_ids = list(dict.fromkeys(part_id for order in orders for part_id in order.order_ids))
    size = connector.traits.most_orders_a_read
    chunks = [order_ids[start : start + size] for start in range(0, len(order_ids), size)]
    read = Read()

    async def read_chunk(chunk: Sequence[str]) -> None:
        try:
            for part in await connector.read_many(chunk):
                read.parts[part.id] = part
        except PlatformFailure as failure:
            read.failures.update(dict.fromkeys(chunk, failure))

    await asyncio.gather(*(read_chunk(chunk) for chunk in chunks))
    return read


async def apply(
    db: Database, connector: Connector, lease: Lease, held: Sequence[Order], read: Read
) -> None:
    """Save what was read of the orders whose lease we hold, and give them back."""
    changed: list[Advance] = []
    unchanged: list[Order] = []
    with_refunds: list[tuple[Advance, Sequence[PlatformOrder]]] = []
    failed: list[Order] = []
    for order in held:
        parts = [read.parts[part_id] for part_id in order.order_ids if part_id in read.parts]
        if len(parts) != len(order.order_ids):
            _log_missing(order, read)
            failed.append(order)
            continue
        planned = advance.by_platform(advance.current(order), parts, _SYNC)
        if _may_have_refunds(order, planned.end):
            with_refunds.append((planned, parts))
        elif planned.changes_nothing:
            unchanged.append(order)
        elif len(held) == 1:
            failed += await _save_one(db, lease, order, parts, None)
        else:
            changed.append(planned)
    if changed:
        failed += await _save(db, lease, changed)
    for planned, shown in with_refunds:
        refunds = await _read_refunds(connector, planned.end)
        failed += await _save_one(db, lease, planned.order, shown, refunds)
    if unchanged:
        due = [(order, advance.next_sync(order)) for order in unchanged]
        await sql_leases.give_back(db, lease.id, due, synced=True, only_synced=True)
    if failed:
        later = [(order, _retry_at(order)) for order in failed]
        await sql_leases.give_back(db, lease.id, later, synced=False, only_synced=True)


async def _save(db: Database, lease: Lease, changed: Sequence[Advance]) -> Sequence[Order]:
    """Save a batch; return the orders that cannot be saved as the marketplace shows them.

    If the batch cannot be saved, each order is saved alone, so that one of them does not stop the
    others. An order that another process changes meanwhile is left out, and is due again at once.
    """
    try:
        async with transaction(db) as tx:
            saved = await advance.many(tx, changed, GiveBack(lease.id, only_synced=True))
    except (asyncpg.IntegrityConstraintViolationError, RuntimeError) as error:
        if len(changed) == 1:
            return [_log_not_saved(changed[0].order, error)]
        return [order for single in changed for order in await _save(db, lease, [single])]
    for planned in changed:
        if planned.order.id not in saved:
            await sql_leases.release(db, lease.id, planned.order.id)
    return []


async def _save_one(
    db: Database,
    lease: Lease,
    order: Order,
    parts: Sequence[PlatformOrder],
    refunds: Sequence[Refund] | None,
) -> Sequence[Order]:
    """Save one order, with its refunds if they were read; return it if it cannot be saved."""
    new_ids: Sequence[UUID] = [ids.new() for _ in refunds or ()]

    def plan(latest: Order) -> Advance:
        planned = advance.by_platform(latest, parts, _SYNC)
        if refunds is None:
            return planned
        return planned.then(decide.refunds_synced(planned.end, refunds, new_ids, latest.now), _SYNC)

    try:
        await advance.record(db, order, GiveBack(lease.id, only_synced=True), plan)
    except (asyncpg.IntegrityConstraintViolationError, RuntimeError) as error:
        return [_log_not_saved(order, error)]
    return []


def _may_have_refunds(before: Order, after: Order) -> bool:
    """Whether the marketplace may show another state of a refund."""
    waiting = any(decide.is_open(refund) for refund in after.refunds)
    return after.dispute or waiting or after.refunded_fen != before.refunded_fen


async def _read_refunds(connector: Connector, order: Order) -> Sequence[Refund] | None:
    """Read an order's refunds; None: they cannot be read now."""
    try:
        return [
            refund for part_id in order.order_ids for refund in await connector.refunds(part_id)
        ]
    except PlatformFailure as failure:
        log.warning("order.refunds_not_read", order=order.reference, error=str(failure))
        return None


def _log_missing(order: Order, read: Read) -> None:
    if not any(part_id in read.failures for part_id in order.order_ids):
        log.error("order.missing_on_platform", order=order.reference, ids=order.order_ids)


def _log_not_saved(order: Order, error: Exception) -> Order:
    log.error("order.not_saved", order=order.reference, error=str(error))
    return order


def _retry_at(order: Order) -> datetime:
    return after_failure(order.sync_failures, order.now, random.random())  # noqa: S311 - a jitter
