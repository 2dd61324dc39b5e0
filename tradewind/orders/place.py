"""Places orders: previews, accepts in one statement, and creates on the marketplace at once."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from time import monotonic

from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ValidationFailed
from tradewind.observability.logs import log
from tradewind.orders import advance, submit
from tradewind.orders.errors import ItemsUnavailable, OrderRejected, PriceChanged, SeveralSellers
from tradewind.orders.get_order import get_order
from tradewind.orders.goods import GoodsReading
from tradewind.orders.idempotency import Idempotency
from tradewind.orders.lease import Lease
from tradewind.orders.model import NewOrder, Order
from tradewind.orders.person import Person
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.errors import api_error
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, Unavailable
from tradewind.platforms.model import Preview
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database

_PREVIEW_SECONDS = 2.0
# How long an order waits for its goods after its preview, within the seconds of the preview.
_GOODS_SECONDS = 0.3
_CREATE_SECONDS = 2.0

_ITEM_REASONS = frozenset(
    {
        Reason.OUT_OF_STOCK,
        Reason.BELOW_MINIMUM,
        Reason.MIXED_BATCH,
        Reason.NOT_FOR_SALE,
        Reason.NOT_FOUND,
    }
)


async def preview(connector: Connector, wanted: NewOrder) -> Preview:
    """Find out what an order would cost now, or that it has to be split by seller."""
    _check_size(connector, wanted)
    try:
        result = await connector.preview(wanted.lines, wanted.address)
    except Rejected as rejected:
        raise _error(rejected) from rejected
    except PlatformFailure as failure:
        raise api_error(failure) from failure
    _check_sellers(connector, result)
    return result


async def place_order(
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    by: Person,
    wanted: NewOrder,
    idempotency: Idempotency[Order],
) -> Order:
    """Accept an order, and return it: created on the marketplace, or being created.

    An order that the preview rejects for good is not stored. Without a preview in time, the order
    is accepted all the same, and previewed before it is created. The goods are read meanwhile:
    those that are known too late for the acceptance are stored with the creation.
    """
    now = await idempotency.check(db)  # a repeat is not previewed again
    checked_at = monotonic()
    connector = await platforms.able(wanted.platform, Capability.CREATE)
    _check_size(connector, wanted)
    browsing = await platforms.connector(wanted.platform, Purpose.BROWSE)
    goods = GoodsReading(platforms.products, browsing, wanted.lines)
    result = await _preview_in_time(connector, wanted)
    if result is not None:
        wanted = _at_price(connector, wanted, result)
    await goods.wait(grace=_GOODS_SECONDS, until=_PREVIEW_SECONDS)
    wanted = replace(wanted, lines=goods.fill(wanted.lines))
    lease = Lease()
    at = now + timedelta(seconds=monotonic() - checked_at)
    previewed = result is not None
    order = await advance.accept(db, by, wanted, at, lease, idempotency, previewed=previewed)
    recorded: Order | None = None

    async def create() -> None:
        nonlocal recorded
        try:
            recorded = await submit.send(db, connector, order, lease, idempotency, goods)
        except Unavailable as unavailable:
            log.warning("order.not_created_yet", order=order.reference, error=str(unavailable))

    await background_tasks.within(_CREATE_SECONDS, create())
    if recorded is not None:
        return recorded
    stored = await get_order(db, by.id, order.id)
    if await idempotency.replace(db, stored):
        return stored
    return await get_order(db, by.id, order.id)  # it was recorded in this moment, with its result


async def _preview_in_time(connector: Connector, wanted: NewOrder) -> Preview | None:
    try:
        async with asyncio.timeout(_PREVIEW_SECONDS):
            return await connector.preview(wanted.lines, wanted.address)
    except Rejected as rejected:
        raise _error(rejected) from rejected
    except (PlatformFailure, TimeoutError) as failure:
        log.warning("order.not_previewed", platform=wanted.platform, error=str(failure))
        return None


def _at_price(connector: Connector, wanted: NewOrder, result: Preview) -> NewOrder:
    """The order at the price of its preview, or why it cannot be placed."""
    if result.unavailable:
        raise ItemsUnavailable(result.unavailable)
    _check_sellers(connector, result)
    if wanted.expected_fen is not None and wanted.expected_fen != result.total_fen:
        raise PriceChanged(wanted.expected_fen, result.total_fen)
    return replace(wanted, expected_fen=result.total_fen)


def _check_sellers(connector: Connector, result: Preview) -> None:
    """Reject items of several sellers where the marketplace takes one seller an order.

    The goods of one seller may come in several parts, which all have that seller's id.
    """
    if connector.traits.single_seller and len({part.seller_id for part in result.sellers}) > 1:
        raise SeveralSellers(result.sellers)


def _error(rejected: Rejected) -> ItemsUnavailable | SeveralSellers | OrderRejected:
    if rejected.reason is Reason.SEVERAL_SELLERS:
        return SeveralSellers([])
    if rejected.reason in _ITEM_REASONS:
        return ItemsUnavailable([], rejected.reason)
    return OrderRejected(rejected)


def _check_size(connector: Connector, wanted: NewOrder) -> None:
    limit = connector.traits.max_lines
    if len(wanted.lines) > limit:
        raise ValidationFailed("/items", f"{wanted.platform} takes {limit} items at the most.")
