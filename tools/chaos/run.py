"""Runs the tests of one row in a process of their own, and reads what they recorded."""

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.chaos.assertions import PROPERTY
from tools.chaos.model import Figures, Result, Row, merge

# Read by tests/kit/scorecard.py.
_FIGURES_FILE = "CHAOS_FIGURES"
_LONGEST_RUN_SECONDS = 1200
_LONGEST_FAILURE = 160


def run(row: Row, root: Path, *, output: Path) -> Result:
    """Run the long form of a row in the tree at `root`; pytest's words go to `output`."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tradewind-chaos-") as folder:
        figures_file = Path(folder) / "figures.jsonl"
        report = Path(folder) / "report.xml"
        settings = {**row.settings, _FIGURES_FILE: str(figures_file)}
        code = run_tests(row.tests, root, settings, report=report, output=output)
        said = read_report(report, code)
        recorded = figures_file.read_text().splitlines() if figures_file.exists() else []
    parts = [
        _figures(figures) for figures in map(json.loads, recorded) if figures["row"] == row.number
    ]
    failures = said.failures
    if row.counts_cases:
        parts.append(Figures(events=said.cases, violations=len(failures)))
    elif not parts:
        failures = (*failures, "The tests recorded no figures.")
    seconds = time.monotonic() - started
    return Result(row.number, merge(parts), said.cases, said.skipped, tuple(failures), seconds)


def run_tests(
    tests: Sequence[str],
    root: Path,
    settings: Mapping[str, str],
    *,
    report: Path,
    output: Path,
    options: Sequence[str] = (),
) -> int:
    """Run pytest in the tree at `root`; its exit code, or 124 if it took too long."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    command += [f"--junitxml={report}", *tests]
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("SOAK_", "TRADEWIND_"))}
    with output.open("ab") as words:
        try:
            return subprocess.run(
                command,
                cwd=root,
                env={**environ, **settings},
                stdout=words,
                stderr=words,
                timeout=_LONGEST_RUN_SECONDS,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return 124


@dataclass(frozen=True)
class CasesReport:
    """What pytest reported: the cases, how many were skipped, and what failed.

    `assertions` are the failures of tests that failed by an assertion. They are known only with the
    plugin tools.chaos.assertions.
    """

    cases: int
    skipped: int
    failures: Sequence[str]
    assertions: Sequence[str] = ()


def read_report(report: Path, code: int) -> CasesReport:
    """Count the cases and the skipped ones, and list the failures by the report of pytest."""
    if not report.exists():
        return CasesReport(0, 0, [f"pytest ended with code {code} and no report."])
    failures: list[str] = []
    assertions: list[str] = []
    cases = skipped = 0
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - pytest wrote it
        cases += 1
        skipped += case.find("skipped") is not None
        asserted = case.find(f"properties/property[@name='{PROPERTY}']") is not None
        for problem in (*case.findall("failure"), *case.findall("error")):
            what = "error: " if problem.tag == "error" else ""
            lines = [line.strip() for line in (problem.get("message") or "").splitlines()]
            # What pytest says of values may name folders of this machine, which mean nothing.
            said = [line for line in lines if line and not line.startswith("+ ")]
            message = "; ".join(said[:2])
            failures.append(f"{case.get('name')}: {what}{message[:_LONGEST_FAILURE]}")
            # A test that failed may fail in its teardown, too.
            if asserted and problem.tag == "failure":
                assertions.append(failures[-1])
    if code and not failures:
        failures.append(f"pytest ended with code {code}.")
    return CasesReport(cases, skipped, failures, assertions)


def _figures(recorded: Mapping[str, Any]) -> Figures:
    fields = {name: value for name, value in recorded.items() if name != "row"}
    return Figures(**{**fields, "recovery": tuple(recorded["recovery"])})
