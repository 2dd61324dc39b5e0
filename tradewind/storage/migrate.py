"""Migrations: numbered SQL files, forward only, applied by one process at a time."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import asyncpg

from tradewind.errors import CannotStart
from tradewind.storage import sql
from tradewind.storage.pool import Database

_LOCK_TRIES = 15
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: `0001_schema.sql`. Once released it never changes; the checksum tells."""

    number: int
    name: str
    statements: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.statements.encode()).hexdigest()


class MigrationsDiffer(CannotStart):
    """The database was migrated by other code than this."""


@cache
def known() -> Sequence[Migration]:
    """Every migration of this version of the code, in order."""
    found = []
    for file in (files("tradewind.storage") / "migrations").iterdir():
        number, _, rest = file.name.partition("_")
        if file.name.endswith(".sql") and number.isdigit():
            found.append(Migration(int(number), rest.removesuffix(".sql"), file.read_text("utf-8")))
    return sorted(found, key=lambda migration: migration.number)


async def pending(db: Any) -> Sequence[Migration]:
    """The migrations that this database still lacks."""
    applied = await sql.applied_migrations(db) if await sql.has_migration_table(db) else {}
    return missing(known(), applied)


def missing(code: Sequence[Migration], applied: dict[int, str]) -> Sequence[Migration]:
    """What is left to apply, or MigrationsDiffer when history was rewritten.

    A database that is ahead of the code is fine: migrations are safe for the code before them,
    so that the old version serves while, and after, the new one's migrations run.
    """
    for migration in code:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise MigrationsDiffer(
                f"Migration {migration.number:04} ({migration.name}) was applied to this database "
                "with another text. Run the version of Tradewind that made this database, or use "
                "an empty one."
            )
    return [migration for migration in code if migration.number not in applied]


async def migrate(db: Database) -> Sequence[Migration]:
    """Apply what is missing, each migration in a transaction of its own, and tell which.

    A statement that waits over 2 s for a lock gives up and its migration is tried again, so
    that it never queues the running code behind it.
    """
    connection = await db.connect()
    try:
        await _take_turn(connection)
        await sql.make_migration_table(connection)
        todo = missing(known(), await sql.applied_migrations(connection))
        for migration in todo:
            await _apply(connection, migration)
        return todo
    finally:
        await connection.close()


async def _take_turn(connection: asyncpg.Connection) -> None:
    """Wait until no other process migrates, for as long as its migrations take.

    We ask again and again: one question that waits would end by the session's time limits, and
    hold a snapshot for as long as it waits.
    """
    while not await sql.try_migration_lock(connection):  # noqa: ASYNC110 - no event reaches us
        await asyncio.sleep(_POLL_SECONDS)


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    for attempt in range(1, _LOCK_TRIES + 1):
        try:
            async with connection.transaction():
                await sql.run_migration(connection, migration.statements)
                await sql.record_migration(
                    connection, migration.number, migration.name, migration.checksum
                )
        except asyncpg.LockNotAvailableError:
            if attempt == _LOCK_TRIES:
                raise CannotStart(
                    f"Migration {migration.number:04} ({migration.name}) could not get its locks: "
                    "some session holds a table for long. End it, then run `tradewind migrate`."
                ) from None
            await asyncio.sleep(1)
        else:
            return
