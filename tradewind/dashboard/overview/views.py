"""The figures of the overview: deliveries over time, how well they go, and first steps. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup

from tradewind.dashboard.shell import charts
from tradewind.dashboard.shell.charts import Series
from tradewind.dashboard.shell.flash import Tone
from tradewind.delivery.health import percentile
from tradewind.delivery.model import COUNTED
from tradewind.egress.result import Outcome

# What is counted no further: a page is not worth a long look at the database.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Span:
    """How far back the overview looks, and in which steps."""

    code: str
    label: str
    hours: int
    step: timedelta
    each: str

    def label_of(self, begins: datetime) -> str:
        """What stands under a bar, in UTC; a browser says it in its own zone."""
        return (
            f"{begins.astimezone(UTC):%H:%M}"
            if self.hours <= _DAY
            else f"{begins.astimezone(UTC):%a %H:%M}"
        )


_DAY = 24
SPANS = (
    Span("day", "24 hours", _DAY, timedelta(hours=1), "hour"),
    Span("week", "7 days", 7 * _DAY, timedelta(hours=6), "six hours"),
)

# Four colours are as many as can be told apart: what never came to an answer is one of them.
_GROUPS: Sequence[tuple[str, Tone, Sequence[Outcome]]] = (
    ("delivered", "good", (Outcome.DELIVERED,)),
    ("error answer", "bad", (Outcome.HTTP_ERROR, Outcome.INVALID_RESPONSE)),
    (
        "no answer",
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
class Deliveries:
    """What became of attempts in a span of time."""

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
        names = [*(one.name.capitalize() for one in self.series), "All"]
        return ["Begins", *((name, "num") for name in names)]

    @property
    def rows(self) -> Sequence[tuple[datetime, Sequence[int]]]:
        """The chart as a table, the latest first."""
        found = []
        for at, begins in enumerate(self.begins):
            values = [int(one.values[at]) for one in self.series]
            found.append((begins, [*values, sum(values)]))
        return found[::-1]


def deliveries(rows: Sequence[Any], span: Span) -> Deliveries:
    """What the counts say: one row for each step, in the order of time."""
    counts = [dict(zip(COUNTED, row["outcomes"], strict=False)) for row in rows]
    totals = {outcome: sum(one.get(outcome, 0) for one in counts) for outcome in COUNTED}
    series = [
        Series(name, tone, [sum(one.get(outcome, 0) for outcome in outcomes) for one in counts])
        for name, tone, outcomes in _GROUPS
    ]
    begins = [row["begins"] for row in rows]
    attempts, delivered = sum(totals.values()), totals[Outcome.DELIVERED]
    buckets = _added([row["buckets"] for row in rows])
    failed = [(outcome, n) for outcome, n in totals.items() if n and outcome is not COUNTED[0]]
    return Deliveries(
        attempts=attempts,
        delivered=delivered,
        failures=sorted(failed, key=lambda pair: -pair[1]),
        p50_ms=percentile(buckets, 0.5),
        p99_ms=percentile(buckets, 0.99),
        series=series,
        chart=charts.stacked_bars(
            [span.label_of(one) for one in begins],
            series,
            title=f"Attempts to deliver in the last {span.label}, by outcome",
            desc=f"{attempts:,} attempts, {delivered:,} of them delivered; one bar for each "
            f"{span.each}. The table below has the numbers.",
            moments=begins,
        ),
        begins=begins,
    )


def _added(lists: Sequence[Sequence[int]]) -> Sequence[int]:
    longest = max(map(len, lists), default=0)
    return [sum(one[at] for one in lists if at < len(one)) for at in range(longest)]


def counted(number: int) -> str:
    """A count that went no further than `MOST`."""
    return f"{MOST:,}+" if number > MOST else f"{number:,}"


@dataclass(frozen=True, slots=True)
class Step:
    """One of the first steps."""

    done: bool
    title: str
    text: str
    href: str


def first_steps(done: Any) -> Sequence[Step]:
    """The steps of somebody new, in order; empty when all of them are done.

    `done` is the row of `find_steps`: which of them are, by name.
    """
    steps = (
        Step(
            done["has_key"],
            "Make an API key",
            "Programs send it with every request. It is shown once.",
            "/keys",
        ),
        Step(
            done["used_key"],
            "Use it",
            "Call GET /v1/me with it: the page of the new key has the line for your terminal.",
            "/keys",
        ),
        Step(
            done["subscribed"],
            "Subscribe a webhook",
            "Say where changes of orders and payments shall be sent.",
            "/webhooks",
        ),
        Step(
            done["ordered"],
            "Place the first order",
            "Find a product: its page has the line that orders it.",
            "/products",
        ),
        Step(
            done["delivered"],
            "Receive the first event",
            "Your receiver answers 200, and what was sent is on the page of the webhook.",
            "/webhooks",
        ),
        Step(
            done["approved"],
            "Have a payment approved",
            "Request it on the page of the order; somebody else approves it.",
            "/orders",
        ),
    )
    return () if all(step.done for step in steps) else steps
