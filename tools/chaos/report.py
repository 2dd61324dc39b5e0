"""Shows a run as a table for the terminal, as JSON, and as the page about reliability. Pure."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tools.chaos.faults import FAULTS
from tools.chaos.model import Detection, Figures, Result, Row
from tools.chaos.rows import ROWS
from tools.machine import Machine
from tools.page_parts import table, with_part

_NONE = "-"
_NOT_RUN = "not run"
_COLUMNS = (
    "#",
    "what happens",
    "must hold",
    "events",
    "kills",
    "lost",
    "duplicates",
    "foreign",
    "double debits",
    "violations",
    "recovery p50 / max",
    "also measured",
    "took",
    "result",
)


@dataclasses.dataclass(frozen=True)
class Report:
    """A run of all rows of a scorecard: the machine, the command, the results."""

    machine: Machine
    command: str
    results: tuple[Result, ...]
    rows: tuple[Row, ...] = ROWS

    @property
    def failed(self) -> list[int]:
        return [result.number for result in self.results if not result.holds]

    @property
    def missing(self) -> list[int]:
        """The rows that this program was not run with."""
        ran = {result.number for result in self.results}
        return [row.number for row in self.rows if row.number not in ran]

    @property
    def holds(self) -> bool:
        """Whether every row of the scorecard was run, and holds."""
        return not self.failed and not self.missing


@dataclasses.dataclass(frozen=True)
class FaultReport:
    """A run of all planted faults: the machine, the command, what detected each."""

    machine: Machine
    command: str
    detections: tuple[Detection, ...]

    @property
    def undetected(self) -> list[int]:
        """The rows that did not detect a fault."""
        return [item.row for item in self.detections if item.failure is None]

    @property
    def missing(self) -> list[int]:
        """The rows with a fault that was not planted in this program."""
        planted = {item.key for item in self.detections}
        return sorted({fault.row for fault in FAULTS if fault.key not in planted})

    @property
    def holds(self) -> bool:
        """Whether every fault was planted, and detected."""
        return not self.undetected and not self.missing


def to_json(report: Report | FaultReport) -> str:
    stored = dataclasses.asdict(report)
    stored.pop("rows", None)  # the program has them
    return json.dumps(stored, indent=2, ensure_ascii=False) + "\n"


def read_report(text: str, rows: tuple[Row, ...] = ROWS) -> Report:
    stored = json.loads(text)
    results = tuple(_result(item) for item in stored["results"])
    return Report(Machine(**stored["machine"]), stored["command"], results, rows)


def read_faults(text: str) -> FaultReport:
    stored = json.loads(text)
    detections = tuple(Detection(**item) for item in stored["detections"])
    return FaultReport(Machine(**stored["machine"]), stored["command"], detections)


def _result(stored: Mapping[str, Any]) -> Result:
    figures = {**stored["figures"], "recovery": tuple(stored["figures"]["recovery"])}
    return Result(
        **{**stored, "figures": Figures(**figures), "failures": tuple(stored["failures"])}
    )


def terminal_head() -> str:
    return (
        f"{'#':>2}  {'events':>9} {'kills':>5} {'lost':>5} {'dupl.':>5} {'foreign':>7} "
        f"{'debits':>6} {'viol.':>5} {'recovery p50 / max':>18} {'took':>7}  result"
    )


def terminal_line(row: Row, result: Result) -> str:
    """One row of the table, and below it what else was measured and what failed."""
    figures = result.figures
    line = (
        f"{row.number:>2}  {figures.events:>9,} {_count(figures.kills):>5} "
        f"{_count(figures.lost):>5} {_count(figures.duplicates):>5} "
        f"{_count(figures.foreign):>7} {_count(figures.double_debits):>6} "
        f"{_count(figures.violations):>5} {_recovery(result):>18} {result.seconds:>5.0f} s  "
        f"{_verdict(result)}"
    )
    notes = [f"      {row.name}: {row.bar}"]
    if figures.measured:
        notes.append(f"      {_measured(figures)}")
    if result.skipped:
        notes.append(f"      {result.skipped} of {result.cases} cases were skipped")
    notes += [f"      {failure}" for failure in result.failures[:5]]
    return "\n".join([line, *notes])


def with_report(page: str, report: Report) -> str:
    """The page with the table of a run in the place of the last one."""
    said = report.machine.sentence(report.command)
    return with_part(page, "scorecard", report.command, said, _table(report))


def with_cluster(page: str, report: Report) -> str:
    """The page with the table of the cluster's faults in the place of the last one."""
    said = report.machine.sentence(report.command)
    verdict = f"**{rows_verdict(report)}**"
    return with_part(page, "cluster", report.command, verdict, said, _table(report))


def with_faults(page: str, report: FaultReport) -> str:
    """The page with the table of planted faults in the place of the last one."""
    head = ["#", "planted fault", "in", "what failed"]
    seen = {item.key: _cell(item.failure) for item in report.detections}
    rows = [
        [str(item.row), item.description, f"`{item.file}`", seen.get(item.key, _NOT_RUN)]
        for item in FAULTS
    ]
    said = report.machine.sentence(report.command)
    return with_part(page, "faults", report.command, said, table(head, rows))


def with_saved(page: str, rows: Report | None, faults: FaultReport | None) -> str:
    """The page with what is saved, and with a first line that says whether it is complete."""
    if rows is not None:
        page = with_report(page, rows)
    if faults is not None:
        page = with_faults(page, faults)
    return with_verdict(page, rows, faults)


def with_verdict(page: str, rows: Report | None, faults: FaultReport | None) -> str:
    """The page with a first line that says whether everything on it was run, when, and holds."""
    sentences = [rows_verdict(rows), faults_verdict(faults)]
    if rows:
        sentences.append(f"The rows were run {_when(rows.machine)}.")
    if faults:
        sentences.append(f"The faults were planted {_when(faults.machine)}.")
    if rows and faults and not rows.machine.is_same(faults.machine):
        sentences.append("Rows and faults are of different programs or machines.")
    return with_part(page, "verdict", "make chaos", f"**{' '.join(sentences)}**")


def _when(machine: Machine) -> str:
    return f"at commit `{machine.commit}`, the last of them on {machine.date}"


def rows_verdict(report: Report | None) -> str:
    """One or two sentences: which rows failed, which were not run, or that all hold."""
    if report is None:
        return "No run of the scorecard is saved."
    sentences = []
    if report.failed:
        sentences.append(f"FAILED: {_listed('row', report.failed)}.")
    if report.missing:
        rows = _listed("row", report.missing)
        sentences.append(f"INCOMPLETE: {rows} not run with the program of the last run.")
    return " ".join(sentences) or f"All {len(report.rows)} rows hold."


def faults_verdict(report: FaultReport | None) -> str:
    """One or two sentences: which faults were not detected, which not planted, or that all were."""
    if report is None:
        return "No run of the planted faults is saved."
    sentences = []
    if report.undetected:
        sentences.append(f"NOT DETECTED: a fault of {_listed('row', report.undetected)}.")
    if report.missing:
        rows = _listed("row", report.missing)
        sentences.append(
            f"INCOMPLETE: faults of {rows} not planted in the program of the last run."
        )
    return " ".join(sentences) or f"All {len(FAULTS)} planted faults were detected."


def _listed(noun: str, numbers: Sequence[int]) -> str:
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _table(report: Report) -> str:
    by_number = {result.number: result for result in report.results}
    rows = []
    for row in report.rows:
        result = by_number.get(row.number)
        if result is None:
            empty = [_NONE] * (len(_COLUMNS) - 4)
            rows.append([str(row.number), row.name, row.bar, *empty, _NOT_RUN])
            continue
        figures = result.figures
        cells = [
            str(row.number),
            row.name,
            row.bar,
            f"{figures.events:,} {row.unit}",
            _count(figures.kills),
            _count(figures.lost),
            _count(figures.duplicates),
            _count(figures.foreign),
            _count(figures.double_debits),
            _count(figures.violations),
            _recovery(result),
            _measured(figures) or _NONE,
            f"{result.seconds:.0f} s",
            _verdict(result),
        ]
        rows.append(cells)
    return table(_COLUMNS, rows)


def _count(number: int | None) -> str:
    return _NONE if number is None else f"{number:,}"


def _recovery(result: Result) -> str:
    if result.recovery_p50 is None or result.recovery_max is None:
        return _NONE
    return f"{result.recovery_p50:.2f} / {result.recovery_max:.2f} s"


def _measured(figures: Figures) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,.4g}" for name, value in figures.measured.items()
    )


def _verdict(result: Result) -> str:
    return "holds" if result.holds else "FAILED"


def _cell(text: str | None) -> str:
    return "**nothing**" if text is None else "`" + text.replace("|", "\\|").replace("`", "'") + "`"
