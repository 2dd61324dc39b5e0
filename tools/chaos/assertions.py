"""A plugin of pytest that notes which tests failed by an assertion, and not by another error."""

import pytest

# The name of the property in pytest's report, which has the number of assertions that failed.
PROPERTY = "failed_assertions"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "call" and call.excinfo is not None and is_assertion(call.excinfo.value):
        item.user_properties.append((PROPERTY, 1))


def is_assertion(error: BaseException) -> bool:
    """Whether a test said that something is wrong, as `assert`, `raises` and `fail` do.

    A group counts if every error in it does: tests of Hypothesis and those with several tasks end
    with a group.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_assertion, error.exceptions))
    return isinstance(error, AssertionError | pytest.fail.Exception)
