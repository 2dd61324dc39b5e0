"""The values of the scorecard: rows, figures, results, planted faults. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True)
class Row:
    """One line of the scorecard: what happens, what must hold, and the tests that show it.

    `unit` is what is counted as events. With `counts_cases`, each test case is one of them, and
    every failed case is a violation. `settings` make the tests longer than in `make test`.
    """

    number: int
    name: str
    bar: str
    unit: str
    tests: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    counts_cases: bool = False


@dataclass(frozen=True)
class Figures:
    """What the tests of a row counted; None: the row has no such figure.

    `measured` has further figures by name, of which the highest was kept.
    """

    events: int = 0
    kills: int | None = None
    lost: int | None = None
    duplicates: int | None = None
    foreign: int | None = None
    double_debits: int | None = None
    violations: int | None = None
    recovery: tuple[float, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Whether nothing happened that never may; some rows allow duplicates."""
        return not any((self.lost, self.foreign, self.double_debits, self.violations))


@dataclass(frozen=True)
class Result:
    """A row that was run: how many test cases, what failed, how long it took."""

    number: int
    figures: Figures
    cases: int
    skipped: int
    failures: tuple[str, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        return bool(self.cases and not self.skipped and not self.failures and self.figures.is_clean)

    @property
    def recovery_p50(self) -> float | None:
        return median(self.figures.recovery) if self.figures.recovery else None

    @property
    def recovery_max(self) -> float | None:
        return max(self.figures.recovery, default=None)


@dataclass(frozen=True)
class Fault:
    """A change of the program that breaks one property: the tests named must fail with it.

    `before` is a text that the file has once, and `after` takes its place; without `before`, the
    file ends with `after`, which may define a function of the file again.
    """

    row: int
    description: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, str]:
        """What tells it from the other faults; a row may have several."""
        return self.row, self.description


@dataclass(frozen=True)
class Detection:
    """What came of a planted fault: the first assertion that failed, or none."""

    row: int
    description: str
    file: str
    failure: str | None

    @property
    def key(self) -> tuple[int, str]:
        return self.row, self.description


def merge(parts: Sequence[Figures]) -> Figures:
    """Add up what several tests of one row counted; of other figures, keep the highest."""
    measured: dict[str, float] = {}
    for part in parts:
        for name, value in part.measured.items():
            measured[name] = max(value, measured.get(name, value))
    return Figures(
        events=sum(part.events for part in parts),
        kills=_sum([part.kills for part in parts]),
        lost=_sum([part.lost for part in parts]),
        duplicates=_sum([part.duplicates for part in parts]),
        foreign=_sum([part.foreign for part in parts]),
        double_debits=_sum([part.double_debits for part in parts]),
        violations=_sum([part.violations for part in parts]),
        recovery=tuple(seconds for part in parts for seconds in part.recovery),
        measured=measured,
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
