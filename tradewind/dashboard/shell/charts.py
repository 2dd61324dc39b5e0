"""Charts: SVG made from numbers, with a title and a description, and no style of its own. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, log10

from markupsafe import Markup, escape

from tradewind import clock
from tradewind.dashboard.shell.flash import Tone

_WIDTH, _HEIGHT = 720, 186
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 4, 12, 30
_GAP = 0.22
_LABELS = 8
_COARSE = (2, 4, 6, 8, 10)
_FINE = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
_SPARK_WIDTH, _SPARK_HEIGHT = 120, 28


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart: a value for each column."""

    name: str
    tone: Tone
    values: Sequence[float]


def stacked_bars(
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    title: str,
    desc: str,
    moments: Sequence[datetime] = (),
) -> Markup:
    """Bars of several series on top of each other, the first at the bottom.

    With `moments`, the labels are times in UTC that a browser says in its own zone.
    """
    totals = [sum(one.values[at] for one in series) for at in range(len(labels))]
    top = _round_up(max(totals, default=0))
    inner, floor = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _BOTTOM
    step = inner / max(1, len(labels))
    pieces = [_grid(value, top, floor) for value in (0, top / 2, top)]
    for at, label in enumerate(labels):
        x = _LEFT + at * step + step * _GAP / 2
        y = float(floor)
        told = ", ".join(f"{one.name} {_plain(one.values[at])}" for one in series)
        bars = []
        for one in series:
            height = one.values[at] / top * (floor - _TOP)
            y -= height
            if height > 0:
                bars.append(
                    f'<rect class="bar bar-{one.tone}" x="{x:.1f}" y="{y:.1f}" '
                    f'width="{step * (1 - _GAP):.1f}" height="{height:.1f}"/>'
                )
        zone = " UTC" if moments else ""
        pieces.append(f"<g><title>{escape(label)}{zone}: {escape(told)}</title>{''.join(bars)}</g>")
        every = ceil(len(labels) / _LABELS)
        if at % every == 0:
            # On a narrow screen there is room for half of them.
            spare = " tick-spare" if at // every % 2 else ""
            moment = f' data-moment="{clock.show(moments[at])}"' if moments else ""
            pieces.append(
                f'<text class="tick{spare}" x="{_LEFT + (at + 0.5) * step:.1f}" y="{_HEIGHT - 6}" '
                f'text-anchor="middle"{moment}>{escape(label)}</text>'
            )
    return _svg("chart", _WIDTH, _HEIGHT, title, desc, "".join(pieces))


def sparkline(values: Sequence[float], *, title: str, tone: Tone = "plain") -> Markup:
    """A small line without scales, for a row of a table."""
    top = max([*values, 0]) or 1
    step = _SPARK_WIDTH / max(1, len(values) - 1)
    points = " ".join(
        f"{at * step:.1f},{_SPARK_HEIGHT - 2 - value / top * (_SPARK_HEIGHT - 4):.1f}"
        for at, value in enumerate(values)
    )
    line = f'<polyline class="spark spark-{tone}" points="{points}"/>'
    return _svg("sparkline", _SPARK_WIDTH, _SPARK_HEIGHT, title, "", line)


def share_bar(value: float, whole: float, *, tone: Tone = "plain") -> Markup:
    """A bar for a row of a table that says its number already: it is hidden from readers."""
    width = 0 if whole <= 0 else max(1, 100 * value / whole) if value else 0
    return Markup(  # noqa: S704 - made of numbers
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar bar-{tone}" width="{width:.1f}" height="8"/></svg>'
    )


def _grid(value: float, top: float, floor: int) -> str:
    y = floor - value / top * (floor - _TOP)
    return (
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
        f"{_short(value)}</text>"
    )


def _svg(kind: str, width: int, height: int, title: str, desc: str, inside: str) -> Markup:
    # What is inside was escaped where it came from outside.
    about = f"<desc>{escape(desc)}</desc>" if desc else ""
    return Markup(  # noqa: S704
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{about}{inside}</svg>'
    )


def _round_up(value: float) -> float:
    """The next number that reads easily, and whose half does: a scale is marked with both."""
    power = 10 ** int(log10(value)) if value >= 1 else 1
    steps = _COARSE if power == 1 else _FINE
    return next(float(power * step) for step in steps if value <= power * step)


def _short(value: float) -> str:
    """A mark of a scale, which has room for few letters."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + letter
    return _plain(value)


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
