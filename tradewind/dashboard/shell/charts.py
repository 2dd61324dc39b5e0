"""Charts as SVG, with a title and a description, styled by the style sheets. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, log10

from markupsafe import Markup, escape

from tradewind import clock
from tradewind.dashboard.shell.labels import Tone

_WIDTH, _HEIGHT = 720, 186
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 4, 12, 30
_GAP = 0.22
_LABELS = 8
_COARSE = (2, 4, 6, 8, 10)
_FINE = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart: a value for each column."""

    name: str
    tone: Tone
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class HourCounts:
    """The attempts of one hour."""

    hour: datetime
    delivered: int
    failed: int


@dataclass(frozen=True, slots=True)
class AttemptsChart:
    """The attempts of the last 24 hours, as a chart and as the table beside it."""

    svg: Markup
    series: Sequence[Series]
    rows: Sequence[tuple[str, int, int]]
    total: int


def attempts_chart(hours: Sequence[HourCounts]) -> AttemptsChart:
    """Chart the attempts by hour: delivered and failed."""
    series = [
        Series("Delivered", "good", [hour.delivered for hour in hours]),
        Series("Failed", "bad", [hour.failed for hour in hours]),
    ]
    total = sum(hour.delivered + hour.failed for hour in hours)
    svg = stacked_bars(
        [clock.show(hour.hour)[11:16] for hour in hours],
        series,
        title="Attempts in the last 24 hours",
        desc=f"{total:,} attempts by hour: delivered and failed.",
        times=[hour.hour for hour in hours],
    )
    rows = [
        (clock.show(hour.hour)[:16].replace("T", " "), hour.delivered, hour.failed)
        for hour in hours
    ]
    return AttemptsChart(svg, series, rows, total)


def stacked_bars(
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    title: str,
    desc: str,
    times: Sequence[datetime] = (),
) -> Markup:
    """Stacked bars, the first series at the bottom.

    With `times`, the labels are times in UTC that a browser shows in its own zone.
    """
    totals = [sum(item.values[column] for item in series) for column in range(len(labels))]
    top = _round_up(max(totals, default=0))
    inner, floor = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _BOTTOM
    step = inner / max(1, len(labels))
    pieces = [_grid_line(value, top, floor) for value in (0, top / 2, top)]
    for column, label in enumerate(labels):
        x = _LEFT + column * step + step * _GAP / 2
        y = float(floor)
        text = ", ".join(f"{item.name} {_plain(item.values[column])}" for item in series)
        bars = []
        for item in series:
            height = item.values[column] / top * (floor - _TOP)
            y -= height
            if height > 0:
                bars.append(
                    f'<rect class="bar bar-{item.tone}" x="{x:.1f}" y="{y:.1f}" '
                    f'width="{step * (1 - _GAP):.1f}" height="{height:.1f}"/>'
                )
        zone = " UTC" if times else ""
        pieces.append(f"<g><title>{escape(label)}{zone}: {escape(text)}</title>{''.join(bars)}</g>")
        every = ceil(len(labels) / _LABELS)
        if column % every == 0:
            # Narrow screens have room for half of the labels.
            spare = " tick-spare" if column // every % 2 else ""
            moment = f' data-moment="{clock.show(times[column])}"' if times else ""
            pieces.append(
                f'<text class="tick{spare}" x="{_LEFT + (column + 0.5) * step:.1f}" '
                f'y="{_HEIGHT - 6}" text-anchor="middle"{moment}>{escape(label)}</text>'
            )
    # Every text inside is escaped above.
    return Markup(  # noqa: S704
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"<desc>{escape(desc)}</desc>{''.join(pieces)}</svg>"
    )


def share_bar(value: float, whole: float, *, tone: Tone = "plain") -> Markup:
    """A bar for a table row that already has the number: it is hidden from screen readers."""
    width = 0 if whole <= 0 else max(1, 100 * value / whole) if value else 0
    return Markup(  # noqa: S704 - made of numbers
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar bar-{tone}" width="{width:.1f}" height="8"/></svg>'
    )


def _grid_line(value: float, top: float, floor: int) -> str:
    y = floor - value / top * (floor - _TOP)
    return (
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
        f"{_short(value)}</text>"
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
