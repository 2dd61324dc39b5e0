"""Connections that were just used, for the next who needs one, without a way through the pool."""

import asyncio
from contextlib import suppress
from time import perf_counter

import asyncpg
from asyncpg.pool import PoolConnectionProxy

# The pool sees every connection at least this often: it replaces old ones, and closes idle ones.
_KEPT_SECONDS = 1.0
_FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


class KeptConnections:
    """Keeps connections of a pool for a moment after their use; the last one is used first.

    To give a connection back to asyncpg's pool and to take it again costs twice as much as a small
    statement. Nobody waits for a connection that is kept here.
    """

    def __init__(self, pool: asyncpg.Pool, *, seconds: float) -> None:
        """`seconds` is how long to wait for a connection of the pool."""
        self._pool = pool
        self._seconds = seconds
        # With the time when each came from the pool.
        self._kept: list[tuple[PoolConnectionProxy, float]] = []
        self._waiting = 0
        self._expired_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._returning: set[asyncio.Task[None]] = set()

    async def take(self) -> tuple[PoolConnectionProxy, float]:
        """A connection, and when it came from the pool, which `give_back` has to know."""
        while self._kept:
            connection, since = self._kept.pop()
            if not _is_closed(connection):
                return connection, since
            await self._pool.release(connection)
        self._waiting += 1
        since = perf_counter()  # before it waits: what expires meanwhile is not kept
        try:
            return await self._pool.acquire(timeout=self._seconds), since
        finally:
            self._waiting -= 1

    async def give_back(
        self, connection: PoolConnectionProxy, since: float, *, is_clean: bool
    ) -> None:
        """Keep a connection, or give it back to the pool, which resets what is not clean."""
        oldest = max(perf_counter() - _KEPT_SECONDS, self._expired_at)
        if not is_clean or self._waiting or since <= oldest or _is_in_transaction(connection):
            await self._pool.release(connection)
            return
        self._kept.append((connection, since))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._return_old)

    def expire(self) -> None:
        """Close what is kept, and keep nothing that is in use now.

        Nobody waits for it: the server may not answer.
        """
        self._expired_at = perf_counter()
        for connection, _ in self._kept:
            with suppress(asyncpg.InterfaceError):  # it was closed, and the pool has taken it back
                connection.terminate()
        self._return()

    async def close(self) -> None:
        """Keep nothing any more."""
        self._expired_at = float("inf")
        self._return()
        if self._timer is not None:
            self._timer.cancel()
        if self._returning:
            await asyncio.wait(self._returning)

    def _return_old(self) -> None:
        self._timer = None
        self._return(perf_counter() - _KEPT_SECONDS)
        if self._kept:
            self._timer = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._return_old)

    def _return(self, until: float = float("inf")) -> None:
        """Give connections back to the pool that came from it before a moment."""
        old = [kept for kept in self._kept if kept[1] <= until]
        self._kept = [kept for kept in self._kept if kept[1] > until]
        for connection, _ in old:
            task = asyncio.create_task(self._release(connection))
            self._returning.add(task)
            task.add_done_callback(self._returning.discard)

    async def _release(self, connection: PoolConnectionProxy) -> None:
        with suppress(*_FAILURES):  # then the pool has closed it
            await self._pool.release(connection)


def _is_closed(connection: PoolConnectionProxy) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # the pool has taken it back
        return True


def _is_in_transaction(connection: PoolConnectionProxy) -> bool:
    """Whether a transaction was left open, or the connection was closed."""
    try:
        return connection.is_in_transaction()
    except asyncpg.InterfaceError:
        return True
