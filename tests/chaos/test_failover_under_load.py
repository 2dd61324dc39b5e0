"""A synchronous standby takes over under load: what was acknowledged is there, and is delivered."""

import asyncio
import os
import signal
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg
import httpx
import pytest
from kit import chaos, invariants, scorecard
from kit.order_writers import OrderWriters
from kit.postgres import MOVABLE_CLOCK, copy_as_standby
from kit.server import Server, ServerLauncher
from kit.system import System, simulated
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from simulator.sandbox_kit import Market, serving

from tradewind import ids
from tradewind.auth.model import Plan, Role
from tradewind.orders.idempotency import PENDING
from tradewind.storage import embedded
from tradewind.storage.embedded import EmbeddedServer
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

pytestmark = pytest.mark.xdist_group("failover under load")

_WRITERS = 4
_ORDERS = 30
_PATIENCE_SECONDS = 30.0
# Of a machine that does nothing else: `make chaos` measures it, and tests that run at the same time
# do not.
_LONGEST_RECOVERY = 5.0 if "SOAK_FAILOVER" in os.environ else None
_AHEAD_SECONDS = 0.5
_IS_SYNCHRONOUS = "SELECT true FROM pg_stat_replication WHERE sync_state = 'sync'"


async def _prepare(primary: EmbeddedServer) -> None:
    db = Database(primary.url(), size=1, name="test")
    await db.open()
    await migrate(db)
    await db.execute(MOVABLE_CLOCK)
    await db.close()


async def _ask(server: EmbeddedServer, *statements: str) -> Any:
    """What the last of the statements returns."""
    connection = await asyncpg.connect(server.url())
    try:
        return [await connection.fetchval(statement) for statement in statements][-1]
    finally:
        await connection.close()


async def _follow(primary: EmbeddedServer) -> None:
    """Have every commit wait for the standby from now on."""
    await _ask(
        primary,
        "ALTER SYSTEM SET synchronous_standby_names = '*'",
        "SELECT pg_reload_conf()",
    )
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not await _ask(primary, _IS_SYNCHRONOUS):  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.05)


async def _kill_ahead(primary: EmbeddedServer, standby: EmbeddedServer) -> float:
    """Kill the primary when it has written what the standby has not; return when.

    What it wrote in that time must not have been acknowledged. Some of it is in a socket by then:
    the standby's receiver ends before it can read that, as if the network had lost it.
    """
    receiver = await _ask(standby, "SELECT pid FROM pg_stat_wal_receiver")
    os.kill(receiver, signal.SIGSTOP)
    await asyncio.sleep(_AHEAD_SECONDS)
    os.kill(primary.pid, signal.SIGKILL)
    killed_at = time.monotonic()
    os.kill(receiver, signal.SIGTERM)
    os.kill(receiver, signal.SIGCONT)
    return killed_at


def _both(primary: EmbeddedServer, standby: EmbeddedServer) -> str:
    """The address of whichever of two servers takes writes."""
    first, second = (quote(str(server.socket_dir), safe="") for server in (primary, standby))
    url = primary.url().replace(f"host={first}", f"host={first},{second}")
    return f"{url}&target_session_attrs=read-write"


def _finish(system: System, endpoint: WebhookEndpoint) -> None:
    """Have what the failover interrupted brought to its end: orders, then deliveries."""
    with chaos.accelerated_clock(system.api, system.market, 20):
        chaos.wait_until_decided(system.api, _PATIENCE_SECONDS)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while system.api.fetch("SELECT 1 FROM delivery_queue LIMIT 1"):
            assert time.monotonic() < deadline, f"{len(endpoint.received)} were received"
            time.sleep(0.2)


async def test_acknowledged_is_journaled_delivered_and_read_by_cursor_after_a_failover(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    problems: list[str] = []
    async with AsyncExitStack() as stack:
        market: Market = stack.enter_context(serving(tmp_path))
        endpoint = stack.enter_context(running_endpoint())
        primary = await stack.enter_async_context(embedded.running(tmp_path / "primary"))
        await _prepare(primary)
        await asyncio.to_thread(copy_as_standby, primary, tmp_path / "standby")
        standby = await stack.enter_async_context(embedded.running(tmp_path / "standby"))
        await _follow(primary)
        url, settings = _both(primary, standby), simulated(market)
        api: Server = stack.enter_context(launcher.serving_on(url, settings=settings))
        stack.enter_context(launcher.working(url, settings=settings))
        buyer = await launcher.make_person(url, (Role.BUYER,), Plan.ENTERPRISE)
        system = System(api, market, buyer, buyer)
        hook = await asyncio.to_thread(
            system.ok, "POST", "/v1/webhooks", json={"url": endpoint.url()}
        )
        launcher.secrets.add(hook["secret"])
        orders = await asyncio.to_thread(OrderWriters, system)
        writing = [asyncio.create_task(orders.place(number)) for number in range(_WRITERS)]
        await orders.until_more(_ORDERS, _PATIENCE_SECONDS)
        before, cursor = await asyncio.to_thread(system.read_journal)

        killed_at = await _kill_ahead(primary, standby)
        await _ask(standby, "SELECT pg_promote()")
        promoted_at = time.monotonic()
        await orders.until_more(1, _PATIENCE_SECONDS)
        recovered_at = time.monotonic()
        await orders.until_more(_ORDERS, _PATIENCE_SECONDS)
        await orders.stop(writing)
        api.move_clock(PENDING)  # a request that the failover interrupted counts as in flight
        repeated = await orders.repeat_all()
        await orders.close()
        with scorecard.kept_for_later(problems):
            await asyncio.to_thread(_finish, system, endpoint)
        after, _ = await asyncio.to_thread(system.read_journal, cursor)
        journaled = {
            ids.EVENT.show(row["id"])
            for row in await asyncio.to_thread(api.fetch, "SELECT id FROM event")
        }
        facts = await asyncio.to_thread(invariants.read, api, market)

    stored = {order["external_id"]: ids.ORDER.show(order["id"]) for order in facts.orders}
    delivered = [request.event_id for request in endpoint.received]
    by_cursor = [*before, *after]
    lost = len(orders.acknowledged.items() - stored.items()) + len(journaled - set(delivered))
    scorecard.record(
        21,
        len(orders.acknowledged),
        kills=1,
        lost=lost,
        duplicates=facts.second_orders(),
        recovery=[recovered_at - killed_at],
        from_promotion_to_first_order_seconds=recovered_at - promoted_at,
        events_sent_again=len(delivered) - len(set(delivered)),
    )
    assert problems == []
    invariants.assert_holds(facts)
    assert orders.acknowledged.items() <= repeated.items()
    assert stored == repeated
    assert len(by_cursor) == len(set(by_cursor)), "no event is read twice"
    assert set(by_cursor) == journaled == set(delivered)
    assert _statuses(orders) <= {201, 409, 503}
    if _LONGEST_RECOVERY is not None:
        assert recovered_at - promoted_at < _LONGEST_RECOVERY


def _statuses(orders: OrderWriters) -> set[int]:
    answers: list[httpx.Response] = [answer for _, answer in orders.answers]
    return {answer.status_code for answer in answers}
