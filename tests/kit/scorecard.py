"""Records the figures of a row of the scorecard, for `make chaos` to collect."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# The file that the figures are appended to; without it, nothing is recorded.
FIGURES_FILE = "CHAOS_FIGURES"


def record(
    row: int,
    events: int,
    *,
    kills: int | None = None,
    lost: int | None = None,
    duplicates: int | None = None,
    foreign: int | None = None,
    double_debits: int | None = None,
    violations: int | None = None,
    recovery: Sequence[float] = (),
    **measured: float,
) -> None:
    """Note what a test of this row saw, before it asserts anything.

    `events` is how many deliveries, orders, requests or stories went through; tools/chaos/rows.py
    says which of them. None means that the test has no such figure.
    """
    path = os.environ.get(FIGURES_FILE)
    if path is None:
        return
    figures = {
        "row": row,
        "events": events,
        "kills": kills,
        "lost": lost,
        "duplicates": duplicates,
        "foreign": foreign,
        "double_debits": double_debits,
        "violations": violations,
        "recovery": list(recovery),
        "measured": measured,
    }
    with Path(path).open("a") as file:
        file.write(json.dumps(figures) + "\n")


@contextmanager
def kept_for_later(problems: list[str]) -> Iterator[None]:
    """Add an assertion that fails in the block, or a wait in vain, to `problems`.

    The test records its figures first, and asserts afterwards that there are no problems.
    """
    try:
        yield
    except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as problem:
        problems.append(str(problem) or type(problem).__name__)
