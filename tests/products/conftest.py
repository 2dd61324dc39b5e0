"""A server with all three marketplaces, pointed at a simulator of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from kit.server import Person, Server, ServerLauncher
from simulator.sandbox_kit import Market, serving


def simulated(market: Market) -> dict[str, str]:
    """The settings by which every marketplace is the simulator."""
    return {
        "TRADEWIND_SANDBOX_URL": market.url,
        "TRADEWIND_PLATFORM_ALIBABA_URL": market.url,
        "TRADEWIND_PLATFORM_TAOBAO_URL": f"{market.url}/rest",
    }


@dataclass
class Shop:
    """The API, the marketplace behind it, and a buyer."""

    api: Server
    market: Market
    buyer: Person

    def search(self, **body: Any) -> httpx.Response:
        body = {"q": "dress", "platform": "sandbox", **body}
        return self.api.call("POST", "/v1/products/search", by=self.buyer, json=body)

    def product(self, platform: str, product_id: str, query: str = "") -> httpx.Response:
        path = f"/v1/products/{platform}/{product_id}{query}"
        return self.api.call("GET", path, by=self.buyer)

    def calls(self, operation: str) -> int:
        """How often the marketplace was asked to do this."""
        counts: dict[str, int] = self.market.client.get("/_control/state").json()["counters"]
        return counts.get(f"{operation}.calls", 0)


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with serving(tmp_path_factory.mktemp("simulator")) as market:
        yield market


@pytest.fixture(scope="session")
def shop_api(launcher: ServerLauncher, simulator: Market) -> Iterator[Server]:
    with launcher.serving(settings=simulated(simulator)) as server:
        yield server


@pytest.fixture
def shop(shop_api: Server, simulator: Market) -> Iterator[Shop]:
    yield Shop(shop_api, simulator, shop_api.person())
    simulator.client.delete("/_control/faults")
