"""Connections that are kept for a moment: nobody waits for them, and none outlives its end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tradewind.storage.kept_connections import KeptConnections

SIZE = 2


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[asyncpg.Pool]:
    async with asyncpg.create_pool(database_url, min_size=0, max_size=SIZE) as made:
        yield made


@pytest.fixture
async def kept(pool: asyncpg.Pool) -> AsyncIterator[KeptConnections]:
    made = KeptConnections(pool, seconds=5)
    yield made
    await made.close()


async def _use(kept: KeptConnections, *, is_clean: bool = True) -> int:
    """Use a connection; the process id of its backend."""
    connection, since = await kept.take()
    pid: int = connection.get_server_pid()
    await kept.give_back(connection, since, is_clean=is_clean)
    return pid


async def test_the_connection_that_was_used_last_is_used_first(
    kept: KeptConnections, pool: asyncpg.Pool
) -> None:
    first, second = await kept.take(), await kept.take()
    await kept.give_back(*first, is_clean=True)
    await kept.give_back(*second, is_clean=True)
    assert pool.get_idle_size() == 0

    assert await _use(kept) == second[0].get_server_pid()


async def test_who_waits_gets_what_is_given_back(kept: KeptConnections) -> None:
    used = [await kept.take() for _ in range(SIZE)]
    waiting = asyncio.create_task(_use(kept))
    await asyncio.sleep(0)
    pid = used[0][0].get_server_pid()
    await kept.give_back(*used[0], is_clean=True)

    assert await asyncio.wait_for(waiting, 5) == pid
    await kept.give_back(*used[1], is_clean=True)


@pytest.mark.parametrize("by_the_server", [True, False])
async def test_a_connection_that_was_closed_meanwhile_is_not_used(
    kept: KeptConnections, database_url: str, *, by_the_server: bool
) -> None:
    connection, since = await kept.take()
    pid = connection.get_server_pid()
    await kept.give_back(connection, since, is_clean=True)
    if by_the_server:
        other = await asyncpg.connect(database_url)
        await other.execute("SELECT pg_terminate_backend($1)", pid)
        await other.close()
        await asyncio.sleep(0.1)  # until the driver has read it
    else:
        await connection.close()
    pids = [await _use(kept) for _ in range(3)]

    assert pids == [pids[0]] * 3
    assert pids[0] != pid


async def test_what_is_not_clean_goes_through_the_pool(
    kept: KeptConnections, pool: asyncpg.Pool
) -> None:
    await _use(kept, is_clean=False)
    assert pool.get_idle_size() == 1

    connection, since = await kept.take()
    await connection.execute("BEGIN")
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # asyncpg tells of it
    await kept.give_back(connection, since, is_clean=True)

    connection, since = await kept.take()
    assert not connection.is_in_transaction()
    await kept.give_back(connection, since, is_clean=True)


async def test_the_pool_gets_what_nobody_uses(kept: KeptConnections, pool: asyncpg.Pool) -> None:
    used = [await kept.take() for _ in range(SIZE)]
    for each in used:
        await kept.give_back(*each, is_clean=True)

    async with asyncio.timeout(10):
        while pool.get_idle_size() < SIZE:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.05)


async def test_a_connection_that_is_always_in_use_is_seen_by_the_pool(
    kept: KeptConnections, pool: asyncpg.Pool
) -> None:
    async with asyncio.timeout(10):
        while pool.get_idle_size() == 0:
            await _use(kept)
            await asyncio.sleep(0.01)


async def test_what_expired_is_not_used_again(kept: KeptConnections, pool: asyncpg.Pool) -> None:
    used, idle = await kept.take(), await kept.take()
    old = {used[0].get_server_pid(), idle[0].get_server_pid()}
    await kept.give_back(*idle, is_clean=True)

    await pool.expire_connections()
    kept.expire()
    await kept.give_back(*used, is_clean=True)
    new = [await kept.take() for _ in range(SIZE)]

    assert old.isdisjoint(connection.get_server_pid() for connection, _ in new)
    for each in new:
        await kept.give_back(*each, is_clean=True)


async def test_what_expires_while_somebody_waits_for_it_is_not_kept(
    kept: KeptConnections, pool: asyncpg.Pool
) -> None:
    used = [await kept.take() for _ in range(SIZE)]
    waiting = asyncio.create_task(kept.take())
    await asyncio.sleep(0)
    await kept.give_back(*used[0], is_clean=True)
    await pool.expire_connections()
    kept.expire()
    late = await waiting
    pid = late[0].get_server_pid()
    await kept.give_back(*late, is_clean=True)

    assert await _use(kept) != pid
    await kept.give_back(*used[1], is_clean=True)


class _Unreachable(asyncpg.Pool):
    """A pool that cannot close what is given back."""

    __slots__ = ()

    async def release(self, connection: Any, *, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await super().release(connection, timeout=timeout)
        raise TimeoutError


async def test_what_cannot_be_given_back_does_not_keep_the_rest(database_url: str) -> None:
    async with asyncpg.create_pool(database_url, min_size=0, max_size=SIZE) as pool:
        pool.__class__ = _Unreachable
        kept = KeptConnections(pool, seconds=5)
        used = [await kept.take() for _ in range(SIZE)]
        for each in used:
            await kept.give_back(*each, is_clean=True)

        await kept.close()

        assert pool.get_idle_size() == SIZE
