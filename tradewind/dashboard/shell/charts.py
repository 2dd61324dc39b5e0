"""Charts: bars as SVG that fill their width, with labels in the text size of the page. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, log10
from typing import Literal

from markupsafe import Markup, escape

from tradewind import clock
from tradewind.dashboard.shell.labels import Tone

# The bars are drawn in columns of this size, and stretched to the size of the chart.
_COLUMN, _HEIGHT = 10, 100
_GAP = 0.22
_LABELS = 12
_SPARE = ' class="plot-spare"'
_COARSE = (2, 4, 6, 8, 10)
_FINE = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)


# The colour of a series: of a tone, or one that stands for something else, such as a marketplace.
Colour = Tone | Literal["accent", "signal"]
# How a browser shows the time of a column, in the viewer's zone.
TimeFormat = Literal["hour", "weekday", "week"]


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart: a value for each column."""

    name: str
    tone: Colour
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class HourCounts:
    """The attempts of one hour."""

    hour: datetime
    delivered: int
    failed: int


@dataclass(frozen=True, slots=True)
class AttemptsChart:
    """Attempts by time, delivered and failed ones: a chart, and the table beside it."""

    svg: Markup
    series: Sequence[Series]
    rows: Sequence[tuple[datetime, float, float]]
    total: float


def attempts_by_hour_chart(hours: Sequence[HourCounts]) -> AttemptsChart:
    """Chart the attempts of the last 24 hours."""
    total = sum(hour.delivered + hour.failed for hour in hours)
    return attempts_chart(
        [(hour.hour, hour.delivered, hour.failed) for hour in hours],
        title="Attempts in the last 24 hours",
        desc=f"{total:,} attempts by hour: delivered and failed.",
    )


def attempts_chart(
    rows: Sequence[tuple[datetime, float, float]],
    *,
    title: str,
    desc: str,
    show: Callable[[float], str] | None = None,
) -> AttemptsChart:
    """Chart rows of a time, and of what was delivered and what failed from then on."""
    times, delivered, failed = zip(*rows, strict=True)
    series = [Series("Delivered", "good", delivered), Series("Failed", "bad", failed)]
    labels = [clock.show(time)[11:16] for time in times]
    svg = stacked_bars(labels, series, title=title, desc=desc, times=times, show=show)
    return AttemptsChart(svg, series, rows, sum(delivered) + sum(failed))


def stacked_bars(
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    title: str,
    desc: str,
    times: Sequence[datetime] = (),
    time_format: TimeFormat = "hour",
    show: Callable[[float], str] | None = None,
) -> Markup:
    """Stacked bars, the first series at the bottom.

    With `times`, the labels are times in UTC that a browser shows in its own zone. `show` writes a
    value in the tooltips.
    """
    totals = [sum(item.values[column] for item in series) for column in range(len(labels))]
    top = _round_up(max(totals, default=0))
    moments = [f' data-moment="{clock.show(moment)}"' for moment in times] or [""] * len(labels)
    bars = "".join(
        _column(column, label, series, top, moments[column], show or _plain)
        for column, label in enumerate(labels)
    )
    every = _label_distance(len(labels))
    names = "".join(
        # Narrow charts have room for half of the labels.
        f"<span{moments[column]}{_SPARE if column // every % 2 else ''}>{escape(labels[column])}"
        "</span>"
        for column in range(0, len(labels), every)
    )
    lines = "".join(
        f'<line class="grid" x1="0" x2="{_COLUMN * len(labels)}" y1="{y}" y2="{y}"/>'
        for y in (0, _HEIGHT / 2, _HEIGHT)
    )
    scale = "".join(f"<span>{_short(value)}</span>" for value in (top, top / 2, 0))
    spread = " plot-labels-each" if every == 1 else ""
    # Every text inside is escaped above.
    return Markup(  # noqa: S704
        f'<div class="plot" data-time-format="{time_format}">'
        f'<div class="plot-scale" aria-hidden="true">{scale}</div>'
        f'<svg class="chart" viewBox="0 0 {_COLUMN * len(labels)} {_HEIGHT}" role="img" '
        f'preserveAspectRatio="none" aria-label="{escape(title)}">'
        f"<desc>{escape(desc)}</desc>{lines}{bars}</svg>"
        f'<div class="plot-labels{spread}" aria-hidden="true">{names}</div></div>'
    )


def _column(
    column: int,
    label: str,
    series: Sequence[Series],
    top: float,
    moment: str,
    show: Callable[[float], str],
) -> str:
    """The bars of a column, and a tooltip over its whole height."""
    x = column * _COLUMN + _COLUMN * _GAP / 2
    y = float(_HEIGHT)
    bars = []
    for item in series:
        height = item.values[column] / top * _HEIGHT
        y -= height
        if height > 0:
            bars.append(
                f'<rect class="bar bar-{item.tone}" x="{x:.1f}" y="{y:.2f}" '
                f'width="{_COLUMN * (1 - _GAP):.1f}" height="{height:.2f}"/>'
            )
    figures = escape(", ".join(f"{item.name} {show(item.values[column])}" for item in series))
    zone = " UTC" if moment else ""
    return (
        f'<g><title{moment} data-figures="{figures}">{escape(label)}{zone}: {figures}</title>'
        f'<rect class="column" x="{column * _COLUMN}" width="{_COLUMN}" height="{_HEIGHT}"/>'
        f"{''.join(bars)}</g>"
    )


def _label_distance(columns: int) -> int:
    """Every how many columns one has a label, so that labels have equal distances."""
    fewest = max(1, ceil(columns / _LABELS))
    return next((step for step in range(fewest, columns) if columns % step == 0), max(1, columns))


def share_bar(value: float, whole: float, *, tone: Tone = "plain") -> Markup:
    """A bar for a table row that already has the number: it is hidden from screen readers."""
    width = 0 if whole <= 0 else max(1, 100 * value / whole) if value else 0
    return Markup(  # noqa: S704 - made of numbers
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar bar-{tone}" width="{width:.1f}" height="8"/></svg>'
    )


def _round_up(value: float) -> float:
    """The next number that is easy to read, as is its half: the scale shows both."""
    power = 10 ** int(log10(value)) if value >= 1 else 1
    steps = _COARSE if power == 1 else _FINE
    return next(float(power * step) for step in steps if value <= power * step)


def _short(value: float) -> str:
    """A label of the scale, which has room for few characters."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + letter
    return _plain(value)


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
