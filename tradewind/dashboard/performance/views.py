"""The page about performance: rates, percentiles and costs, from counts of samples. Pure."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from tradewind.dashboard.performance.queries import HourTotals, LatencyCounts, MinuteCounts
from tradewind.dashboard.performance.reader import Performance
from tradewind.dashboard.shell.charts import AttemptsChart, attempts_chart
from tradewind.dashboard.shell.labels import duration
from tradewind.delivery.metrics import LATENCY_BOUNDS
from tradewind.delivery.model import COUNTED
from tradewind.egress.result import Outcome

_MINUTE, _HOUR = 60, 3600
_CHARTED = 60
# Below this, a millisecond has a decimal.
_FEW_MS = 10
_LINES = {
    "Commit to answer": "From the commit of a change to the 2xx answer to the first attempt.",
    "Wait in the queue": "From the commit to the start of the first attempt. Long if the workers "
    "are busy, or if a slow endpoint has reached its concurrency limit.",
    "Endpoint": "From the start of an attempt to its end, retries included.",
}
# What `make growth` measures of a delivery: its endpoint notes the arrival, not its own answer.
PUBLISHED_LATENCY = (
    "Commit to arrival, published",
    "From the commit to the arrival at the endpoint: one webhook, 60 events a second.",
)


@dataclass(frozen=True, slots=True)
class Percentiles:
    """How long something took, in seconds; None if it never happened."""

    name: str
    meaning: str
    count: int
    p50: float | None
    p95: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class PeakMinute:
    """The minute of the last day in which most was delivered."""

    minute: datetime
    per_second: float
    cpu_per_thousand: float


@dataclass(frozen=True, slots=True)
class DatabaseCost:
    """What the database did for each delivery, with everything else that it did."""

    statement_ms: float
    transactions: float
    wal_bytes: float


@dataclass(frozen=True, slots=True)
class PerformanceView:
    """What the page shows. Shares and costs are None while nothing was delivered."""

    last_minute: float
    last_hour: float
    peak: PeakMinute | None
    chart: AttemptsChart
    latencies: Sequence[Percentiles]
    success_share: float | None
    retry_share: float | None
    outcomes: Sequence[tuple[Outcome, int]]
    cpu_per_thousand: float | None
    database: DatabaseCost | None


def performance_view(read: Performance) -> PerformanceView:
    """Rates, percentiles and costs of what was read."""
    hour = read.hour
    return PerformanceView(
        last_minute=hour.minute_delivered / _MINUTE,
        last_hour=hour.delivered / _HOUR,
        peak=_peak(read.minutes),
        chart=_chart(read.minutes, hour.now),
        latencies=_latencies(read.latencies),
        success_share=hour.delivered / hour.attempts if hour.attempts else None,
        retry_share=hour.retries / hour.attempts if hour.attempts else None,
        outcomes=_outcomes(hour),
        cpu_per_thousand=1000 * hour.cpu_seconds / hour.delivered if hour.delivered else None,
        database=_database_cost(read),
    )


def percentile(counts: Sequence[int], share: float) -> float | None:
    """The seconds that this share of the counted latencies took at most.

    Within its bounds it is interpolated, as Prometheus does. Beyond the last bound it is that one.
    """
    total = sum(counts)
    if not total:
        return None
    rank = share * total
    sums = list(accumulate(counts))
    index = bisect_left(sums, rank)
    if index >= len(LATENCY_BOUNDS):
        return LATENCY_BOUNDS[-1]
    upper, lower = LATENCY_BOUNDS[index], LATENCY_BOUNDS[index - 1] if index else 0.0
    before = sums[index - 1] if index else 0
    return lower + (upper - lower) * (rank - before) / counts[index]


def latency(seconds: float | None) -> str:
    """A latency for people: `2.6 ms`, `14 ms`, `1.3 s`."""
    if seconds is None or seconds * 1000 >= _FEW_MS:
        return duration(seconds)
    return f"{seconds * 1000:.1f} ms"


def rate(per_second: float | None) -> str:
    """A rate or a cost for people, with as many decimals as matter: `0.03`, `7.5`, `1,204`."""
    if per_second is None:
        return "—"
    for least, decimals in ((100, 0), (10, 1), (1, 2)):
        if per_second >= least:
            return f"{per_second:,.{decimals}f}"
    return f"{per_second:.2g}" if per_second else "0"


def size(count: float) -> str:
    """A number of bytes for people: `640 bytes`, `2.1 kB`."""
    for unit, bytes_each in (("MB", 1_000_000), ("kB", 1000)):
        if count >= bytes_each:
            return f"{rate(count / bytes_each)} {unit}"
    return f"{count:.0f} bytes"


def _latencies(counts: LatencyCounts) -> Sequence[Percentiles]:
    buckets = (counts.latencies, counts.waits, counts.durations)
    return [
        Percentiles(
            name, meaning, sum(line), *(percentile(line, share) for share in (0.5, 0.95, 0.99))
        )
        for (name, meaning), line in zip(_LINES.items(), buckets, strict=True)
    ]


def _peak(minutes: Sequence[MinuteCounts]) -> PeakMinute | None:
    busiest = max(minutes, key=lambda counted: counted.delivered, default=None)
    if busiest is None or not busiest.delivered:
        return None
    return PeakMinute(
        busiest.minute,
        busiest.delivered / _MINUTE,
        1000 * busiest.cpu_seconds / busiest.delivered,
    )


def _chart(minutes: Sequence[MinuteCounts], now: datetime) -> AttemptsChart:
    """The last 60 complete minutes; one without a report is empty."""
    by_minute = {counted.minute: counted for counted in minutes}
    last = now.replace(second=0, microsecond=0)
    rows = []
    for ago in range(_CHARTED, 0, -1):
        start = last - timedelta(minutes=ago)
        counted = by_minute.get(start)
        delivered = counted.delivered if counted else 0
        failed = counted.attempts - counted.delivered if counted else 0
        rows.append((start, round(delivered / _MINUTE, 2), round(failed / _MINUTE, 2)))
    return attempts_chart(
        rows,
        title="Attempts a second in the last hour",
        desc="One bar for each minute: delivered and failed. The table below has the numbers.",
        show=rate,
    )


def _outcomes(hour: HourTotals) -> Sequence[tuple[Outcome, int]]:
    """What happened at all, most frequent first."""
    counted = [pair for pair in zip(COUNTED, hour.outcomes, strict=False) if pair[1]]
    return sorted(counted, key=lambda pair: -pair[1])


def _database_cost(read: Performance) -> DatabaseCost | None:
    use = read.database
    if use is None or not use.delivered:
        return None
    return DatabaseCost(
        statement_ms=1000 * use.statement_seconds / use.delivered,
        transactions=use.transactions / use.delivered,
        wal_bytes=use.wal_bytes / use.delivered,
    )
