"""The processes of a host: found by a variable that all of them inherit, signalled, ended."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

# Every process of a host has this variable, or a parent that has it; its value is a folder.
MARKER = "CLUSTER_HOST_FOLDER"
_POLL_SECONDS = 0.02
_MOST_ROUNDS = 50


def of_folder(folder: Path) -> list[int]:
    """Every living process that was started for a folder, or for a folder inside it."""
    marker = f"{MARKER}={folder}".encode()
    marked = [
        pid
        for pid in _pids()
        if any(
            item == marker or item.startswith(marker + b"/")
            for item in _read(pid, "environ").split(b"\0")
        )
    ]
    return [pid for pid in _with_children(marked) if is_alive(pid)]


def signal_all(folder: Path, number: signal.Signals) -> None:
    for pid in of_folder(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill(folder: Path) -> None:
    """Kill every process of a folder, also those that are being started meanwhile."""
    for _ in range(_MOST_ROUNDS):
        if not of_folder(folder):
            return
        signal_all(folder, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)
    raise RuntimeError(f"Processes of {folder} do not end: {of_folder(folder)}.")


def stop(folder: Path, seconds: float) -> None:
    """Have every process end by itself; kill those that take longer."""
    signal_all(folder, signal.SIGTERM)
    signal_all(folder, signal.SIGCONT)
    deadline = time.monotonic() + seconds
    while of_folder(folder) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    kill(folder)


def is_alive(pid: int) -> bool:
    """Whether it runs; a process that has ended and was not waited for does not."""
    state = _read(pid, "stat").rpartition(b")")[2].split()
    return bool(state) and state[0] != b"Z"


def _with_children(pids: list[int]) -> list[int]:
    """The processes and all that they started: PostgreSQL's lose the variable to their titles."""
    result: dict[int, None] = {}
    new = pids
    while new:
        result |= dict.fromkeys(new)
        children = [int(pid) for parent in new for pid in _children(parent)]
        new = [pid for pid in children if pid not in result]
    return list(result)


def _children(pid: int) -> list[bytes]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
    return [child for task in tasks for child in _read(pid, f"task/{task.name}/children").split()]


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
