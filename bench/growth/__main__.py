"""Measures how cost grows, and writes the figures, the plot and the page about performance."""

import argparse
import shutil
import sys
from pathlib import Path

from bench.growth import plot, report
from bench.growth.model import Figure, Growth
from bench.growth.run import POSTGRESQL_SETTINGS, timed_run
from bench.growth.series import BRIEF, FULL, SIZES, SMALL_SIZES
from tools.machine import ROOT, this_machine

_DOCS = ROOT / "docs"
_PAGE = "explanation/performance.md"
_FILE = "explanation/performance.json"
_PROGRAM = ("tradewind", "simulator", "bench")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument(
        "--sizes",
        choices=["all", "small"],
        default="all",
        help="small: one size of each, briefly, into a copy of the page; not for publishing",
    )
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build/growth", help="where that copy is made"
    )
    parser.add_argument(
        "--tables", action="store_true", help="write the page anew from the saved figures"
    )
    options = parser.parse_args()
    if options.tables:
        write(report.read_growth((_DOCS / _FILE).read_text("utf-8")), _DOCS)
        return 0
    small = options.sizes == "small"
    print(report.terminal_head(), flush=True)
    figures, seconds = timed_run(
        SMALL_SIZES if small else SIZES, BRIEF if small else FULL, _print_figure
    )
    command = f"{report.COMMAND} SIZES=small" if small else report.COMMAND
    growth = Growth(this_machine(_PROGRAM), command, seconds, POSTGRESQL_SETTINGS, tuple(figures))
    folder = _copy_of_page(options.folder) if small else _DOCS
    write(growth, folder)
    print(f"\n{len(figures)} figures in {seconds:.0f} s")
    print(f"Wrote {folder / _FILE}, {folder / _PAGE} and {folder / 'images' / report.PLOT}.")
    return 0


def write(growth: Growth, folder: Path) -> None:
    """Write the figures, the plot and the tables below a folder that has the page."""
    page = folder / _PAGE
    page.write_text(report.with_growth(page.read_text("utf-8"), growth), encoding="utf-8")
    (folder / _FILE).write_text(report.to_json(growth), encoding="utf-8")
    picture = plot.draw(growth.figures, report.DIMENSIONS)
    (folder / "images" / report.PLOT).write_text(picture, encoding="utf-8")


def _copy_of_page(folder: Path) -> Path:
    (folder / "explanation").mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    shutil.copy(_DOCS / _PAGE, folder / _PAGE)
    return folder


def _print_figure(figure: Figure) -> None:
    print(report.terminal_line(figure), flush=True)


if __name__ == "__main__":
    sys.exit(main())
