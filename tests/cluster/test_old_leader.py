"""A leader that froze and goes on after the failover acknowledges no commit that is lost."""

import asyncio
import contextlib
import itertools
import os
import time

import asyncpg
import pytest
from kit import scorecard

from tools.cluster import run
from tools.cluster.layout import Host
from tools.cluster.run import Cluster

pytestmark = pytest.mark.skipif(
    "SOAK_CLUSTER" not in os.environ, reason="only in `make cluster-chaos`"
)

_PATIENCE_SECONDS = 90.0
_STATEMENT_SECONDS = 3.0
_TRIED_SECONDS = 10.0


class OldSession:
    """A client of the old leader that does not know that there is a new one."""

    def __init__(self, cluster: Cluster, leader: Host) -> None:
        self._url = cluster.url_of(leader)
        self._numbers = itertools.count(1)
        self._connection: asyncpg.Connection | None = None
        self.acknowledged: set[int] = set()
        self.failed = 0

    async def write(self) -> None:
        """Write a number, on the connection of the last time if there is one."""
        number = next(self._numbers)
        try:
            if self._connection is None or self._connection.is_closed():
                self._connection = await asyncpg.connect(self._url, timeout=_STATEMENT_SECONDS)
            async with asyncio.timeout(_STATEMENT_SECONDS):
                await self._connection.execute("INSERT INTO old_leader VALUES ($1)", number)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.failed += 1
            self.leave()
        else:
            self.acknowledged.add(number)

    def leave(self) -> None:
        """End the connection at once."""
        if self._connection is not None:
            self._connection.terminate()


def _leader(cluster: Cluster) -> Host:
    leader = cluster.leader()
    assert leader is not None
    return leader


async def test_no_commit_of_an_old_leader_is_acknowledged_and_lost(cluster: Cluster) -> None:
    leader = await asyncio.to_thread(_leader, cluster)
    session = OldSession(cluster, leader)
    connection = await asyncpg.connect(cluster.superuser_url, timeout=10)
    await connection.execute("CREATE TABLE old_leader (number int PRIMARY KEY)")
    await connection.close()
    await session.write()
    before = set(session.acknowledged)

    await asyncio.to_thread(cluster.freeze, leader)
    frozen_at = time.monotonic()
    await asyncio.to_thread(
        run.wait_until, lambda: cluster.leader() is not None, _PATIENCE_SECONDS, "another leads"
    )
    failover = time.monotonic() - frozen_at
    await asyncio.to_thread(cluster.resume, leader)
    deadline = time.monotonic() + _TRIED_SECONDS
    while time.monotonic() < deadline:
        await session.write()
        await asyncio.sleep(0.05)
    session.leave()
    with contextlib.suppress(TimeoutError):
        await asyncio.to_thread(
            run.wait_until, cluster.is_whole, _PATIENCE_SECONDS, "the old leader follows"
        )
    connection = await asyncpg.connect(cluster.superuser_url, timeout=10)
    stored = {row["number"] for row in await connection.fetch("SELECT number FROM old_leader")}
    await connection.close()

    lost = session.acknowledged - stored
    scorecard.record(
        2,
        0,
        lost=len(lost),
        writes_to_the_old_leader=len(session.acknowledged) + session.failed,
        from_freeze_to_new_leader_seconds=failover,
    )
    assert before == {1}
    assert lost == set()
    assert session.failed > 0
    assert await asyncio.to_thread(cluster.is_whole)
