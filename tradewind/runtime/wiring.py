"""Wiring: the parts that several processes build from the settings in the same way."""

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from tradewind.delivery.engine import ENGINE_CONNECTIONS
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress.client import Client
from tradewind.egress.guard import Policy
from tradewind.errors import CannotStart
from tradewind.observability import tracing
from tradewind.observability.tracing import Tracing
from tradewind.orders.payments.model import PayMode
from tradewind.orders.payments.modes import PayModes
from tradewind.platforms.access import AppCredentials
from tradewind.platforms.registry import MARKETPLACES, PlatformEndpoint, Platforms
from tradewind.settings.settings import PlatformSettings, Settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.traced_pool import TracedDatabase
from tradewind.web.limits import plan_rate

# Calls a minute. Marketplaces publish no limit; users report errors from a few hundred on.
_REAL_RATE = 600
_SIMULATED_RATE = 600_000
# An API process opens these on top of its pool: for the gate, which runs two statements, looks up
# sessions of pages and marks credentials as used, and for logins. Every process has one more
# connection that listens, and an API process one that holds the locks of its event streams.
GATE_CONNECTIONS = 3
LOGIN_CONNECTIONS = 2
_LISTENING_CONNECTIONS = 1
_STREAM_CONNECTIONS = 1
# One for each pool that changes something (see `storage.writes`).
_TRIAL_CONNECTIONS = 2


@dataclass(frozen=True, slots=True)
class ProcessConnections:
    """The most database connections that a process opens, and how many of them a pooler can give.

    The others are sessions.
    """

    pooled: int
    sessions: int

    @property
    def total(self) -> int:
        return self.pooled + self.sessions


def api_connections(chosen: Settings) -> ProcessConnections:
    """The connections of one API process."""
    sessions = GATE_CONNECTIONS + _LISTENING_CONNECTIONS + _STREAM_CONNECTIONS + _TRIAL_CONNECTIONS
    return ProcessConnections(chosen.database_pool + LOGIN_CONNECTIONS, sessions)


def worker_connections(chosen: Settings) -> ProcessConnections:
    """The connections of a worker."""
    return ProcessConnections(
        chosen.database_pool, ENGINE_CONNECTIONS + _LISTENING_CONNECTIONS + _TRIAL_CONNECTIONS
    )


def platforms_of(chosen: Settings, db: Database, keyring: Keyring, client: Client) -> Platforms:
    return Platforms(
        db, keyring, client, platform_endpoints(chosen), takes_demo_secrets=not chosen.production
    )


def platform_endpoints(chosen: Settings) -> Mapping[str, PlatformEndpoint]:
    """The address of each marketplace. A marketplace without one is off."""
    unknown = sorted(set(chosen.platforms) - set(MARKETPLACES))
    if unknown:
        raise CannotStart(
            f"There are settings for marketplaces that do not exist: {', '.join(unknown)}."
        )
    endpoints = {}
    for platform, market in MARKETPLACES.items():
        configured = chosen.platforms.get(platform, PlatformSettings())
        default_url = configured.url or market.default_url
        url = chosen.sandbox_url if market.simulated_only else default_url
        if url:
            simulated = _origin(url) == _origin(chosen.sandbox_url)
            rate = configured.rate or (_SIMULATED_RATE if simulated else _REAL_RATE)
            endpoints[platform] = PlatformEndpoint(url, plan_rate(rate), simulated)
    return endpoints


def pay_modes_of(chosen: Settings, platforms: Platforms) -> PayModes:
    configured = {name: platform.pay_mode for name, platform in chosen.platforms.items()}
    return PayModes(platforms, {name: PayMode(mode) for name, mode in configured.items() if mode})


def policy_of(chosen: Settings) -> Policy:
    """The addresses that customers' webhooks may have."""
    return Policy(
        ports=frozenset(chosen.webhook_ports),
        own_addresses=tuple(chosen.own_addresses),
        development=not chosen.production,
    )


def retry_policy_of(chosen: Settings) -> RetryPolicy:
    """When failed deliveries are tried again, and how long the log of attempts is kept."""
    return RetryPolicy(
        delays=tuple(timedelta(seconds=seconds) for seconds in chosen.retry_delays),
        log_kept=timedelta(days=chosen.delivery_log_days),
    )


def configured_credentials(chosen: Settings) -> Mapping[str, AppCredentials]:
    """The credentials in the settings; for a simulated marketplace, the demo credentials."""
    credentials = {}
    for platform, endpoint in platform_endpoints(chosen).items():
        configured = chosen.platforms.get(platform, PlatformSettings())
        demo = MARKETPLACES[platform].demo
        if configured.app_key and configured.app_secret:
            credentials[platform] = AppCredentials(
                configured.app_key, configured.app_secret, None, configured.refresh_token
            )
        elif endpoint.simulated and demo is not None:
            credentials[platform] = demo
    return credentials


def start_tracing(chosen: Settings, service: str) -> Tracing | None:
    """Install the tracing of this process; None: it is off, and costs nothing."""
    if not chosen.tracing:
        return None
    made = Tracing(service)
    tracing.install(made)
    return made


def database_of(chosen: Settings, name: str) -> Database:
    """The pool for requests and jobs."""
    pool = TracedDatabase if chosen.tracing else Database
    return pool(
        chosen.database_url,
        size=chosen.database_pool,
        name=name,
        direct_url=chosen.database_direct_url,
    )


def tune_garbage_collection() -> None:
    """Collect garbage rarely: imports stay, and reference counts free what a request made.

    With the default thresholds a tenth of the time went into collections, with pauses.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
