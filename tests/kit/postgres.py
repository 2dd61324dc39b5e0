"""A real PostgreSQL for tests, and databases copied from a migrated template."""

import asyncio
import itertools
import subprocess
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import asyncpg

from tradewind.storage import embedded
from tradewind.storage.embedded import EmbeddedServer
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

T = TypeVar("T")

# Tests lose nothing that matters when the machine dies.
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_TEMPLATE = "template_tradewind"
MOVABLE_CLOCK = """
    CREATE TABLE test_clock (shift interval NOT NULL);
    INSERT INTO test_clock VALUES ('0');
    CREATE OR REPLACE FUNCTION tradewind_now() RETURNS timestamptz
        LANGUAGE sql STABLE PARALLEL SAFE
        AS 'SELECT statement_timestamp() + (SELECT shift FROM test_clock)';
"""


class _Kept:
    """Connections to a database that stay open between the calls of a test."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: asyncpg.Connection | None = None
        self._is_used = False
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    async def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:
        if self._is_used:  # by another thread, perhaps for as long as it waits for a lock
            return await _fetch(self._url, query, *args)
        self._is_used = True
        try:
            if self._connection is None or self._connection.is_closed():
                # Tests change tables, and then a statement means something else.
                self._connection = await asyncpg.connect(self._url, statement_cache_size=0)
            return await self._connection.fetch(query, *args)
        finally:
            self._is_used = False

    async def on_database(self, work: Callable[[Database], Awaitable[T]]) -> T:
        async with self._opening:
            if self._database is None:
                self._database = Database(self._url, size=1, name="test")
                await self._database.open()
        return await work(self._database)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
        if self._database is not None:
            await self._database.close()


class Postgres:
    """A running server."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._kept: dict[str, _Kept] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._wait(_make_template(server))

    def url(self) -> str:
        return self._server.url()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def fresh_database(self) -> Iterator[str]:
        name = f"test_{next(self._numbers)}"
        # Copying files is faster than writing them through the log, where no fsync is waited for.
        create = f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE} STRATEGY file_copy"
        self._wait(self._execute(create))
        url = self._server.url(name)
        kept = self._kept[url] = _Kept(url)
        try:
            yield url
        finally:
            del self._kept[url]
            self._wait(kept.close())
            self._wait(self._execute(f"DROP DATABASE {name} WITH (FORCE)"))

    def move_clock(self, url: str, by: timedelta) -> None:
        """Let time pass for every query on this database."""
        self.fetch(url, "UPDATE test_clock SET shift = shift + $1", by)

    def fetch(self, url: str, query: str, *args: Any) -> list[asyncpg.Record]:
        kept = self._kept.get(url)
        return self._wait(_fetch(url, query, *args) if kept is None else kept.fetch(query, *args))

    def on_database(self, url: str, work: Callable[[Database], Awaitable[T]]) -> T:
        """Run `work` with an open database."""
        kept = self._kept.get(url)
        return self._wait(_on_database(url, work) if kept is None else kept.on_database(work))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @staticmethod
    def run(work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from a test or fixture that is not one, or that is inside a loop."""
        result: list[T] = []
        thread = threading.Thread(target=lambda: result.append(asyncio.run(work)))
        thread.start()
        thread.join()
        return result[0]

    async def _execute(self, statement: str) -> None:
        await _execute(self._server.url(), statement)


async def _execute(url: str, statement: str, *args: Any) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement, *args)
    finally:
        await connection.close()


async def _fetch(url: str, query: str, *args: Any) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(query, *args)
    finally:
        await connection.close()


async def _on_database(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    db = Database(url, size=1, name="test")
    await db.open()
    try:
        return await work(db)
    finally:
        await db.close()


async def _make_template(server: EmbeddedServer) -> None:
    await _execute(server.url(), f"CREATE DATABASE {_TEMPLATE}")
    db = Database(server.url(_TEMPLATE), size=1, name="template")
    await db.open()
    try:
        await migrate(db)
    finally:
        await db.close()
    await _execute(server.url(_TEMPLATE), MOVABLE_CLOCK)


@contextmanager
def running_server(folder: Path) -> Iterator[EmbeddedServer]:
    """Run a server from a thread of its own, which lives as long as it does."""
    started: list[EmbeddedServer] = []
    ready = threading.Event()
    stop = threading.Event()

    async def live() -> None:
        async with embedded.running(folder, options=_FAST) as server:
            started.append(server)
            ready.set()
            await asyncio.to_thread(stop.wait)

    def work() -> None:
        try:
            asyncio.run(live())
        finally:
            ready.set()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        yield started[0]
    finally:
        stop.set()
        thread.join()


@contextmanager
def serving_postgres(folder: Path) -> Iterator[Postgres]:
    """Run a server with a migrated template database."""
    with running_server(folder) as server:
        postgres = Postgres(server)
        try:
            yield postgres
        finally:
            postgres.close()


def copy_as_standby(primary: EmbeddedServer, folder: Path) -> None:
    """Make a data folder whose server follows `primary` by streaming replication."""
    folder.mkdir()
    command = [
        str(embedded.bin_dir() / "pg_basebackup"),
        *("-D", str(folder / "postgres"), "-d", primary.url(), "-R", "-c", "fast", "--no-sync"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
