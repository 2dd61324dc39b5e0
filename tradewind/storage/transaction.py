"""The one transaction: what happens in it commits together, and wakes others only afterwards."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from tradewind.storage.pool import Database


class Tx:
    """An open transaction. Nobody outside is called while one is open."""

    def __init__(self, connection: PoolConnectionProxy) -> None:
        self._connection = connection
        self.wakes: set[str] = set()

    def wake(self, topic: str) -> None:
        """Announce `topic` once this transaction has committed, and not at all if it fails."""
        self.wakes.add(topic)

    async def fetch(self, query: str, *args: Any) -> Sequence[asyncpg.Record]:
        rows: Sequence[asyncpg.Record] = await self._connection.fetch(query, *args)
        return rows

    async def fetchrow(self, query: str, *args: Any) -> asyncpg.Record | None:
        return await self._connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        return await self._connection.fetchval(query, *args)

    async def execute(self, query: str, *args: Any) -> str:
        status: str = await self._connection.execute(query, *args)
        return status


@asynccontextmanager
async def transaction(db: Database) -> AsyncIterator[Tx]:
    """Open a transaction; it commits when the block ends and rolls back when it raises."""
    async with db.connection() as connection:
        tx = Tx(connection)
        async with connection.transaction():
            yield tx
    for topic in tx.wakes:
        db.wakeups.announce(topic)
