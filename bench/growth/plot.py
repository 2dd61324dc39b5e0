"""Draws how cost grows as SVG: a panel for each dimension, both axes logarithmic. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from bench.growth.model import Figure

_COLUMNS = 2
_PANEL_WIDTH, _PANEL_HEIGHT = 440, 250
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 34, 14, 44
_LEGEND_LINE = 16
_GAP = 24
_TITLE = "CPU of one work, PostgreSQL and our processes together"
# One colour for each line, for a light and for a dark background.
_COLOURS = (
    ("#1d6fb8", "#6cb6ff"),
    ("#b3541e", "#f0883e"),
    ("#2f7d32", "#7ee787"),
    ("#8a3ffc", "#d2a8ff"),
    ("#a51d5b", "#ff7eb6"),
    ("#5c6670", "#adbac7"),
    ("#8a6d00", "#e3b341"),
)
_SUFFIXES = ((1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis over whole powers of ten, from `low` to `high`, in pixels."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "LogAxis":
        low, high = floor(log10(min(values))), ceil(log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def at(self, value: float) -> float:
        share = (log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> Sequence[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def draw(figures: Sequence[Figure], dimensions: Sequence[str]) -> str:
    """One picture with a panel for each dimension that has figures of more than one size."""
    panels = {
        dimension: lines
        for dimension in dimensions
        if (lines := _lines([item for item in figures if item.dimension == dimension]))
    }
    longest = max((len(lines) for lines in panels.values()), default=0)
    height = _PANEL_HEIGHT + longest * _LEGEND_LINE + _GAP
    rows = ceil(len(panels) / _COLUMNS)
    width = _COLUMNS * (_PANEL_WIDTH + _GAP)
    content = [
        f'<g transform="translate({index % _COLUMNS * (_PANEL_WIDTH + _GAP)},'
        f'{30 + index // _COLUMNS * height})">{"".join(_panel(dimension, lines))}</g>'
        for index, (dimension, lines) in enumerate(panels.items())
    ]
    whole = 30 + rows * height
    size = f'viewBox="0 0 {width} {whole}" width="{width}" height="{whole}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif">',
            f"<title>{_TITLE}</title>",
            f"<style>{_dark_style()}</style>",
            f'<rect class="ground" fill="#fff" width="{width}" height="{whole}"/>',
            _text(_LEFT, 22, _TITLE, size=15),
            *content,
            "</svg>\n",
        ]
    )


def _lines(figures: Sequence[Figure]) -> Mapping[str, Sequence[tuple[int, float]]]:
    """The points of each work, by size; a work that costs nothing measurable has none."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for figure in sorted(figures, key=lambda item: item.size):
        cpu = figure.database_ms + figure.process_ms
        if cpu > 0:
            lines.setdefault(figure.work, []).append((figure.size, cpu))
    return {work: points for work, points in lines.items() if len(points) > 1}


def _panel(dimension: str, lines: Mapping[str, Sequence[tuple[int, float]]]) -> Iterator[str]:
    right, bottom = _PANEL_WIDTH - _RIGHT, _PANEL_HEIGHT - _BOTTOM
    points = [point for line in lines.values() for point in line]
    x_axis = LogAxis.over([size for size, _ in points], _LEFT, right)
    y_axis = LogAxis.over([cpu for _, cpu in points], bottom, _TOP)
    for tick in y_axis.ticks:
        y = y_axis.at(tick)
        yield _grid_line(_LEFT, y, right, y)
        yield _text(_LEFT - 6, y + 4, f"{tick:g}", anchor="end")
    for tick in x_axis.ticks:
        x = x_axis.at(tick)
        yield _grid_line(x, _TOP, x, bottom)
        yield _text(x, bottom + 16, _short(tick), anchor="middle")
    yield _text((_LEFT + right) / 2, bottom + 34, dimension, anchor="middle")
    turned = f'<g transform="translate(14,{(_TOP + bottom) / 2:.0f}) rotate(-90)">'
    yield f"{turned}{_text(0, 0, 'ms of CPU', anchor='middle')}</g>"
    for index, (work, line) in enumerate(lines.items()):
        marks = [(x_axis.at(size), y_axis.at(cpu)) for size, cpu in line]
        yield from _line(index % len(_COLOURS), marks)
        y = _PANEL_HEIGHT + 6 + index * _LEGEND_LINE
        yield from _line(index % len(_COLOURS), [(_LEFT, y - 4), (_LEFT + 22, y - 4)])
        yield _text(_LEFT + 30, y, work)


def _line(colour: int, marks: Sequence[tuple[float, float]]) -> Iterator[str]:
    """A line with a dot at each mark."""
    light = _COLOURS[colour][0]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in marks)
    style = f'class="c{colour}" stroke="{light}" stroke-width="2"'
    yield f'<polyline {style} fill="none" points="{path}"/>'
    for x, y in marks:
        yield f'<circle {style} fill="{light}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'


def _grid_line(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="grid" stroke="#d8dee4" {ends}/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    position = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text fill="#1f2328" {position}>{escape(text)}</text>'


def _dark_style() -> str:
    """The colours for a dark background; where styles are not applied, the picture is light."""
    lines = "".join(
        f".c{index}{{stroke:{dark}}}circle.c{index}{{fill:{dark}}}"
        for index, (_, dark) in enumerate(_COLOURS)
    )
    return (
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}"
        f".grid{{stroke:#30363d}}{lines}}}"
    )


def _short(number: float) -> str:
    for size, suffix in _SUFFIXES:
        if number >= size:
            return f"{number / size:g}{suffix}"
    return f"{number:g}"
