"""The shape of the project: what keeps a stranger able to find things."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 600
FORBIDDEN_NAMES = {"service.py", "services.py", "utils.py", "util.py", "helpers.py", "base.py"}
STATEMENT = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b",
    re.DOTALL,
)


@cache
def tracked() -> list[Path]:
    """Every Python file that is, or is about to be, part of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"],  # noqa: S607 - git as it is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).exists()]


def holds_sql(path: Path) -> bool:
    """Statements are in `sql.py` or `sql_*.py`, and those of a page in `queries.py`."""
    return path.name in {"sql.py", "queries.py"} or path.name.startswith("sql_")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", tracked(), ids=named)
def test_the_first_line_of_a_file_is_its_promise(path: Path) -> None:
    promise = ast.get_docstring(ast.parse(path.read_text()))

    assert promise, "a file begins with a docstring"
    first = promise.split("\n")[0]
    assert first.endswith((".", "!", "?")), "its first line is one whole sentence"
    assert len(first) >= 20, "that says what the file is for"


@pytest.mark.parametrize("path", tracked(), ids=named)
def test_a_file_is_short_enough_to_be_one_thing(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", tracked(), ids=named)
def test_no_name_that_attracts_everything(path: Path) -> None:
    assert path.name not in FORBIDDEN_NAMES
    assert "common" not in path.relative_to(ROOT).parts


def test_sql_stands_only_in_sql_files() -> None:
    guilty = [
        f"{named(path)}:{node.lineno}"
        for path in tracked()
        if path.is_relative_to(ROOT / "tradewind") and not holds_sql(path)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and STATEMENT.search(node.value)
    ]

    assert guilty == []


def test_a_sql_file_holds_statements_and_nothing_else() -> None:
    """No decisions there: no branches but the one for a missing row, no calls to neighbours."""
    for path in tracked():
        if holds_sql(path):
            imports = [
                node.module or ""
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.ImportFrom)
            ]
            assert not [name for name in imports if name.endswith((".routes", ".wire"))], path


def test_no_address_of_a_package_index_and_no_path_of_a_machine() -> None:
    words = ("pypi" + ".org", "python" + "hosted", "/root" + "/", "/work" + "/", "/home" + "/")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],  # noqa: S607 - git as it is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    guilty = [
        (name, word)
        for name in listed.stdout.split()
        if (ROOT / name).is_file()
        for word in words
        if word.encode() in (ROOT / name).read_bytes()
    ]

    assert guilty == []
