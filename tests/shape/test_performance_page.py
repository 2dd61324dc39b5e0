"""The page about performance shows its last saved runs."""

from pathlib import Path

from bench import saved_comparison, saved_results
from bench.growth import plot, report

DOCS = Path(__file__).parents[2] / "docs"
FILES = DOCS / "explanation"
PAGE = FILES / "performance.md"


def test_the_page_shows_the_saved_runs() -> None:
    page = PAGE.read_text()
    figures, rows = FILES / "performance.json", FILES / "bench.json"
    compared = FILES / "compare.json"
    if figures.exists():
        growth = report.read_growth(figures.read_text())
        assert report.with_growth(page, growth) == page, "run: python -m bench.growth --tables"
        picture = plot.draw(growth.figures, report.DIMENSIONS)
        assert (DOCS / "images" / report.PLOT).read_text() == picture
        assert growth.command == report.COMMAND
    if rows.exists():
        assert saved_results.with_results(page, rows.read_text()) == page, "run: make bench"
    if compared.exists():
        shown = saved_comparison.with_comparison(page, compared.read_text())
        assert shown == page, "run: make compare"
    missing = 2 * (not figures.exists()) + (not rows.exists()) + (not compared.exists())
    assert page.count("No run is saved yet.") == missing
