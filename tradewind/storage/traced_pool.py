"""A pool with a span for every borrowed connection; used only where tracing is on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asyncpg.pool import PoolConnectionProxy

from tradewind.observability import tracing
from tradewind.storage.pool import Database


class TracedDatabase(Database):
    """A statement or a transaction is one span, if it is part of a request or a job."""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[PoolConnectionProxy]:
        if not tracing.is_recording():
            async with super().connection() as connection:
                yield connection
            return
        with tracing.client_span("postgresql", **{"db.system.name": "postgresql"}):
            async with super().connection() as connection:
                yield connection
