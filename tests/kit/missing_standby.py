"""A synchronous standby that a server waits for, and that is never there."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import asyncpg

from kit.postgres import Postgres
from tradewind.storage.sql import try_write

_PATIENCE_SECONDS = 10.0


class MissingStandby:
    """Commits wait for it, from when it leaves until it is as if it were back.

    Only those of sessions with `synchronous_commit = on` do.
    """

    def __init__(self, postgres: Postgres, database_url: str) -> None:
        self._postgres = postgres
        self._url = database_url

    def leave(self) -> None:
        """Return when the server has noticed."""
        self._set("missing")
        self._postgres.run(self._until_noticed())

    def come_back(self) -> None:
        self._set("")

    def count_waiting(self) -> int:
        """How many commits wait for it."""
        [row] = self._postgres.fetch(
            self._url, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )
        return int(row[0])

    async def _until_noticed(self) -> None:
        """Commit until a commit has to wait; then end its session."""
        watch = await asyncpg.connect(self._url)
        writer = await asyncpg.connect(self._url, server_settings={"synchronous_commit": "on"})
        waits = "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $1"
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                commit = asyncio.create_task(try_write(writer))
                while not await watch.fetchval(waits, writer.get_server_pid()):
                    if commit.done():
                        commit = asyncio.create_task(try_write(writer))
                    await asyncio.sleep(0.001)
                await watch.execute("SELECT pg_terminate_backend($1)", writer.get_server_pid())
                with suppress(asyncpg.PostgresError, asyncpg.InterfaceError):
                    await commit
        finally:
            writer.terminate()
            watch.terminate()

    def _set(self, names: str) -> None:
        self._postgres.fetch(self._url, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self._postgres.fetch(self._url, "SELECT pg_reload_conf()")


@contextmanager
def missing_standby(postgres: Postgres, database_url: str) -> Iterator[MissingStandby]:
    """A standby that is there until it leaves, and is back in the end."""
    standby = MissingStandby(postgres, database_url)
    try:
        yield standby
    finally:
        standby.come_back()
