"""A real PgBouncer for tests, with the configuration of docs/how-to/deploy.md."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from kit import blocks
from kit.docs import replaced
from kit.toolchains import deployment_tool
from tradewind.storage import postgres_child

PAGE = "docs/how-to/deploy.md"
# Fewer than the connections of one process, so that clients wait for each other.
POOL_SIZE = 4
_USER, _PASSWORD = "tradewind", "pooler-password"
_START_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Pooler:
    """A running PgBouncer in front of every database of the tests' PostgreSQL."""

    port: int

    def url(self, direct_url: str) -> str:
        """The URL of a database through the pooler."""
        name = urlsplit(direct_url).path
        return f"postgresql://{_USER}:{_PASSWORD}@127.0.0.1:{self.port}{name}"

    def settings(self, direct_url: str) -> dict[str, str]:
        """The settings of a deployment behind the pooler."""
        return {
            "TRADEWIND_DATABASE_URL": self.url(direct_url),
            "TRADEWIND_DATABASE_DIRECT_URL": direct_url,
        }


@contextmanager
def running_pooler(
    server_url: str, folder: Path, port: int, changes: Mapping[str, str] | None = None
) -> Iterator[Pooler]:
    """Run PgBouncer in front of a server, with the page's configuration and some `changes` to it.

    PgBouncer does not run as root, nor does PostgreSQL: both are started in the same way.
    """
    program = deployment_tool("pgbouncer")
    (block,) = blocks.find(PAGE, "ini", containing="[pgbouncer]")
    (socket_folder,) = parse_qs(urlsplit(server_url).query)["host"]
    folder.mkdir(exist_ok=True)
    users = folder / "userlist.txt"
    users.write_text(f'"{_USER}" "{_PASSWORD}"\n')
    changed = {
        "tradewind = host=10.0.2.5 port=5432 dbname=tradewind": f"* = host={socket_folder}",
        "listen_addr = 10.0.2.6": "listen_addr = 127.0.0.1\nunix_socket_dir =",
        "listen_port = 6432": f"listen_port = {port}",
        "/etc/pgbouncer/userlist.txt": str(users),
        "default_pool_size = 20": f"default_pool_size = {POOL_SIZE}",
        **(changes or {}),
    }
    assert all(change in block.text for change in changed)
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(replaced(block.text, changed))
    log = folder / "pgbouncer.log"
    command = [sys.executable, "-I", "-S", postgres_child.__file__, str(os.getpid()), program]
    with (
        log.open("wb") as output,
        subprocess.Popen([*command, str(configuration)], stdout=output, stderr=output) as process,
    ):
        try:
            _wait_until_ready(process, port, log)
            yield Pooler(port)
        finally:
            process.send_signal(signal.SIGTERM)
    blocks.ran([block])


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        else:
            return


def in_both_ways(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses the fixture `db` directly and through PgBouncer."""
    chosen = any("db" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "db" in metafunc.fixturenames and not chosen:
        metafunc.parametrize("db", ["direct", "pooler"], indirect=True)
