"""One simulator for all tests of the connectors, and a stand for each platform before it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from connectors.stand import PLATFORMS, Stand, standing
from simulator.sandbox_kit import Market, serving


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """Its clock stands still unless a test moves it."""
    with serving(tmp_path_factory.mktemp("simulator"), SPEED="0") as market:
        yield market


def _of(platform: str) -> object:
    """Tests of one platform share a simulator and its clock, so they stay in one process."""
    return pytest.param(platform, marks=pytest.mark.xdist_group(f"connector-{platform}"))


@pytest.fixture(params=[_of(platform) for platform in PLATFORMS])
async def stand(
    request: pytest.FixtureRequest, simulator: Market, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stand]:
    """A connector and its marketplace, as new: no orders, no faults, good tokens."""
    monkeypatch.setattr("tradewind.platforms.paced_client._FIRST_PAUSE", 0.01)
    simulator.control("reset")
    async with standing(request.param, simulator) as running:
        yield running
