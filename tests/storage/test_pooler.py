"""Through PgBouncer in transaction mode clients take turns, and sessions are opened beside it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import pytest
from kit.pgbouncer import POOL_SIZE, Pooler, running_pooler
from kit.postgres import Postgres
from kit.server import free_port

from tradewind.delivery.engine import ENGINE_SESSION_SETTINGS
from tradewind.storage import pooler as probes
from tradewind.storage import sql
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import SESSION_SETTINGS, Database
from tradewind.storage.transaction import transaction

through_the_pooler = pytest.mark.parametrize("db", ["pooler"], indirect=True)


@through_the_pooler
async def test_more_clients_than_connections_take_turns(db: Database) -> None:
    pids: set[int] = set()

    async def add_in_a_transaction(number: int) -> int:
        async with transaction(db) as tx:
            pids.add(await tx.fetchval("SELECT pg_backend_pid()"))
            total: int = await tx.fetchval("SELECT $1::integer + 1", number)
            return total

    results = await asyncio.gather(
        *(add_in_a_transaction(number) for number in range(100)),
        *(db.fetchval("SELECT $1::integer + 1", number) for number in range(100, 200)),
    )

    assert results == [*range(1, 201)]
    assert len(pids) <= POOL_SIZE


@through_the_pooler
async def test_a_session_is_opened_directly_with_its_settings(
    db: Database, database_url: str
) -> None:
    session = await db.connect()
    try:
        pid = await session.fetchval("SELECT pg_backend_pid()")
        assert pid == session.get_server_pid(), "a pooler would give its clients another number"
        for name, value in SESSION_SETTINGS.items():
            assert await session.fetchval("SELECT current_setting($1)", name) == value
    finally:
        await session.close()
    with pytest.raises(ValueError, match="use the direct URL"):
        Database(
            database_url, size=1, name="x", settings=ENGINE_SESSION_SETTINGS, direct_url="other"
        )


async def test_migrations_give_the_role_of_the_pooler_its_limits(
    postgres: Postgres, database_url: str, tmp_path: Path
) -> None:
    async def limits(url: str) -> dict[str, str]:
        connection = await asyncpg.connect(url, statement_cache_size=0)
        try:
            rows = await connection.fetch(
                "SELECT name, current_setting(name) FROM unnest($1::text[]) AS name",
                [*SESSION_SETTINGS],
            )
            return {name: value for name, value in rows}  # noqa: C416 - rows are no pairs to mypy
        finally:
            await connection.close()

    def pooled(pooler: Pooler) -> Database:
        url = pooler.url(database_url)
        return Database(url, size=1, name="test", direct_url=database_url)

    with running_pooler(postgres.url(), tmp_path / "first", free_port()) as pooler:
        assert (await limits(pooler.url(database_url)))["statement_timeout"] == "0"
        db = pooled(pooler)
        await db.open()
        assert await migrate(db) == [], "it was migrated before"
        await db.close()
    with running_pooler(postgres.url(), tmp_path / "second", free_port()) as pooler:
        assert await limits(pooler.url(database_url)) == SESSION_SETTINGS


async def test_a_pooler_rejects_a_process_that_does_not_know_of_it(
    pooler: Pooler, database_url: str
) -> None:
    db = Database(pooler.url(database_url), size=1, name="test")
    await db.open()
    with pytest.raises(DatabaseAway) as caught:
        await db.fetchval("SELECT 1")
    assert "unsupported startup parameter" in str(caught.value.__cause__)
    await db.close()


async def test_a_slow_server_is_not_a_small_pool(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, begun = sql.settings_in_force, 0

    async def one_after_the_other(connection: asyncpg.Connection, names: Sequence[str]) -> object:
        nonlocal begun
        begun += 1
        await asyncio.sleep(0.3 * begun)
        return await real(connection, names)

    monkeypatch.setattr(sql, "settings_in_force", one_after_the_other)
    monkeypatch.setattr(probes, "_HOLD_SECONDS", 0.8)

    assert len(await probes.settings_at_once(database_url, ["lock_timeout"], most=4)) == 4
