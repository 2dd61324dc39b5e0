"""The restore drill: base backup and WAL under load, a lost server, and what holds afterwards."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
from kit import drill_report, invariants
from kit.blocks import ROOT
from kit.order_writers import OrderWriters
from kit.postgres import MOVABLE_CLOCK
from kit.server import SECRET_KEY, Person, ServerLauncher
from kit.system import System, simulated
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from simulator.sandbox_kit import Market, serving

from tradewind import ids
from tradewind.auth.model import Plan, Role
from tradewind.storage import embedded
from tradewind.storage.embedded import EmbeddedServer

_WRITERS = 2
_ORDERS = 8
_PATIENCE_SECONDS = 40.0
_RETRY = timedelta(minutes=2)
# As long as ten polls of a worker that finds something due.
_QUIET_SECONDS = 5.0
_QUEUE_IS_EMPTY = "SELECT count(*) = 0 FROM delivery_queue"
_ALL_WAIT = "SELECT bool_and(attempt = 2 AND lease_until <= tradewind_now()) FROM delivery_queue"
_SNAPSHOT = {
    "events": "SELECT account_id, number, id FROM event ORDER BY 1, 2",
    "heads": "SELECT account_id, last_number, last_event_id FROM journal_head ORDER BY 1",
    "orders": "SELECT id, version, status, payment_status FROM purchase_order ORDER BY 1",
    "queue": "SELECT id, event_id, attempt FROM delivery_queue ORDER BY 1",
    "attempts": "SELECT id, outcome FROM delivery_attempt ORDER BY 1",
}


@contextmanager
def running(launcher: ServerLauncher, url: str, market: Market, buyer: Person) -> Iterator[System]:
    """The API and a worker on one server, with a buyer."""
    with (
        launcher.serving_on(url, settings=simulated(market)) as api,
        launcher.working(url, settings=simulated(market)),
    ):
        yield System(api, market, buyer, buyer)


async def command(url: str, *words: str) -> str:
    """Run `tradewind` on a database, as an operator does; what it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tradewind", *words),
        env={**os.environ, "TRADEWIND_DATABASE_URL": url, "TRADEWIND_SECRET_KEY": SECRET_KEY},
        stdout=subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode()


async def snapshot(url: str) -> Mapping[str, list[tuple[Any, ...]]]:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return {
                name: [tuple(row) for row in await connection.fetch(query)]
                for name, query in _SNAPSHOT.items()
            }
    finally:
        await connection.close()


async def ask(url: str, query: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        if ";" in query:
            return await connection.execute(query)
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def until(url: str, query: str) -> None:
    """Wait until a query returns true."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not await ask(url, query):  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.1)


def back_up(primary: EmbeddedServer, folder: Path) -> None:
    program = str(embedded.bin_dir() / "pg_basebackup")
    options = ("-D", str(folder), "-d", primary.url(), "-c", "fast", "--no-sync")
    subprocess.run([program, *options], check=True, capture_output=True, timeout=60)


def restore(backup: Path, archive: Path, folder: Path, moment: str) -> None:
    script = [str(ROOT / "deploy/drills/restore"), str(backup), str(archive), str(folder), moment]
    # The pg_verifybackup of the wheel crashes whatever it is asked.
    environ = {**os.environ, "VERIFY": "no"}
    subprocess.run(script, check=True, capture_output=True, timeout=60, env=environ)


async def place(system: System, prefix: str, count: int) -> dict[str, str]:
    """Have a few writers place orders at the same time; what was acknowledged."""
    writers = await asyncio.to_thread(OrderWriters, system, prefix)
    tasks = [asyncio.create_task(writers.place(number)) for number in range(_WRITERS)]
    await writers.until_more(count, _PATIENCE_SECONDS)
    await writers.stop(tasks)
    await writers.close()
    return writers.acknowledged


@dataclass
class Loss:
    """What was there at the moment to return to, what came after it, and how far readers were."""

    expected: Mapping[str, list[tuple[Any, ...]]]
    moment: str
    kept: dict[str, str]
    lost: dict[str, str]
    delivered_after: set[str]
    cursor: str
    lost_cursor: str


@dataclass
class Return:
    """What happened on the restored server."""

    report: dict[str, Any]
    held: dict[str, Any]
    fresh: dict[str, str]
    unasked: int
    continued: list[str]
    rewound: Any
    facts: invariants.Facts


async def live_until_lost(
    system: System, primary: EmbeddedServer, endpoint: WebhookEndpoint, folder: Path
) -> Loss:
    """Place and deliver orders while a backup is made, choose a moment, and go on after it."""
    placing = asyncio.create_task(place(system, "first", 2 * _ORDERS))
    await asyncio.to_thread(back_up, primary, folder)
    kept = await placing
    await until(primary.url(), _QUEUE_IS_EMPTY)
    endpoint.answer = lambda _: 503  # at that moment, some deliveries wait for a retry
    kept |= await place(system, "second", _ORDERS)
    await until(primary.url(), _ALL_WAIT)
    expected = await snapshot(primary.url())
    _, cursor = await asyncio.to_thread(system.read_journal)
    moment = str(await ask(primary.url(), "SELECT clock_timestamp()"))
    await asyncio.sleep(0.1)
    endpoint.answer = lambda _: 200
    received = len(endpoint.received)
    await asyncio.to_thread(system.api.move_clock, _RETRY)
    await until(primary.url(), _QUEUE_IS_EMPTY)
    delivered_after = {request.event_id for request in endpoint.received[received:]}
    lost = await place(system, "lost", _ORDERS)
    await until(primary.url(), _QUEUE_IS_EMPTY)
    _, lost_cursor = await asyncio.to_thread(system.read_journal)
    return Loss(expected, moment, kept, lost, delivered_after, cursor, lost_cursor)


async def live_again(
    system: System, url: str, endpoint: WebhookEndpoint, loss: Loss, report: dict[str, Any]
) -> Return:
    """Take orders while deliveries are held, read from old cursors, then release them."""
    received = len(endpoint.received)
    await asyncio.to_thread(system.api.move_clock, _RETRY)
    fresh = await place(system, "fresh", _ORDERS)
    await asyncio.sleep(_QUIET_SECONDS)
    unasked = len(endpoint.received) - received
    continued, _ = await asyncio.to_thread(system.read_journal, loss.cursor)
    rewound = await asyncio.to_thread(system.call, "GET", f"/v1/events?after={loss.lost_cursor}")
    held = json.loads(await command(url, "queue", "status", "--json"))
    await command(url, "queue", "release")
    await until(url, _QUEUE_IS_EMPTY)
    facts = await asyncio.to_thread(invariants.read, system.api, system.market)
    return Return(report, held, fresh, unasked, continued, rewound, facts)


async def test_a_restored_server_has_everything_and_sends_nothing_unasked(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    archive, target = tmp_path / "archive", tmp_path / "restored"
    archive.mkdir()
    target.mkdir()
    copy = f'test ! -f "{archive}/%f" && cp "%p" "{archive}/%f"'
    keeping = {"archive_mode": "on", "archive_command": copy}
    async with AsyncExitStack() as stack:
        market = stack.enter_context(serving(tmp_path))
        endpoint = stack.enter_context(running_endpoint())
        primary = await stack.enter_async_context(
            embedded.running(tmp_path / "primary", options=keeping)
        )
        await command(primary.url(), "migrate")
        await ask(primary.url(), MOVABLE_CLOCK)
        buyer = await launcher.make_person(primary.url(), (Role.BUYER,), Plan.ENTERPRISE)
        with running(launcher, primary.url(), market, buyer) as system:
            hook = await asyncio.to_thread(
                system.ok, "POST", "/v1/webhooks", json={"url": endpoint.url()}
            )
            launcher.secrets.add(hook["secret"])
            loss = await live_until_lost(system, primary, endpoint, tmp_path / "backup")
        last = await ask(primary.url(), "SELECT pg_walfile_name(pg_switch_wal())")
        archived = f"SELECT last_archived_wal >= '{last}' FROM pg_stat_archiver"  # noqa: S608
        await until(primary.url(), archived)
        os.kill(primary.pid, signal.SIGKILL)

        began = time.monotonic()
        await asyncio.to_thread(
            restore, tmp_path / "backup", archive, target / "postgres", loss.moment
        )
        restored = await stack.enter_async_context(embedded.running(target))
        await until(restored.url(), "SELECT NOT pg_is_in_recovery()")
        seconds = time.monotonic() - began
        assert await snapshot(restored.url()) == loss.expected
        report = json.loads(await command(restored.url(), "restored", "--json"))
        received = len(endpoint.received)
        with running(launcher, restored.url(), market, buyer) as system:
            end = await live_again(system, restored.url(), endpoint, loss, report)

    _judge(loss, end, endpoint, received, seconds)


def _judge(
    loss: Loss, end: Return, endpoint: WebhookEndpoint, received: int, seconds: float
) -> None:
    resent = [request.event_id for request in endpoint.received[received:]]
    stored = {order["external_id"]: ids.ORDER.show(order["id"]) for order in end.facts.orders}
    journal = {ids.EVENT.show(row[2]) for row in loss.expected["events"]} | {*end.continued}
    taken = {request.event_id for request in endpoint.received}
    unknown = end.facts.there.keys() - {*stored.values()}
    answer = (end.rewound.status_code, end.rewound.json()["code"])
    figures = {
        "orders before the moment, all there": len(loss.kept),
        "events in the journal, without gaps": end.report["events"],
        "seconds from the loss to a server that takes writes": f"{seconds:.1f}",
        "deliveries held": end.report["deliveries_held"],
        "sent while they were held": end.unasked,
        "cursor from before the moment": f"continues, {len(end.continued)} new events",
        "cursor from after the moment": " ".join(map(str, answer)),
        "sent after the release": len(resent),
        "of them delivered before the loss, too": len(loss.delivered_after & {*resent}),
        "events never delivered": len(journal - taken),
        "orders of the lost time, at the marketplace only": len(unknown),
        "orders created twice": end.facts.second_orders(),
    }
    print(drill_report.write("restore", "Restore drill", figures))  # noqa: T201 - for `make`
    assert {**loss.kept, **end.fresh}.items() <= stored.items()
    assert not loss.lost.keys() & stored.keys()
    assert end.report["deliveries_held"] == len(loss.delivered_after) > 0
    assert end.held["deliveries"] > end.report["deliveries_held"]
    assert end.unasked == 0
    assert answer == (410, "events_rewound")
    assert not end.facts.misnumbered
    assert journal <= taken
    assert loss.delivered_after <= {*resent}
    assert len(resent) == len({*resent})
    assert unknown == {*loss.lost.values()}
    assert end.facts.second_orders() == 0
