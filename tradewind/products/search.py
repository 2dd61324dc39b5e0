"""Searches products: from a short memory that all processes share, else from the marketplace."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import astuple
from datetime import timedelta
from time import monotonic

from tradewind.platforms.contract import Connector
from tradewind.platforms.model import Query
from tradewind.products import sql
from tradewind.products.wire import SearchOut
from tradewind.storage.pool import Database
from tradewind.web.response import encode

_REMEMBERED = 512


class Searches:
    """The answers to searches of the last moments, as they are sent.

    A search that is asked for by many at once is asked of the marketplace by one. A process keeps
    a few answers itself, no longer than the shared memory would.
    """

    def __init__(self, db: Database, lifetime: timedelta) -> None:
        self._db = db
        self._lifetime = lifetime
        self._own: OrderedDict[bytes, tuple[bytes, float]] = OrderedDict()
        self._under_way: dict[bytes, asyncio.Task[tuple[bytes, float]]] = {}

    async def answer(self, connector: Connector, query: Query) -> tuple[bytes, int]:
        """The answer's body, and its age in seconds."""
        key = hashlib.sha256(repr((connector.traits.platform, *astuple(query))).encode()).digest()
        found = self._own.get(key)
        if found is None or monotonic() - found[1] >= self._lifetime.total_seconds():
            found = await self._once(key, lambda: self._fetch(key, connector, query))
        body, born = found
        return body, int(monotonic() - born)

    async def _once(
        self, key: bytes, fetch: Callable[[], Awaitable[tuple[bytes, float]]]
    ) -> tuple[bytes, float]:
        """Let the first caller fetch, and the others wait for it; each may give up by itself."""
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.ensure_future(fetch())
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _fetch(self, key: bytes, connector: Connector, query: Query) -> tuple[bytes, float]:
        stored = await sql.find_answer(self._db, key, within=self._lifetime)
        if stored is not None:
            body, age = stored
            return self._keep(key, body, monotonic() - age)
        found = await connector.search(query)
        body = encode(SearchOut.of(connector.traits.platform, found))
        if self._lifetime:
            await sql.store_answer(self._db, key, body)
        return self._keep(key, body, monotonic())

    def _keep(self, key: bytes, body: bytes, born: float) -> tuple[bytes, float]:
        self._own[key] = (body, born)
        self._own.move_to_end(key)
        while len(self._own) > _REMEMBERED:
            self._own.popitem(last=False)
        return body, born
