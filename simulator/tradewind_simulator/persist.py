"""The state file: a line for each change, written before the response, compacted at start."""

import fcntl
import os
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tradewind_simulator.errors import CannotRun
from tradewind_simulator.model import Entry, Order, Token
from tradewind_simulator.notices import Target
from tradewind_simulator.world import Meta

Record = Meta | Order | Entry | Token | Target

_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.05
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)


class UnreadableState(CannotRun):
    """The file is not a state file; it is left unchanged."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(
            f"{path} is not a state file of the sandbox (line {line}: {why}); "
            "name another with --state, or move it away."
        )


class StateInUse(CannotRun):
    def __init__(self, path: Path) -> None:
        super().__init__(f"Another sandbox keeps its state in {path}; name another file.")


class Keeper:
    """Appends survive the death of the process; replacing the whole file is atomic."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None
        self._lock: int | None = None

    def claim(self) -> None:
        """Lock the file for writing; a process that is just stopping is waited for."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(lock)
                    raise StateInUse(self.path) from None
                time.sleep(_PAUSE_SECONDS)
            else:
                self._lock = lock
                return

    def load(self) -> list[Record]:
        """Every record in order; a last line cut off by a crash is left out."""
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        records: list[Record] = []
        for number, line in enumerate(lines, start=1):
            try:
                records += [_DECODER.decode(line)] if line else []
            except msgspec.MsgspecError as error:
                if number < len(lines):
                    raise UnreadableState(self.path, number, str(error)) from None
        return records

    def append(self, *records: Record) -> None:
        if self._file is None:
            self._open()
        data = b"".join(_ENCODER.encode(record) + b"\n" for record in records)
        os.write(self._file or 0, data)

    def replace(self, records: Iterable[Record]) -> None:
        """Write everything to a new file, then replace the old file by it."""
        self._end()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(self.path.name + ".new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            for record in records:
                file.write(_ENCODER.encode(record) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)
        self._open()

    def close(self) -> None:
        """Stop writing, and release the lock."""
        self._end()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _end(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
