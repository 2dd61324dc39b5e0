"""Migrations: numbered SQL files, forward only, applied by one process at a time."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import asyncpg

from tradewind.errors import CannotStart
from tradewind.observability.logs import log
from tradewind.storage import sql
from tradewind.storage.pool import SESSION_SETTINGS, Database

_LOCK_TRIES = 15
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Migration:
    """One file, such as `0001_schema.sql`. Once released it never changes."""

    number: int
    name: str
    statements: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.statements.encode()).hexdigest()


class MigrationsDiffer(CannotStart):
    """The database was migrated by a version of the code with other migrations."""


@cache
def all_migrations() -> Sequence[Migration]:
    """Every migration of this version of the code, in order."""
    migrations = []
    for file in (files("tradewind.storage") / "migrations").iterdir():
        number, _, rest = file.name.partition("_")
        if file.name.endswith(".sql") and number.isdigit():
            name = rest.removesuffix(".sql")
            migrations.append(Migration(int(number), name, file.read_text("utf-8")))
    return sorted(migrations, key=lambda migration: migration.number)


async def pending(db: Database) -> Sequence[Migration]:
    """The migrations that are not applied to this database yet."""
    applied = await sql.applied_migrations(db) if await sql.has_migration_table(db) else {}
    return missing(all_migrations(), applied)


def missing(code: Sequence[Migration], applied: dict[int, str]) -> Sequence[Migration]:
    """The migrations to apply, or MigrationsDiffer when an applied one was changed.

    A database that is ahead of the code is fine: migrations are safe for the code before them, so
    that the old version serves while, and after, the migrations of the new one run.
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
    """Apply what is missing, each migration in its own transaction; returns those it applied.

    A statement that waits over 2 s for a lock gives up and its migration is retried, so that the
    running code never waits behind it. Behind a pooler, the role also gets its defaults.
    """
    connection = await db.connect()
    try:
        await _wait_for_lock(connection)
        await sql.make_migration_table(connection)
        to_apply = missing(all_migrations(), await sql.applied_migrations(connection))
        for migration in to_apply:
            await _apply(connection, migration)
        if db.is_pooled:
            await _set_role_defaults(db)
        return to_apply
    finally:
        await connection.close()


async def _set_role_defaults(db: Database) -> None:
    """Give the role that the pooler uses the settings which its sessions cannot set themselves.

    They hold for connections that the pooler opens from now on.
    """
    try:
        await sql.set_role_defaults(db, SESSION_SETTINGS)
    except asyncpg.InsufficientPrivilegeError as error:
        log.warning("migrate.role_defaults_not_set", error=str(error))


async def _wait_for_lock(connection: asyncpg.Connection) -> None:
    """Wait until no other process migrates, for as long as its migrations take.

    We poll: a statement that waits would end by the session's time limits, and hold a snapshot
    while it waits.
    """
    while not await sql.try_migration_lock(connection):  # noqa: ASYNC110 - there is no event
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
                    "another session holds a lock. End it, then run `tradewind migrate`."
                ) from None
            await asyncio.sleep(1)
        else:
            return
