"""A marketplace as the registry lists it: its facts, its connector, its OAuth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tradewind.platforms.access import AppCredentials, GetAccess, OAuthTokens
from tradewind.platforms.contract import Connector, Traits
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.product_links import ProductLinks


class OAuthClient(Protocol):
    """The OAuth flow by which an operator authorises us at a marketplace."""

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Return the URL where the operator authorises us, in a browser."""
        ...

    async def exchange(
        self, client: PacedClient, app_key: str, app_secret: str, code: str, redirect_uri: str
    ) -> OAuthTokens:
        """Exchange the code that the operator was redirected with for tokens."""
        ...

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """Exchange a refresh token for new tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Marketplace:
    """One line of the registry."""

    traits: Traits
    # Its URL unless a setting names another; None: it is off until a setting does.
    default_url: str | None
    connect: Callable[[PacedClient, GetAccess], Connector]
    oauth: OAuthClient
    # The simulator's credentials for this marketplace: see `demo_credentials`.
    demo: AppCredentials | None = None
    # The path at which the simulator speaks its dialect; None: the simulator does not.
    simulator_path: str | None = None
    # What links to its products look like; None: it has no pages that people could link to.
    links: ProductLinks | None = None
    # There is no real marketplace of this name: its URL is always the simulator's.
    simulated_only: bool = False

    @property
    def url_setting(self) -> str:
        """The environment variable that sets its URL."""
        if self.simulated_only:
            return "TRADEWIND_SANDBOX_URL"
        return f"TRADEWIND_PLATFORM_{self.traits.platform.upper()}_URL"
