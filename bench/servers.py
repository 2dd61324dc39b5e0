"""Servers on loopback for the benchmarks, and wrk to load them."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.error import URLError
from urllib.request import urlopen

from tools.machine import ROOT

SECONDS = 3
PAIRS = 5
CONNECTIONS = 64
_SCRIPT = "(a script for wrk)"


@dataclass(frozen=True)
class Program:
    """The folder of the program whose processes are started."""

    folder: Path

    def environ(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """The environment of its processes."""
        path = os.pathsep.join([str(self.folder), str(self.folder / "simulator")])
        return {**os.environ, "PYTHONPATH": path, **more}


THIS_PROGRAM = Program(ROOT)


def cpu_seconds(process_id: int) -> float:
    """The CPU that a process has used, and its children that ended."""
    return sum(map(int, _stat(process_id)[11:15])) / os.sysconf("SC_CLK_TCK")


def tree_cpu_seconds(process_id: int) -> float:
    """The CPU that a process and its children have used, those that ended included."""
    in_children = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, and its parent has counted it
            if parent_of(int(folder.name)) == process_id:
                in_children += cpu_seconds(int(folder.name))
    return in_children + cpu_seconds(process_id)


def parent_of(process_id: int) -> int:
    return int(_stat(process_id)[1])


def ended_children_cpu_seconds(process_id: int) -> float:
    """The CPU of the children of a process that have ended."""
    return sum(map(int, _stat(process_id)[13:15])) / os.sysconf("SC_CLK_TCK")


def _stat(process_id: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name of the program."""
    return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def process(
    command: Sequence[str],
    environ: Mapping[str, str],
    ready: str,
    program: Program = THIS_PROGRAM,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command until the block ends; it is ready when `ready` responds."""
    child = subprocess.Popen(
        command,
        cwd=program.folder,
        env=program.environ(environ),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            if child.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with status {child.returncode}")
            try:
                urlopen(ready, timeout=2).close()  # noqa: S310 - loopback
                break
            except (URLError, OSError):
                time.sleep(0.05)
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(timeout=30)


@contextmanager
def granian(target: str, environ: Mapping[str, str] | None = None, *, path: str) -> Iterator[str]:
    """A bare granian with the same settings that `tradewind serve` uses; its URL."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "granian", "--interface", "asgi", "--loop", "uvloop"),
        *("--workers", "1", "--port", str(port), "--no-ws", "--backlog", "2048"),
        *(("--factory",) if target.endswith(":create") else ()),
        *("--log-level", "error", target),
    ]
    url = f"http://127.0.0.1:{port}{path}"
    with process(command, environ or {}, url):
        yield url


@contextmanager
def tradewind(database_url: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """`tradewind serve` with one process and the full stack on; its URL."""
    with serving(database_url, settings) as (url, _):
        yield url


@contextmanager
def serving(
    database_url: str,
    settings: Mapping[str, str] | None = None,
    program: Program = THIS_PROGRAM,
) -> Iterator[tuple[str, int]]:
    """The same; its URL and its process id."""
    port = free_port()
    environ = {
        "TRADEWIND_DATABASE_URL": database_url,
        "TRADEWIND_PORT": str(port),
        "TRADEWIND_LOG_STYLE": "json",
        "TRADEWIND_PLANS": "pro=6000000",
        **(settings or {}),
    }
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tradewind", "serve", "--workers", "1"]
    with process(command, environ, f"{url}/readyz", program) as child:
        yield url, child.pid


@contextmanager
def simulator() -> Iterator[str]:
    """The simulated marketplace; its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tradewind", "sandbox", "--port", str(port)]
    with process(command, {}, f"{url}/healthz"):
        yield url


def posted(script: Path, body: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers for `requests_per_second` that make it send this body by POST."""
    lines = ['wrk.method = "POST"', f"wrk.body = {json.dumps(body)}"]
    lines += [f"wrk.headers[{json.dumps(n)}] = {json.dumps(v)}" for n, v in headers.items()]
    script.write_text("\n".join(lines))
    return {_SCRIPT: str(script)}


def requests_per_second(url: str, headers: Mapping[str, str]) -> float:
    """The rate that wrk measures; any response but 2xx is an error."""
    wrk = shutil.which("wrk")
    if wrk is None:
        raise RuntimeError("wrk is missing; `make bench` installs it where it may.")
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}"]
    for name, value in headers.items():
        command += ["-s", value] if name == _SCRIPT else ["-H", f"{name}: {value}"]
    run = subprocess.run([*command, url], capture_output=True, text=True, check=True)
    if "Non-2xx" in run.stdout:
        raise RuntimeError(f"{url} did not respond with 2xx:\n{run.stdout}")
    match = re.search(r"Requests/sec:\s+([\d.]+)", run.stdout)
    if match is None:
        raise RuntimeError(run.stdout)
    return float(match[1])


def ratios(
    base: tuple[str, Mapping[str, str]], others: Mapping[str, tuple[str, Mapping[str, str]]]
) -> tuple[float, dict[str, float]]:
    """The base's rate, and each other's as a ratio to it: medians of interleaved runs."""
    bases = []
    measured: dict[str, list[float]] = {name: [] for name in others}
    for _ in range(PAIRS):
        rate = requests_per_second(*base)
        bases.append(rate)
        for name, target in others.items():
            measured[name].append(requests_per_second(*target) / rate)
    return median(bases), {name: median(values) for name, values in measured.items()}
