"""Searches products, from a short-lived cache that all processes share or from the marketplace."""

import asyncio
import hashlib
from collections import OrderedDict
from dataclasses import astuple, dataclass
from datetime import timedelta
from time import monotonic

import msgspec

from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.errors import api_error
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.model import Query, SearchPage
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.products import sql
from tradewind.storage.pool import Database

_PAGES_IN_MEMORY = 512
_PAGE = msgspec.json.Decoder(SearchPage)


@dataclass(slots=True)
class CachedPage:
    """A page of products, and when the marketplace answered with it, by this process's clock.

    `document` is for the caller who encodes the page: the next caller need not encode it again.
    """

    platform: str
    page: SearchPage
    fetched_at: float
    document: bytes | None = None

    @property
    def age_seconds(self) -> int:
        return int(monotonic() - self.fetched_at)


class SearchCache:
    """The results of recent searches.

    Concurrent requests for the same search share one call to the marketplace. Besides the shared
    cache in the database, a process keeps some pages in its memory, no longer than the cache does.
    """

    def __init__(self, db: Database, lifetime: timedelta) -> None:
        self._db = db
        self._lifetime = lifetime
        self._pages: OrderedDict[bytes, CachedPage] = OrderedDict()
        self._in_progress: dict[bytes, asyncio.Task[CachedPage]] = {}

    async def find_or_fetch(self, connector: Connector, query: Query) -> CachedPage:
        """Return a cached page, or ask the marketplace for it."""
        key = hashlib.sha256(repr((connector.traits.platform, *astuple(query))).encode()).digest()
        cached = self._pages.get(key)
        if cached and monotonic() - cached.fetched_at < self._lifetime.total_seconds():
            return cached
        task = self._in_progress.get(key)
        if task is None:
            task = asyncio.ensure_future(self._fetch(key, connector, query))
            self._in_progress[key] = task
            task.add_done_callback(lambda _: self._in_progress.pop(key, None))
        return await asyncio.shield(task)  # a caller who gives up does not end it for the others

    async def _fetch(self, key: bytes, connector: Connector, query: Query) -> CachedPage:
        platform = connector.traits.platform
        stored = await sql.find_page(self._db, key, within=self._lifetime)
        if stored is not None:
            cached = CachedPage(platform, _PAGE.decode(stored.body), monotonic() - stored.age)
        else:
            find = connector.search_by_image if query.image_id else connector.search
            page = await find(query)
            if self._lifetime:
                await sql.store_page(self._db, key, msgspec.json.encode(page))
            cached = CachedPage(platform, page, monotonic())
        self._pages[key] = cached
        self._pages.move_to_end(key)
        while len(self._pages) > _PAGES_IN_MEMORY:
            self._pages.popitem(last=False)
        return cached


async def search(
    platforms: Platforms, cache: SearchCache, platform: str, query: Query
) -> CachedPage:
    """Search a marketplace that is connected here and offers search."""
    connector = await platforms.able(platform, Capability.SEARCH, Purpose.BROWSE)
    try:
        return await cache.find_or_fetch(connector, query)
    except PlatformFailure as failure:
        raise api_error(failure) from failure
