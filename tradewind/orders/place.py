"""Places orders: previews, accepts in one transaction, and creates on the platform at once."""

import asyncio
from dataclasses import replace

from tradewind import ids
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ResourceNotFound, ValidationFailed
from tradewind.observability.logs import log
from tradewind.orders import advance, sql_lists, submit
from tradewind.orders.errors import ItemsUnavailable, OrderRefused, PriceChanged, SeveralSellers
from tradewind.orders.lease import Lease
from tradewind.orders.model import Draft, Order, Who
from tradewind.orders.preview_wire import PreviewOut
from tradewind.orders.wire import OrderOut
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.errors import api_error
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, Unavailable
from tradewind.platforms.model import Preview
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import idempotency
from tradewind.web.idempotency import PENDING, IdempotencyKey
from tradewind.web.response import Response, location

_PREVIEW_SECONDS = 2.0
_CREATE_SECONDS = 2.0

# Why lines cannot be bought, of all the reasons that there are.
_ABOUT_ITEMS = frozenset(
    {
        Reason.OUT_OF_STOCK,
        Reason.BELOW_MINIMUM,
        Reason.MIXED_BATCH,
        Reason.NOT_FOR_SALE,
        Reason.NOT_FOUND,
    }
)


async def preview(connector: Connector, draft: Draft) -> Preview:
    """Find out what an order would cost now, or that it has to be split by seller."""
    _check_size(connector, draft)
    try:
        seen = await connector.preview(draft.lines, draft.address)
    except Rejected as never:
        raise _refused(never) from never
    except PlatformFailure as failure:
        raise api_error(failure) from failure
    _check_sellers(connector, seen)
    return seen


async def place(
    db: Database,
    platforms: Platforms,
    errands: BackgroundTasks,
    by: Who,
    draft: Draft,
    once: IdempotencyKey,
) -> Response:
    """Accept an order, and answer with it: created on the platform, or being so.

    A definite refusal of the preview is the caller's; nothing is stored then. No preview in time:
    the order is accepted all the same, and previewed before it is created.
    """
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)  # an answer that was given is not previewed again
    connector = await platforms.able(draft.platform, Capability.CREATE)
    _check_size(connector, draft)
    seen = await _preview_in_time(connector, draft)
    if seen is not None:
        draft = _agreed(connector, draft, seen)
    lease = Lease()
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        order = await advance.accept(tx, by, draft, lease, previewed=seen is not None)
        await idempotency.keep(tx, once, _answer(order), pending=PENDING)
    await errands.within(_CREATE_SECONDS, _create(db, connector, order, lease))
    found = await sql_lists.find_order(db, by.id, order.id)
    if found is None:
        raise ResourceNotFound(ids.ORDER)
    return await idempotency.replace(db, once, _answer(found))


async def _create(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    try:
        await submit.send(db, connector, order, lease)
    except Unavailable as later:
        log.warning("order.not_created_yet", order=order.reference, error=str(later))


async def _preview_in_time(connector: Connector, draft: Draft) -> Preview | None:
    try:
        async with asyncio.timeout(_PREVIEW_SECONDS):
            return await connector.preview(draft.lines, draft.address)
    except Rejected as never:
        raise _refused(never) from never
    except (PlatformFailure, TimeoutError) as failure:
        log.warning("order.not_previewed", platform=draft.platform, error=str(failure))
        return None


def _agreed(connector: Connector, draft: Draft, seen: Preview) -> Draft:
    """The draft at the price of its preview, or why it cannot be had."""
    if seen.unavailable:
        raise ItemsUnavailable(PreviewOut.of(seen).unavailable_items)
    _check_sellers(connector, seen)
    if draft.expected_fen is not None and draft.expected_fen != seen.total_fen:
        raise PriceChanged(draft.expected_fen, seen.total_fen)
    return replace(draft, expected_fen=seen.total_fen)


def _check_sellers(connector: Connector, seen: Preview) -> None:
    """Refuse items of several sellers where the platform takes one seller an order.

    The goods of one seller may come in several parts, which all have that seller's id.
    """
    if connector.traits.single_seller and len({one.seller_id for one in seen.sellers}) > 1:
        raise SeveralSellers(PreviewOut.of(seen).sellers)


def _refused(never: Rejected) -> ItemsUnavailable | SeveralSellers | OrderRefused:
    if never.reason is Reason.SEVERAL_SELLERS:
        return SeveralSellers([])
    if never.reason in _ABOUT_ITEMS:
        return ItemsUnavailable([{"product_id": None, "sku_id": None, "reason": never.reason}])
    return OrderRefused(never)


def _check_size(connector: Connector, draft: Draft) -> None:
    most = connector.traits.max_lines
    if len(draft.lines) > most:
        raise ValidationFailed("/items", f"{draft.platform} takes {most} items at the most.")


def _answer(order: Order) -> Response:
    shown = OrderOut.of(order)
    return Response(shown, 201, [location("orders", shown.id)])
