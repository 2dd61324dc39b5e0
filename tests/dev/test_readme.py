"""The README and the tutorial, as a newcomer uses them: every block runs as it is printed."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kit.blocks import ROOT, Block, blocks, compared, ran
from kit.docs import outputs
from kit.server import free_port

pytestmark = pytest.mark.xdist_group("dev")

END_OF_BLOCK = "\N{INFORMATION SEPARATOR TWO}"
FIELD = re.compile(r'"(\w+)":("sandbox"|"approved"|"pending_payment"|"delivered"|true|200)?')


def environment(data_dir: Path, port: int) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    return {**inherited, "TRADEWIND_DATA_DIR": str(data_dir), "TRADEWIND_PORT": str(port)}


@contextmanager
def first_terminal(command: str, environ: dict[str, str], errors: Path) -> Iterator[str]:
    """Run the command until Ctrl-C; what it prints up to the end of the banner."""
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            ["/bin/sh", "-ec", command],
            cwd=ROOT,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            banner = ""
            while "Ctrl-C stops everything" not in banner:
                line = process.stdout.readline()
                assert line, errors.read_text()
                banner += line
            yield banner
        finally:
            os.killpg(process.pid, signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        assert rest.strip() == ""


def second_terminal(commands: list[Block], environ: dict[str, str]) -> list[str]:
    """What each block prints, in one shell."""
    script = "".join(f"{block.text}printf '{END_OF_BLOCK}'\n" for block in commands)
    ended = subprocess.run(
        ["/bin/sh", "-eu"],
        input=script,
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    ran(commands)
    return ended.stdout.split(END_OF_BLOCK)[:-1]


def run_tutorial(environ: dict[str, str]) -> None:
    """Run the tutorial beside the README's system; below each block is what it prints."""
    page = blocks("docs/tutorials/first-webhook.md")
    commands = [block for block in page if block.language == "sh"]
    below = outputs(page)
    for command, printed in zip(commands, second_terminal(commands, environ), strict=True):
        expected = below[command].text if command in below else ""
        assert re.fullmatch(re.escape(expected).replace("…", ".+"), printed), (expected, printed)
    compared(below.values())


def credentials(environ: dict[str, str], *words: str) -> str:
    command = [sys.executable, "-m", "tradewind", "dev", "--credentials", *words]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout


def test_every_block_runs_as_printed_and_the_start_is_quiet(tmp_path: Path) -> None:
    page = blocks("README.md")
    # The tests are not run by a test, but by CI.
    (tests,) = [block for block in page if block.language == "console"]
    assert tests.text == "$ make test\n"
    assert "exec make test\n" in (ROOT / ".ci/run").read_text()
    # `make run` would build another .venv in place of the one that runs this test.
    is_ready = runpy.run_path(str(ROOT / "tools/setup.py"))["is_ready"]
    assert is_ready("dev"), ".venv is out of date; run `make setup`."
    start, *commands = [block for block in page if block.language == "sh"]
    data_dir, errors, port = tmp_path / "data", tmp_path / "stderr", free_port()
    environ = environment(data_dir, port)

    with first_terminal(start.text, environ, errors) as banner:
        printed = second_terminal(commands, {**environ, "PORT": str(free_port())})
        run_tutorial(environ)
        while_it_runs = credentials(environ)

    # What is printed below a block is what the block printed.
    below = outputs(page)
    for command, output in zip(commands, printed, strict=True):
        fields = FIELD.findall(below[command].text)
        assert fields
        for name, value in fields:
            assert f'"{name}":{value}' in output
    ran([start])
    compared([tests, *below.values()])

    # Events of the demo orders may come in between.
    assert "order.updated ORDTEST" in printed[-1]
    # The shell and make are interrupted as well.
    steps = [line for line in errors.read_text().splitlines() if not line.startswith("make")]
    assert steps == [
        f"Starting PostgreSQL in {data_dir}.",
        "Preparing the database and the demo accounts.",
        "Starting the simulated marketplace, the API and a worker.",
        "Stopping.",
    ]
    assert banner.startswith(f"\nTradewind is running.\n\n  dashboard  http://127.0.0.1:{port}/ ")
    assert f"\n  logs       {data_dir}/tradewind.log\n" in banner

    afterwards = json.loads(credentials(environ, "--json"))
    keys = [afterwards[person]["api_key"] for person in ("buyer", "operator")]
    assert [afterwards[f"{name}url"] for name in ("", "database_", "sandbox_")] == [None] * 3
    assert while_it_runs.startswith(f"Tradewind is running at http://127.0.0.1:{port}/.\n")
    assert credentials(environ).startswith("Tradewind is not running.\n")
    assert credentials(environ, "--shell") == (
        f"export TRADEWIND_URL=http://127.0.0.1:{port}\n"
        f"export TRADEWIND_API_KEY={keys[0]}\n"
        f"export OPERATOR_API_KEY={keys[1]}\n"
    )
    for person in ("buyer", "operator"):
        for name in ("email", "password", "api_key"):
            value = afterwards[person][name]
            assert value in banner
            assert value in while_it_runs
