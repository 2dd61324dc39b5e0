"""Runs a scorecard, or plants the faults that it must detect, and writes the page with it."""

import argparse
import fcntl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tools.chaos import faults, report
from tools.chaos.model import Detection, Fault, Result, Row
from tools.chaos.report import FaultReport, Report
from tools.chaos.rows import ROWS
from tools.chaos.run import run
from tools.cluster.programs import installed
from tools.cluster.rows import ROWS as CLUSTER_ROWS
from tools.machine import ROOT, Machine, this_machine

PAGE = ROOT / "docs/explanation/reliability.md"
RESULTS = ROOT / "docs/explanation/reliability.json"
FAULTS = ROOT / "docs/explanation/reliability-faults.json"
CLUSTER_RESULTS = ROOT / "docs/explanation/reliability-cluster.json"
_LOGS = ROOT / "build/chaos"
_PROGRAM = ("tradewind", "simulator")


@dataclass(frozen=True)
class Scorecard:
    """Rows that one command runs, and the file with their results."""

    rows: tuple[Row, ...]
    command: str
    results: Path
    log: str
    machine: Callable[[], Machine]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__)
    parser.add_argument("what", choices=["rows", "faults", "cluster"], nargs="?", default="rows")
    parser.add_argument(
        "--only", type=_numbers, help="rows to run, such as 1,12; the page keeps the others"
    )
    options = parser.parse_args()
    _LOGS.mkdir(parents=True, exist_ok=True)
    scorecard = CLUSTER if options.what == "cluster" else ALONE
    numbers = {row.number for row in scorecard.rows}
    chosen = options.only or numbers
    if unknown := chosen - numbers:
        parser.error(f"the scorecard has no rows {sorted(unknown)}")
    return _run_faults(chosen) if options.what == "faults" else _run(scorecard, chosen)


def _cluster_machine() -> Machine:
    """This machine, with the versions of what runs on the hosts of the cluster."""
    machine = this_machine((*_PROGRAM, "tools/cluster"))
    return replace(machine, postgresql=installed().versions())


ALONE = Scorecard(ROWS, "make chaos", RESULTS, "row", lambda: this_machine(_PROGRAM))
CLUSTER = Scorecard(
    CLUSTER_ROWS, "make cluster-chaos", CLUSTER_RESULTS, "cluster", _cluster_machine
)


def _numbers(text: str) -> set[int]:
    return {int(number) for number in text.split(",")}


def _run(scorecard: Scorecard, chosen: set[int]) -> int:
    print(report.terminal_head(), flush=True)
    results: list[Result] = []
    for row in scorecard.rows:
        if row.number in chosen:
            log = _LOGS / f"{scorecard.log}-{row.number:02}.log"
            log.unlink(missing_ok=True)
            results.append(run(row, ROOT, output=log))
            print(report.terminal_line(row, results[-1]), flush=True)
            _save_result(scorecard, results[-1])
    seconds = sum(result.seconds for result in results)
    saved = _saved_rows(scorecard)
    print(f"\n{len(results)} rows in {seconds:.0f} s. {report.rows_verdict(saved)}")
    print(f"What pytest said: {_LOGS.relative_to(ROOT)}/{scorecard.log}-*.log")
    print(f"Wrote {scorecard.results.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}.")
    return 0 if saved and saved.holds else 1


def _run_faults(chosen: set[int]) -> int:
    count = 0
    for number, fault in enumerate(faults.FAULTS, 1):
        if fault.row in chosen:
            count += 1
            log = _LOGS / f"fault-{number:02}-of-row-{fault.row:02}.log"
            log.unlink(missing_ok=True)
            detection, verdict = _plant(fault, log)
            print(f"{fault.row:>2}  {fault.description}\n      {verdict}", flush=True)
            _save_detection(detection)
    saved = _saved_faults()
    print(f"\n{count} faults. {report.faults_verdict(saved)}")
    print(f"Wrote {FAULTS.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}.")
    return 0 if saved and saved.holds else 1


def _plant(fault: Fault, log: Path) -> tuple[Detection, str]:
    """What detected the fault, and what to print."""
    try:
        detection = faults.plant(fault, ROOT, output=log)
    except faults.NothingShown as error:
        nothing = Detection(fault.row, fault.description, fault.file, None)
        return nothing, f"NOT DETECTED. {error}"
    return detection, detection.failure or "NOT DETECTED: every test passed."


def _save_result(scorecard: Scorecard, result: Result) -> None:
    """Put a result in the place of an earlier one; those of another program are dropped."""
    machine = scorecard.machine()
    with _alone():
        saved = _saved_rows(scorecard)
        kept = saved.results if saved and saved.machine.is_same(machine) else ()
        by_number = {item.number: item for item in (*kept, result)}
        results = tuple(by_number[number] for number in sorted(by_number))
        whole = Report(machine, scorecard.command, results, scorecard.rows)
        scorecard.results.write_text(report.to_json(whole), encoding="utf-8")
        _write_page()


def _save_detection(detection: Detection) -> None:
    machine = this_machine(_PROGRAM)
    with _alone():
        saved = _saved_faults()
        kept = saved.detections if saved and saved.machine.is_same(machine) else ()
        by_key = {item.key: item for item in (*kept, detection)}
        # In the order of the faults, and without those that there are no more.
        detections = tuple(by_key[fault.key] for fault in faults.FAULTS if fault.key in by_key)
        whole = FaultReport(machine, "make chaos-faults", detections)
        FAULTS.write_text(report.to_json(whole), encoding="utf-8")
        _write_page()


def _saved_rows(scorecard: Scorecard) -> Report | None:
    if not scorecard.results.exists():
        return None
    return report.read_report(scorecard.results.read_text("utf-8"), scorecard.rows)


def _saved_faults() -> FaultReport | None:
    return report.read_faults(FAULTS.read_text("utf-8")) if FAULTS.exists() else None


def _write_page() -> None:
    page = PAGE.read_text("utf-8")
    page = report.with_saved(page, _saved_rows(ALONE), _saved_faults())
    if cluster := _saved_rows(CLUSTER):
        page = report.with_cluster(page, cluster)
    PAGE.write_text(page, encoding="utf-8")


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock, so that two runs at the same time write one after the other."""
    with (_LOGS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
