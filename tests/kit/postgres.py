"""A real PostgreSQL for tests, and databases copied from a migrated template."""

import asyncio
import itertools
import subprocess
import threading
from collections.abc import Coroutine, Iterator
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


class Postgres:
    """A running server."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self.run(_make_template(server))

    @contextmanager
    def fresh_database(self) -> Iterator[str]:
        name = f"test_{next(self._numbers)}"
        # Copying files is faster than writing them through the log, where no fsync is waited for.
        create = f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE} STRATEGY file_copy"
        self.run(self._execute(create))
        try:
            yield self._server.url(name)
        finally:
            self.run(self._execute(f"DROP DATABASE {name} WITH (FORCE)"))

    def move_clock(self, url: str, by: timedelta) -> None:
        """Let time pass for every query on this database."""
        self.run(_execute(url, "UPDATE test_clock SET shift = shift + $1", by))

    def fetch(self, url: str, query: str, *args: Any) -> list[asyncpg.Record]:
        return self.run(_fetch(url, query, *args))

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
        yield Postgres(server)


def copy_as_standby(primary: EmbeddedServer, folder: Path) -> None:
    """Make a data folder whose server follows `primary` by streaming replication."""
    folder.mkdir()
    command = [
        str(embedded.bin_dir() / "pg_basebackup"),
        *("-D", str(folder / "postgres"), "-d", primary.url(), "-R", "-c", "fast", "--no-sync"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
