"""Saves what `make compare` measured as JSON, and its table on the page about performance."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.saved_results import page_of
from tools.machine import Machine
from tools.page_parts import table, with_part

COMMAND = "make compare WITH=COMMIT JSON=docs/explanation/compare.json"
_PART = "compare"
_THOUSAND = 1000


@dataclass(frozen=True)
class Compared:
    """A figure of two programs: the medians of their turns, and of the ratio of each turn."""

    name: str
    turns: int
    before: float
    now: float
    ratio: float
    lowest: float
    highest: float

    @property
    def line(self) -> str:
        """What is printed of it."""
        return (
            f"{self.name:65} {_figure(self.before):>10} {_figure(self.now):>10}   {self.ratio:.2f}"
            f" ({self.lowest:.2f} to {self.highest:.2f})"
        )

    @property
    def cells(self) -> Sequence[str]:
        """Its row on the page."""
        spread = f"{self.lowest:.2f} to {self.highest:.2f}"
        ratio = f"{self.ratio:.2f}"
        return [self.name, str(self.turns), _figure(self.before), _figure(self.now), ratio, spread]


def save(file: Path, machine: Machine, before: str, rows: Sequence[Compared]) -> None:
    """Save the figures of this program and of the commit `before`."""
    saved = {
        "machine": asdict(machine),
        "command": COMMAND.replace("COMMIT", before),
        "before": before,
        "rows": [asdict(row) for row in rows],
    }
    text = json.dumps(saved, indent=2, ensure_ascii=False) + "\n"
    file.write_text(text, encoding="utf-8")
    page = page_of(file)
    if page.exists():
        page.write_text(with_comparison(page.read_text("utf-8"), text), encoding="utf-8")


def with_comparison(page: str, saved: str) -> str:
    """The page with the table of a saved comparison in the place of the last one."""
    run = json.loads(saved)
    rows = [Compared(**row).cells for row in run["rows"]]
    head = ["figure", "turns", f"`{run['before']}`", "now", "now / before", "lowest to highest"]
    sentence = Machine(**run["machine"]).sentence(run["command"])
    return with_part(page, _PART, COMMAND, sentence, table(head, rows))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= _THOUSAND else f"{value:.3g}"
