"""The scorecard is complete, its faults still fit the code, and its page shows its last run."""

import ast
from pathlib import Path

import pytest

from tools.chaos import report
from tools.chaos.faults import FAULTS, changed
from tools.chaos.model import Fault, Figures, Result, merge
from tools.chaos.rows import ROWS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/explanation"
PAGE = DOCS / "reliability.md"


def test_the_page_shows_the_saved_runs() -> None:
    page = PAGE.read_text()
    results, faults = DOCS / "reliability.json", DOCS / "reliability-faults.json"
    if results.exists():
        run = report.read_report(results.read_text())
        assert report.with_report(page, run) == page, "run: make chaos"
        assert run.holds
    if faults.exists():
        planted = report.read_faults(faults.read_text())
        assert report.with_faults(page, planted) == page, "run: make chaos-faults"
        assert planted.holds
    assert page.count("No run is saved yet.") == (not results.exists()) + (not faults.exists())


def test_every_row_has_a_fault_and_every_test_of_it_exists() -> None:
    assert [row.number for row in ROWS] == list(range(1, 23))
    assert {fault.row for fault in FAULTS} == {row.number for row in ROWS}
    tests = {test for row in ROWS for test in row.tests}
    tests |= {test for fault in FAULTS for test in fault.tests}
    for test in tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text()
        assert not name or f"def {name.partition('[')[0]}(" in text, test


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
