"""The figures of the overview: spend by week, open orders, attempts by time, first steps. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from tradewind.dashboard.overview.queries import AttemptCounts, CompletedSteps
from tradewind.dashboard.shell import charts
from tradewind.dashboard.shell.charts import Colour, Series, TimeFormat
from tradewind.dashboard.shell.labels import Tone, fen, marketplace
from tradewind.dashboard.shell.queries import Spend
from tradewind.delivery.health import percentile
from tradewind.delivery.model import COUNTED
from tradewind.egress.result import Outcome
from tradewind.orders.model import OrderStatus
from tradewind.platforms.registry import MARKETPLACES


@dataclass(frozen=True, slots=True)
class TimeRange:
    """How far back the overview looks, and in which steps."""

    code: str
    label: str
    hours: int
    step: timedelta
    step_name: str
    time_format: TimeFormat

    def label_of(self, begins: datetime) -> str:
        """The label of a bar, in UTC; a browser shows it in its own zone."""
        weekday = "" if self.hours <= _DAY else "%a "
        return f"{begins.astimezone(UTC):{weekday}%H:%M}"


_DAY = 24
RANGES = (
    TimeRange("day", "24 hours", _DAY, timedelta(hours=1), "hour", "hour"),
    TimeRange("week", "7 days", 7 * _DAY, timedelta(hours=6), "six hours", "weekday"),
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
            time_format=range_.time_format,
        ),
        begins=begins,
    )


def _sum_lists(lists: Sequence[Sequence[int]]) -> Sequence[int]:
    longest = max(map(len, lists), default=0)
    return [sum(values[i] for values in lists if i < len(values)) for i in range(longest)]


# A parcel that is in transit for longer than this is late.
LATE_AFTER = timedelta(days=10)
WEEKS = 12
_COLOURS: Sequence[Colour] = ("accent", "signal", "good", "waiting")
# What an open order waits for, in the order of its life.
_WAITS: Sequence[tuple[str, Sequence[OrderStatus]]] = (
    ("being created", (OrderStatus.CREATING,)),
    ("to pay", (OrderStatus.PENDING_PAYMENT,)),
    ("to ship", (OrderStatus.PAID,)),
    ("in transit", (OrderStatus.PARTIALLY_SHIPPED, OrderStatus.SHIPPED)),
)


@dataclass(frozen=True, slots=True)
class SpendFigures:
    """The spend by week and marketplace: a chart with its table, and the sum of this month."""

    month_fen: int
    month_by_marketplace: Sequence[tuple[str, int]]
    total_fen: int
    series: Sequence[Series]
    chart: Markup
    starts: Sequence[datetime]

    @property
    def columns(self) -> Sequence[str | tuple[str, str]]:
        return ["Week from", *((item.name, "num") for item in self.series), ("Total", "num")]

    @property
    def rows(self) -> Sequence[tuple[datetime, Sequence[int]]]:
        """The chart as a table in fen, this week first."""
        rows = []
        for index, start in enumerate(self.starts):
            values = [round(item.values[index] * 100) for item in self.series]
            rows.append((start, [*values, sum(values)]))
        return rows[::-1]


def spend_figures(
    weekly: Sequence[Spend], monthly: Sequence[Spend], starts: Sequence[datetime]
) -> SpendFigures:
    """The figures from the spend of each week, which `starts` are the starts of, and this month."""
    platforms = sorted({spend.platform for spend in weekly}, key=_order_of)
    fen_by = {(spend.platform, spend.period): spend.fen for spend in weekly}
    series = [
        Series(
            marketplace(platform),
            _colour(platform),
            [fen_by.get((platform, week), 0) / 100 for week in range(1, len(starts) + 1)],
        )
        for platform in platforms
    ]
    total = sum(spend.fen for spend in weekly)
    return SpendFigures(
        month_fen=sum(spend.fen for spend in monthly),
        month_by_marketplace=[
            (marketplace(spend.platform), spend.fen)
            for spend in sorted(monthly, key=lambda spend: _order_of(spend.platform))
        ],
        total_fen=total,
        series=series,
        chart=charts.stacked_bars(
            [f"{start.day} {start:%b}" for start in starts],
            series,
            title=f"Spend in the last {len(starts)} weeks, by marketplace",
            desc=f"{fen(total)} in total; one bar for each week. The table below has the numbers.",
            times=starts,
            time_format="week",
            show=lambda cny: fen(round(cny * 100)),
        ),
        starts=starts,
    )


def _colour(platform: str) -> Colour:
    """Every marketplace has a colour of its own; simulated and former ones are grey."""
    real = [name for name, market in MARKETPLACES.items() if not market.simulated_only]
    return _COLOURS[real.index(platform) % len(_COLOURS)] if platform in real else "plain"


def _order_of(platform: str) -> tuple[bool, str]:
    """Real marketplaces first, the simulated one last."""
    return _colour(platform) == "plain", platform


def open_orders(counts: Mapping[str, int]) -> tuple[int, Sequence[tuple[str, int, str]]]:
    """The number of open orders, and what they wait for: words, a number, and its list."""
    waits = []
    for words, statuses in _WAITS:
        count = sum(counts.get(status, 0) for status in statuses)
        if count:
            query = "&".join(f"status={status}" for status in statuses)
            waits.append((words, count, f"/orders?{query}"))
    return sum(count for _, count, _ in waits), waits


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
            "Find a product, choose a variant and order it, or use the API.",
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
