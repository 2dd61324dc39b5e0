"""Refreshes an order before it is shown: one call at a time, and three seconds at the most."""

import asyncio
from datetime import timedelta
from time import monotonic
from uuid import UUID

from tradewind import ids
from tradewind.errors import Refusal
from tradewind.observability.logs import log
from tradewind.orders import follow, sql_leases, sql_lists
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Order
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.problems import NoSuch

_PATIENCE_SECONDS = 3.0
_POLL_SECONDS = 0.05


class Refreshes:
    """The refreshes that are under way in this process; those of others are known by their lease.

    An order that was heard of less than `min_age` ago is shown as it is.
    """

    def __init__(self, db: Database, platforms: Platforms, min_age: timedelta) -> None:
        self._db = db
        self._platforms = platforms
        self._min_age = min_age
        self._under_way: dict[tuple[UUID, UUID], asyncio.Task[tuple[Order | None, bool]]] = {}

    async def fresh(self, account_id: UUID, order_id: UUID) -> tuple[Order, bool]:
        """The order after a look at the platform, and whether that look failed."""
        if self._min_age:
            order = await self._find(account_id, order_id)
            if order.synced_at is not None and order.now - order.synced_at < self._min_age:
                return order, False
        key = (account_id, order_id)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._look_and_find(account_id, order_id))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        done, _ = await asyncio.wait({task}, timeout=_PATIENCE_SECONDS)
        if not done:
            order = await self._find(account_id, order_id)
            return order, bool(order.order_ids)
        found, looked = task.result()
        if found is None:
            raise NoSuch(ids.ORDER)
        return found, not looked and bool(found.order_ids)

    async def _find(self, account_id: UUID, order_id: UUID) -> Order:
        order = await sql_lists.find_order(self._db, account_id, order_id)
        if order is None:
            raise NoSuch(ids.ORDER)
        return order

    async def _look_and_find(self, account_id: UUID, order_id: UUID) -> tuple[Order | None, bool]:
        looked = await self._look(account_id, order_id)
        return await sql_lists.find_order(self._db, account_id, order_id), looked

    async def close(self) -> None:
        """Let what is under way end: it holds leases."""
        if self._under_way:
            await asyncio.wait(set(self._under_way.values()), timeout=_PATIENCE_SECONDS)

    async def _look(self, account_id: UUID, order_id: UUID) -> bool:
        """Whether the platform was heard of since we were asked."""
        asked = monotonic()
        started = None
        while monotonic() - asked < _PATIENCE_SECONDS:
            lease = Lease()
            held = await sql_leases.take_lease(
                self._db, account_id, order_id, lease=lease.id, held=HELD
            )
            if held is not None:
                if started is not None and held.synced_at and held.synced_at >= started:
                    await sql_leases.release(self._db, lease.id, held.id)
                    return True  # whoever had it before us has just looked
                return await self._ask(held, lease)
            order = await sql_lists.find_order(self._db, account_id, order_id)
            if order is None:
                return False
            started = started or order.now
            if order.synced_at is not None and order.synced_at >= started:
                return True
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _ask(self, order: Order, lease: Lease) -> bool:
        if not order.order_ids:
            await sql_leases.release(self._db, lease.id, order.id)
            return True
        try:
            connector = await self._platforms.connector(order.platform)
        except Refusal as refusal:
            log.warning("order.not_refreshed", order=order.reference, error=str(refusal))
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        read = await follow.read_orders(connector, [order])
        await follow.apply(self._db, connector, lease, [order], read)
        return all(one in read.news for one in order.order_ids)
