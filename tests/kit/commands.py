"""Runs `tradewind` commands in forks of one process, so that the program is imported only once."""

import gc
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn


class Commands:
    """A process that forks for every command."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        self._process = process
        self._folder = folder

    def run(
        self, words: Sequence[str], environ: Mapping[str, str], given: str
    ) -> subprocess.CompletedProcess[str]:
        files = [self._folder / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(given)
        order = {"words": words, "environ": dict(environ), "files": [str(file) for file in files]}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        _, stdout, stderr = (file.read_text() for file in files)
        return subprocess.CompletedProcess(list(words), status, stdout, stderr)


@contextmanager
def forking_commands() -> Iterator[Commands]:
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        yield Commands(process, Path(folder))


def _serve() -> None:
    from tradewind.cli import commands, main, remote  # noqa: PLC0415, F401 - before the first fork

    gc.freeze()  # a fork that looked for garbage would copy all of it
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _execute(**order)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - to our parent


def _execute(words: list[str], environ: dict[str, str], files: list[str]) -> NoReturn:
    from tradewind.cli.main import main  # noqa: PLC0415

    for number, path in enumerate(files):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags, 0o600), number)
    sys.stdin = os.fdopen(0, closefd=False)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["tradewind", *words]
    status = 0
    try:
        main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter does at the end of a program
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()
