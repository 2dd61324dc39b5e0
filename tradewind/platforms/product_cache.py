"""Recently read products, so that an order after a look at its product needs no further call."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from time import monotonic

import msgspec

from tradewind.observability.logs import log
from tradewind.platforms import sql
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.model import Product
from tradewind.storage.pool import Database

# The language of the translations that are kept with an order.
LANGUAGE = "en"
LIFETIME = timedelta(minutes=5)

_PRODUCTS_IN_MEMORY = 512
_CONCURRENT_READS = 4
_PRODUCT = msgspec.json.Decoder(Product)
_Key = tuple[str, str]


class ProductCache:
    """Products as their marketplaces showed them in the last minutes, without descriptions.

    All processes share it in the database. A process also keeps some products in its memory, so
    that orders of popular ones need no statement. Concurrent reads of a product share one call.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._products: OrderedDict[_Key, tuple[Product, float]] = OrderedDict()
        self._in_progress: dict[_Key, asyncio.Task[Product | None]] = {}

    async def store(self, platform: str, product_id: str, product: Product) -> None:
        """Keep a product that was just read in LANGUAGE, under the id that it was read by."""
        kept = replace(product, description=None, images=(), shipping={})
        self._keep((platform, product_id), kept, age=0)
        await sql.store_product(self._db, platform, product_id, msgspec.json.encode(kept))

    def recall(self, platform: str, product_ids: Sequence[str]) -> dict[str, Product]:
        """Those of the products that this process has in its memory."""
        oldest = monotonic() - LIFETIME.total_seconds()
        kept = {id_: self._products.get((platform, id_)) for id_ in product_ids}
        return {id_: entry[0] for id_, entry in kept.items() if entry and entry[1] > oldest}

    async def read_many(
        self, connector: Connector, product_ids: Sequence[str], add: Callable[[str, Product], None]
    ) -> None:
        """Call `add` with each product that is not in memory as soon as it is known.

        Products that are not in the cache are read from the marketplace, a few at a time. Those
        that it fails to show are left out.
        """
        platform = connector.traits.platform
        missing = list(product_ids)
        for product_id, product in (await self._find(platform, missing)).items():
            missing.remove(product_id)
            add(product_id, product)
        free = asyncio.Semaphore(_CONCURRENT_READS)

        async def read(product_id: str) -> None:
            async with free:
                product = await self._read_once(connector, product_id)
            if product is not None:
                add(product_id, product)

        async with asyncio.TaskGroup() as group:
            for product_id in missing:
                group.create_task(read(product_id))

    async def _find(self, platform: str, product_ids: Sequence[str]) -> Mapping[str, Product]:
        rows = await sql.find_products(self._db, platform, product_ids, within=LIFETIME)
        products = {}
        for row in rows:
            products[row.product_id] = _PRODUCT.decode(row.body)
            self._keep((platform, row.product_id), products[row.product_id], row.age)
        return products

    async def _read_once(self, connector: Connector, product_id: str) -> Product | None:
        key = (connector.traits.platform, product_id)
        task = self._in_progress.get(key)
        if task is None:
            task = asyncio.ensure_future(self._read(connector, product_id))
            self._in_progress[key] = task
            task.add_done_callback(lambda _: self._in_progress.pop(key, None))
        return await asyncio.shield(task)  # who gives up does not end it for the others

    async def _read(self, connector: Connector, product_id: str) -> Product | None:
        platform = connector.traits.platform
        try:
            product = await connector.detail(product_id, LANGUAGE)
        except PlatformFailure as failure:
            log.info("product.not_read", platform=platform, product=product_id, error=str(failure))
            return None
        await self.store(platform, product_id, product)
        return product

    def _keep(self, key: _Key, product: Product, age: float) -> None:
        self._products[key] = (product, monotonic() - age)
        self._products.move_to_end(key)
        while len(self._products) > _PRODUCTS_IN_MEMORY:
            self._products.popitem(last=False)
