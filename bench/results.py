"""Prints the rows of a benchmark, and keeps them to be saved: one call does both."""

from dataclasses import dataclass, field


@dataclass
class ResultRow:
    """A figure with its bar or goal; one below zero is to stay under, None is none.

    A bar is for a ratio, and holds on any machine. A goal is for a rate or a time, and also depends
    on how fast the machine is: a run that misses one has not failed. `notes` are what else was
    measured for it.
    """

    section: str
    name: str
    value: float | None
    bar: float | None = None
    notes: list[str] = field(default_factory=list)
    goal: float | None = None

    @property
    def held(self) -> bool | None:
        """Whether the bar holds; None without one."""
        return _is_within(self.value, self.bar)

    @property
    def reached(self) -> bool | None:
        """Whether the goal was reached; None without one."""
        return _is_within(self.value, self.goal)

    @property
    def limit(self) -> str:
        """The bar or the goal as people read it."""
        if self.goal is not None:
            return f"goal {_limit(self.goal)}"
        return "" if self.bar is None else _limit(self.bar)

    @property
    def verdict(self) -> str:
        """What became of the bar or the goal, in a word."""
        if self.reached is not None:
            return "reached" if self.reached else "missed"
        return {True: "holds", False: "MISSED", None: ""}[self.held]


def _is_within(value: float | None, limit: float | None) -> bool | None:
    if limit is None or value is None:
        return None
    return value >= limit if limit > 0 else value <= -limit


def _limit(limit: float) -> str:
    return f"{'≥' if limit > 0 else '≤'} {abs(limit):,}"


class Results:
    """The rows of one run."""

    def __init__(self) -> None:
        self.rows: list[ResultRow] = []
        self._section = ""

    @property
    def held(self) -> bool:
        """Whether no bar was missed."""
        return all(row.held is not False for row in self.rows)

    def section(self, title: str, detail: str = "") -> None:
        """Begin a section. The detail, such as the rate that ratios refer to, is printed only."""
        self._section = title
        print(f"\n{title}{detail}")

    def tell(
        self,
        value: float,
        name: str,
        bar: float | None = None,
        *,
        goal: float | None = None,
        digits: int | None = None,
    ) -> None:
        """Print and keep a figure."""
        row = ResultRow(self._section, name, value, bar, goal=goal)
        self.rows.append(row)
        places = digits if digits is not None else (2 if value < 100 else 0)  # noqa: PLR2004
        limit = row.limit if bar is None else f"bar {row.limit}"
        verdict = "" if row.held else f", {row.verdict}"
        print(f"  {value:5,.{places}f}  {name}{f' ({limit}{verdict})' if limit else ''}")

    def note(self, text: str) -> None:
        """Print and keep a line about the row above it."""
        print(f"         {text}")
        self.rows[-1].notes.append(text)

    def say(self, text: str) -> None:
        """Print and keep a line with figures in its text."""
        print(f"         {text}")
        self.rows.append(ResultRow(self._section, text, None))
