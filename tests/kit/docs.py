"""Runs the shell blocks of a page of the documentation, and compares what they print."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kit.blocks import OUTPUT, ROOT, Block, blocks, compared, ran

_END = "@@end-of-block"
_WATCH = "failed=0; set -E -o pipefail; trap 'code=$?; [ $failed != 0 ] || failed=$code' ERR\n"
_STOP_SECONDS = 20


def save_files(page: str, folder: Path) -> dict[str, Block]:
    """Write the blocks that the page introduces with "Save this as `NAME`:", and return them."""
    lines = (ROOT / page).read_text().splitlines()
    saved = {}
    for block in blocks(page):
        name = re.search(r"Save this as `([\w./]+)`:$", "".join(lines[: block.line - 1][-2:]))
        if name is not None:
            (folder / name[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / name[1]).write_text(block.text)
            os.utime(folder / name[1], (0, time.time()))
            saved[name[1]] = block
    return saved


def _was_read(file: Path) -> bool:
    """Tell whether a command has read a file that `save_files` wrote."""
    return file.exists() and file.stat().st_atime > 0


def outputs(page: Sequence[Block]) -> dict[Block, Block]:
    """Return the output block of each `sh` block that is directly followed by one."""
    return {
        command: output
        for command, output in itertools.pairwise(page)
        if command.language == "sh" and output.language in OUTPUT and output.follows(command)
    }


def matches(expected: str, printed: str) -> bool:
    """Compare an output block with what was printed.

    `…` stands for anything in a line, and a line with nothing else for any lines.
    """
    lines = (
        "(?s:.*?)" if line == "…" else ".*?".join(re.escape(part) for part in line.split("…"))
        for line in expected.strip().splitlines()
    )
    return re.fullmatch("\n".join(lines), printed.strip()) is not None


@dataclass(frozen=True, slots=True)
class Printed:
    """What a block printed, on both streams, and its exit status."""

    text: str
    status: int


def run(
    commands: Sequence[str], folder: Path, *, seconds: float, environ: Mapping[str, str]
) -> list[Printed]:
    """Run blocks in one bash session; those after a timeout are missing from the result.

    The status of a block is that of its first command that fails. What the session leaves in the
    background is stopped.
    """
    script, log = folder / "page.sh", folder / "page.log"
    marked = (f"{text}\nprintf '\\n{_END} %d\\n' $failed; failed=0\n" for text in commands)
    script.write_text("".join([_WATCH, *marked]))
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with log.open("wb") as output:
        shell = subprocess.Popen(
            ["bash", str(script)],  # noqa: S607 - whichever bash a reader has
            cwd=folder,
            env={**inherited, "PATH": path, **environ},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with suppress(subprocess.TimeoutExpired):
            shell.wait(timeout=seconds)
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGTERM)
        shell.wait(timeout=_STOP_SECONDS)
    *ended, _ = re.split(rf"^{_END} (\d+)\n", log.read_text(), flags=re.MULTILINE)
    return [
        Printed(text, int(status)) for text, status in zip(ended[::2], ended[1::2], strict=True)
    ]


def check(
    page: str,
    folder: Path,
    *,
    seconds: float,
    environ: Mapping[str, str],
    replace: Mapping[str, str] | None = None,
    extra: Mapping[int, Sequence[Block]] | None = None,
    without: str | None = None,
) -> None:
    """Run the `sh` blocks of a page in order, and compare each with its output block.

    `extra` runs further blocks after the block of an index. Blocks that need
    the program `without` are left out.
    """
    parsed = blocks(page)
    expected = outputs(parsed)
    saved = save_files(page, folder)
    commands: list[Block] = []
    shell = [block for block in parsed if block.language == "sh"]
    for index, block in enumerate(shell):
        if without is not None and without in block.text:
            continue
        commands += [block, *(extra or {}).get(index, ())]
    texts = [replaced(block.text, replace or {}) for block in commands]
    printed = run(texts, folder, seconds=seconds, environ=environ)
    for block, result in zip(commands, printed, strict=False):
        where = f"{page}:{block.line}"
        assert result.status == 0, f"{where} ended with {result.status}:\n{result.text}"
        ran([block])
        if block in expected:
            output = replaced(expected[block].text, replace or {})
            assert matches(output, result.text), f"{where} printed:\n{result.text}"
            compared([expected[block]])
    assert len(printed) == len(commands), (
        f"{page}:{commands[len(printed)].line} did not end:\n{(folder / 'page.log').read_text()}"
    )
    ran(block for name, block in saved.items() if _was_read(folder / name))


def replaced(text: str, replace: Mapping[str, str]) -> str:
    """Replace what a test cannot use as printed, such as a port."""
    for old, new in replace.items():
        text = text.replace(old, new)
    return text
