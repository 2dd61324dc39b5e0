"""The values of `make growth`: what one work costs at one size, and a whole run. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

from tools.machine import Machine

DATABASE = "database"
API = "api"
WORKER = "worker"
APPENDER = "appender"
# The program that measures, where it calls a use case itself.
CALLER = "caller"
_FEW = 2


@dataclass(frozen=True)
class Figure:
    """What one work costs at one size.

    `cpu_ms` is by process. `statements` counts BEGIN and COMMIT, `commits` transactions that wrote
    something, `logged_commits` those of them that wrote to a logged table; None in a run that did
    not count them. `times` is how often it was done; of few times, `p99_ms` is the longest. `rate`
    is how often it is done in a second, where that was measured.
    """

    dimension: str
    size: int
    work: str
    times: int
    statements: float
    cpu_ms: Mapping[str, float]
    wal_bytes: float
    commits: float = 0.0
    p50_ms: float | None = None
    p99_ms: float | None = None
    rate: float | None = None
    logged_commits: float | None = None

    @property
    def database_ms(self) -> float:
        return self.cpu_ms.get(DATABASE, 0.0)

    @property
    def process_ms(self) -> float:
        """The CPU of all processes but PostgreSQL."""
        return sum(ms for name, ms in self.cpu_ms.items() if name != DATABASE)


@dataclass(frozen=True)
class Growth:
    """A run: the machine, the command, the settings of PostgreSQL, and the figures."""

    machine: Machine
    command: str
    seconds: float
    postgresql_settings: Mapping[str, str]
    figures: Sequence[Figure] = field(default_factory=tuple)

    def figure(self, dimension: str, work: str) -> Figure:
        """The figure at the largest size that was measured."""
        return self.by_size(dimension, work)[-1]

    def by_size(self, dimension: str, work: str) -> Sequence[Figure]:
        """The figures of a work, the smallest size first; there is at least one."""
        matching = [
            item for item in self.figures if (item.dimension, item.work) == (dimension, work)
        ]
        if not matching:
            raise ValueError(f"The run has no figure for {work!r} by {dimension}.")
        return sorted(matching, key=lambda item: item.size)


def percentiles(seconds: Sequence[float]) -> tuple[float | None, float | None]:
    """The p50 and p99 in milliseconds; of one value it is both, of none there is none."""
    if not seconds:
        return None, None
    if len(seconds) < _FEW:
        return seconds[0] * 1000, seconds[0] * 1000
    cut = quantiles(seconds, n=100, method="inclusive")
    return cut[49] * 1000, cut[98] * 1000
