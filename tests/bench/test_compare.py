"""Two commits are compared turn by turn, each with its own files and its own database."""

import subprocess
from pathlib import Path

import pytest
import uvloop

from bench import compare, orders, saved_comparison
from bench.saved_comparison import Compared
from bench.servers import THIS_PROGRAM
from tools.machine import Machine

MACHINE = Machine(2, "Some CPU", 23.6, "Linux 6", "3.11", "18.4", "def5678", "2026-11-16")


def test_a_commit_is_taken_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "tradewind").mkdir(parents=True)
    file = root / "tradewind/version.py"

    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=test", "-c", "user.email=test@test.example", *words]
        subprocess.run(command, cwd=root, check=True, capture_output=True)

    git("init")
    for version in ("old", "new"):
        file.write_text(version)
        git("add", ".")
        git("commit", "-m", version)
    (tmp_path / "build").mkdir()

    for _ in range(2):
        program = compare.checked_out("HEAD~1", tmp_path / "build", root)
        assert (program.folder / "tradewind/version.py").read_text() == "old"
    assert program.environ({"A": "b"})["PYTHONPATH"].startswith(f"{program.folder}:")
    assert file.read_text() == "new"
    with pytest.raises(SystemExit, match="There is no commit nonsense here"):
        compare.checked_out("nonsense", tmp_path / "build", root)


def test_a_row_has_the_medians_and_the_ratios_of_the_turns() -> None:
    before = [{"ms of CPU": 40.0}, {"ms of CPU": 60.0}, {"ms of CPU": 50.0}]
    now = [{"ms of CPU": 20.0}, {"ms of CPU": 24.0}, {"ms of CPU": 30.0}]

    [row] = compare.compared("an order", before, now)

    assert row.line.split("  ")[0] == "an order: ms of CPU"
    assert row.line.split()[5:] == ["50", "24", "0.50", "(0.40", "to", "0.60)"]
    assert row.cells == ["an order: ms of CPU", "3", "50", "24", "0.50", "0.40 to 0.60"]


def test_a_comparison_is_saved_and_shown_on_the_page_beside_the_file(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text((THIS_PROGRAM.folder / "docs/explanation/performance.md").read_text())
    row = Compared("an order: ms of CPU", 9, 50.0, 24.0, 0.48, 0.4, 0.6)

    saved_comparison.save(tmp_path / "compare.json", MACHINE, "abc1234", [row])

    shown = page.read_text()
    assert "| figure | turns | `abc1234` | now | now / before | lowest to highest |" in shown
    assert "| an order: ms of CPU | 9 | 50 | 24 | 0.48 | 0.40 to 0.60 |" in shown
    assert "`make compare WITH=abc1234 JSON=docs/explanation/compare.json` at commit" in shown
    saved = (tmp_path / "compare.json").read_text()
    assert saved_comparison.with_comparison(shown, saved) == shown


def test_both_sides_make_their_own_tables_and_pay_orders(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(orders, "_WARM_UP_ORDERS", 1)
    # CPU is counted in hundredths of a second: each process must need several for its orders.
    monkeypatch.setattr(orders, "_IN_A_ROW", 10)

    uvloop.run(compare.compare(THIS_PROGRAM, ["order"], 1))

    assert "until it is paid: ms of CPU" in capsys.readouterr().out


def test_make_compare_passes_its_options() -> None:
    make = [
        "make",
        "-n",
        "-o",
        "setup",
        "compare",
        "WITH=abc1234",
        "TURNS=3",
        "ONLY=order latency",
        "JSON=a.json",
    ]
    planned = subprocess.run(
        make, cwd=THIS_PROGRAM.folder, capture_output=True, text=True, check=True
    )
    assert "-m bench.compare abc1234 --turns 3 --only order latency --json a.json" in planned.stdout
