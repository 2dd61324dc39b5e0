"""The state file: a line for each change, written before the answer; made compact at start."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tradewind.simulator.model import Entry, Order, Token
from tradewind.simulator.notices import Target
from tradewind.simulator.world import Meta

Record = Meta | Order | Entry | Token | Target

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)


class Keeper:
    """Appends survive the death of the process; replacing the whole file is atomic."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def load(self) -> list[Record]:
        """Every record in order; a last line cut off by a crash is left out."""
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        whole, rest = lines[:-1], lines[-1]
        if rest:
            whole = whole if not _reads(rest) else [*whole, rest]
        return [_DECODER.decode(line) for line in whole if line]

    def append(self, *records: Record) -> None:
        if self._file is None:
            self._open()
        data = b"".join(_ENCODER.encode(record) + b"\n" for record in records)
        os.write(self._file or 0, data)

    def replace(self, records: Iterable[Record]) -> None:
        """Write everything anew beside the old file, then put it in its place."""
        self.close()
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
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _reads(line: bytes) -> bool:
    try:
        _DECODER.decode(line)
    except msgspec.DecodeError:
        return False
    return True
