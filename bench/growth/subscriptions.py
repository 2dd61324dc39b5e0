"""Grows the number of webhooks: append and deliver beside them, and find what is due."""

from collections.abc import AsyncIterator
from functools import partial

from bench.appender import Appender
from bench.growth import deliveries, sql_fill
from bench.growth.journal import APPEND
from bench.growth.model import Figure
from bench.growth.series import SUBSCRIPTIONS, Effort
from bench.growth.stage import Site
from tradewind.delivery import sql
from tradewind.delivery.engine import ENGINE_CONNECTIONS, ENGINE_SESSION_SETTINGS
from tradewind.storage.pool import Database

FIND_DUE = "find what is due"
IDLE_POLL = f"{FIND_DUE}, nothing queued"
RETRY_POLL = f"{FIND_DUE}, one retry of each webhook waits"
DUE_POLL = f"{FIND_DUE}, one delivery of each webhook is due"
_WEBHOOKS_AN_ACCOUNT = 10


async def measure(site: Site, size: int, effort: Effort) -> AsyncIterator[Figure]:
    """One webhook is that of the account that is measured; others have ten each."""
    await _fill(site, size)
    appender = Appender(site.db, [site.template.account_id])
    measured = partial(
        site.meter.measure,
        SUBSCRIPTIONS,
        size,
        times=effort.times,
        at_most=effort.seconds,
        rounds=effort.rounds,
    )
    yield await measured(APPEND, appender.append)
    await site.connection.execute("TRUNCATE delivery_queue")  # what was appended above
    async for figure in deliveries.deliver(site, SUBSCRIPTIONS, size, effort, idle=True):
        yield figure
    engine_db = Database(
        site.url, size=ENGINE_CONNECTIONS, name="growth", settings=ENGINE_SESSION_SETTINGS
    )
    await engine_db.open()
    try:

        async def poll() -> None:
            await sql.due_subscriptions(engine_db)

        yield await measured(IDLE_POLL, poll)
        for work, wait in ((RETRY_POLL, "5 minutes"), (DUE_POLL, "-1 second")):
            await site.connection.execute("TRUNCATE delivery_queue")
            await sql_fill.queue_deliveries(site.connection, site.template.account_id, wait)
            await site.connection.execute("ANALYZE delivery_queue")
            yield await measured(work, poll)
    finally:
        await engine_db.close()


async def _fill(site: Site, size: int) -> None:
    subscription_id = await site.subscribe(f"{site.endpoints.metered}/0")
    others = size - 1
    accounts = -(-others // _WEBHOOKS_AN_ACCOUNT)
    account_of = "filled_id('2026-01-01Z'::timestamptz, {number})"
    await sql_fill.copy_rows(
        site.connection,
        "account",
        f"t.id = '{site.template.account_id}'",
        accounts,
        {"id": account_of.format(number="g"), "email": "g || '@growth.example'"},
    )
    await sql_fill.copy_rows(
        site.connection,
        "webhook_subscription",
        f"t.id = '{subscription_id}'",
        others,
        {
            "id": "filled_id(now() + interval '1 second', g)",
            "account_id": account_of.format(number=f"(g - 1) / {_WEBHOOKS_AN_ACCOUNT} + 1"),
            "url": "'https://hooks' || g || '.example/tradewind'",
        },
    )
    await site.connection.execute(
        """
        INSERT INTO subscription_health (subscription_id, last_success_at, updated_at)
        SELECT id, now(), now() FROM webhook_subscription
        """
    )
    await sql_fill.settle(site.connection, "account", "webhook_subscription", "subscription_health")
