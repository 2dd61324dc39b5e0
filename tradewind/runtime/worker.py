"""The worker process: runs every background loop until it is stopped."""

import asyncio
import resource
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial

from tradewind.accounts import sql as accounts
from tradewind.auth import login_throttle, sql_sessions
from tradewind.auth import sql as auth_sql
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.background.loop import repeat
from tradewind.background.scheduled_tasks import (
    ScheduledTask,
    count_from_zero,
    run_due_tasks,
)
from tradewind.cart import sql as cart_sql
from tradewind.delivery import sql_log, sql_performance
from tradewind.delivery.cancel import cancel_unwanted
from tradewind.delivery.engine import ENGINE_CONNECTIONS, ENGINE_SESSION_SETTINGS, Engine
from tradewind.delivery.queue_monitor import watch
from tradewind.delivery.replay import feed_replays
from tradewind.delivery.worker_report import WorkerReport
from tradewind.egress.client import Client
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.events import retention
from tradewind.events.journal import DELIVERIES
from tradewind.imports import sql as imports
from tradewind.imports.run import run_imports
from tradewind.imports.upload import IMPORTS
from tradewind.observability import listener, metrics
from tradewind.observability.logs import log
from tradewind.operations.metrics import StateMetrics
from tradewind.orders.advance import SUBMIT, submit_topic
from tradewind.orders.platform_jobs import Submitter
from tradewind.orders.scheduled_sync import sync_modified
from tradewind.orders.sync import sync_due, sync_topic
from tradewind.platforms import product_cache
from tradewind.platforms import sql as platform_sql
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.contract import Connector
from tradewind.platforms.errors import PlatformNotConfigured
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.products import sql as products
from tradewind.runtime.wiring import (
    configured_credentials,
    database_of,
    platforms_of,
    policy_of,
    retry_policy_of,
    start_tracing,
    tune_garbage_collection,
)
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
# Files hold addresses: they are deleted when nobody is likely to look at them again.
_IMPORTS_KEPT = timedelta(days=30)
# An access token of ten hours is renewed in its last one.
_TOKEN_MARGIN = timedelta(hours=1)
# A wake-up may be lost; then due work starts so much later.
_POLL_SECONDS = 1.0


def renewal(chosen: Settings, db: Database, platforms: Platforms) -> Sequence[ScheduledTask]:
    """The tasks that keep webhooks, syncs, partitions, samples and credentials current."""
    minute = timedelta(minutes=1)
    credentials = configured_credentials(chosen)
    return [
        ScheduledTask("failing_webhooks", minute, lambda: switch_off_failing(db)),
        ScheduledTask("sync", minute, lambda: _sync_changed(db, platforms)),
        ScheduledTask("partitions", timedelta(hours=1), lambda: partitions.make_ahead(db)),
        ScheduledTask("database_sample", minute, lambda: sql_performance.sample_database(db)),
        ScheduledTask(
            "credentials", minute, lambda: store_configured_credentials(db, platforms, credentials)
        ),
        ScheduledTask(
            "tokens", minute, lambda: platforms.connections.refresh_expiring(_TOKEN_MARGIN)
        ),
    ]


def housekeeping(chosen: Settings, db: Database) -> Sequence[ScheduledTask]:
    """The tasks that delete old data."""
    minute, hour = timedelta(minutes=1), timedelta(hours=1)
    search_age = timedelta(seconds=chosen.search_cache_seconds)
    journal = timedelta(days=chosen.events_days)
    log_kept = retry_policy_of(chosen).log_kept
    return [
        ScheduledTask(
            "attempts", hour, lambda: partitions.drop_old(db, "delivery_attempt", log_kept)
        ),
        ScheduledTask("hours", hour, lambda: sql_log.delete_old_hours(db, kept=log_kept)),
        ScheduledTask("samples", hour, lambda: sql_performance.delete_old_samples(db)),
        ScheduledTask("events", hour, lambda: retention.drop_old(db, kept=journal)),
        ScheduledTask(
            "searches", minute, lambda: products.delete_old_pages(db, older_than=search_age)
        ),
        ScheduledTask(
            "products",
            minute,
            lambda: platform_sql.delete_old_products(db, older_than=product_cache.LIFETIME),
        ),
        ScheduledTask(
            "sessions", hour, lambda: sql_sessions.delete_dead_sessions(db, days=_SESSION_DAYS)
        ),
        ScheduledTask(
            "login_failures",
            hour,
            lambda: auth_sql.delete_old_login_failures(db, window=login_throttle.WINDOW),
        ),
        ScheduledTask("password_links", hour, lambda: accounts.delete_expired_password_links(db)),
        ScheduledTask(
            "idempotency", hour, lambda: web.delete_old_responses(db, days=idempotency.KEEP_DAYS)
        ),
        ScheduledTask(
            "checkouts", hour, lambda: cart_sql.delete_old_checkouts(db, days=idempotency.KEEP_DAYS)
        ),
        ScheduledTask("imports", hour, lambda: imports.delete_old_imports(db, kept=_IMPORTS_KEPT)),
        ScheduledTask("budgets", timedelta(minutes=10), lambda: web.delete_full_budgets(db)),
    ]


async def _work(
    chosen: Settings, db: Database, platforms: Platforms, engine: Engine, stop: asyncio.Event
) -> None:
    """Run every loop: scheduled tasks, two loops for each marketplace, and deliveries."""
    tasks = [*renewal(chosen, db, platforms), *housekeeping(chosen, db)]
    count_from_zero(tasks)
    state = StateMetrics(db, list(platforms.clients), [task.name for task in tasks])
    loops = [
        repeat(
            "scheduled tasks",
            lambda: run_due_tasks(db, tasks),
            stop=stop,
            wake=asyncio.Event(),
            idle=15.0,
        )
    ]
    with ExitStack() as stack:
        submitters = {platform: Submitter(db) for platform in platforms.clients}
        for platform, submitter in submitters.items():
            for topics, step, purpose in (
                ([sync_topic(platform)], partial(sync_due, db), Purpose.SYNC),
                ([submit_topic(platform), SUBMIT], submitter.step, Purpose.CHANGE),
            ):
                wake = stack.enter_context(db.wakeups.waiting(*topics))
                work = partial(_at, platforms, platform, purpose, step)
                loops.append(repeat(topics[0], work, stop=stop, wake=wake, idle=_POLL_SECONDS))
        due = stack.enter_context(db.wakeups.waiting(DELIVERIES))
        loops.append(engine.run(stop, due))
        unwanted = stack.enter_context(db.wakeups.waiting(CANCELLATIONS))
        for name, step_of_all, woken, idle in (
            ("cancel", cancel_unwanted, unwanted, _POLL_SECONDS),
            ("replay", feed_replays, asyncio.Event(), _POLL_SECONDS),
            ("figures", watch, asyncio.Event(), _FIGURES_SECONDS),
        ):
            work_of_all = partial(step_of_all, db)
            loops.append(repeat(name, work_of_all, stop=stop, wake=woken, idle=idle))
        background_tasks = BackgroundTasks()
        uploaded = stack.enter_context(db.wakeups.waiting(IMPORTS))
        report = WorkerReport(db)
        for name, own_step, idle in (
            ("state", state.measure, _FIGURES_SECONDS),
            ("report", report.report_if_due, _POLL_SECONDS),
        ):
            loops.append(repeat(name, own_step, stop=stop, wake=asyncio.Event(), idle=idle))
        go_on = partial(run_imports, db, platforms, background_tasks)
        loops.append(repeat("imports", go_on, stop=stop, wake=uploaded, idle=_POLL_SECONDS))
        await asyncio.gather(*loops)
        await background_tasks.close()
        await asyncio.gather(*(submitter.close() for submitter in submitters.values()))
        await report.close()


async def _at(
    platforms: Platforms,
    platform: str,
    purpose: Purpose,
    step: Callable[[Connector], Awaitable[bool]],
) -> bool:
    """Run a step at a marketplace, if it is configured."""
    try:
        connector = await platforms.connector(platform, purpose)
    except PlatformNotConfigured:
        return False
    return await step(connector)


async def _sync_changed(db: Database, platforms: Platforms) -> None:
    """Look at every marketplace for what changed; one that is away is looked at next time."""
    for platform in platforms.clients:
        try:
            await sync_modified(db, await platforms.connector(platform, Purpose.SYNC))
        except PlatformNotConfigured:
            continue
        except PlatformFailure as failure:
            log.warning("scheduled_sync.failed", platform=platform, error=str(failure))


async def run(chosen: Settings) -> None:
    """Work until SIGTERM or SIGINT; then finish what was started, and end."""
    tune_garbage_collection()
    # A thousand concurrent deliveries need a thousand sockets, and as many stay open.
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    db = database_of(chosen, "tradewind worker")
    engine_db = Database(
        chosen.database_direct_url or chosen.database_url,
        size=ENGINE_CONNECTIONS,
        name="tradewind deliveries",
        settings=ENGINE_SESSION_SETTINGS,
    )
    with ExitStack() as stack:
        if (tracing := start_tracing(chosen, "tradewind-worker")) is not None:
            stack.callback(tracing.close)
        if chosen.metrics_listen is not None:
            host, port = chosen.metrics_listen
            bound = stack.enter_context(listener.serving(host, port, metrics.registry(None)))
            log.info("metrics.listening", host=host, port=bound)
        await db.open()
        await engine_db.open()
        client = Client()
        resolver = Resolver(chosen.dns_servers)
        sender = Sender(policy_of(chosen), resolver)
        try:
            keyring = Keyring(chosen.secret_key)
            platforms = platforms_of(chosen, db, keyring, client)
            engine = Engine(
                db, keyring, sender, engine_db=engine_db, policy=retry_policy_of(chosen)
            )
            await _work(chosen, db, platforms, engine, stop)
        finally:
            await sender.close()
            await resolver.close()
            await client.close()
            await engine_db.close()
            await db.close()
    log.info("worker.stopped")
