"""Transactions: statements that commit together, with wake-ups after the commit."""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from tradewind.storage.local_queues import LocalQueues
from tradewind.storage.pool import Database
from tradewind.storage.statements import Part, joined

# As long as a statement waits for a lock.
_QUEUE_SECONDS = 5.0
# How many parts one statement has.
_MOST_PARTS = 10

Item = TypeVar("Item")


class Tx:
    """An open transaction. No marketplace or endpoint is called while one is open."""

    def __init__(self, connection: PoolConnectionProxy, queues: LocalQueues) -> None:
        self._connection = connection
        self._queues = queues
        self._entered: list[asyncio.Semaphore] = []
        self.wakes: set[str] = set()
        self._deferred: dict[Callable[[Tx, Sequence[Any]], Awaitable[None]], list[Any]] = {}
        self._parts: list[Part] = []
        self._conflicts: dict[str, Exception] = {}

    def before_commit(
        self, write: Callable[["Tx", Sequence[Item]], Awaitable[None]], items: Iterable[Item]
    ) -> None:
        """Call `write` with `items` as the last step of this transaction.

        Use it for a lock that others wait for, so that it is held only while we commit. `write` is
        called once, with the items of all calls in their order.
        """
        self._deferred.setdefault(write, []).extend(items)

    def write_last(self, part: Part, conflicts: Mapping[str, Exception] | None = None) -> None:
        """Write `part` together with the last statement of this transaction: it saves a round trip.

        `conflicts` are the errors to raise if a unique constraint is violated, by its name.
        """
        self._parts.append(part)
        self._conflicts.update(conflicts or {})

    async def write_deferred(self) -> None:
        """Call what `before_commit` collected, and write what `write_last` collected."""
        deferred, self._deferred = self._deferred, {}
        try:
            for write, items in deferred.items():
                await write(self, items)
            if parts := await self._last_parts():
                await self._write(parts)
        except asyncpg.UniqueViolationError as error:
            raise self._conflicts.get(error.constraint_name or "", error) from None

    async def fetchval_last(self, query: str, *args: object) -> Any:
        """Fetch a value by the last statement of this transaction, which begins with WITH."""
        statement, all_args = joined(await self._last_parts(), query, args)
        return await self.fetchval(statement, *all_args)

    async def _last_parts(self) -> Sequence[Part]:
        """Write parts until few enough are left for the last statement."""
        parts, self._parts = self._parts, []
        while len(parts) > _MOST_PARTS:
            await self._write(parts[:_MOST_PARTS])
            parts = parts[_MOST_PARTS:]
        return parts

    async def _write(self, parts: Sequence[Part]) -> None:
        statement, args = joined(parts)
        await self.execute(statement, *args)

    async def wait_in_line(self, keys: Collection[Hashable]) -> None:
        """Wait for a turn at locks that many transactions want, and keep it until the end of this.

        Only as the last step before the statement that locks them and the commit. Everybody names
        the locks in the same order.
        """
        async with asyncio.timeout(_QUEUE_SECONDS):
            self._entered += await self._queues.enter(keys)

    def leave_lines(self) -> None:
        """Let the next transactions have their turn."""
        self._queues.leave(self._entered)
        self._entered = []

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
    db.writes.check()
    async with db.connection() as connection:
        tx = Tx(connection, db.local_queues)
        opened = connection.transaction()
        await opened.start()
        try:
            try:
                yield tx
                await tx.write_deferred()
            except BaseException:
                await opened.rollback()
                raise
            await db.writes.acknowledged(connection, opened.commit())
        finally:
            tx.leave_lines()
    for topic in tx.wakes:
        db.wakeups.announce(topic)
