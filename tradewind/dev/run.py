"""Runs everything on one machine: an embedded PostgreSQL, demo accounts, the API and a worker."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from typing import TextIO

from tradewind.dev import data_dir, demo_accounts, demo_orders
from tradewind.dev.data_dir import Running, Secrets
from tradewind.errors import CannotStart
from tradewind.observability import logs
from tradewind.observability.logs import log
from tradewind.platforms.registry import MARKETPLACES, simulated_urls
from tradewind.runtime import child_processes
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage import embedded
from tradewind.storage.keyring import Keyring
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

_READY_SECONDS = 60
_STOP_SECONDS = 15
_POLL_SECONDS = 0.05
_WATCH_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the person or the script that started it gets to see."""

    report: Callable[[str], None]
    """Called with a sentence for every step."""
    introduce: Callable[[Running, Secrets], None]
    """Called once, when everything is ready."""
    show_logs: bool
    """Whether logs go to stderr; otherwise they go to a file in the data directory."""


async def run(chosen: Settings, terminal: Terminal, *, demo: bool) -> None:
    """Start everything, introduce it, and run until SIGINT or SIGTERM.

    `demo` is whether to create demo orders that progress by themselves.
    """
    if chosen.production:
        raise CannotStart(
            "`tradewind dev` is for development; in production run `tradewind serve` and "
            "`tradewind worker`."
        )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    port = child_processes.claim_port(chosen.host, chosen.port)
    sandbox_port = _next_port(chosen.host, port)
    folder = chosen.data_dir.absolute()
    async with AsyncExitStack() as stack:
        terminal.report(f"Starting PostgreSQL in {folder}.")
        server = await stack.enter_async_context(embedded.running(folder))
        output = sys.stderr if terminal.show_logs else _log_to_file(chosen, folder)
        where = "its last lines" if terminal.show_logs else str(data_dir.log_path(folder))
        secrets = data_dir.secrets_of(folder)
        database_url = server.url()
        url = url_of(chosen.host, port)
        masters = _masters(chosen, secrets)
        terminal.report("Preparing the database and the demo accounts.")
        await _prepare(database_url, masters, secrets)
        sandbox_url = f"http://127.0.0.1:{sandbox_port}"
        environ = _environment(chosen, masters, port, database_url, url, sandbox_url)
        world = ["--port", str(sandbox_port), "--state", str(folder / "sandbox.state")]
        # Only one process can use a configured metrics port: the API.
        apart = {**environ, "TRADEWIND_METRICS_LISTEN": "127.0.0.1:0"}
        terminal.report("Starting the simulated marketplace, the API and a worker.")
        children = [
            await _start(stack, "sandbox", apart, ["sandbox", *world], output),
            await _start(stack, "API", environ, ["serve"], output),
            await _start(stack, "worker", apart, ["worker"], output),
        ]
        ready_checks = [("127.0.0.1", sandbox_port, "/healthz"), (chosen.host, port, "/readyz")]
        watch: list[asyncio.Task[object]] = [
            *(asyncio.create_task(_death(name, child, where)) for name, child in children),
            asyncio.create_task(_database_death(server.pid)),
            asyncio.create_task(stop.wait()),
        ]
        all_ready = asyncio.create_task(_wait_until_ready(ready_checks))
        for task in (all_ready, *watch):
            stack.callback(task.cancel)
        await _first([all_ready, *watch])
        if not stop.is_set():
            secret_key = environ["TRADEWIND_SECRET_KEY"]
            running = Running(os.getpid(), url, database_url, sandbox_url, secret_key)
            data_dir.write_running(folder, running)
            stack.callback(data_dir.delete_running, folder)
            terminal.introduce(running, secrets)
            if demo:
                moves = asyncio.create_task(demo_orders.live(environ, secrets))
                stack.push_async_callback(_stopped, moves)
                watch.append(moves)
            await _first(watch)
        terminal.report("Stopping.")
        log.info("dev.stopping")


def url_of(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _log_to_file(chosen: Settings, folder: Path) -> TextIO:
    """Let this process log to a file in the data directory until it ends; returns the file."""
    file = data_dir.open_log(folder)
    logs.configure(chosen.log_style, chosen.log_level, file)
    return file


def _next_port(host: str, port: int) -> int:
    """The port after the API's, so that it stays the same; a free one if it is taken."""
    try:
        return child_processes.claim_port(host, port + 1)
    except (CannotStart, OverflowError):
        return child_processes.claim_port(host, 0)


def _masters(chosen: Settings, secrets: Secrets) -> Sequence[bytes]:
    """The master secrets in the settings, or else the one in the data directory."""
    if tuple(chosen.secret_key) == (settings.DEVELOPMENT_SECRET,):
        return [bytes.fromhex(secrets.secret_key)]
    return chosen.secret_key


async def _prepare(database_url: str, masters: Sequence[bytes], secrets: Secrets) -> None:
    db = Database(database_url, size=2, name="tradewind dev")
    await db.open()
    try:
        await migrate(db)
        await demo_accounts.prepare(db, Keyring(masters), secrets)
    finally:
        await db.close()


def _environment(
    chosen: Settings,
    masters: Sequence[bytes],
    port: int,
    database_url: str,
    url: str,
    sandbox_url: str,
) -> dict[str, str]:
    """The environment of the child processes: ours, with defaults.

    By default the connectors call the simulator, and its notices come to us.
    """
    simulated = simulated_urls(sandbox_url).items()
    return {
        "TRADEWIND_PUBLIC_URL": url,
        "TRADEWIND_METRICS_LISTEN": "127.0.0.1:0",
        "TRADEWIND_SANDBOX_URL": sandbox_url,
        "TRADEWIND_SANDBOX_NOTIFY_URL": f"{url}/v1/notices/{{app}}",
        **{MARKETPLACES[name].url_setting: address for name, address in simulated},
        **os.environ,
        "TRADEWIND_SECRET_KEY": ",".join(master.hex() for master in masters),
        "TRADEWIND_DATABASE_URL": database_url,
        "TRADEWIND_DATABASE_DIRECT_URL": "",
        "TRADEWIND_HOST": chosen.host,
        "TRADEWIND_PORT": str(port),
        child_processes.PARENT: str(os.getpid()),
    }


async def _start(
    stack: AsyncExitStack,
    name: str,
    environ: Mapping[str, str],
    command: Sequence[str],
    output: TextIO,
) -> tuple[str, asyncio.subprocess.Process]:
    """Start one of our commands in its own session, so that Ctrl-C reaches only us."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tradewind",
        *command,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    stack.push_async_callback(_end, name, child)
    return name, child


async def _end(name: str, child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.terminate()
        try:
            await asyncio.wait_for(child.wait(), _STOP_SECONDS)
        except TimeoutError:
            log.warning("dev.killed", child=name)
            child.kill()
            await child.wait()


async def _death(name: str, child: asyncio.subprocess.Process, where: str) -> None:
    """Raise when a child process ends; `where` is where it logged."""
    status = await child.wait()
    raise CannotStart(f"The {name} process ended with status {status}; see {where}.")


async def _database_death(pid: int) -> None:
    """Raise when PostgreSQL ends, without reaping it: its exit status is for its starter."""
    while not _has_ended(pid):  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(_WATCH_SECONDS)
    raise CannotStart("PostgreSQL has ended; `postgres.log` in the data directory may say why.")


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


async def _stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


async def _wait_until_ready(checks: Sequence[tuple[str, int, str]]) -> None:
    """Wait until each of these host, port and path responds with 200."""
    deadline = monotonic() + _READY_SECONDS
    for host, port, path in checks:
        while not await asyncio.to_thread(_ready, host, port, path):
            if monotonic() > deadline:
                message = f"Nothing responded on port {port} within {_READY_SECONDS} seconds."
                raise CannotStart(message)
            await asyncio.sleep(_POLL_SECONDS)


def _ready(host: str, port: int, path: str) -> bool:
    connection = HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200  # noqa: PLR2004
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


async def _first(tasks: Sequence[asyncio.Task[object]]) -> None:
    """Wait for the first task to end; raise its error if it failed."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
