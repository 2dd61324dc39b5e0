"""A process that forks for every command, for the tests of a module."""

from collections.abc import Iterator

import pytest
from kit.commands import Commands, forking_commands


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    with forking_commands() as forking:
        yield forking
