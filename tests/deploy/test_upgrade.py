"""The upgrade drill: the previous version's processes beside this one's, on the new schema."""

import asyncio
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import asyncpg
import pytest
from kit import drill_report, invariants
from kit.blocks import ROOT
from kit.order_writers import OrderWriters
from kit.server import SECRET_KEY, Person, ServerLauncher
from kit.system import System, simulated
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from simulator.sandbox_kit import Market, serving

from tradewind import ids
from tradewind.auth.model import Plan, Role
from tradewind.storage import embedded

_MIGRATIONS = "tradewind/storage/migrations"
_ORDERS = 6
_PAID = 3
_PATIENCE_SECONDS = 60.0


def git(*words: str) -> bytes:
    """What a command of git prints; nothing where it fails, or where there is no history."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True)  # noqa: S607
    except FileNotFoundError:
        return b""
    return done.stdout if done.returncode == 0 else b""


def previous_version() -> str:
    """The commit to come from: UPGRADE_FROM, else the last tag, else before the last migration."""
    if chosen := os.environ.get("UPGRADE_FROM"):
        return chosen
    if tag := git("describe", "--tags", "--abbrev=0", "HEAD^").decode().strip():
        return tag
    newest = max(path.name for path in (ROOT / _MIGRATIONS).glob("*.sql"))
    added = git("log", "--format=%H", "--diff-filter=AR", "-1", "--", f"{_MIGRATIONS}/{newest}")
    commit = added.decode().strip()
    return f"{commit}^" if commit else "HEAD^"


@pytest.fixture
def previous(tmp_path: Path) -> tuple[str, Path]:
    """The name of the previous version, and a folder with its program."""
    version = previous_version()
    name = git("log", "-1", "--format=%h", version).decode().strip()
    archive = git("archive", version, "tradewind", "docs")
    if not name or not archive:
        figures = {"not run": f"{version} is not in this clone; fetch more of its history"}
        drill_report.write("upgrade", "Upgrade drill", figures)
        pytest.skip(f"{version} is not in this clone.")
    folder = tmp_path / "previous"
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return name, folder


async def program(url: str, folder: Path, *words: str) -> str:
    """What Python prints in the folder of a version."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        env={
            **os.environ,
            "TRADEWIND_DATABASE_URL": url,
            "TRADEWIND_SECRET_KEY": SECRET_KEY,
            "PYTHONPATH": str(folder),
        },
        stdout=subprocess.PIPE,
        cwd=folder,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode()


class Drill:
    """Two versions on one database, and writers of orders on the API of each."""

    def __init__(
        self, launcher: ServerLauncher, url: str, market: Market, people: Sequence[Person]
    ) -> None:
        self._launcher = launcher
        self._url = url
        self._market = market
        self._buyer, self._approver = people
        self.writers: list[OrderWriters] = []
        self._tasks: list[list[asyncio.Task[None]]] = []

    async def serving(self, stack: AsyncExitStack, folder: Path) -> System:
        settings = {**simulated(self._market), "PYTHONPATH": str(folder)}
        api = stack.enter_context(
            self._launcher.serving_on(self._url, workers=1, settings=settings, cwd=folder)
        )
        return System(api, self._market, self._buyer, self._approver)

    def working(self, stack: AsyncExitStack, folder: Path) -> None:
        settings = {**simulated(self._market), "PYTHONPATH": str(folder)}
        stack.enter_context(self._launcher.working(self._url, settings=settings, cwd=folder))

    async def write(self, system: System, name: str) -> OrderWriters:
        writers = await asyncio.to_thread(OrderWriters, system, name)
        self.writers.append(writers)
        self._tasks.append([asyncio.create_task(writers.place(number)) for number in range(2)])
        return writers

    async def stop(self, writers: OrderWriters) -> None:
        await writers.stop(self._tasks[self.writers.index(writers)])
        await writers.close()

    async def more(self, writers: OrderWriters) -> None:
        await writers.until_more(_ORDERS, _PATIENCE_SECONDS)


async def until(url: str, query: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not await connection.fetchval(query):  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.1)
    finally:
        await connection.close()


def ask_for_payment(system: System, orders: Sequence[str]) -> list[str]:
    payments = []
    for order in orders:
        system.until(order, lambda shown: shown["status"] == "pending_payment")
        payments.append(system.request_payment(order)["id"])
    return payments


async def test_the_previous_version_works_beside_this_one(
    launcher: ServerLauncher, previous: tuple[str, Path], tmp_path: Path
) -> None:
    name, old = previous
    new = ROOT
    async with AsyncExitStack() as stack:
        market = stack.enter_context(serving(tmp_path))
        endpoint = stack.enter_context(running_endpoint())
        server = await stack.enter_async_context(embedded.running(tmp_path / "database"))
        url = server.url()
        location = "import tradewind; print(tradewind.__file__)"
        assert (await program(url, old, "-c", location)).startswith(f"{old}/")
        await program(url, old, "-m", "tradewind", "migrate")
        people = [
            await launcher.make_person(url, (role,), Plan.ENTERPRISE)
            for role in (Role.BUYER, Role.APPROVER)
        ]
        drill = Drill(launcher, url, market, people)
        old_stack = await stack.enter_async_context(AsyncExitStack())
        before = await drill.serving(old_stack, old)
        drill.working(old_stack, old)
        hook = await asyncio.to_thread(
            before.ok, "POST", "/v1/webhooks", json={"url": endpoint.url()}
        )
        launcher.secrets.add(hook["secret"])
        old_writers = await drill.write(before, "previous")
        await drill.more(old_writers)

        applied = await program(url, new, "-m", "tradewind", "migrate")
        migrated = len(old_writers.acknowledged)
        await drill.more(old_writers)
        alone = len(old_writers.acknowledged) - migrated
        orders = list(old_writers.acknowledged.values())[:_PAID]
        payments = await asyncio.to_thread(ask_for_payment, before, orders)
        after = await drill.serving(stack, new)
        drill.working(stack, new)
        new_writers = await drill.write(after, "new")
        await asyncio.gather(drill.more(old_writers), drill.more(new_writers))
        for payment in payments:
            await asyncio.to_thread(after.approve, payment)
        ready = [system.call("GET", "/readyz").status_code for system in (before, after)]
        await drill.stop(old_writers)
        await old_stack.aclose()
        await drill.more(new_writers)
        await drill.stop(new_writers)
        await until(url, "SELECT count(*) = 0 FROM delivery_queue")
        await until(
            url,
            "SELECT count(*) = 0 FROM purchase_order WHERE status = 'creating'"
            " OR payment_status IN ('approved', 'processing')",
        )
        await until(url, "SELECT count(*) = 0 FROM delivery_queue")
        facts = await asyncio.to_thread(invariants.read, after.api, market)

    _judge(Outcome(name, applied.strip(), alone, ready, drill.writers, facts), endpoint)


@dataclass
class Outcome:
    """What was done, and what both sides say of it."""

    version: str
    migrations: str
    alone: int
    ready: list[int]
    writers: Sequence[OrderWriters]
    facts: invariants.Facts


def _judge(end: Outcome, endpoint: WebhookEndpoint) -> None:
    facts = end.facts
    old_writers, new_writers = end.writers
    acknowledged = {**old_writers.acknowledged, **new_writers.acknowledged}
    stored = {order["external_id"]: ids.ORDER.show(order["id"]) for order in facts.orders}
    journal = {ids.EVENT.show(event) for events in facts.events.values() for event in events}
    delivered = [request.event_id for request in endpoint.received]
    answers = [answer.status_code for writer in end.writers for _, answer in writer.answers]
    paid = sum(order["payment_status"] == "paid" for order in facts.orders)
    figures = {
        "from": end.version,
        "migrations": end.migrations,
        "orders by the previous version alone on the new schema": end.alone,
        "orders by the previous version, in all": len(old_writers.acknowledged),
        "orders by this version beside it, and alone": len(new_writers.acknowledged),
        "requests that failed": sum(status != 201 for status in answers),
        "ready on the new schema, previous and this": " and ".join(map(str, end.ready)),
        "payments asked for by one, approved by the other": f"{paid} of {_PAID} paid",
        "events": len(journal),
        "of them lost": len(journal - {*delivered}),
        "of them sent twice": len(delivered) - len({*delivered}),
        "orders created twice": facts.second_orders(),
        "debits made twice": facts.second_debits(),
    }
    print(drill_report.write("upgrade", "Upgrade drill", figures))  # noqa: T201 - for `make`
    assert set(answers) == {201}
    assert end.ready == [200, 200]
    assert stored == acknowledged
    assert paid == _PAID
    assert journal == {*delivered}
    invariants.assert_holds(facts)
