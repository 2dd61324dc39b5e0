"""Recognises a pooler between this process and PostgreSQL: its mode, its size and its settings."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum

import asyncpg

from tradewind.storage import sql
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import connect_plainly

_ROUNDS = 5
_HOLD_SECONDS = 2.0
_FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, DatabaseAway)


class PoolMode(StrEnum):
    """For how long a client of a pooler keeps a connection to the server; NONE: no pooler."""

    NONE = "none"
    SESSION = "session"
    TRANSACTION = "transaction"
    STATEMENT = "statement"


def mode_of(
    announced: Sequence[int], pids: Sequence[Sequence[int]], *, allows_transactions: bool
) -> PoolMode:
    """The mode, by the processes of the server that ran the statements of two connections.

    `announced` is the process that each connection was told at its start: a pooler makes it up.
    In session mode, a connection keeps its process, and no other connection gets it.
    """
    if all({number} == {*seen} for number, seen in zip(announced, pids, strict=True)):
        return PoolMode.NONE
    if not allows_transactions:
        return PoolMode.STATEMENT
    is_shared = bool(set.intersection(*({*seen} for seen in pids)))
    is_changing = any(len({*seen}) > 1 for seen in pids)
    return PoolMode.TRANSACTION if is_shared or is_changing else PoolMode.SESSION


async def find_mode(url: str) -> PoolMode:
    """Open two connections and use them in turn; DatabaseAway when they cannot be opened."""
    connections = [await connect_plainly(url)]
    try:
        first = await sql.backend_pid(connections[0])
        if first == connections[0].get_server_pid():
            return PoolMode.NONE
        connections.append(await connect_plainly(url))
        try:
            await asyncio.wait_for(sql.backend_pid(connections[1]), _HOLD_SECONDS)
        except TimeoutError:  # the first one keeps the only connection to the server
            return PoolMode.SESSION
        pids: list[list[int]] = [[] for _ in connections]
        for _ in range(_ROUNDS):
            for connection, seen in zip(connections, pids, strict=True):
                seen.append(await sql.backend_pid(connection))
        announced = [connection.get_server_pid() for connection in connections]
        allowed = await _allows_transactions(connections[0])
        return mode_of(announced, pids, allows_transactions=allowed)
    finally:
        for connection in connections:
            connection.terminate()


async def settings_at_once(
    url: str, names: Sequence[str], *, most: int
) -> Sequence[Mapping[str, str]]:
    """The settings in force in each of as many transactions as the pooler runs at a time.

    There are `most` at the most. Each holds its connection until all have one, or until no other
    got one for two seconds: a server that is only slow has room for all of them.
    """
    results: list[Mapping[str, str]] = []
    has_begun = asyncio.Event()
    is_over = asyncio.Event()

    async def hold() -> None:
        connection = await connect_plainly(url)
        try:
            async with connection.transaction():
                results.append(await sql.settings_in_force(connection, names))
                has_begun.set()
                await is_over.wait()
            await connection.close()
        finally:
            connection.terminate()

    tasks = [asyncio.create_task(hold()) for _ in range(most)]
    with suppress(TimeoutError):
        while len(results) < most:
            has_begun.clear()
            await asyncio.wait_for(has_begun.wait(), _HOLD_SECONDS)
    count = len(results)
    is_over.set()
    _, waiting = await asyncio.wait(tasks, timeout=_HOLD_SECONDS)
    for task in waiting:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception) and not isinstance(ended, _FAILURES):
            raise ended
    return results[:count]


async def _allows_transactions(connection: asyncpg.Connection) -> bool:
    try:
        async with connection.transaction():
            await sql.backend_pid(connection)
    except _FAILURES:
        return False
    return True
