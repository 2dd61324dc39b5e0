"""The statements of storage: wake-ups, migrations, partitions, readiness."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

if TYPE_CHECKING:
    from tradewind.storage.pool import Database
    from tradewind.storage.transaction import Tx


class ServerFacts(NamedTuple):
    """The server's version, clock and number of connections, for `tradewind doctor`."""

    version: str
    version_number: int
    clock: datetime
    connections: int


class DatabaseIdentity(NamedTuple):
    """What tells one database from every other: the start of its server, and its number there."""

    server_started: datetime
    database_id: int


class Ownership(NamedTuple):
    """What the current role owns, and what was in the database before Tradewind."""

    role: str
    database: str
    owns_database: bool
    has_tables_of_others: bool
    has_unknown_tables: bool


CHANNEL = "tradewind_wakeup"
# The advisory lock of the process that migrates.
_MIGRATION_LOCK = 7_216_450_283
# The advisory lock of the process that creates partitions.
_PARTITION_LOCK = 7_216_450_284


# Runs one statement outside any transaction.
Fetch = Callable[..., Awaitable[object]]


async def notify(fetch: Fetch, payloads: Sequence[str]) -> None:
    await fetch("SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload", CHANNEL, payloads)


async def try_migration_lock(db: asyncpg.Connection) -> bool:
    """Take the lock unless another process migrates; it ends with the connection."""
    locked: bool = await db.fetchval("SELECT pg_try_advisory_lock($1)", _MIGRATION_LOCK)
    return locked


async def make_migration_table(db: asyncpg.Connection) -> None:
    await db.execute(
        """
        CREATE TABLE IF NOT EXISTS schema_migration (
            number     integer PRIMARY KEY,
            name       text NOT NULL,
            checksum   text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT statement_timestamp()
        )
        """
    )


async def has_migration_table(db: "Database") -> bool:
    exists: bool = await db.fetchval("SELECT to_regclass('schema_migration') IS NOT NULL")
    return exists


async def applied_migrations(db: "Database | asyncpg.Connection") -> dict[int, str]:
    """Number and checksum of every migration that this database has."""
    rows = await db.fetch("SELECT number, checksum FROM schema_migration ORDER BY number")
    return {row["number"]: row["checksum"] for row in rows}


async def run_migration(db: asyncpg.Connection, statements: str) -> None:
    """Run a migration's statements; it gives up soon, so that the running code does not wait."""
    await db.execute("SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = 0")
    await db.execute(statements)


async def record_migration(db: asyncpg.Connection, number: int, name: str, checksum: str) -> None:
    await db.execute(
        "INSERT INTO schema_migration (number, name, checksum) VALUES ($1, $2, $3)",
        number,
        name,
        checksum,
    )


async def set_role_defaults(db: "Database", settings: Mapping[str, str]) -> None:
    """Make settings the defaults of the current role in this database."""
    rows = await db.fetch(
        """
        SELECT format('ALTER ROLE CURRENT_USER IN DATABASE %I SET %I = %L',
                      current_database(), name, value) AS statement
          FROM unnest($1::text[], $2::text[]) AS setting (name, value)
        """,
        [*settings.keys()],
        [*settings.values()],
    )
    await db.execute("; ".join(row["statement"] for row in rows))


async def server_facts(db: "Database") -> ServerFacts:
    (row,) = await db.fetch(
        """
        SELECT current_setting('server_version') AS version,
               current_setting('server_version_num')::integer AS version_number,
               clock_timestamp() AS clock,
               current_setting('max_connections')::integer
                   - current_setting('superuser_reserved_connections')::integer AS connections
        """
    )
    return ServerFacts(*row)


async def backend_pid(db: asyncpg.Connection) -> int:
    """The number of the server's process that runs this statement."""
    pid: int = await db.fetchval("SELECT pg_backend_pid()")
    return pid


async def settings_in_force(db: asyncpg.Connection, names: Sequence[str]) -> dict[str, str]:
    rows = await db.fetch(
        "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name", names
    )
    return {row["name"]: row["value"] for row in rows}


async def database_identity(db: asyncpg.Connection) -> DatabaseIdentity:
    (row,) = await db.fetch(
        """
        SELECT pg_postmaster_start_time() AS server_started,
               oid AS database_id
          FROM pg_database
         WHERE datname = current_database()
        """
    )
    return DatabaseIdentity(*row)


async def ownership(db: "Database") -> Ownership:
    (row,) = await db.fetch(
        """
        SELECT current_user AS role,
               datname AS database,
               pg_has_role(datdba, 'USAGE') AS owns_database,
               EXISTS (SELECT FROM pg_class
                        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                          AND NOT pg_has_role(relowner, 'USAGE')) AS has_tables_of_others,
               to_regclass('schema_migration') IS NULL
                   AND EXISTS (SELECT FROM pg_class
                                WHERE relnamespace = 'public'::regnamespace
                                  AND relkind IN ('r', 'p')) AS has_unknown_tables
          FROM pg_database
         WHERE datname = current_database()
        """
    )
    return Ownership(*row)


async def is_writable(db: "Database") -> bool:
    """Whether this server accepts changes, and is not a standby."""
    writable: bool = await db.fetchval(
        "SELECT NOT current_setting('transaction_read_only')::boolean"
    )
    return writable


async def try_write(connection: asyncpg.Connection) -> None:
    """Commit a message that nobody reads: it is in the WAL, as every change has to be."""
    await connection.execute("SELECT pg_logical_emit_message(true, 'tradewind', '')")


async def has_partition(db: "Database", parent: str, *, days: int) -> bool:
    """Whether the partition of the day so many days ahead exists."""
    exists: bool = await db.fetchval(
        """
        SELECT to_regclass(
                   $1 || '_' || to_char((tradewind_now() AT TIME ZONE 'UTC')::date + $2::integer,
                                        'YYYYMMDD')) IS NOT NULL
        """,
        parent,
        days,
    )
    return exists


async def make_partitions(tx: "Tx", parent: str, *, ahead: int) -> None:
    """Create the missing partitions; it gives up soon, so that nobody waits for it."""
    await tx.execute("SET LOCAL lock_timeout = '2s'")
    await tx.execute("SELECT pg_advisory_xact_lock($1)", _PARTITION_LOCK)
    await tx.execute("SELECT make_partitions($1, $2)", parent, ahead)


async def list_partitions(db: "Database", parent: str) -> list[str]:
    rows = await db.fetch(
        """
        SELECT child.relname AS name
          FROM pg_inherits
          JOIN pg_class AS child ON child.oid = inhrelid
         WHERE inhparent = to_regclass($1)
         ORDER BY child.relname
        """,
        parent,
    )
    return [row["name"] for row in rows]


async def drop_partition(db: "Database", parent: str, name: str) -> None:
    """Detach without blocking writers, then drop. A detach that was interrupted is completed."""
    pending = await db.fetchval(
        "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass($1)", name
    )
    how = "FINALIZE" if pending else "CONCURRENTLY"
    await db.execute(f'ALTER TABLE "{parent}" DETACH PARTITION "{name}" {how}')
    await db.execute(f'DROP TABLE "{name}"')


async def now(db: "Database | Tx") -> datetime:
    """The time of the database, which decides what is due or expired."""
    moment: datetime = await db.fetchval("SELECT tradewind_now()")
    return moment
