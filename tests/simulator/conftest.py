"""One simulator for all of its tests, reset before each."""

from collections.abc import Iterator

import pytest
from simulator.sandbox_kit import Market, serving


@pytest.fixture(scope="session")
def shared_market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with serving(tmp_path_factory.mktemp("sandbox")) as market:
        yield market


@pytest.fixture
def market(shared_market: Market) -> Market:
    shared_market.control("reset")
    return shared_market
