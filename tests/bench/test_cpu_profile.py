"""Profiles: shares of functions, from stacks that were sampled in a running process."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.cpu_profile import FunctionShare, sampled, shares

_BUSY = """
import time

def busy():
    until = time.monotonic() + 30
    while time.monotonic() < until:
        sum(range(10_000))

busy()
"""


def test_a_share_counts_the_function_itself_and_what_it_called() -> None:
    stacks = (
        'process 7:"python -c "import a; a.run()"";run (a.py:1);send (a.py:9) 6\n'
        "run (a.py:1) 3\n"
        "run (a.py:1);run (a.py:1) 0\n"
        'process 7:"python -c "import a; a.run()"" 1\n'
    )

    assert shares(stacks) == [
        FunctionShare("send (a.py:9)", 0.6, 0.6),
        FunctionShare("run (a.py:1)", 0.3, 0.9),
        FunctionShare("(a thread without Python code)", 0.1, 0.1),
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root may look into another process everywhere.")
def test_a_busy_function_has_most_samples(tmp_path: Path) -> None:
    script = tmp_path / "busy.py"
    script.write_text(_BUSY)
    with subprocess.Popen([sys.executable, str(script)]) as process:
        try:
            with sampled(process.pid, tmp_path / "stacks.txt"):
                time.sleep(2)
        finally:
            process.kill()

    first, *_ = shares((tmp_path / "stacks.txt").read_text())
    assert first.function.startswith("busy (")
    assert first.itself > 0.5


def test_a_process_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()

    with (
        pytest.raises(SystemExit, match="could not be sampled"),
        sampled(process.pid, tmp_path / "stacks.txt"),
    ):
        pass
