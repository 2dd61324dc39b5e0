"""Changes wait for a synchronous standby, and fail at once while none are acknowledged."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg
import structlog
from asyncpg.pool import PoolConnectionProxy

from tradewind.storage import sql
from tradewind.storage.errors import DatabaseAway

# When a change takes longer, we try one of our own on a connection of its own.
_SUSPICIOUS_SECONDS = 1.0
# When that takes longer too, the server acknowledges no changes.
_TRIAL_SECONDS = 1.5
# Then the connection may lead to a server that is gone: a new one is opened after this time.
_RECONNECT_SECONDS = 5.0
_PAUSE_SECONDS = 0.2
# An acknowledged trial is not repeated for this time, however many ask.
_FRESH_SECONDS = 1.0

_FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, DatabaseAway)

T = TypeVar("T")
log = structlog.get_logger()


class Writes:
    """Whether the server acknowledges changes.

    PostgreSQL holds a commit until a synchronous standby has it. If the wait is cancelled, the
    commit takes effect on the primary alone: others see it, act on it, and a failover undoes it. So
    a change is never cancelled. If it is not acknowledged in time, its connection is ended, and it
    stays invisible until the standby has it.
    """

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection]]) -> None:
        self._connect = connect
        self._waiting: set[PoolConnectionProxy] = set()
        self._trial: asyncio.Task[None] | None = None
        self._acknowledged_at = float("-inf")
        self._is_away = False
        self._is_decided = asyncio.Event()

    def check(self) -> None:
        """Raise DatabaseAway if changes are not acknowledged at the moment."""
        if self._is_away:
            raise _away()

    async def acknowledged(
        self, connection: PoolConnectionProxy, change: Coroutine[Any, Any, T]
    ) -> T:
        """The result of `change`, or DatabaseAway if the server acknowledges no changes."""
        task = asyncio.ensure_future(change)
        timer = asyncio.get_running_loop().call_later(_SUSPICIOUS_SECONDS, self._try)
        self._waiting.add(connection)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                connection.terminate()  # asyncpg would cancel the change in the server
            task.add_done_callback(_ignore)
            raise
        except _FAILURES as error:
            if self._is_away:
                raise _away() from error
            raise
        finally:
            timer.cancel()
            self._waiting.discard(connection)

    async def are_acknowledged(self) -> bool:
        """Try a change, unless one was acknowledged within the last second."""
        now = asyncio.get_running_loop().time()
        if not self._is_away and now - self._acknowledged_at > _FRESH_SECONDS:
            self._try()
            await self._is_decided.wait()
        return not self._is_away

    async def close(self) -> None:
        if self._trial is not None:
            self._trial.cancel()
            await asyncio.wait({self._trial})

    def _try(self) -> None:
        if self._trial is None:
            self._is_decided.clear()
            self._trial = asyncio.create_task(self._until_acknowledged())

    async def _until_acknowledged(self) -> None:
        try:
            while not await self._is_acknowledged():  # noqa: ASYNC110 - the server has no event
                await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self._trial = None
            self._is_decided.set()

    async def _is_acknowledged(self) -> bool:
        connection = None
        try:
            connection = await self._connect()
            change = asyncio.ensure_future(sql.try_write(connection))
            change.add_done_callback(_ignore)
            if not await _ends(change, _TRIAL_SECONDS):
                self._set_away("the server does not acknowledge a change")
                if not await _ends(change, _RECONNECT_SECONDS):
                    return False
            change.result()
            with suppress(*_FAILURES):
                await connection.close(timeout=_TRIAL_SECONDS)
        except _FAILURES as error:
            cause = error.__cause__ or error
            if not isinstance(cause, asyncpg.TooManyConnectionsError):  # that says nothing
                self._set_away(f"{type(cause).__name__}: {cause}")
            return False
        finally:
            if connection is not None:
                connection.terminate()
        self._acknowledged_at = asyncio.get_running_loop().time()
        if self._is_away:
            self._is_away = False
            log.info("database.writes_acknowledged")
        return True

    def _set_away(self, reason: str) -> None:
        if not self._is_away:
            self._is_away = True
            log.warning("database.writes_not_acknowledged", reason=reason)
        self._is_decided.set()
        for connection in list(self._waiting):
            connection.terminate()


async def _ends(task: asyncio.Task[None], seconds: float) -> bool:
    done, _ = await asyncio.wait({task}, timeout=seconds)
    return bool(done)


def _away() -> DatabaseAway:
    return DatabaseAway(
        "The database acknowledges no changes right now, and reading works; try again."
    )


def _ignore(task: asyncio.Task[Any]) -> None:
    """Take the result of a task that nobody awaits any more."""
    if not task.cancelled():
        task.exception()
