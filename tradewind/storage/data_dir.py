"""The data directory: locked by one process at a time; it holds a cluster, a socket and a log."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tradewind.errors import CannotStart

ELSEWHERE = "set TRADEWIND_DATA_DIR to another directory"

_SOCKET_DIR_BYTES = 90  # what a socket's address can hold, less the name of the socket itself


@dataclass(frozen=True, slots=True)
class DataDir:
    """The directory and the paths in it."""

    path: Path
    socket_dir: Path

    @property
    def cluster(self) -> Path:
        return self.path / "postgres"

    @property
    def log(self) -> Path:
        return self.path / "postgres.log"


@contextmanager
def locked(path: Path) -> Iterator[DataDir]:
    """Lock the directory at `path` against other processes; it is created when it is missing.

    The lock ends with the block or with our process. The log is started anew; the log of the run
    before is kept, and none older.
    """
    path = path.absolute()
    with ExitStack() as stack:
        with explained(path):
            stack.enter_context(_lock_file(path))
            data_dir = DataDir(path, stack.enter_context(_socket_dir(path)))
            with suppress(FileNotFoundError):
                data_dir.log.replace(data_dir.log.with_suffix(".log.1"))
            data_dir.log.touch(mode=0o600)
        yield data_dir


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an OSError about the directory into a sentence that says what to do."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise CannotStart(
            f"The data directory {path} cannot be used, because {error.filename} is not a"
            f" directory; move it away, or {ELSEWHERE}."
        ) from error
    except OSError as error:
        raise CannotStart(
            f"The data directory {path} cannot be used ({error.filename}: {error.strerror}); let"
            f" the user who runs Tradewind write there, or {ELSEWHERE}."
        ) from error


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
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
    default = path / "run"
    # A comma separates two addresses, for the server and for its clients.
    if len(os.fsencode(default)) <= _SOCKET_DIR_BYTES and "," not in str(default):
        default.mkdir(mode=0o700, exist_ok=True)
        default.chmod(0o700)
        yield default
        return
    short = Path(tempfile.mkdtemp(prefix="tradewind-"))
    try:
        yield short
    finally:
        shutil.rmtree(short, ignore_errors=True)
