"""The registry: every marketplace there is, and those that are connected here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit
from uuid import UUID

from tradewind.egress.client import Client
from tradewind.platforms.alibaba.marketplace import ALIBABA
from tradewind.platforms.connection import Connection, Connections
from tradewind.platforms.contract import Capability, Connector, NoticeRejected, Traits
from tradewind.platforms.errors import (
    CapabilityNotSupported,
    PlatformNotConfigured,
    UnsupportedPlatform,
)
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.oauth_state import OAuthStates
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.pacing import Purpose, may_refresh, paced
from tradewind.platforms.product_cache import ProductCache
from tradewind.platforms.product_links import Link, ProductLinks
from tradewind.platforms.sandbox.links import read_simulated_id, simulated_page
from tradewind.platforms.sandbox.marketplace import SANDBOX
from tradewind.platforms.taobao.marketplace import TAOBAO
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.limits import Rate

MARKETPLACES: Mapping[str, Marketplace] = {
    market.traits.platform: market
    for market in (
        SANDBOX,
        ALIBABA,
        TAOBAO,
    )
}

# The simulator's secrets are in the documentation: a signature made with one proves nothing.
DEMO_SECRETS = frozenset(
    market.demo.app_secret for market in MARKETPLACES.values() if market.demo is not None
)


def simulated_urls(simulator_url: str) -> Mapping[str, str]:
    """Return the URLs that point the connectors of real marketplaces at the simulator."""
    return {
        platform: simulator_url + market.simulator_path
        for platform, market in MARKETPLACES.items()
        if market.simulator_path is not None and not market.simulated_only
    }


@dataclass(frozen=True, slots=True)
class PlatformEndpoint:
    """The URL of a marketplace, how often it may be called, and whether it is simulated."""

    url: str
    rate: Rate
    simulated: bool


@dataclass(frozen=True, slots=True)
class PlatformListing:
    """A marketplace as callers see it: its capabilities, and whether it is connected."""

    traits: Traits
    simulated: bool
    connection: Connection | None


class Platforms:
    """The marketplaces of this installation, by name."""

    def __init__(
        self,
        db: Database,
        keyring: Keyring,
        client: Client,
        endpoints: Mapping[str, PlatformEndpoint],
        marketplaces: Mapping[str, Marketplace] = MARKETPLACES,
        *,
        takes_demo_secrets: bool = True,
    ) -> None:
        self._marketplaces = marketplaces
        self._endpoints = endpoints
        self._rejected_secrets: frozenset[str] = frozenset() if takes_demo_secrets else DEMO_SECRETS
        self._names = {
            name: platform
            for platform, market in marketplaces.items()
            for name in (platform, *market.traits.aliases)
        }
        self._db = db
        paced_clients = {
            (platform, purpose): PacedClient(
                platform, endpoint.url, client, paced(db, platform, endpoint.rate, purpose)
            )
            for platform, endpoint in endpoints.items()
            for purpose in Purpose
        }
        self.clients = {name: paced_clients[name, Purpose.CHANGE] for name in endpoints}
        self.connections = Connections(db, keyring, marketplaces, self.clients)
        self.oauth_states = OAuthStates(db, keyring)
        self.products = ProductCache(db)
        self._connectors: dict[tuple[str, Purpose], Connector] = {
            (platform, purpose): marketplaces[platform].connect(
                paced_client, partial(self.connections.access, platform)
            )
            for (platform, purpose), paced_client in paced_clients.items()
        }

    @property
    def names(self) -> Mapping[str, str]:
        """The platform of each name and alias."""
        return self._names

    def named(self, name: str) -> str:
        """Return the platform of a name or an alias."""
        platform = self._names.get(name)
        if platform is None:
            raise UnsupportedPlatform(name)
        return platform

    def simulated_origin(self, platform: str) -> str | None:
        """Return the origin of the simulator that replaces this marketplace; None: it is real."""
        endpoint = self._endpoints.get(platform)
        if endpoint is None or not endpoint.simulated:
            return None
        parts = urlsplit(endpoint.url)
        return f"{parts.scheme}://{parts.netloc}"

    def picture_origins(self, platform: str) -> Sequence[str]:
        """Return the origins of a marketplace's pictures, or of the simulator in its stead."""
        simulated = self.simulated_origin(platform)
        return (simulated,) if simulated else self._marketplaces[platform].traits.picture_origins

    def product_links(self) -> Mapping[str, ProductLinks]:
        """Return what links to products look like, by platform."""
        return {
            platform: market.links
            for platform, market in self._marketplaces.items()
            if market.links is not None
        }

    def simulated_product(self, link: Link, preferred: str | None = None) -> tuple[str, str] | None:
        """Return platform and ID of a product that a link to the simulator leads to.

        The simulator may stand in for several marketplaces: the preferred or first one is meant.
        """
        product_id = read_simulated_id(link)
        if product_id is None:
            return None
        for platform in filter(None, (preferred, *self._marketplaces)):
            if self.simulated_origin(platform) == link.origin:
                return platform, product_id
        return None

    def product_page(self, platform: str, product_id: str) -> str | None:
        """Return the URL of a product's page: the marketplace's own, or the simulator's."""
        origin = self.simulated_origin(platform)
        links = self._marketplaces[platform].links
        if origin is not None:
            return simulated_page(origin, product_id)
        return links.page(product_id) if links is not None else None

    def check_notice_secret(self, app_secret: str) -> None:
        """Raise NoticeRejected in production if this is one of the published demo secrets."""
        if app_secret in self._rejected_secrets:
            raise NoticeRejected("the application has the published demo secret")

    def marketplace(self, platform: str) -> Marketplace:
        return self._marketplaces[platform]

    async def connector(self, name: str, purpose: Purpose = Purpose.CHANGE) -> Connector:
        """Return the connector of a connected marketplace.

        The `purpose` of its calls decides how much of the marketplace's budget they may use.
        """
        platform = self.named(name)
        connector = self._connectors.get((platform, purpose))
        if connector is None or await self.connections.find_recent(platform) is None:
            raise PlatformNotConfigured(platform)
        return connector

    async def able(
        self, name: str, capability: Capability, purpose: Purpose = Purpose.CHANGE
    ) -> Connector:
        """Return the connector of a connected marketplace that has this capability."""
        connector = await self.connector(name, purpose)
        if capability not in connector.traits.capabilities:
            raise CapabilityNotSupported(connector.traits.platform, capability)
        return connector

    async def may_refresh(self, platform: str, account_id: UUID) -> bool:
        """Whether an account may have another order refreshed now; if so, it is counted."""
        endpoint = self._endpoints.get(platform)
        return endpoint is None or await may_refresh(self._db, platform, endpoint.rate, account_id)

    async def listed(self) -> list[PlatformListing]:
        return [
            PlatformListing(
                market.traits,
                platform in self._endpoints and self._endpoints[platform].simulated,
                await self.connections.find(platform) if platform in self._endpoints else None,
            )
            for platform, market in self._marketplaces.items()
        ]
