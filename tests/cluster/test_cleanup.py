"""Nothing remains of a cluster whose owner has ended: no process, no folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.cluster import cleanup, host_processes
from tools.machine import ROOT

_PATIENCE_SECONDS = 20.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "cluster"
    (folder / "db1").mkdir(parents=True)
    return folder


def start_on(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    environ = {**os.environ, host_processes.MARKER: str(folder)}
    return subprocess.Popen(command, env=environ, start_new_session=True)


def test_a_host_has_its_processes_and_their_children_and_no_others(root: Path) -> None:
    beside = root.with_name("cluster2")
    with (
        start_on(root / "db1", "sh", "-c", "sleep 300 & wait") as shell,
        start_on(beside, "sleep", "300") as other,
    ):
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while len(host_processes.of_folder(root / "db1")) < 2:
            assert time.monotonic() < deadline
        pids = host_processes.of_folder(root)
        host_processes.kill(root / "db1")

        assert shell.pid in pids
        assert other.pid not in pids
        assert host_processes.of_folder(root) == []
        assert other.poll() is None
        other.kill()


def test_a_frozen_process_is_ended_and_the_folder_removed_when_the_owner_is_killed(
    root: Path,
) -> None:
    owner_code = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-m", "{cleanup.__name__}", {str(root)!r}],
                 stdin=subprocess.PIPE, start_new_session=True)
print("ready", flush=True)
time.sleep(300)
"""
    with (
        start_on(root / "db1", "sleep", "300") as process,
        subprocess.Popen(
            [sys.executable, "-c", owner_code], stdout=subprocess.PIPE, cwd=ROOT
        ) as owner,
    ):
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGSTOP)

        owner.kill()

        assert process.wait(_PATIENCE_SECONDS) in (-signal.SIGTERM, -signal.SIGKILL)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while root.exists():
            assert time.monotonic() < deadline, "the folder remains"
            time.sleep(0.02)
