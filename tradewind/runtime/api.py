"""The API process: connects the parts and gives granian an application to run."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from tradewind.accounts import admin_routes, audit_routes
from tradewind.accounts import routes as account_routes
from tradewind.addresses import routes as address_routes
from tradewind.addresses.region_warnings import region_warnings
from tradewind.auth import routes as auth_routes
from tradewind.auth.api_keys import routes as key_routes
from tradewind.auth.errors import AccountLocked, CredentialsMissing, InvalidCredentials
from tradewind.auth.gate import Authenticator
from tradewind.auth.login import LoginRate
from tradewind.auth.passwords import Passwords
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.cart import routes as cart_routes
from tradewind.dashboard import pages as dashboard_pages
from tradewind.dashboard.guides.library import Guides
from tradewind.dashboard.performance.reader import PerformanceReader
from tradewind.dashboard.reference.model import ApiReference
from tradewind.dashboard.reference.routes import ReferencePages
from tradewind.dashboard.reference.views import api_reference
from tradewind.dashboard.shell.live import Live
from tradewind.dashboard.shell.render import Renderer, Static
from tradewind.dashboard.shell.session import Sessions
from tradewind.dashboard.shell.site import Dashboard
from tradewind.delivery import admin_routes as admin_delivery_routes
from tradewind.delivery import routes as delivery_routes
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress.client import Client
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.errors import ServiceUnavailable
from tradewind.events import routes as event_routes
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED, EventBody
from tradewind.events.read import Retention
from tradewind.events.stream import EventStreams
from tradewind.exports import routes as export_routes
from tradewind.imports import routes as import_routes
from tradewind.observability import logs
from tradewind.orders import notice_routes
from tradewind.orders import routes as order_routes
from tradewind.orders.address_check import AddressCheck
from tradewind.orders.payments import routes as payment_routes
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.refresh import Refreshes
from tradewind.platforms import routes as platform_routes
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.registry import Platforms
from tradewind.products import routes as product_routes
from tradewind.products.search import SearchCache
from tradewind.runtime import child_processes
from tradewind.runtime.wiring import (
    GATE_CONNECTIONS,
    LOGIN_CONNECTIONS,
    configured_credentials,
    database_of,
    pay_modes_of,
    platforms_of,
    policy_of,
    retry_policy_of,
    start_tracing,
    tune_garbage_collection,
)
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage import partitions
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import (
    GATE_SESSION_SETTINGS,
    Database,
    GateDatabase,
    LoginDatabase,
)
from tradewind.web import health, openapi, reference_routes
from tradewind.web.application import Application
from tradewind.web.endpoint import Endpoint, Routes
from tradewind.web.limits import RateLimited, plan_rate
from tradewind.web.problems import DuplicateHeader
from tradewind.web.reference_routes import Reference
from tradewind.web.response import encode
from tradewind.web.traced_application import TracedApplication
from tradewind.web.urls import PublicUrl
from tradewind.webhooks import routes as webhook_routes
from tradewind.webhooks.headers import DESCRIPTIONS
from tradewind.webhooks.subscribe import UrlPolicy

ROUTES: Sequence[Routes] = (
    auth_routes.routes,
    account_routes.routes,
    key_routes.routes,
    platform_routes.routes,
    product_routes.routes,
    address_routes.routes,
    cart_routes.routes,
    webhook_routes.routes,
    delivery_routes.routes,
    order_routes.routes,
    import_routes.routes,
    payment_routes.routes,
    payment_routes.approvals,
    order_routes.sandbox,
    event_routes.routes,
    event_routes.event_types,
    export_routes.routes,
    notice_routes.routes,
    admin_routes.routes,
    order_routes.admin,
    admin_delivery_routes.routes,
    platform_routes.admin,
    audit_routes.routes,
    health.routes,
    reference_routes.routes,
    *dashboard_pages.ROUTES,
)

WEBHOOKS: Mapping[str, Any] = {ORDER_UPDATED: EventBody, PAYMENT_UPDATED: EventBody}
# The headings of the reference, in the order in which it shows them.
TAGS: Mapping[str, str] = {
    "Authentication": "Log in with e-mail and password, renew tokens, log out.",
    "Account": "Your own account: roles, plan, usage and password.",
    "API keys": "Create, list and revoke the keys that programs authenticate with.",
    "Marketplaces": "The marketplaces that can be searched and ordered from.",
    "Products": "Search products, and read everything about one.",
    "Addresses": "The address book: where your goods are shipped to.",
    "Cart": "Collect products, preview what they cost, and order them all at once.",
    "Orders": "Preview, place, read, compare and cancel orders.",
    "Imports": "Many orders from a CSV or XLSX file: check, confirm, place.",
    "Payments": "Request the payment of an order, withdraw the request, and ask for refunds.",
    "Payments (approvers)": "Approve or reject what others asked to pay, across accounts.",
    "Events": "The journal: every event of your account, in the bytes that webhooks get.",
    "Exports": "Lists as CSV files, with the filters of the list.",
    "Webhooks": "Subscribe URLs to events, change, rotate the secret, delete.",
    "Deliveries": "What was sent to a webhook and what came back; tests, health and replays.",
    "Sandbox": "Move orders on a simulated marketplace, to test the whole loop.",
    "Notices (marketplaces)": "Where marketplaces report changes of orders.",
    "Accounts (operators)": "Create, lock and change accounts.",
    "Orders (operators)": "The orders of all accounts.",
    "Deliveries (operators)": "The webhooks of all accounts, and the queue.",
    "Marketplaces (operators)": "The credentials of marketplaces.",
    "Audit log (operators)": "Who did what, when, and from where.",
    "Operations": "Whether the service is alive and ready.",
}
GATE_ERRORS = (
    DuplicateHeader,
    CredentialsMissing,
    InvalidCredentials,
    AccountLocked,
    RateLimited,
)


def endpoints() -> list[Endpoint]:
    return [endpoint for routes in ROUTES for endpoint in routes.endpoints]


def reference() -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi.describe(endpoints(), GATE_ERRORS, TAGS, WEBHOOKS, DESCRIPTIONS)


def create() -> Application:
    """Read the settings and build the application; each of granian's processes calls this once."""
    child_processes.die_with_parent(signal.SIGTERM)
    chosen = settings.load()
    logs.configure(chosen.log_style, chosen.log_level)
    application = build(chosen)
    tune_garbage_collection()
    return application


def build(chosen: Settings) -> Application:
    tracing = start_tracing(chosen, "tradewind-api")
    db = database_of(chosen, "tradewind api")
    gate_db = GateDatabase(
        chosen.database_direct_url or chosen.database_url,
        size=GATE_CONNECTIONS,
        name="tradewind api gate",
        settings=GATE_SESSION_SETTINGS,
    )
    login_db = LoginDatabase(
        chosen.database_url,
        size=LOGIN_CONNECTIONS,
        name="tradewind api logins",
        direct_url=chosen.database_direct_url,
    )
    keyring = Keyring(chosen.secret_key)
    passwords = Passwords()
    client = Client()
    platforms = platforms_of(chosen, db, keyring, client)
    refreshes = Refreshes(db, platforms, timedelta(seconds=chosen.refresh_min_age))
    background_tasks = BackgroundTasks()
    resolver = Resolver(chosen.dns_servers)
    sender = Sender(policy_of(chosen), resolver)
    plans = {name: plan_rate(per_minute) for name, per_minute in chosen.plans.items()}
    static = Static()
    sessions = Sessions(gate_db, keyring, plans, secure=chosen.public_url.startswith("https:"))
    renderer = Renderer(keyring, sessions, static, chosen.public_url)
    live = Live(db)
    events_kept = timedelta(days=chosen.events_days)
    streams = EventStreams(db, kept=events_kept)
    gate = Authenticator(gate_db, keyring, plans)
    document = reference()
    described = api_reference(document, chosen.public_url)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if tracing is not None:
                stack.push_async_callback(asyncio.to_thread, tracing.close)
            for pool in (db, gate_db, login_db):
                stack.push_async_callback(pool.close)
                await pool.open()
            stack.push_async_callback(resolver.close)
            stack.push_async_callback(sender.close)
            stack.push_async_callback(client.close)
            stack.callback(passwords.close)
            stack.push_async_callback(refreshes.close)
            stack.push_async_callback(background_tasks.close)
            stack.callback(live.close)
            stack.push_async_callback(streams.release)
            # The server waits for open streams before it asks us to close.
            loop = asyncio.get_running_loop()
            for signum in (signal.SIGTERM, signal.SIGINT):
                child_processes.on_signal(signum, lambda: loop.call_soon_threadsafe(live.close))
                child_processes.on_signal(signum, lambda: loop.call_soon_threadsafe(streams.close))
            with suppress(ServiceUnavailable):  # the worker does it as well, as soon as it can
                await store_configured_credentials(db, platforms, configured_credentials(chosen))
                await partitions.make_ahead(db)
            yield

    application = Application if tracing is None else TracedApplication
    return application(
        endpoints(),
        parts={
            Database: db,
            GateDatabase: gate_db,
            LoginDatabase: login_db,
            Keyring: keyring,
            Passwords: passwords,
            LoginRate: LoginRate(chosen.login_rate),
            PublicUrl: PublicUrl(chosen.public_url),
            Platforms: platforms,
            SearchCache: SearchCache(db, timedelta(seconds=chosen.search_cache_seconds)),
            PayModes: pay_modes_of(chosen, platforms),
            Refreshes: refreshes,
            AddressCheck: AddressCheck(region_warnings),
            BackgroundTasks: background_tasks,
            Client: client,
            Sender: sender,
            UrlPolicy: UrlPolicy(
                policy_of(chosen), resolver, chosen.max_subscriptions, platforms.names
            ),
            RetryPolicy: retry_policy_of(chosen),
            Retention: Retention(events_kept),
            EventStreams: streams,
            Authenticator: gate,
            Static: static,
            Guides: Guides(),
            PerformanceReader: PerformanceReader(db),
            Sessions: sessions,
            Renderer: renderer,
            Live: live,
            Reference: Reference(encode(document)),
            ApiReference: described,
            ReferencePages: ReferencePages(described, renderer, sessions),
        },
        gate=gate,
        site=Dashboard(gate_db, sessions, keyring, renderer, chosen.public_url),
        public_url=chosen.public_url,
        trusted_proxies=chosen.trusted_proxies,
        cors_origins=chosen.cors_origins,
        lifespan=lifespan,
    )
