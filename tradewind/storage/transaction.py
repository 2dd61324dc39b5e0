"""Transactions: statements that commit together, with wake-ups after the commit."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from tradewind.storage.pool import Database

Item = TypeVar("Item")


class Tx:
    """An open transaction. No marketplace or endpoint is called while one is open."""

    def __init__(self, connection: PoolConnectionProxy) -> None:
        self._connection = connection
        self.wakes: set[str] = set()
        self._deferred: dict[Callable[[Tx, Sequence[Any]], Awaitable[None]], list[Any]] = {}

    def before_commit(
        self, write: Callable[["Tx", Sequence[Item]], Awaitable[None]], items: Iterable[Item]
    ) -> None:
        """Call `write` with `items` as the last step of this transaction.

        Use it for a lock that others wait for, so that it is held only while we commit. `write` is
        called once, with the items of all calls in their order.
        """
        self._deferred.setdefault(write, []).extend(items)

    async def write_deferred(self) -> None:
        """Call what `before_commit` collected."""
        deferred, self._deferred = self._deferred, {}
        for write, items in deferred.items():
            await write(self, items)

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
            await tx.write_deferred()
    for topic in tx.wakes:
        db.wakeups.announce(topic)
