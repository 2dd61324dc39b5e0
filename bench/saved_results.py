"""Saves the rows of `make bench` as JSON, and their table on the page about performance."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.results import ResultRow
from tools.machine import Machine
from tools.page_parts import table, with_part

COMMAND = "make bench JSON=docs/explanation/bench.json"
# The folders whose last commit is the commit of a run.
PROGRAM = ("tradewind", "simulator", "bench")
_PART = "bench"
_HUNDRED = 100


def page_of(file: Path) -> Path:
    """The page that shows the rows of a file: the one beside it, if there is one."""
    return file.with_name("performance.md")


def save(file: Path, machine: Machine, taken: float, rows: Sequence[ResultRow]) -> None:
    """Save a run; `taken` is the share of the machine's time that others took meanwhile."""
    text = to_json(machine, taken, rows)
    file.write_text(text, encoding="utf-8")
    page = page_of(file)
    if page.exists():
        page.write_text(with_results(page.read_text("utf-8"), text), encoding="utf-8")


def to_json(machine: Machine, taken: float, rows: Sequence[ResultRow]) -> str:
    saved = {
        "machine": asdict(machine),
        "command": COMMAND,
        "taken_by_others": round(taken, 3),
        "rows": [{**asdict(row), "held": row.held, "reached": row.reached} for row in rows],
    }
    return json.dumps(saved, indent=2, ensure_ascii=False) + "\n"


def with_results(page: str, saved: str) -> str:
    """The page with the table of a saved run in the place of the last one."""
    run = json.loads(saved)
    said = Machine(**run["machine"]).sentence(run["command"])
    rows = [_row(item) for item in run["rows"]]
    if (taken := run.get("taken_by_others")) is not None:
        said += f" Others took {taken:.0%} of the machine's time meanwhile."
    blocks = [said]
    for section in dict.fromkeys(row.section for row in rows):
        cells = [_cells(row) for row in rows if row.section == section]
        blocks += [f"*{section}*", table(["figure", "what", "bar or goal", ""], cells)]
    return with_part(page, _PART, COMMAND, *blocks)


def _row(item: dict[str, object]) -> ResultRow:
    kept = {name: value for name, value in item.items() if name not in ("held", "reached")}
    return ResultRow(**kept)  # type: ignore[arg-type]


def _cells(row: ResultRow) -> Sequence[str]:
    text = "; ".join([row.name, *row.notes]).replace("|", "\\|")
    return [_value(row.value), text, row.limit, row.verdict]


def _value(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if value < _HUNDRED else f"{value:,.0f}"
