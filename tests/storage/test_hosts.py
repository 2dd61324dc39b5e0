"""An address with several hosts: those that are away, frozen or standbys hold nobody up."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import asyncpg
import pytest
from kit.server import free_port

from tradewind.storage.errors import DatabaseAway
from tradewind.storage.hosts import hosts_of
from tradewind.storage.pool import Database, connect_plainly


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("postgresql://u:p@h1/db", [("h1", 5432)]),
        ("postgresql://u:p@h1:5433,h2/db", [("h1", 5433), ("h2", 5432)]),
        ("postgresql://[::1]:5433,[fe80::1]/db", [("::1", 5433), ("fe80::1", 5432)]),
        ("postgresql:///db?host=/run/a,/run/b&port=5433", [("/run/a", 5433), ("/run/b", 5433)]),
        ("postgresql:///db?host=a,b&port=5433,5434", [("a", 5433), ("b", 5434)]),
        ("postgresql://u@/db?host=%2Frun%2Fa", [("/run/a", 5432)]),
        ("postgresql://%2Frun%2Fa,h2/db", [("/run/a", 5432), ("h2", 5432)]),
        ("postgresql:///db", []),
    ],
)
def test_the_hosts_of_an_address(url: str, hosts: list[tuple[str, int]]) -> None:
    assert list(hosts_of(url)) == hosts


class FrozenHost:
    """A host that accepts connections and never answers."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._listening.setblocking(False)
        self.name = f"127.0.0.1:{self._listening.getsockname()[1]}"

    def count_attempts(self) -> int:
        """How many tried to connect since the last time."""
        count = 0
        with suppress(BlockingIOError):
            while True:
                self._listening.accept()[0].close()
                count += 1
        return count

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def frozen() -> Iterator[FrozenHost]:
    host = FrozenHost()
    yield host
    host.close()


def several(database_url: str, *hosts: str) -> str:
    """The address of a database, with other hosts before the one that has it."""
    parts = urlsplit(database_url)
    folder = parse_qs(parts.query)["host"][0]
    listed = ",".join([*hosts, quote(folder, safe="")])
    return f"postgresql://tradewind@{listed}{parts.path}?target_session_attrs=read-write"


async def test_a_host_that_does_not_answer_holds_nobody_up(
    database_url: str, frozen: FrozenHost
) -> None:
    url = several(database_url, frozen.name)
    db = Database(url, size=3, name="test")
    await db.open()

    assert await db.fetchval("SELECT 1") == 1
    session = await db.connect()
    connection = await connect_plainly(url)

    await session.close()
    await connection.close()
    await db.close()


async def test_the_host_that_was_used_last_is_tried_first(
    database_url: str, frozen: FrozenHost
) -> None:
    db = Database(several(database_url, frozen.name), size=1, name="test")
    await db.open()
    await db.fetchval("SELECT 1")
    assert frozen.count_attempts() == 1

    for _ in range(8):
        await (await db.connect()).close()

    assert frozen.count_attempts() < 8  # none, unless this machine takes half a second for one
    await db.close()


async def test_connections_to_another_host_than_the_last_are_not_used_again(
    database_url: str, tmp_path: Path
) -> None:
    """The first host is a second way to the same server, and is closed to new connections."""
    real = parse_qs(urlsplit(database_url).query)["host"][0]
    first = tmp_path / "first"
    first.symlink_to(real)
    db = Database(several(database_url, quote(str(first), safe="")), size=1, name="test")
    await db.open()
    pid = await db.fetchval("SELECT pg_backend_pid()")
    await (await db.connect()).close()
    assert await db.fetchval("SELECT pg_backend_pid()") == pid

    first.unlink()
    await (await db.connect()).close()  # leads to the second host

    assert await db.fetchval("SELECT pg_backend_pid()") != pid
    await db.close()


async def test_a_host_that_is_down_is_passed_over_at_once(database_url: str) -> None:
    url = several(database_url, f"127.0.0.1:{free_port()}")
    db = Database(url, size=1, name="test")
    await db.open()

    assert await db.fetchval("SELECT 1") == 1

    await db.close()


async def test_a_host_that_takes_no_changes_is_not_used(database_url: str) -> None:
    name = urlsplit(database_url).path[1:]
    admin = await asyncpg.connect(database_url)
    await admin.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    db = Database(several(database_url, f"127.0.0.1:{free_port()}"), size=1, name="test")
    await db.open()

    with pytest.raises(DatabaseAway) as caught:
        await db.fetchval("SELECT 1")

    assert "read-write" in str(caught.value.__cause__)
    await admin.close()
    await db.close()


async def test_no_connection_is_left_when_the_caller_gives_up(
    database_url: str, frozen: FrozenHost
) -> None:
    url = several(database_url, frozen.name).replace("?", "?application_name=given-up&")
    admin = await asyncpg.connect(database_url)
    left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'given-up'"
    for seconds in (0.1, 0.5, 0.51, 0.53):  # while a host is tried, and as the second one is
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await (await connect_plainly(url)).close()

    async with asyncio.timeout(10):
        while await admin.fetchval(left):  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
    await admin.close()
