"""Reads the goods of an order while it is being placed; the order never waits long for them."""

import asyncio
from collections.abc import Sequence
from time import monotonic

from tradewind.observability.logs import log
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.goods import with_goods
from tradewind.platforms.model import Line, Product
from tradewind.platforms.product_cache import ProductCache

# An order of more products shows the goods of the first ones.
_MOST_PRODUCTS = 40
# A read ends with the placing of the order: the preview and the creation.
_READ_SECONDS = 4.0


class GoodsReading:
    """Reads what the lines of an order buy, beside the calls that place it.

    It raises nothing: what cannot be read stays unknown.
    """

    def __init__(self, products: ProductCache, connector: Connector, lines: Sequence[Line]) -> None:
        self._products = products
        self._connector = connector
        self._started_at = monotonic()
        self._known: dict[str, Product] = {}
        self._task: asyncio.Task[None] | None = None
        if Capability.DETAIL in connector.traits.capabilities:
            unknown = dict.fromkeys(line.product_id for line in lines if line.goods is None)
            product_ids = list(unknown)[:_MOST_PRODUCTS]
            self._known = products.recall(connector.traits.platform, product_ids)
            missing = [id_ for id_ in product_ids if id_ not in self._known]
            if missing:
                self._task = asyncio.create_task(self._read(missing))

    async def wait(self, *, grace: float, until: float) -> None:
        """Wait `grace` seconds more, but not past `until` seconds after the start."""
        left = self._started_at + until - monotonic()
        if self._task is not None and not self._task.done() and left > 0:
            await asyncio.wait({self._task}, timeout=min(grace, left))

    def fill(self, lines: Sequence[Line]) -> Sequence[Line]:
        """The lines with the goods that are known by now; the same lines if there are no new ones.

        Goods that a line has already stay as they are.
        """
        if not any(line.goods is None and line.product_id in self._known for line in lines):
            return lines
        return [
            with_goods(line, self._known[line.product_id], lines)
            if line.goods is None and line.product_id in self._known
            else line
            for line in lines
        ]

    async def _read(self, product_ids: Sequence[str]) -> None:
        try:
            async with asyncio.timeout(_READ_SECONDS):
                await self._products.read_many(
                    self._connector, product_ids, self._known.__setitem__
                )
        except Exception as error:  # noqa: BLE001 - an order is placed without its goods, too
            platform = self._connector.traits.platform
            log.warning("order.goods_not_read", platform=platform, error=repr(error))
