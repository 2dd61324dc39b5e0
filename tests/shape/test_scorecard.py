"""The scorecard is complete, its faults still fit the code, and its page shows its last run."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from kit.cluster_faults import FAULTS as CLUSTER_FAULTS

from tools.chaos import report
from tools.chaos.faults import FAULTS, changed
from tools.chaos.model import Detection, Fault, Figures, Result, merge
from tools.chaos.rows import ROWS
from tools.cluster.rows import ROWS as CLUSTER_ROWS
from tools.machine import Machine

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/explanation"
PAGE = DOCS / "reliability.md"


def test_the_page_shows_the_saved_runs() -> None:
    page = PAGE.read_text()
    results, faults = DOCS / "reliability.json", DOCS / "reliability-faults.json"
    run = report.read_report(results.read_text()) if results.exists() else None
    planted = report.read_faults(faults.read_text()) if faults.exists() else None
    assert report.with_saved(page, run, planted) == page, "run: make chaos, make chaos-faults"
    assert run is None or run.holds
    assert planted is None or planted.holds
    assert page.count("No run is saved yet.") == (not results.exists()) + (not faults.exists())


def test_the_page_shows_the_saved_run_of_the_cluster() -> None:
    page = PAGE.read_text()
    run = report.read_report((DOCS / "reliability-cluster.json").read_text(), CLUSTER_ROWS)
    assert report.with_cluster(page, run) == page, "run: make cluster-chaos"
    assert run.holds


def test_every_row_of_the_cluster_has_its_fault() -> None:
    assert {row.number: row.tests[0].partition("[")[2].rstrip("]") for row in CLUSTER_ROWS} == {
        fault.row: fault.name for fault in CLUSTER_FAULTS
    }


def test_every_row_has_a_fault_and_every_test_of_it_exists() -> None:
    assert [row.number for row in ROWS] == list(range(1, 23))
    assert {fault.row for fault in FAULTS} == {row.number for row in ROWS}
    assert len({fault.key for fault in FAULTS}) == len(FAULTS)
    tests = {test for row in ROWS for test in row.tests}
    tests |= {test for fault in FAULTS for test in fault.tests}
    tests |= {test for row in CLUSTER_ROWS for test in row.tests}
    for test in tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text()
        assert not name or f"def {name.partition('[')[0]}(" in text, test


def test_figures_are_recorded_before_anything_is_asserted() -> None:
    """A row that fails shows what was lost; `kept_for_later` keeps an assertion for afterwards."""
    early = []
    rows = (*ROWS, *CLUSTER_ROWS)
    files = {test.partition("::")[0] for row in rows for test in row.tests}
    for file in sorted(files):
        for function in ast.walk(ast.parse((ROOT / file).read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                records = _lines(function, "scorecard.record")
                early += [
                    f"{file}:{line}"
                    for line in _lines(function, "assert")
                    if records and line < max(records)
                ]

    assert early == []


def _lines(node: ast.AST, what: str) -> list[int]:
    """The lines of a function that assert or call something, without inner functions."""
    lines = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(child, ast.With | ast.AsyncWith) and any(
            "kept_for_later" in ast.unparse(item) for item in child.items
        ):
            continue
        if isinstance(child, ast.Call) and ast.unparse(child.func) == what:
            lines.append(child.lineno)
        if isinstance(child, ast.Assert) and what == "assert":
            lines.append(child.lineno)
        lines += _lines(child, what)
    return lines


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.description)
def test_a_fault_still_fits_the_code(fault: Fault) -> None:
    """If it does not: find the line that now has the property, and change it there."""
    text = (ROOT / fault.file).read_text()

    assert ast.dump(ast.parse(changed(fault, text))) != ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("figures", "failures", "cases", "skipped", "holds"),
    [
        (Figures(7, duplicates=3, lost=0), (), 2, 0, True),
        (Figures(7, lost=1), (), 2, 0, False),
        (Figures(7, foreign=1), (), 2, 0, False),
        (Figures(7, double_debits=1), (), 2, 0, False),
        (Figures(7, violations=1), (), 2, 0, False),
        (Figures(7, lost=0), ("a test: it failed",), 2, 0, False),
        (Figures(7, lost=0), (), 2, 1, False),
        (Figures(7, lost=0), (), 0, 0, False),
    ],
)
def test_a_row_holds_only_if_all_of_it_was_run_and_nothing_was_wrong(
    figures: Figures, failures: tuple[str, ...], cases: int, skipped: int, *, holds: bool
) -> None:
    result = Result(1, figures, cases, skipped, failures, 1.0)

    assert result.holds is holds
    assert ("FAILED" in report.terminal_line(ROWS[0], result)) is not holds


def test_figures_of_several_tests_are_added_and_of_others_the_highest_is_kept() -> None:
    merged = merge(
        [
            Figures(10, kills=1, lost=0, recovery=(1.0,), measured={"lag_ms": 3.0}),
            Figures(5, lost=2, recovery=(3.0, 2.0), measured={"lag_ms": 1.0, "mib": 4.0}),
        ]
    )

    assert merged == Figures(
        15, kills=1, lost=2, recovery=(1.0, 3.0, 2.0), measured={"lag_ms": 3.0, "mib": 4.0}
    )
    assert Result(1, merged, 2, 0, (), 1.0).recovery_p50 == 2.0


MACHINE = Machine(2, "a processor", 4.0, "Linux 6", "3.11", "16.4", "abc1234", "2026-11-16")
HELD = tuple(Result(row.number, Figures(1, lost=0), 1, 0, (), 1.0) for row in ROWS)
DETECTED = tuple(
    Detection(fault.row, fault.description, fault.file, "a test: it failed") for fault in FAULTS
)


def first_line(rows: report.Report | None, faults: report.FaultReport | None) -> str:
    """The first line below the title of the page."""
    page = report.with_saved(PAGE.read_text(), rows, faults)
    return next(line for line in page.splitlines() if line and line[0] not in "#<")


@pytest.mark.parametrize(
    ("results", "holds", "says"),
    [
        (HELD, True, f"All {len(ROWS)} rows hold."),
        (
            (*HELD[:2], *HELD[4:]),
            False,
            "INCOMPLETE: rows 3, 4 not run with the program of the last run.",
        ),
        (
            HELD[:-1],
            False,
            f"INCOMPLETE: row {len(ROWS)} not run with the program of the last run.",
        ),
        ((), False, "INCOMPLETE: rows 1, 2, "),
        (
            (Result(1, Figures(9, lost=2), 1, 0, (), 1.0), *HELD[1:]),
            False,
            "FAILED: row 1.",
        ),
        (
            (Result(1, Figures(9, lost=2), 1, 0, (), 1.0), *HELD[2:]),
            False,
            "FAILED: row 1. INCOMPLETE: row 2 not run with the program of the last run.",
        ),
    ],
)
def test_the_first_line_of_the_page_names_the_rows_that_failed_or_are_missing(
    results: tuple[Result, ...], *, holds: bool, says: str
) -> None:
    run = report.Report(MACHINE, "make chaos", results)

    assert run.holds is holds
    assert says in first_line(run, None)
    assert ("hold." in first_line(run, None)) is holds


def test_a_row_with_two_faults_needs_both() -> None:
    second = next(item for item in DETECTED if "API that stops" in item.description)
    others = tuple(item for item in DETECTED if item != second)
    whole = report.FaultReport(MACHINE, "make chaos-faults", DETECTED)
    missing = report.FaultReport(MACHINE, "make chaos-faults", others)
    missed = report.FaultReport(
        MACHINE, "make chaos-faults", (*others, replace(second, failure=None))
    )

    assert [item.row for item in others].count(18) == 1
    assert (whole.holds, missing.holds, missed.holds) == (True, False, False)
    assert f"All {len(FAULTS)} planted faults were detected." in first_line(None, whole)
    assert "INCOMPLETE: faults of row 18 not planted in the program of the last run." in first_line(
        None, missing
    )
    assert "NOT DETECTED: a fault of row 18." in first_line(None, missed)
    table = report.with_faults(PAGE.read_text(), missing)
    assert f"| 18 | {second.description} | `{second.file}` | not run |" in table


def test_rows_and_faults_of_different_programs_are_said_to_be() -> None:
    rows = report.Report(MACHINE, "make chaos", HELD)
    other = report.FaultReport(replace(MACHINE, commit="def5678"), "make chaos-faults", DETECTED)

    line = first_line(rows, other)
    assert "The rows were run at commit `abc1234`, the last of them on 2026-11-16." in line
    assert "The faults were planted at commit `def5678`, the last of them on 2026-11-16." in line
    assert "different programs" in line
    assert "different programs" not in first_line(rows, replace(other, machine=MACHINE))
