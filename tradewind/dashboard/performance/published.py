"""Reads the published figures of a delivery, which `make growth` measured on a known machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

import tradewind

# Beside the package. An installation without it shows its own figures only.
FILE = Path(tradewind.__file__).parents[1] / "docs" / "explanation" / "performance.json"
_DIMENSION = "journal rows"
_WORK = "deliver an event"
_WORKER = "worker"


class _Machine(msgspec.Struct):
    cores: int
    processor: str
    memory_gib: float
    commit: str
    date: str


class _Figure(msgspec.Struct):
    dimension: str
    work: str
    size: int
    cpu_ms: Mapping[str, float]
    wal_bytes: float
    p50_ms: float | None = None
    p99_ms: float | None = None


class _Growth(msgspec.Struct):
    machine: _Machine
    figures: Sequence[_Figure]


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """What a delivery took and cost, in seconds and bytes, and where that was measured."""

    commit: str
    machine: str
    date: str
    journal_rows: int
    p50: float | None
    p99: float | None
    cpu_per_thousand: float | None
    wal_bytes: float


@cache
def published_figures(file: Path = FILE) -> PublishedFigures | None:
    """The figures of the longest journal that was measured; None if there are none here."""
    try:
        growth = msgspec.json.decode(file.read_bytes(), type=_Growth)
    except (OSError, msgspec.DecodeError):
        return None
    measured = [
        figure
        for figure in growth.figures
        if (figure.dimension, figure.work) == (_DIMENSION, _WORK)
    ]
    if not measured:
        return None
    figure = max(measured, key=lambda figure: figure.size)
    machine = growth.machine
    return PublishedFigures(
        commit=machine.commit,
        machine=f"{machine.cores} cores ({machine.processor}), {machine.memory_gib:.0f} GiB",
        date=machine.date,
        journal_rows=figure.size,
        p50=_seconds(figure.p50_ms),
        p99=_seconds(figure.p99_ms),
        # Milliseconds for one delivery are seconds for a thousand.
        cpu_per_thousand=figure.cpu_ms.get(_WORKER),
        wal_bytes=figure.wal_bytes,
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
