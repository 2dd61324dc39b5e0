"""The data folder: held by one process at a time, with places for a cluster, a socket and a log."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tradewind.errors import CannotStart

ELSEWHERE = "set TRADEWIND_DATA_DIR to another folder"

_SOCKET_DIR_BYTES = 90  # what a socket's address can hold, less the name of the socket itself


@dataclass(frozen=True, slots=True)
class DataDir:
    path: Path
    socket_dir: Path

    @property
    def cluster(self) -> Path:
        return self.path / "postgres"

    @property
    def log(self) -> Path:
        return self.path / "postgres.log"


@contextmanager
def held(path: Path) -> Iterator[DataDir]:
    """Hold the folder at `path`, made when it is missing, against every other process.

    The hold ends with the block or with our process, however that ends. The log is begun anew;
    the one of the run before is kept, and none older.
    """
    path = path.absolute()
    with ExitStack() as stack:
        with explained(path):
            stack.enter_context(_locked(path))
            folder = DataDir(path, stack.enter_context(_socket_dir(path)))
            with suppress(FileNotFoundError):
                folder.log.replace(folder.log.with_suffix(".log.1"))
            folder.log.touch(mode=0o600)
        yield folder


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the system says of the folder into a sentence that says what to do."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise CannotStart(
            f"The data folder {path} cannot be used, because {error.filename} is not a folder;"
            f" move that away, or {ELSEWHERE}."
        ) from error
    except OSError as error:
        raise CannotStart(
            f"The data folder {path} cannot be used ({error.filename}: {error.strerror}); let the"
            f" user who runs Tradewind write there, or {ELSEWHERE}."
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(lock, 20).decode("ascii", "replace").strip()
            who = f" (process {owner})" if owner else ""
            raise CannotStart(
                f"Another Tradewind{who} is already running on {path}; stop it first, or"
                f" {ELSEWHERE}."
            ) from None
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(lock)


@contextmanager
def _socket_dir(path: Path) -> Iterator[Path]:
    usual = path / "run"
    # A comma would make two addresses of one, for the server and for its clients alike.
    if len(os.fsencode(usual)) <= _SOCKET_DIR_BYTES and "," not in str(usual):
        usual.mkdir(mode=0o700, exist_ok=True)
        usual.chmod(0o700)
        yield usual
        return
    short = Path(tempfile.mkdtemp(prefix="tradewind-"))
    try:
        yield short
    finally:
        shutil.rmtree(short, ignore_errors=True)
