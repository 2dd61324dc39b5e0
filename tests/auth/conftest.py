"""A server for the tests that let time pass: its clock only ever moves forward."""

from collections.abc import Iterator

import pytest
from kit.server import Server, ServerLauncher


@pytest.fixture(scope="session")
def clock_api(launcher: ServerLauncher) -> Iterator[Server]:
    """A server that tests share; each makes its own accounts, and may move the clock."""
    with launcher.serving() as server:
        yield server
