"""A planted fault is detected by an assertion that fails with it and not without it."""

import shutil
from pathlib import Path

import pytest

from tools.chaos import faults
from tools.chaos.model import Fault
from tools.machine import ROOT

_PROGRAM = "def double(number):\n    return 2 * number\n"
_TESTS = """
import pytest
from tradewind.doubling import double


def test_asserts():
    assert double(2) == 4


def test_expects_an_error():
    with pytest.raises(TypeError):
        double(None)


def test_fails_with_several_assertions():
    errors = [AssertionError(n) for n in (1, 2) if double(n) != 2 * n]
    if errors:
        raise ExceptionGroup("both", errors)


def test_divides():
    assert 1 / double(2)


def test_asserts_and_divides():
    if double(2) != 4:
        raise ExceptionGroup("both", [AssertionError(), ZeroDivisionError()])


def test_never_passes():
    assert double(2) == 5


def test_is_skipped():
    pytest.skip("not here")


def test_does_not_look():
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a function and its tests, and the tools of this one."""
    for folder in ("bench", "docs", "sdk", "simulator", "tests", "tradewind"):
        (tmp_path / folder).mkdir()
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    for file in ("pyproject.toml", "tradewind/__init__.py"):
        (tmp_path / file).touch()
    (tmp_path / "tradewind/doubling.py").write_text(_PROGRAM)
    (tmp_path / "tests/test_doubling.py").write_text(_TESTS)
    return tmp_path


def _fault(test: str, after: str = "    return 0\n") -> Fault:
    tests = (f"tests/test_doubling.py::test_{test}",)
    file = "tradewind/doubling.py"
    return Fault(1, "Nothing is doubled", file, "    return 2 * number\n", after, tests)


@pytest.mark.parametrize(
    ("test", "failure"),
    [
        ("asserts", "assert 0 == 4"),
        ("expects_an_error", "Failed: DID NOT RAISE TypeError"),
        ("fails_with_several_assertions", "ExceptionGroup: both (2 sub-exceptions)"),
        ("does_not_look", None),
    ],
)
def test_an_assertion_detects_a_fault(project: Path, test: str, failure: str | None) -> None:
    detection = faults.plant(_fault(test), project, output=project / "log")

    seen = detection.failure
    assert (seen and seen.partition(": ")[2].partition(";")[0]) == failure


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (_fault("divides"), "No assertion failed.*ZeroDivisionError"),
        (_fault("asserts_and_divides"), "No assertion failed.*ExceptionGroup"),
        (_fault("never_passes"), "Without the fault .*assert 4 == 5"),
        (_fault("is_skipped"), "Without the fault 1 of 1 tests were skipped"),
        (_fault("is_not_there"), "Without the fault 0 of 0 tests"),
        (_fault("asserts", "    return\n)"), "does not start"),
    ],
    ids=lambda value: value.tests[0].partition("::")[2] if isinstance(value, Fault) else None,
)
def test_nothing_else_detects_one(project: Path, fault: Fault, why: str) -> None:
    with pytest.raises(faults.NothingShown, match=f"(?s){why}"):
        faults.plant(fault, project, output=project / "log")
