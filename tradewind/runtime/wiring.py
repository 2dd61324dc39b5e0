"""The parts that several processes build from the settings in the same way."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from tradewind.delivery.engine import HURRIED_CONNECTIONS
from tradewind.egress.client import Client
from tradewind.egress.guard import Policy
from tradewind.errors import CannotStart
from tradewind.orders.model import PayMode
from tradewind.orders.payments.modes import PayModes
from tradewind.platforms.access import AppCredentials
from tradewind.platforms.registry import MARKETPLACES, PlatformEndpoint, Platforms
from tradewind.settings.settings import PlatformSettings, Settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.limits import plan_rate

# Calls a minute. Marketplaces publish no number; users report trouble from a few hundred on.
_REAL_RATE = 600
_SIMULATED_RATE = 600_000
# What an API process opens on top of its pool: for the gate, which has two statements under way
# and the lookups of pages, and for logins. Every process has one connection more that listens.
GATE_CONNECTIONS = 3
LOGIN_CONNECTIONS = 2
_LISTENING_CONNECTIONS = 1


def api_connections(chosen: Settings) -> int:
    """The most database connections that one API process opens."""
    return chosen.database_pool + GATE_CONNECTIONS + LOGIN_CONNECTIONS + _LISTENING_CONNECTIONS


def worker_connections(chosen: Settings) -> int:
    """The most database connections that a worker opens."""
    return chosen.database_pool + HURRIED_CONNECTIONS + _LISTENING_CONNECTIONS


def platforms_of(chosen: Settings, db: Database, keyring: Keyring, client: Client) -> Platforms:
    return Platforms(
        db, keyring, client, platform_endpoints(chosen), takes_demo_secrets=not chosen.production
    )


def platform_endpoints(chosen: Settings) -> Mapping[str, PlatformEndpoint]:
    """Where each marketplace is. One without an address is off."""
    strangers = sorted(set(chosen.platforms) - set(MARKETPLACES))
    if strangers:
        raise CannotStart(
            f"There are settings for marketplaces that do not exist: {', '.join(strangers)}."
        )
    found = {}
    for platform, market in MARKETPLACES.items():
        own = chosen.platforms.get(platform, PlatformSettings())
        url = chosen.sandbox_url if market.simulated_only else own.url or market.default_url
        if url:
            simulated = _origin(url) == _origin(chosen.sandbox_url)
            rate = own.rate or (_SIMULATED_RATE if simulated else _REAL_RATE)
            found[platform] = PlatformEndpoint(url, plan_rate(rate), simulated)
    return found


def pay_modes_of(chosen: Settings, platforms: Platforms) -> PayModes:
    named = {name: own.pay_mode for name, own in chosen.platforms.items()}
    return PayModes(platforms, {name: PayMode(mode) for name, mode in named.items() if mode})


def policy_of(chosen: Settings) -> Policy:
    """What strangers may have us call."""
    return Policy(
        ports=frozenset(chosen.webhook_ports),
        own=tuple(chosen.own_addresses),
        development=not chosen.production,
    )


def configured_credentials(chosen: Settings) -> Mapping[str, AppCredentials]:
    """What the settings say about applications; for what is simulated, the demo credentials."""
    found = {}
    for platform, place in platform_endpoints(chosen).items():
        own = chosen.platforms.get(platform, PlatformSettings())
        demo = MARKETPLACES[platform].demo
        if own.app_key and own.app_secret:
            found[platform] = AppCredentials(own.app_key, own.app_secret, None, own.refresh_token)
        elif place.simulated and demo is not None:
            found[platform] = demo
    return found


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
