"""Process trees: who started whom, who is alive, and whether all have ended."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

_START_SECONDS = 60
_STOP_SECONDS = 20


def read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def family_of(pid: int) -> list[int]:
    """Every process that one started, and those that they started."""
    result: list[int] = []
    new = [pid]
    while new:
        new = [int(child) for pid in new for child in read(pid, f"task/{pid}/children").split()]
        result += new
    return result


def wait_for_child(process: subprocess.Popen[bytes], word: str, loaded: str = "") -> list[int]:
    """Wait for a member of a process's family by its command line; the family by then."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        family = family_of(process.pid)
        if any(
            word.encode() in read(pid, "cmdline") and loaded.encode() in read(pid, "maps")
            for pid in family
        ):
            return family
        assert time.monotonic() < deadline, f"there is no {word}"
        assert process.poll() is None


def members(data_dir: Path) -> list[int]:
    """Every process on this machine that was started for this directory."""
    marker = f"TRADEWIND_DATA_DIR={data_dir}".encode()
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if marker in read(pid, "environ")]


def is_alive(pid: int) -> bool:
    """Whether `pid` runs; the dead that nobody has buried yet do not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    while left := [pid for pid in pids if is_alive(pid)]:
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            pytest.fail(f"processes {left} were still alive")
        time.sleep(0.02)
