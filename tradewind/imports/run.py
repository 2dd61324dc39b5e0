"""Goes on with imports in the worker: checks their orders with marketplaces, then places them."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import msgspec

from tradewind import ids
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import Conflict, Invalid, ServiceUnavailable, UpstreamFailed
from tradewind.imports import sql
from tradewind.imports.model import (
    ImportAmounts,
    ImportOrderStatus,
    ImportStatus,
    PendingOrder,
    RunningImport,
)
from tradewind.imports.placement import AlreadyPlaced, Placement
from tradewind.observability.logs import log
from tradewind.orders import place as placing
from tradewind.orders.errors import ItemsUnavailable
from tradewind.orders.inputs import OrderIn
from tradewind.orders.person import Person
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import PlatformBusy
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database

# A worker that dies lets the next one go on after this time. A batch takes far less.
_LEASE = timedelta(seconds=60)
_BATCH = 20
_AT_ONCE = 5
_PAUSE = timedelta(seconds=5)
# A marketplace that fails as often for one order will not take it.
_MOST_ATTEMPTS = 10

_wanted = msgspec.json.Decoder(OrderIn)


async def run_imports(
    db: Database, platforms: Platforms, background_tasks: BackgroundTasks
) -> bool:
    """Go on with one import that is due; return whether there was one."""
    running = await sql.take_import(db, lease=_LEASE)
    if running is None:
        return False
    is_checking = running.status is ImportStatus.CHECKING
    pending = await sql.list_pending(
        db,
        running.id,
        ImportOrderStatus.WAITING if is_checking else ImportOrderStatus.CHECKED,
        limit=_BATCH,
    )
    slots = asyncio.Semaphore(_AT_ONCE)

    async def step(order: PendingOrder) -> bool:
        async with slots:
            if is_checking:
                return await _check(db, platforms, running, order)
            return await _order(db, platforms, background_tasks, running, order)

    ended = await asyncio.gather(*map(step, pending))
    await sql.give_back(db, running.id, pause=timedelta(0) if all(ended) else _PAUSE)
    log.info(
        "import.continued",
        **{"import": ids.IMPORT.show(running.id)},
        status=running.status,
        orders=len(pending),
        postponed=ended.count(False),
    )
    return True


async def _check(
    db: Database, platforms: Platforms, running: RunningImport, order: PendingOrder
) -> bool:
    """Find out what an order costs; False: the marketplace did not say, and is asked again."""
    wanted = _wanted.decode(order.wanted)
    try:
        connector = await platforms.able(wanted.platform, Capability.PREVIEW, Purpose.BROWSE)
        preview = await placing.preview(connector, wanted.order(wanted.platform))
        if preview.unavailable:
            raise ItemsUnavailable(preview.unavailable)
    except (Invalid, Conflict) as error:
        await sql.record_failed(db, running.id, order.number, error.code, _message(error))
        return True
    except (UpstreamFailed, ServiceUnavailable) as error:
        return await _postpone(db, running, order, error)
    amounts = ImportAmounts(
        goods_fen=sum(seller.goods_fen for seller in preview.sellers),
        freight_fen=sum(seller.freight_fen for seller in preview.sellers),
        discount_fen=sum(seller.discount_fen for seller in preview.sellers),
        total_fen=preview.total_fen,
    )
    await sql.record_checked(db, running.id, order.number, amounts)
    return True


async def _order(
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    running: RunningImport,
    order: PendingOrder,
) -> bool:
    """Place an order at the price that was confirmed; False: it is tried again."""
    wanted = _wanted.decode(order.wanted)
    placement = Placement(running.account_id, running.id, order.number)
    by = Person(running.account_id, running.confirmed_by or "")
    try:
        await placing.place_order(
            db,
            platforms,
            background_tasks,
            by,
            replace(wanted.order(wanted.platform), expected_fen=order.total_fen),
            placement,
        )
    except AlreadyPlaced:
        pass
    except (Invalid, Conflict) as error:
        await sql.record_failed(db, running.id, order.number, error.code, _message(error))
        return True
    except (UpstreamFailed, ServiceUnavailable) as error:
        return await _postpone(db, running, order, error)
    await sql.record_placed(db, running.id, order.number)
    return True


async def _postpone(
    db: Database,
    running: RunningImport,
    order: PendingOrder,
    error: UpstreamFailed | ServiceUnavailable,
) -> bool:
    """Try an order again later; one that a marketplace failed for too often is given up."""
    if isinstance(error, DatabaseAway):
        raise error
    if isinstance(error, PlatformBusy):
        return False
    if order.attempts + 1 >= _MOST_ATTEMPTS:
        await sql.record_failed(db, running.id, order.number, error.code, error.detail)
        return True
    await sql.count_attempt(db, running.id, order.number)
    return False


def _message(error: Invalid | Conflict) -> str:
    """The sentence of an error, with the products that cannot be bought."""
    if not isinstance(error, ItemsUnavailable):
        return error.detail
    reasons = [
        f"Product {item['product_id']}: {str(item['reason']).replace('_', ' ')}."
        if item["product_id"]
        else f"{str(item['reason']).replace('_', ' ').capitalize()}."
        for item in error.facts["unavailable_items"]
    ]
    return " ".join([error.detail, *reasons])
