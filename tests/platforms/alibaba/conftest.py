"""A scripted marketplace, and the connector that calls it over real sockets."""

from collections.abc import AsyncIterator

import pytest
from platforms.alibaba.scripted import HastyLink, Market, connect, linked, serving

from tradewind.platforms.contract import Connector
from tradewind.platforms.paced_client import PacedClient


@pytest.fixture
async def market() -> AsyncIterator[Market]:
    async with serving() as running:
        yield running


@pytest.fixture
async def link(market: Market, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HastyLink]:
    """A link that repeats at once."""
    monkeypatch.setattr("tradewind.platforms.paced_client._FIRST_PAUSE", 0.005)
    async with linked(market.url) as made:
        yield made


@pytest.fixture
def connector(market: Market, link: PacedClient) -> Connector:
    return connect(market, link)
