"""Limits the streams that an account has open, over all processes, by locks in the database."""

import asyncio
from collections.abc import Set as AbstractSet
from contextlib import suppress
from uuid import UUID

import asyncpg

from tradewind.errors import TooMany
from tradewind.events import sql
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database

STREAMS_PER_ACCOUNT = 8
_RETRY_SECONDS = 5
_FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)

# The account, and the number of its stream: below STREAMS_PER_ACCOUNT.
Slot = tuple[UUID, int]


class TooManyStreams(TooMany):
    """Your account has as many event streams open as it may have.

    Close one, or let the programs that use them share one: a stream has every event of the account.
    A stream whose connection was lost counts until the server notices it, which can take some
    seconds; `Retry-After` says when to try again. This limit is the same for every plan.
    """

    code = "too_many_streams"
    title = "Too many event streams"

    def __init__(self) -> None:
        super().__init__(
            f"Your account has {STREAMS_PER_ACCOUNT} event streams open, and may not have more; "
            "close one of them.",
            retry_after=_RETRY_SECONDS,
        )


class StreamSlots:
    """The slots that this process holds, each an advisory lock of one connection.

    If the process dies, so does the connection, and PostgreSQL frees its slots: nothing is left to
    clean up. If only the connection is lost, its slots are taken again, or else reported as lost.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._connection: asyncpg.Connection | None = None
        self._held: set[Slot] = set()
        self._turn = asyncio.Lock()

    async def take(self, account_id: UUID) -> Slot:
        """Hold a slot of the account until `release`; TooManyStreams when there is none left."""
        async with self._turn:
            try:
                connection = await self._connected()
                for number in range(STREAMS_PER_ACCOUNT):
                    slot = (account_id, number)
                    # The locks of one connection do not exclude each other.
                    if slot not in self._held and await sql.try_lock_slot(connection, *slot):
                        self._held.add(slot)
                        return slot
            except _FAILURES as error:
                self._drop_connection()
                raise DatabaseAway from error
            except asyncio.CancelledError:
                self._drop_connection()  # it may hold a lock that nobody knows of
                raise
        raise TooManyStreams

    async def release(self, slot: Slot) -> None:
        async with self._turn:
            if slot not in self._held:
                return
            self._held.discard(slot)
            if self._connection is None:
                return
            try:
                await sql.unlock_slot(self._connection, *slot)
            except _FAILURES:
                self._drop_connection()

    async def lost(self) -> AbstractSet[Slot]:
        """The slots that others took while the connection was lost; they are no longer held."""
        async with self._turn:
            if self._connection is not None and not self._connection.is_closed():
                return frozenset()
            before = set(self._held)
            with suppress(DatabaseAway, *_FAILURES):
                await self._connected()
            return before - self._held

    async def close(self) -> None:
        async with self._turn:
            self._held.clear()
            self._drop_connection()

    async def _connected(self) -> asyncpg.Connection:
        """The connection; a new one takes the slots that the lost one had, as far as it can."""
        if self._connection is not None and not self._connection.is_closed():
            return self._connection
        connection = await self._db.connect()
        try:
            locked = {slot for slot in self._held if await sql.try_lock_slot(connection, *slot)}
        except BaseException:
            connection.terminate()
            raise
        self._held &= locked
        self._connection = connection
        return connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
