"""Rows of a benchmark: what is printed is what is saved and shown on the page."""

import json
from pathlib import Path

import pytest

from bench import saved_results
from bench.results import Results
from tools.machine import Machine

ROOT = Path(__file__).parents[2]
MACHINE = Machine(2, "Some CPU", 23.6, "Linux 6", "3.11", "18.4", "abc1234", "2026-11-16")


def measured() -> Results:
    rows = Results()
    rows.section("Requests", " (900/s in this run)")
    rows.tell(0.14, "a request", 0.1)
    rows.section("Deliveries")
    rows.tell(212.4, "MiB of memory", -300)
    rows.note("1.02 times the rate")
    rows.tell(0.0432, "a refresh", digits=3)
    rows.say("p50 2.5 ms, p99 4.0 ms")
    rows.tell(17_469, "deliveries/s", goal=16_000)
    rows.tell(3.4, "ms", goal=-3)
    return rows


def test_rows_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    results = measured()

    assert capsys.readouterr().out.splitlines() == [
        "",
        "Requests (900/s in this run)",
        "   0.14  a request (bar ≥ 0.1)",
        "",
        "Deliveries",
        "    212  MiB of memory (bar ≤ 300)",
        "         1.02 times the rate",
        "  0.043  a refresh",
        "         p50 2.5 ms, p99 4.0 ms",
        "  17,469  deliveries/s (goal ≥ 16,000, reached)",
        "   3.40  ms (goal ≤ 3, missed)",
    ]
    assert results.held


@pytest.mark.parametrize(
    ("value", "bar", "held"),
    [(0.5, 0.5, True), (0.4, 0.5, False), (1.2, -1.2, True), (1.3, -1.2, False)],
)
def test_a_missed_bar_is_told(
    value: float, bar: float, capsys: pytest.CaptureFixture[str], *, held: bool
) -> None:
    results = Results()
    results.tell(value, "a ratio", bar)

    assert results.held is held
    assert ("MISSED" in capsys.readouterr().out) is not held


def test_rows_are_saved_and_shown_on_the_page_beside_the_file(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text((ROOT / "docs/explanation/performance.md").read_text())

    saved_results.save(tmp_path / "bench.json", MACHINE, 0.124, measured().rows)

    saved = json.loads((tmp_path / "bench.json").read_text())
    assert saved["machine"]["commit"] == "abc1234"
    assert saved["rows"][0] == {
        "section": "Requests",
        "name": "a request",
        "value": 0.14,
        "bar": 0.1,
        "notes": [],
        "goal": None,
        "held": True,
        "reached": None,
    }
    shown = page.read_text()
    assert "| 0.14 | a request | ≥ 0.1 | holds |" in shown
    assert "| 212 | MiB of memory; 1.02 times the rate | ≤ 300 | holds |" in shown
    assert "| 0.0432 | a refresh |  |  |" in shown
    assert "|  | p50 2.5 ms, p99 4.0 ms |  |  |" in shown
    assert "| 17,469 | deliveries/s | goal ≥ 16,000 | reached |" in shown
    assert "| 3.4 | ms | goal ≤ 3 | missed |" in shown
    assert "Others took 12% of the machine's time meanwhile." in shown
    assert saved_results.with_results(shown, (tmp_path / "bench.json").read_text()) == shown
