"""Refreshes an order before it is shown: one sync at a time, within three seconds."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from tradewind import ids
from tradewind.errors import ApiError, ResourceNotFound
from tradewind.observability.logs import log
from tradewind.orders import sql_leases, sql_lists, sync
from tradewind.orders.get_order import get_order
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Order
from tradewind.platforms.failures import BudgetUsedUp
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database

_PATIENCE_SECONDS = 3.0
_POLL_SECONDS = 0.05

Key = tuple[UUID, UUID]
# The order after a sync, and whether the marketplace responded.
Sync = asyncio.Task[tuple[Order | None, bool]]


@dataclass(slots=True)
class _Syncs:
    """The sync that runs since `began`, and the next one, for requests that came later."""

    running: Sync
    began: float
    next: Sync | None = None


class Refreshes:
    """The refreshes that run in this process; those of other processes show by their lease.

    Requests that come while a sync runs share the next one, which begins after they came. Only if
    the marketplace is so slow that the next one would end too late do they share the running one.
    An order that was synced less than `min_age` ago is shown as it is.
    """

    def __init__(self, db: Database, platforms: Platforms, min_age: timedelta) -> None:
        self._db = db
        self._platforms = platforms
        self._min_age = min_age
        self._syncs: dict[Key, _Syncs] = {}

    async def fresh(self, account_id: UUID, order_id: UUID) -> tuple[Order, bool]:
        """Return the order after a sync, and whether it is stale: there was no sync in time."""
        if self._min_age:
            order = await get_order(self._db, account_id, order_id)
            if order.synced_at is not None and order.now - order.synced_at < self._min_age:
                return order, False
        sync_task = self._join((account_id, order_id))
        done, _ = await asyncio.wait({sync_task}, timeout=_PATIENCE_SECONDS)
        if not done:
            order = await get_order(self._db, account_id, order_id)
            return order, bool(order.order_ids)
        refreshed, responded = sync_task.result()
        if refreshed is None:
            raise ResourceNotFound(ids.ORDER)
        return refreshed, not responded and bool(refreshed.order_ids)

    async def close(self) -> None:
        """Let running syncs end: they hold leases."""
        tasks = {syncs.next or syncs.running for syncs in self._syncs.values()}
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE_SECONDS)

    def _join(self, key: Key) -> Sync:
        syncs = self._syncs.get(key)
        if syncs is None:
            task = asyncio.create_task(self._sync_and_find(key))
            self._syncs[key] = _Syncs(task, monotonic())
            task.add_done_callback(lambda _: self._end(key))
            return task
        if syncs.next is None:
            syncs.next = asyncio.create_task(self._sync_after(syncs.running, syncs.began, key))
        return syncs.next

    def _end(self, key: Key) -> None:
        """A sync is over: the next one, if there is one, runs now."""
        syncs = self._syncs.pop(key)
        if syncs.next is not None:
            self._syncs[key] = _Syncs(syncs.next, monotonic())
            syncs.next.add_done_callback(lambda _: self._end(key))

    async def _sync_after(self, before: Sync, began: float, key: Key) -> tuple[Order | None, bool]:
        came_at = monotonic()
        await asyncio.wait({before})
        if _too_late_for_another(took=monotonic() - began, waited=monotonic() - came_at):
            return before.result()
        return await self._sync_and_find(key)

    async def _sync_and_find(self, key: Key) -> tuple[Order | None, bool]:
        responded = await self._sync(*key)
        return await sql_lists.find_order(self._db, *key), responded

    async def _sync(self, account_id: UUID, order_id: UUID) -> bool:
        """Sync once nobody else holds the order's lease; whether the marketplace responded."""
        came_at = monotonic()
        busy_at: datetime | None = None
        while (waited := monotonic() - came_at) < _PATIENCE_SECONDS:
            lease = Lease()
            held = await sql_leases.take_lease(
                self._db, account_id, order_id, lease=lease.id, held=HELD, only_sync=True
            )
            if held is not None:
                synced = busy_at and held.synced_at and held.synced_at >= busy_at
                if synced and _too_late_for_another(took=waited, waited=waited):
                    await sql_leases.release(self._db, lease.id, held.id)
                    return True
                return await self._read(held, lease)
            order = await sql_lists.find_order(self._db, account_id, order_id)
            if order is None:
                return False
            busy_at = busy_at or order.now
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _read(self, order: Order, lease: Lease) -> bool:
        if not order.order_ids:
            await sql_leases.release(self._db, lease.id, order.id)
            return True
        try:
            connector = await self._platforms.connector(order.platform, Purpose.REFRESH)
        except ApiError as error:
            log.warning("order.not_refreshed", order=order.reference, error=str(error))
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        if not await self._platforms.may_refresh(order.platform, order.account_id):
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        read = await sync.read_orders(connector, [order])
        if any(isinstance(failure, BudgetUsedUp) for failure in read.failures.values()):
            # The marketplace was not called: this is no failure that delays the next sync.
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        await sync.apply(self._db, connector, lease, [order], read)
        return all(part_id in read.parts for part_id in order.order_ids)


def _too_late_for_another(*, took: float, waited: float) -> bool:
    """Whether another sync that takes as long as the last one would end too late."""
    return took > _PATIENCE_SECONDS - waited
