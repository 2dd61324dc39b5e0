"""Starts `tradewind` commands as forks of a process that has imported the program already.

The tests start hundreds of processes, and an import of the program costs more than most of them do.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from tradewind.observability.metrics import SHARED_FILES

_NOTHING = Path(os.devnull)


class Process(Protocol):
    """A running program: one that was forked, or one that `subprocess` started."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> Any: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def kill(self) -> None: ...


class Fork:
    """A fork, with the methods of `subprocess.Popen`."""

    def __init__(self, server: "ForkServer", pid: int) -> None:
        self._server = server
        self._lock = threading.Lock()  # the status of a process can be asked for once
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with self._lock:
            if self.returncode is None:
                self.returncode = self._server.status_of(self.pid)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        with suppress(ProcessLookupError):  # it has ended, and somebody asked for its status
            ended = os.pidfd_open(self.pid)
            try:
                select.select([ended], [], [], timeout)
            finally:
                os.close(ended)
        status = self.poll()
        if status is None:
            raise subprocess.TimeoutExpired("tradewind", timeout or 0)
        return status

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """A process that forks for every command, and knows how each of them ended."""

    def __init__(self, *modules: str, **environ: str) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, *modules],
            env={**os.environ, **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.close)

    def start(
        self,
        words: Sequence[str],
        environ: Mapping[str, str],
        *,
        stdin: Path = _NOTHING,
        stdout: Path,
        stderr: Path,
    ) -> Fork:
        """Run `tradewind` with these words; its output is in new files, which exist from now on."""
        for output in (stdout, stderr):
            output.write_bytes(b"")
        files = [str(file) for file in (stdin, stdout, stderr)]
        return Fork(self, self._ask(words=list(words), environ=dict(environ), files=files))

    def run(
        self, words: Sequence[str], environ: Mapping[str, str], text: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `tradewind` with these words to its end, with a text as its standard input."""
        with tempfile.TemporaryDirectory() as folder:
            stdin, stdout, stderr = (Path(folder, name) for name in ("stdin", "stdout", "stderr"))
            stdin.write_text(text)
            process = self.start(words, environ, stdin=stdin, stdout=stdout, stderr=stderr)
            status = process.wait()
            return subprocess.CompletedProcess(
                list(words), status, stdout.read_text(), stderr.read_text()
            )

    def status_of(self, pid: int) -> int | None:
        """The exit status of a command, or None as long as it runs."""
        status: int | None = self._ask(pid=pid)
        return status

    def close(self) -> None:
        """End the server; commands that run go on."""
        self._process.communicate()

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())


@cache
def commands() -> ForkServer:
    """Starts any command but `serve`."""
    return ForkServer(
        "tradewind.cli.commands",
        "tradewind.cli.remote",
        "tradewind.runtime.worker",
        "tradewind_simulator.command",
        "tradewind_simulator.app",
    )


@cache
def apis() -> ForkServer:
    """Starts `serve`, whose processes count into files that they share."""
    files = tempfile.mkdtemp(prefix="tradewind-metrics-")
    atexit.register(shutil.rmtree, files)
    return ForkServer("tradewind.runtime.serve", "tradewind.runtime.api", **{SHARED_FILES: files})


def _wait_for_requests() -> dict[str, Any]:
    """Answer requests until the standard input ends; in a fork, return what it shall run."""
    gc.collect()
    gc.freeze()  # a fork that looked for garbage would copy all of it
    threads = list(Path("/proc/self/task").iterdir())
    assert len(threads) == 1, "a fork has only one of the threads, and locks that the others hold"
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        if "pid" in request:
            pid, status = os.waitpid(request["pid"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                return request
        print(json.dumps(answer), flush=True)  # noqa: T201 - to our parent
    sys.exit()


def _become(words: list[str], environ: dict[str, str], files: list[str]) -> None:
    """Make this fork look like a process that was started for a command."""
    for number, path in enumerate(files):
        # Two of them may be one file, so each write goes to its end.
        file = os.open(path, os.O_WRONLY | os.O_APPEND if number else os.O_RDONLY)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, closefd=False)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["tradewind", *words]
    # `serve` chooses to spawn its processes; here they are forks of it.
    multiprocessing.set_start_method("fork")
    multiprocessing.set_start_method = lambda *_, **__: None


if __name__ == "__main__":
    gc.set_threshold(50_000)  # as the program does
    for module in ("tradewind.cli.main", *sys.argv[1:]):
        importlib.import_module(module)
    _become(**_wait_for_requests())
    importlib.import_module("tradewind.cli.main").main()
