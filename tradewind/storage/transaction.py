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
from contextlib import asynccontextmanager, nullcontext
from typing import Any, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from asyncpg.transaction import Transaction

from tradewind.storage.pool import CHANGE_SECONDS, Database
from tradewind.storage.statements import Part, joined

# As long as a statement waits for a lock.
_QUEUE_SECONDS = 5.0
# How many parts one statement has.
_MOST_PARTS = 10

Item = TypeVar("Item")


class Tx:
    """An open transaction. No marketplace or endpoint is called while one is open.

    It begins in the database with its first statement. A transaction of one statement, which was
    run by `fetch_last`, needs neither BEGIN nor COMMIT.
    """

    def __init__(self, connection: PoolConnectionProxy, db: Database) -> None:
        self._connection = connection
        self._db = db
        self._begun: Transaction | None = None
        self._entered: list[asyncio.Semaphore] = []
        self.wakes: set[tuple[str, str | None]] = set()
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
            if self._parts:
                await self.fetch_last()
        except asyncpg.UniqueViolationError as error:
            raise self._conflicts.get(error.constraint_name or "", error) from None

    async def fetch_last(
        self, query: str = "", *args: object, only_if: str = "true"
    ) -> Sequence[asyncpg.Record]:
        """Run the last statement of this transaction, with what `write_last` collected.

        The query begins with WITH. Without one, only what was collected is written; and that only
        if `only_if` is true, a condition in SQL. If it is the only statement of the transaction, it
        has committed when this returns: another may follow only if it changed nothing.
        """
        if only_if != "true" and len(self._parts) > _MOST_PARTS:
            raise RuntimeError("So many parts need several statements, and one condition each.")
        statement, all_args = joined(await self._last_parts(), query, args, only_if)
        if self._begun is not None:
            return await self.fetch(statement, *all_args)
        change = self._connection.fetch(statement, *all_args, timeout=CHANGE_SECONDS)
        rows: Sequence[asyncpg.Record] = await self._db.writes.acknowledged(
            self._connection, change
        )
        return rows

    async def _last_parts(self) -> Sequence[Part]:
        """Write parts until few enough are left for the last statement."""
        parts, self._parts = self._parts, []
        while len(parts) > _MOST_PARTS:
            statement, args = joined(parts[:_MOST_PARTS])
            await self.execute(statement, *args)
            parts = parts[_MOST_PARTS:]
        return parts

    async def wait_in_line(self, keys: Collection[Hashable]) -> None:
        """Wait for a turn at locks that many transactions want, and keep it until the end of this.

        Only as the last step before the statement that locks them and the commit. Everybody names
        the locks in the same order. Behind a pooler, whoever waits has begun: otherwise those who
        wait could hold every connection to the server, and the first in line would get none.
        """
        if self._db.is_pooled:
            await self._begin()
        queues = self._db.local_queues
        # Mostly nobody is in line, and a time limit would take longer than to enter.
        limit = nullcontext() if queues.are_free(keys) else asyncio.timeout(_QUEUE_SECONDS)
        async with limit:
            self._entered += await queues.enter(keys)

    def leave_lines(self) -> None:
        """Let the next transactions have their turn."""
        self._db.local_queues.leave(self._entered)
        self._entered = []

    def wake(self, topic: str, subject: str | None = None) -> None:
        """Announce `topic` once this transaction has committed, and not at all if it fails."""
        self.wakes.add((topic, subject))

    async def fetch(self, query: str, *args: Any) -> Sequence[asyncpg.Record]:
        await self._begin()
        rows: Sequence[asyncpg.Record] = await self._connection.fetch(query, *args)
        return rows

    async def fetchrow(self, query: str, *args: Any) -> asyncpg.Record | None:
        await self._begin()
        return await self._connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        await self._begin()
        return await self._connection.fetchval(query, *args)

    async def execute(self, query: str, *args: Any) -> str:
        await self._begin()
        status: str = await self._connection.execute(query, *args)
        return status

    async def _begin(self) -> None:
        if self._begun is None:
            begun = self._connection.transaction()
            await begun.start()
            self._begun = begun

    async def commit(self) -> None:
        """Commit what was not committed by its only statement."""
        if self._begun is not None:
            await self._db.writes.acknowledged(self._connection, self._begun.commit())

    async def roll_back(self) -> None:
        if self._begun is not None:
            await self._begun.rollback()


@asynccontextmanager
async def transaction(db: Database) -> AsyncIterator[Tx]:
    """Open a transaction; it commits when the block ends and rolls back when it raises."""
    db.writes.check()
    async with db.connection() as connection:
        tx = Tx(connection, db)
        try:
            try:
                yield tx
                await tx.write_deferred()
            except BaseException:
                await tx.roll_back()
                raise
            await tx.commit()
        finally:
            tx.leave_lines()
    for topic, subject in tx.wakes:
        db.wakeups.announce(topic, subject)
