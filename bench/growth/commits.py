"""How many transactions a second one PostgreSQL commits to this disk, by the connections."""

import asyncio
import time
from collections.abc import AsyncIterator

import asyncpg

from bench.growth.model import Figure
from bench.growth.series import CONNECTIONS, Effort
from bench.growth.stage import Site

COMMIT = "commit one row"


async def measure(site: Site, size: int, effort: Effort) -> AsyncIterator[Figure]:
    """Each connection inserts one row after another; each insert is a transaction."""
    await site.connection.execute("CREATE TABLE committed (number integer)")
    connections = [await asyncpg.connect(site.url) for _ in range(size)]
    seconds: list[float] = []

    async def write(connection: asyncpg.Connection, until: float) -> None:
        while time.perf_counter() < until:
            started = time.perf_counter()
            await connection.execute("INSERT INTO committed VALUES (1)")
            seconds.append(time.perf_counter() - started)

    try:
        before = await site.meter.read()
        began = time.perf_counter()
        until = began + effort.seconds
        await asyncio.gather(*(write(connection, until) for connection in connections))
        took = time.perf_counter() - began
        spent = (await site.meter.read()).since(before)
    finally:
        for connection in connections:
            await connection.close()
    times = len(seconds)
    rate = times / took
    yield await site.meter.figure(CONNECTIONS, size, COMMIT, spent, times, 1.0, seconds, rate)
