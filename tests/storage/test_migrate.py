"""Migrations: each applied once, by one process, and never a changed one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncpg
import pytest

from tradewind.errors import CannotStart
from tradewind.storage import migrate as migrations
from tradewind.storage import sql
from tradewind.storage.migrate import (
    Migration,
    MigrationsDiffer,
    _apply,
    _wait_for_lock,
    all_migrations,
    migrate,
    missing,
    pending,
)
from tradewind.storage.pool import Database

FIRST = Migration(1, "first", "CREATE TABLE first ()")
SECOND = Migration(2, "second", "CREATE TABLE second ()")


@pytest.fixture
async def empty(db: Database) -> Database:
    await db.execute("DROP SCHEMA public CASCADE")
    await db.execute("CREATE SCHEMA public")
    return db


@pytest.fixture
async def connection(db: Database) -> AsyncIterator[asyncpg.Connection]:
    opened = await db.connect()
    yield opened
    await opened.close()


async def recorded(db: Database) -> list[tuple[int, str, str]]:
    rows = await db.fetch("SELECT number, name, checksum FROM schema_migration ORDER BY number")
    return [tuple(row) for row in rows]


def test_the_migrations_of_the_code_are_numbered_without_a_gap() -> None:
    assert [migration.number for migration in all_migrations()] == [
        *range(1, len(all_migrations()) + 1)
    ]


async def test_an_empty_database_lacks_everything_until_it_is_migrated(empty: Database) -> None:
    assert await pending(empty) == all_migrations()

    assert await migrate(empty) == all_migrations()

    assert await pending(empty) == []
    assert await migrate(empty) == []
    assert await recorded(empty) == [(m.number, m.name, m.checksum) for m in all_migrations()]


async def test_several_at_once_apply_each_migration_once(
    empty: Database, database_url: str
) -> None:
    async with AsyncExitStack() as stack:
        several = [Database(database_url, size=1, name=f"test {n}") for n in range(4)]
        for item in several:
            await item.open()
            stack.push_async_callback(item.close)

        applied = await asyncio.gather(*map(migrate, several))

    assert sorted(map(len, applied)) == [0, 0, 0, len(all_migrations())]
    assert await recorded(empty) == [(m.number, m.name, m.checksum) for m in all_migrations()]


async def test_who_comes_second_waits_its_turn_longer_than_any_statement_may_take(
    db: Database, connection: asyncpg.Connection
) -> None:
    assert await sql.try_migration_lock(connection)
    second = await db.connect()
    await second.execute("SET lock_timeout = '50ms'; SET statement_timeout = '50ms'")

    waiting = asyncio.create_task(_wait_for_lock(second))
    done, _ = await asyncio.wait([waiting], timeout=0.5)

    assert not done
    await connection.close()
    await asyncio.wait_for(waiting, 5)
    await second.close()


async def test_a_migration_that_was_changed_after_its_release_is_rejected(db: Database) -> None:
    await db.execute("UPDATE schema_migration SET checksum = 'another' WHERE number = 1")
    before = await recorded(db)

    for act in (migrate, pending):
        with pytest.raises(MigrationsDiffer) as caught:
            await act(db)
        assert str(caught.value) == (
            "Migration 0001 (schema) was applied to this database with another text. Run the "
            "version of Tradewind that made this database, or use an empty one."
        )

    assert await recorded(db) == before


async def test_a_database_that_is_ahead_of_the_code_is_fine(db: Database) -> None:
    await db.execute("INSERT INTO schema_migration VALUES (9999, 'tomorrow', 'unknown to us')")

    assert await pending(db) == []
    assert await migrate(db) == []


@pytest.mark.parametrize(
    ("applied", "left"),
    [
        ({}, [FIRST, SECOND]),
        ({1: FIRST.checksum}, [SECOND]),
        ({2: SECOND.checksum}, [FIRST]),
        ({1: FIRST.checksum, 2: SECOND.checksum}, []),
        ({1: FIRST.checksum, 2: SECOND.checksum, 3: "ahead"}, []),
    ],
)
def test_what_is_missing_is_what_was_not_applied(
    applied: dict[int, str], left: list[Migration]
) -> None:
    assert missing([FIRST, SECOND], applied) == left


async def test_a_migration_that_fails_leaves_nothing_behind(
    db: Database, connection: asyncpg.Connection
) -> None:
    half = Migration(9999, "half", "CREATE TABLE half (); SELECT 1 / 0")
    before = await recorded(db)

    with pytest.raises(asyncpg.DivisionByZeroError):
        await _apply(connection, half)

    assert await db.fetchval("SELECT to_regclass('half')") is None
    assert await recorded(db) == before


async def test_a_migration_that_cannot_get_its_lock_gives_up_with_a_sentence(
    db: Database, connection: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "_LOCK_TRIES", 2)
    greedy = Migration(
        9999, "greedy", "SET LOCAL lock_timeout = '50ms'; ALTER TABLE account ADD COLUMN x int"
    )
    before = await recorded(db)

    async with db.connection() as holder, holder.transaction():
        await holder.execute("LOCK TABLE account IN ACCESS SHARE MODE")
        with pytest.raises(CannotStart) as caught:
            await _apply(connection, greedy)

    assert str(caught.value) == (
        "Migration 9999 (greedy) could not get its locks: another session holds a lock. "
        "End it, then run `tradewind migrate`."
    )
    assert await recorded(db) == before


async def test_a_lock_that_is_soon_free_again_only_delays_a_migration(
    db: Database, connection: asyncpg.Connection
) -> None:
    patient = Migration(
        9999, "patient", "SET LOCAL lock_timeout = '50ms'; ALTER TABLE account ADD COLUMN x int"
    )

    async with db.connection() as holder, holder.transaction():
        await holder.execute("LOCK TABLE account IN ACCESS SHARE MODE")
        applying = asyncio.create_task(_apply(connection, patient))
        await asyncio.sleep(0.5)  # its first try has given up, its next comes a second later
    await applying

    assert (9999, "patient", patient.checksum) in await recorded(db)
