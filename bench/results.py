"""Prints the rows of a benchmark, and keeps them to be saved: one call does both."""

from dataclasses import dataclass, field


@dataclass
class ResultRow:
    """A figure with its bar; a bar below zero is one to stay under, None is no bar.

    `notes` are what else was measured for it.
    """

    section: str
    name: str
    value: float | None
    bar: float | None
    notes: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool | None:
        """Whether the bar holds; None without one."""
        if self.bar is None or self.value is None:
            return None
        return self.value >= self.bar if self.bar > 0 else self.value <= -self.bar

    @property
    def limit(self) -> str:
        """The bar as people read it."""
        return "" if self.bar is None else f"{'≥' if self.bar > 0 else '≤'} {abs(self.bar)}"


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
        self, value: float, name: str, bar: float | None = None, *, digits: int | None = None
    ) -> None:
        """Print and keep a figure."""
        row = ResultRow(self._section, name, value, bar)
        self.rows.append(row)
        places = digits if digits is not None else (2 if value < 100 else 0)  # noqa: PLR2004
        missed = ", MISSED" if row.held is False else ""
        print(f"  {value:5.{places}f}  {name}{f' (bar {row.limit}{missed})' if row.limit else ''}")

    def note(self, text: str) -> None:
        """Print and keep a line about the row above it."""
        print(f"         {text}")
        self.rows[-1].notes.append(text)

    def say(self, text: str) -> None:
        """Print and keep a line with figures in its text."""
        print(f"         {text}")
        self.rows.append(ResultRow(self._section, text, None, None))
