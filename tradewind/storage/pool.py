"""The pool: connections to PostgreSQL, with time limits on everything that could hang."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from types import TracebackType
from typing import Any

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from tradewind.observability.logs import note
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.hosts import Hosts
from tradewind.storage.kept_connections import KeptConnections
from tradewind.storage.local_queues import LocalQueues
from tradewind.storage.wakeups import Wakeups
from tradewind.storage.writes import Writes

_CONNECT_SECONDS = 3.0
_ACQUIRE_SECONDS = 4.0
_STATEMENT_SECONDS = 10.0
# Longer than the server's own limit: asyncpg must not cancel a change (see `Writes`).
CHANGE_SECONDS = 30.0

# No session may hold a snapshot or a lock for long: held snapshots stop vacuum.
SESSION_SETTINGS = {
    "statement_timeout": "10s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
    "timezone": "UTC",
    "jit": "off",
}
# A pooler sets these for each client. It rejects the others at the start of a connection.
_POOLER_SETTINGS = ("timezone", "application_name")

# What asyncpg raises when the server is down, stopping, starting, or rejects connections.
_AWAY = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InternalServerError,  # such as a full disk at the start of a connection
)


class Database:
    """A pool of connections, opened when needed, so that a process can start before its server.

    `fetch`, `fetchrow` and `fetchval` run one statement outside any transaction; everything that
    changes more than one thing goes through `storage.transaction`.
    """

    def __init__(
        self,
        url: str,
        *,
        size: int,
        name: str,
        settings: Mapping[str, str] | None = None,
        direct_url: str = "",
    ) -> None:
        """`settings` are PostgreSQL settings for every connection of this pool.

        With a `direct_url`, `url` leads to a pooler in transaction mode: each transaction may get
        another connection to the server. So no statement is prepared for later, and the settings
        of the session are the defaults of the role (`migrate` sets them).
        """
        if direct_url and settings:
            raise ValueError("a pooler keeps no settings of a session; use the direct URL")
        self._settings = {**SESSION_SETTINGS, "application_name": name, **(settings or {})}
        hosts = Hosts(url, self._expire_connections)
        self._direct = Hosts(direct_url) if direct_url else hosts
        self.is_pooled = bool(direct_url)
        self._pool = asyncpg.create_pool(
            connect=hosts.connect,
            min_size=0,
            max_size=size,
            timeout=_CONNECT_SECONDS,
            command_timeout=_STATEMENT_SECONDS,
            reset=_skip_reset,
            **(
                _pooler_options(self._settings)
                if self.is_pooled
                else {"server_settings": self._settings}
            ),
        )
        self._kept = KeptConnections(self._pool, seconds=_ACQUIRE_SECONDS)
        self.wakeups = Wakeups(self.fetch, self.connect)
        self.local_queues = LocalQueues()
        self.writes = Writes(self.connect)

    async def open(self) -> None:
        await self._pool

    async def close(self) -> None:
        await self.wakeups.close()
        await self.writes.close()
        await self._kept.close()
        try:
            await asyncio.wait_for(self._pool.close(), timeout=5)
        except TimeoutError:
            self._pool.terminate()

    async def connect(self) -> asyncpg.Connection:
        """A session of its own, without a pooler: for LISTEN, locks of a session and migrations."""
        with _explained():
            return await self._direct.connect(
                timeout=_CONNECT_SECONDS, server_settings=self._settings
            )

    async def _expire_connections(self) -> None:
        """Close each connection that is open now, when it is not used."""
        await self._pool.expire_connections()
        self._kept.expire()

    def connection(self) -> AbstractAsyncContextManager[PoolConnectionProxy]:
        """Borrow a connection; an unreachable server becomes DatabaseAway."""
        return _Borrowed(self._kept)

    async def fetch(self, query: str, *args: Any) -> Sequence[asyncpg.Record]:
        async with self.connection() as connection:
            rows: Sequence[asyncpg.Record] = await connection.fetch(query, *args)
            return rows

    async def fetchrow(self, query: str, *args: Any) -> asyncpg.Record | None:
        async with self.connection() as connection:
            return await connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        async with self.connection() as connection:
            return await connection.fetchval(query, *args)

    async def execute(self, query: str, *args: Any) -> str:
        """Run a statement that changes something, and commit it."""
        self.writes.check()
        async with self.connection() as connection:
            change = connection.execute(query, *args, timeout=CHANGE_SECONDS)
            status: str = await self.writes.acknowledged(connection, change)
            return status


# The gate's statements are planned once, and find every row by an index. With thousands of accounts
# PostgreSQL would plan the admission of every request anew, which takes four times as long as the
# admission; and a plan that was made while the tables were empty must serve when they are not.
# Nothing is lost that matters if a key is marked as used and the server dies: no request waits.
GATE_SESSION_SETTINGS: Mapping[str, str] = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "synchronous_commit": "off",
}


class GateDatabase(Database):
    """Connections that only admit requests, so that no slow query delays an admission."""


class LoginDatabase(Database):
    """Connections that only log people in, so that logins and slow queries do not delay others."""


async def connect_plainly(url: str) -> asyncpg.Connection:
    """A connection that any pooler accepts: nothing is set at its start, or prepared for later."""
    with _explained():
        return await Hosts(url).connect(
            timeout=_CONNECT_SECONDS,
            command_timeout=_STATEMENT_SECONDS,
            statement_cache_size=0,
        )


def _pooler_options(settings: Mapping[str, str]) -> dict[str, Any]:
    """The options of asyncpg for connections to a pooler in transaction mode."""
    return {
        "server_settings": {name: settings[name] for name in _POOLER_SETTINGS},
        "statement_cache_size": 0,
    }


class _Borrowed(AbstractAsyncContextManager[PoolConnectionProxy]):
    """A connection while it is used. It is used for every statement, so it is no generator."""

    __slots__ = ("_connection", "_kept", "_since")

    def __init__(self, kept: KeptConnections) -> None:
        self._kept = kept

    async def __aenter__(self) -> PoolConnectionProxy:
        try:
            self._connection, self._since = await self._kept.take()
        except _AWAY as error:
            _raise_away(error)
            raise
        return self._connection

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        try:
            await self._kept.give_back(self._connection, self._since, is_clean=error is None)
        except _AWAY as failure:
            _raise_away(failure)
            raise
        if isinstance(error, _AWAY):
            _raise_away(error)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except _AWAY as error:
        _raise_away(error)
        raise


def _raise_away(error: Exception) -> None:
    """Raise DatabaseAway, unless it is a bug and not a lost connection."""
    misused = isinstance(error, asyncpg.InterfaceError) and "clos" not in str(error)
    if misused or isinstance(error, ValueError):
        return
    note(database_error=f"{type(error).__name__}: {error}")
    raise DatabaseAway from error


async def _skip_reset(_connection: asyncpg.Connection) -> None:
    """Skip the reset round trip at release: we change no session state, and LISTEN is elsewhere."""
