"""Commands, for the tests of this folder."""

import pytest
from kit import forks


@pytest.fixture
def commands() -> forks.ForkServer:
    return forks.commands()
