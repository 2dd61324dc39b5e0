"""Refreshes an order before it is shown: one call at a time, and three seconds at the most."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from tradewind import ids
from tradewind.errors import ApiError, ResourceNotFound
from tradewind.observability.logs import log
from tradewind.orders import sql_leases, sql_lists, sync
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Order
from tradewind.platforms.failures import BudgetUsedUp
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database

_PATIENCE_SECONDS = 3.0
_POLL_SECONDS = 0.05

Key = tuple[UUID, UUID]
# The order as it is after a look, and whether the platform answered.
Look = asyncio.Task[tuple[Order | None, bool]]


@dataclass(slots=True)
class _Turns:
    """The look that is under way since `began`, and the one after it for those who came later."""

    now: Look
    began: float
    then: Look | None = None


class Refreshes:
    """The refreshes that are under way in this process; those of others are known by their lease.

    Whoever comes while a look is under way shares the next one, which began after they asked. Only
    where the platform is so slow that the next would come too late do they share the one before
    it. An order that was heard of less than `min_age` ago is shown as it is.
    """

    def __init__(self, db: Database, platforms: Platforms, min_age: timedelta) -> None:
        self._db = db
        self._platforms = platforms
        self._min_age = min_age
        self._turns: dict[Key, _Turns] = {}

    async def fresh(self, account_id: UUID, order_id: UUID) -> tuple[Order, bool]:
        """The order after a look at the platform, and whether there was none in time."""
        if self._min_age:
            order = await self._find(account_id, order_id)
            if order.synced_at is not None and order.now - order.synced_at < self._min_age:
                return order, False
        look = self._join((account_id, order_id))
        done, _ = await asyncio.wait({look}, timeout=_PATIENCE_SECONDS)
        if not done:
            order = await self._find(account_id, order_id)
            return order, bool(order.order_ids)
        found, looked = look.result()
        if found is None:
            raise ResourceNotFound(ids.ORDER)
        return found, not looked and bool(found.order_ids)

    async def close(self) -> None:
        """Let what is under way end: it holds leases."""
        looks = {turns.then or turns.now for turns in self._turns.values()}
        if looks:
            await asyncio.wait(looks, timeout=_PATIENCE_SECONDS)

    def _join(self, key: Key) -> Look:
        turns = self._turns.get(key)
        if turns is None:
            look = asyncio.create_task(self._look_and_find(key))
            turns = self._turns[key] = _Turns(look, monotonic())
            look.add_done_callback(lambda _: self._next(key))
            return look
        if turns.then is None:
            turns.then = asyncio.create_task(self._look_after(turns.now, turns.began, key))
        return turns.then

    def _next(self, key: Key) -> None:
        """One look is over: those who waited for it have it, and the next is the one under way."""
        turns = self._turns.pop(key)
        if turns.then is not None:
            self._turns[key] = _Turns(turns.then, monotonic())
            turns.then.add_done_callback(lambda _: self._next(key))

    async def _look_after(self, before: Look, began: float, key: Key) -> tuple[Order | None, bool]:
        asked = monotonic()
        await asyncio.wait({before})
        if _too_late_for_another(took=monotonic() - began, waited=monotonic() - asked):
            return before.result()
        return await self._look_and_find(key)

    async def _look_and_find(self, key: Key) -> tuple[Order | None, bool]:
        looked = await self._look(*key)
        return await sql_lists.find_order(self._db, *key), looked

    async def _find(self, account_id: UUID, order_id: UUID) -> Order:
        order = await sql_lists.find_order(self._db, account_id, order_id)
        if order is None:
            raise ResourceNotFound(ids.ORDER)
        return order

    async def _look(self, account_id: UUID, order_id: UUID) -> bool:
        """Ask the platform as soon as nobody else deals with the order; whether it answered."""
        asked = monotonic()
        busy_at: datetime | None = None
        while (waited := monotonic() - asked) < _PATIENCE_SECONDS:
            lease = Lease()
            held = await sql_leases.take_lease(
                self._db, account_id, order_id, lease=lease.id, held=HELD, only_to_look=True
            )
            if held is not None:
                heard = busy_at and held.synced_at and held.synced_at >= busy_at
                if heard and _too_late_for_another(took=waited, waited=waited):
                    await sql_leases.release(self._db, lease.id, held.id)
                    return True
                return await self._ask(held, lease)
            order = await sql_lists.find_order(self._db, account_id, order_id)
            if order is None:
                return False
            busy_at = busy_at or order.now
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _ask(self, order: Order, lease: Lease) -> bool:
        if not order.order_ids:
            await sql_leases.release(self._db, lease.id, order.id)
            return True
        try:
            connector = await self._platforms.connector(order.platform, Purpose.REFRESH)
        except ApiError as refusal:
            log.warning("order.not_refreshed", order=order.reference, error=str(refusal))
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        if not await self._platforms.may_refresh(order.platform, order.account_id):
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        read = await sync.read_orders(connector, [order])
        if any(isinstance(failure, BudgetUsedUp) for failure in read.failures.values()):
            # The platform was not asked, so this is no failure of it that would delay the sync.
            await sql_leases.release(self._db, lease.id, order.id)
            return False
        await sync.apply(self._db, connector, lease, [order], read)
        return all(one in read.news for one in order.order_ids)


def _too_late_for_another(*, took: float, waited: float) -> bool:
    """Whether a look that takes as long as the last one would end after our patience."""
    return took > _PATIENCE_SECONDS - waited
