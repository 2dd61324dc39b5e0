"""The figures of the overview: attempts over time, success rate and latency, first steps. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from tradewind.dashboard.overview.queries import AttemptCounts, CompletedSteps
from tradewind.dashboard.shell import charts
from tradewind.dashboard.shell.charts import Series
from tradewind.dashboard.shell.labels import Tone
from tradewind.delivery.health import percentile
from tradewind.delivery.model import COUNTED
from tradewind.egress.result import Outcome


@dataclass(frozen=True, slots=True)
class TimeRange:
    """How far back the overview looks, and in which steps."""

    code: str
    label: str
    hours: int
    step: timedelta
    step_name: str

    def label_of(self, begins: datetime) -> str:
        """The label of a bar, in UTC; a browser shows it in its own zone."""
        weekday = "" if self.hours <= _DAY else "%a "
        return f"{begins.astimezone(UTC):{weekday}%H:%M}"


_DAY = 24
RANGES = (
    TimeRange("day", "24 hours", _DAY, timedelta(hours=1), "hour"),
    TimeRange("week", "7 days", 7 * _DAY, timedelta(hours=6), "six hours"),
)

# More than four colours cannot be told apart, so attempts without a response share one.
_GROUPS: Sequence[tuple[str, Tone, Sequence[Outcome]]] = (
    ("delivered", "good", (Outcome.DELIVERED,)),
    ("error response", "bad", (Outcome.HTTP_ERROR, Outcome.INVALID_RESPONSE)),
    (
        "no response",
        "waiting",
        (Outcome.TIMEOUT, Outcome.CONNECTION_CLOSED, Outcome.UNKNOWN),
    ),
    (
        "not reached",
        "plain",
        (
            Outcome.DNS_ERROR,
            Outcome.CONNECT_FAILED,
            Outcome.TLS_ERROR,
            Outcome.BLOCKED_ADDRESS,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class AttemptFigures:
    """The attempts of a time range: totals, latencies, and a chart with its table."""

    attempts: int
    delivered: int
    failures: Sequence[tuple[Outcome, int]]
    p50_ms: int | None
    p99_ms: int | None
    series: Sequence[Series]
    chart: Markup
    begins: Sequence[datetime]

    @property
    def success_rate(self) -> float | None:
        return self.delivered / self.attempts if self.attempts else None

    @property
    def columns(self) -> Sequence[str | tuple[str, str]]:
        names = [*(series.name.capitalize() for series in self.series), "Total"]
        return ["From", *((name, "num") for name in names)]

    @property
    def rows(self) -> Sequence[tuple[datetime, Sequence[int]]]:
        """The chart as a table, the latest first."""
        rows = []
        for index, begins in enumerate(self.begins):
            values = [int(series.values[index]) for series in self.series]
            rows.append((begins, [*values, sum(values)]))
        return rows[::-1]


def attempt_figures(steps: Sequence[AttemptCounts], range_: TimeRange) -> AttemptFigures:
    """The figures from the counts of each time step, in the order of time."""
    counts = [dict(zip(COUNTED, step.outcomes, strict=False)) for step in steps]
    totals = {outcome: sum(count.get(outcome, 0) for count in counts) for outcome in COUNTED}
    series = [
        Series(name, tone, [sum(count.get(outcome, 0) for outcome in outcomes) for count in counts])
        for name, tone, outcomes in _GROUPS
    ]
    begins = [step.begins for step in steps]
    attempts, delivered = sum(totals.values()), totals[Outcome.DELIVERED]
    buckets = _sum_lists([step.buckets for step in steps])
    failed = [(outcome, n) for outcome, n in totals.items() if n and outcome is not COUNTED[0]]
    return AttemptFigures(
        attempts=attempts,
        delivered=delivered,
        failures=sorted(failed, key=lambda pair: -pair[1]),
        p50_ms=percentile(buckets, 0.5),
        p99_ms=percentile(buckets, 0.99),
        series=series,
        chart=charts.stacked_bars(
            [range_.label_of(moment) for moment in begins],
            series,
            title=f"Attempts in the last {range_.label}, by outcome",
            desc=f"{attempts:,} attempts, {delivered:,} delivered; one bar for each "
            f"{range_.step_name}. The table below has the numbers.",
            times=begins,
        ),
        begins=begins,
    )


def _sum_lists(lists: Sequence[Sequence[int]]) -> Sequence[int]:
    longest = max(map(len, lists), default=0)
    return [sum(values[i] for values in lists if i < len(values)) for i in range(longest)]


@dataclass(frozen=True, slots=True)
class GettingStartedStep:
    """One of the getting-started steps."""

    done: bool
    title: str
    text: str
    href: str


def getting_started(completed: CompletedSteps) -> Sequence[GettingStartedStep]:
    """The getting-started steps, in order; empty if all are completed."""
    steps = (
        GettingStartedStep(
            completed.has_key,
            "Create an API key",
            "Programs authenticate with it. It is shown once.",
            "/keys",
        ),
        GettingStartedStep(
            completed.used_key,
            "Call the API",
            "Call GET /v1/me with the key. The page of a new key has the command.",
            "/keys",
        ),
        GettingStartedStep(
            completed.subscribed,
            "Create a webhook",
            "Changes of orders and payments are sent to its URL.",
            "/webhooks",
        ),
        GettingStartedStep(
            completed.ordered,
            "Place an order",
            "A product page has the command that orders it.",
            "/products",
        ),
        GettingStartedStep(
            completed.delivered,
            "Receive an event",
            "Your endpoint responds with 200. The webhook page shows every attempt.",
            "/webhooks",
        ),
        GettingStartedStep(
            completed.approved,
            "Get a payment approved",
            "Request it on the order page. Another person approves it.",
            "/orders",
        ),
    )
    return () if all(step.done for step in steps) else steps
