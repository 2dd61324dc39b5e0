"""Grows the number of open orders: find, claim and sync those that are due."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

from bench import workers
from bench.growth import sql_fill
from bench.growth.deliveries import IDLE_WORKER
from bench.growth.model import WORKER, Figure
from bench.growth.series import OPEN_ORDERS, Effort
from bench.growth.stage import ORDERS, PLATFORM, Site
from tradewind.egress.client import Client
from tradewind.orders import sql_leases, sync
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import PlatformJob
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.contract import Connector
from tradewind.runtime.wiring import configured_credentials, platforms_of
from tradewind.settings import settings
from tradewind.storage.keyring import Keyring

SYNC_BATCH = f"sync a batch of {ORDERS} orders that did not change"
_SYNCS = 20
_MARGIN = timedelta(minutes=2)


async def measure(site: Site, size: int, effort: Effort) -> AsyncIterator[Figure]:
    """80 of the orders exist on the simulated marketplace; the others are copies of one."""
    connection, db = site.connection, site.db
    owner = f"'{site.template.account_id}'::uuid"
    await sql_fill.copy_orders(connection, site.template.order_ids[0], size - ORDERS, owner)
    await _due_in(site, "1 hour", everything=True)
    await sql_fill.settle(connection, "purchase_order", "platform_order", "order_change")
    measured = partial(
        site.meter.measure, OPEN_ORDERS, size, at_most=effort.seconds, rounds=effort.rounds
    )
    often = partial(measured, times=effort.times)

    async def claim() -> None:
        lease = Lease()
        held = await sql_leases.claim_due(
            db, PLATFORM, [PlatformJob.SYNC], lease=lease.id, held=HELD, limit=ORDERS
        )
        if held:
            now = held[0].now
            await sql_leases.give_back(db, lease.id, [(order, now) for order in held], synced=True)

    yield await often("claim, nothing is due", claim)
    names = [
        row["order_id"]
        for row in await connection.fetch(
            "SELECT order_id FROM platform_order WHERE purchase_order_id = ANY ($1)",
            site.template.order_ids,
        )
    ]
    now = await connection.fetchval("SELECT now()")
    changed = [(name, now + timedelta(hours=1)) for name in names]

    async def hint() -> None:
        await sql_leases.hint_later_than(db, PLATFORM, changed, margin=_MARGIN)

    syncs = min(_SYNCS, effort.times)
    yield await measured(
        f"make {ORDERS} orders due that the marketplace lists as changed", hint, times=syncs
    )
    async with AsyncExitStack() as stack:
        connector = await _connector(site, stack)

        async def sync_batch() -> None:
            if not await sync.sync_due(db, connector):
                raise RuntimeError("No order was due.")

        yield await measured(
            SYNC_BATCH, sync_batch, times=syncs, prepare=lambda: _due_in(site, "-1 second")
        )
    await _due_in(site, "1 hour", everything=True)
    with workers.working(site.url, 1, site.settings) as (worker,):
        await site.worker_is_idle()
        waiting = site.meter.beside({WORKER: worker.process_id})
        yield await waiting.measure_idle(OPEN_ORDERS, size, IDLE_WORKER, effort.idle_seconds)
        await site.check_fill()
    await _due_in(site, "-1 second", everything=True)
    await connection.execute("ANALYZE purchase_order")
    yield await often(f"claim {ORDERS} of all orders, which are due, and give them back", claim)


async def _connector(site: Site, stack: AsyncExitStack) -> Connector:
    chosen = settings.load({**site.settings, "TRADEWIND_HOST": "127.0.0.1"})
    client = Client()
    stack.push_async_callback(client.close)
    platforms = platforms_of(chosen, site.db, Keyring(chosen.secret_key), client)
    await store_configured_credentials(site.db, platforms, configured_credentials(chosen))
    return await platforms.connector(PLATFORM)


async def _due_in(site: Site, wait: str, *, everything: bool = False) -> None:
    """Make the orders that the marketplace knows, or all of them, due after `wait`."""
    await site.connection.execute(
        """
        UPDATE purchase_order
           SET next_sync_at = now() + $1::text::interval, work = 'sync', lease_until = 'epoch'
         WHERE $2 OR id = ANY ($3)
        """,
        wait,
        everything,
        site.template.order_ids,
        timeout=120,
    )
