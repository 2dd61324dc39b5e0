"""The worker process: every background loop, until it is told to stop."""

import asyncio
import gc
import resource
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial

from tradewind.accounts import sql as accounts
from tradewind.auth import login_throttle, sql_sessions
from tradewind.auth import sql as auth_sql
from tradewind.background.loop import repeat
from tradewind.background.scheduled_tasks import Chore, tick
from tradewind.delivery import sql_log
from tradewind.delivery.cancel import cancel_unwanted
from tradewind.delivery.engine import HURRIED, HURRIED_CONNECTIONS, Engine
from tradewind.delivery.queue_monitor import watch
from tradewind.delivery.replay import feed_jobs
from tradewind.delivery.routes import LOG_KEPT
from tradewind.egress.client import Client
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.events import retention
from tradewind.events.journal import DELIVERIES
from tradewind.observability import listener, metrics
from tradewind.observability.logs import log
from tradewind.orders.advance import SUBMIT
from tradewind.orders.platform_jobs import Submitter
from tradewind.orders.scheduled_sync import sweep
from tradewind.orders.sync import FOLLOW, follow_due
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.contract import Connector
from tradewind.platforms.errors import PlatformNotConfigured
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.products import sql as products
from tradewind.runtime.wiring import configured_credentials, platforms_of, policy_of
from tradewind.settings.settings import Settings
from tradewind.storage import partitions
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import idempotency
from tradewind.web import sql as web
from tradewind.webhooks.disable import switch_off_failing
from tradewind.webhooks.subscribe import CANCELLATIONS

_SESSION_DAYS = 30
_FIGURES_SECONDS = 15.0
# An access token of ten hours is renewed in its last one.
_TOKEN_MARGIN = timedelta(hours=1)
# A wake-up may be lost; then what is due is found so much later.
_POLL_SECONDS = 1.0


def renewal(chosen: Settings, db: Database, platforms: Platforms) -> Sequence[Chore]:
    """What is renewed ahead of time."""
    minute = timedelta(minutes=1)
    configured = configured_credentials(chosen)
    return [
        Chore("failing_webhooks", minute, lambda: switch_off_failing(db)),
        Chore("sweep", minute, lambda: _sweep(db, platforms)),
        Chore("partitions", timedelta(hours=1), lambda: partitions.make_ahead(db)),
        Chore(
            "credentials", minute, lambda: store_configured_credentials(db, platforms, configured)
        ),
        Chore("tokens", minute, lambda: platforms.connections.refresh_expiring(_TOKEN_MARGIN)),
    ]


def housekeeping(chosen: Settings, db: Database) -> Sequence[Chore]:
    """What is deleted when nobody can miss it any more."""
    minute, hour = timedelta(minutes=1), timedelta(hours=1)
    kept = timedelta(seconds=chosen.search_cache_seconds)
    journal = timedelta(days=chosen.events_days)
    return [
        Chore("attempts", hour, lambda: partitions.drop_old(db, "delivery_attempt", LOG_KEPT)),
        Chore("hours", hour, lambda: sql_log.delete_old_hours(db, kept=LOG_KEPT)),
        Chore("events", hour, lambda: retention.drop_old(db, kept=journal)),
        Chore("searches", minute, lambda: products.delete_old_pages(db, older_than=kept)),
        Chore("sessions", hour, lambda: sql_sessions.delete_dead_sessions(db, days=_SESSION_DAYS)),
        Chore(
            "login_failures",
            hour,
            lambda: auth_sql.delete_old_login_failures(db, window=login_throttle.WINDOW),
        ),
        Chore("password_links", hour, lambda: accounts.delete_expired_password_links(db)),
        Chore("idempotency", hour, lambda: web.delete_old_answers(db, days=idempotency.KEEP_DAYS)),
        Chore("budgets", timedelta(minutes=10), lambda: web.delete_full_budgets(db)),
    ]


async def _work(
    chosen: Settings, db: Database, platforms: Platforms, engine: Engine, stop: asyncio.Event
) -> None:
    """Every loop at once: chores, two for each marketplace, deliveries; none waits for another."""
    chores = [*renewal(chosen, db, platforms), *housekeeping(chosen, db)]
    loops = [repeat("chores", lambda: tick(db, chores), stop=stop, wake=asyncio.Event(), idle=15.0)]
    with ExitStack() as stack:
        submitters = {platform: Submitter(db) for platform in platforms.clients}
        for platform, submitter in submitters.items():
            for name, step, purpose in (
                (FOLLOW, partial(follow_due, db), Purpose.SYNC),
                (SUBMIT, submitter.step, Purpose.CHANGE),
            ):
                wake = stack.enter_context(db.wakeups.waiting(name))
                work = partial(_at, platforms, platform, purpose, step)
                loops.append(
                    repeat(f"{name} {platform}", work, stop=stop, wake=wake, idle=_POLL_SECONDS)
                )
        due = stack.enter_context(db.wakeups.waiting(DELIVERIES))
        loops.append(engine.run(stop, due))
        unwanted = stack.enter_context(db.wakeups.waiting(CANCELLATIONS))
        for name, step_of_all, wake, idle in (
            ("cancel", cancel_unwanted, unwanted, _POLL_SECONDS),
            ("recover", feed_jobs, asyncio.Event(), _POLL_SECONDS),
            ("figures", watch, asyncio.Event(), _FIGURES_SECONDS),
        ):
            work_of_all = partial(step_of_all, db)
            loops.append(repeat(name, work_of_all, stop=stop, wake=wake, idle=idle))
        await asyncio.gather(*loops)
        await asyncio.gather(*(submitter.close() for submitter in submitters.values()))


async def _at(
    platforms: Platforms,
    platform: str,
    purpose: Purpose,
    step: Callable[[Connector], Awaitable[bool]],
) -> bool:
    """A step at a marketplace, if it is set up here."""
    try:
        connector = await platforms.connector(platform, purpose)
    except PlatformNotConfigured:
        return False
    return await step(connector)


async def _sweep(db: Database, platforms: Platforms) -> None:
    """Look at every marketplace for what changed; one that is away is looked at next time."""
    for platform in platforms.clients:
        try:
            await sweep(db, await platforms.connector(platform, Purpose.SYNC))
        except PlatformNotConfigured:
            continue
        except PlatformFailure as failure:
            log.warning("sweep.failed", platform=platform, error=str(failure))


def spare_the_collector() -> None:
    """Look for cycles seldom. What was imported stays; what a delivery makes is soon gone.

    Looking after every few hundred of them cost a tenth of the time, and now and then a pause.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def run(chosen: Settings) -> None:
    """Work until SIGTERM or SIGINT; then finish what is at hand, and end."""
    spare_the_collector()
    # A thousand deliveries at once are a thousand sockets, and as many kept open.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    db = Database(chosen.database_url, size=chosen.database_pool, name="tradewind worker")
    hurried = Database(
        chosen.database_url, size=HURRIED_CONNECTIONS, name="tradewind deliveries", settings=HURRIED
    )
    with ExitStack() as stack:
        if chosen.metrics_listen is not None:
            host, port = chosen.metrics_listen
            bound = stack.enter_context(listener.serving(host, port, metrics.registry(None)))
            log.info("metrics.listening", host=host, port=bound)
        await db.open()
        await hurried.open()
        client = Client()
        resolver = Resolver(chosen.dns_servers)
        sender = Sender(policy_of(chosen), resolver)
        try:
            keyring = Keyring(chosen.secret_key)
            platforms = platforms_of(chosen, db, keyring, client)
            engine = Engine(db, keyring, sender, hurried=hurried)
            await _work(chosen, db, platforms, engine, stop)
        finally:
            await sender.close()
            await resolver.close()
            await client.close()
            await hurried.close()
            await db.close()
    log.info("worker.stopped")
