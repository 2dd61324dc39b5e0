"""The database goes away under load and comes back: nothing acknowledged is lost, nothing hangs."""

import asyncio
import os
import signal
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import httpx
import pytest
from kit import chaos, invariants, scorecard
from kit.invariants import Facts
from kit.order_writers import OrderWriters
from kit.postgres import MOVABLE_CLOCK
from kit.processes import family_of
from kit.server import Person, Server, ServerLauncher
from kit.system import System, simulated
from simulator.sandbox_kit import Market, serving

from tradewind import ids
from tradewind.auth.model import Plan, Role
from tradewind.orders.idempotency import PENDING
from tradewind.storage import embedded
from tradewind.storage.embedded import EmbeddedServer
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

_CLIENTS = 8
_WRITERS = 4
_MOST_KEYS = 90  # an account may have a hundred
_LONGEST_ANSWER = 5.0
_LONGEST_RECOVERY = 5.0


async def _migrate(url: str) -> None:
    db = Database(url, size=1, name="test")
    await db.open()
    await migrate(db)
    await db.execute(MOVABLE_CLOCK)
    await db.close()


async def _stop_wal_writer(server: EmbeddedServer, how: signal.Signals) -> None:
    """Have only those commits written that wait for the disk, before a server ends at once."""
    if how is not signal.SIGQUIT:
        return
    connection = await asyncpg.connect(server.url())
    try:
        writer = await connection.fetchval(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"
        )
    finally:
        await connection.close()
    os.kill(writer, signal.SIGSTOP)


class Watch:
    """Asks all the time and writes down what came back, when, and how long it took."""

    def __init__(self, api: Server, headers: dict[str, str]) -> None:
        self._client = httpx.AsyncClient(base_url=api.url, headers=headers, timeout=20)
        self._going = True
        self.answers: list[tuple[float, float, httpx.Response]] = []

    async def ask(self) -> None:
        while self._going:
            sent = time.monotonic()
            answer = await self._client.get("/v1/me")
            self.answers.append((sent, time.monotonic() - sent, answer))
            await asyncio.sleep(0.005)

    async def until(self, status: int, since: float, patience: float) -> float:
        """Wait until a request sent after `since` got `status`; how long after it was sent."""
        async with asyncio.timeout(patience):
            while True:
                for sent, took, answer in self.answers:
                    if sent >= since and answer.status_code == status:
                        return sent + took - since
                await asyncio.sleep(0.02)

    async def stop(self, tasks: list[asyncio.Task[None]]) -> None:
        self._going = False
        await asyncio.gather(*tasks)
        await self._client.aclose()


class Keys:
    """Makes API keys, which takes one transaction each, until it is stopped."""

    def __init__(self, api: Server, person: Person) -> None:
        self._client = httpx.AsyncClient(base_url=api.url, headers=person.headers, timeout=20)
        self._secrets = api.launcher.secrets
        self._going = True
        self.answers: list[tuple[float, httpx.Response]] = []
        self.acknowledged: set[str] = set()
        self.made_one = asyncio.Event()

    async def make(self) -> None:
        while self._going and len(self.acknowledged) < _MOST_KEYS:
            sent = time.monotonic()
            answer = await self._client.post("/v1/api-keys", json={"name": "made under load"})
            self.answers.append((time.monotonic() - sent, answer))
            if answer.status_code == 201:
                self._secrets.add(answer.json()["key"])
                self.acknowledged.add(answer.json()["id"])
                self.made_one.set()
            await asyncio.sleep(0.3)

    async def until_one_more(self) -> None:
        self.made_one.clear()
        async with asyncio.timeout(10):
            await self.made_one.wait()

    async def stop(self, task: asyncio.Task[None]) -> None:
        self._going = False
        await task
        await self._client.aclose()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
async def test_nothing_acknowledged_is_lost_and_only_503_while_it_is_away(
    launcher: ServerLauncher, tmp_path: Path, how: signal.Signals
) -> None:
    problems: list[str] = []
    async with AsyncExitStack() as stack:
        market = stack.enter_context(serving(tmp_path))
        settings = simulated(market)
        async with embedded.running(tmp_path / "data") as first:
            url = first.url()
            await _migrate(url)
            api = stack.enter_context(launcher.serving_on(url, settings=settings))
            stack.enter_context(launcher.working(url, settings=settings))
            buyer = await launcher.make_person(url, (Role.BUYER,), Plan.ENTERPRISE)
            system = System(api, market, buyer, buyer)
            orders = await asyncio.to_thread(OrderWriters, system)
            watch = Watch(api, buyer.headers)
            reading = [asyncio.create_task(watch.ask()) for _ in range(_CLIENTS)]
            keys = Keys(api, buyer)
            making = asyncio.create_task(keys.make())
            writing = [asyncio.create_task(orders.place(n)) for n in range(_WRITERS)]
            await watch.until(200, 0, 10)
            await orders.until_more(_WRITERS, 20)
            await _stop_wal_writer(first, how)
            await keys.until_one_more()  # nothing has time to be written to disk afterwards
            os.kill(first.pid, how)
            await watch.until(503, time.monotonic(), 10)
            not_ready = await asyncio.to_thread(api.call, "GET", "/readyz")
        async with embedded.running(tmp_path / "data"):
            recovery = await watch.until(200, time.monotonic(), 15)
            await orders.until_more(_WRITERS, 20)
            await watch.stop(reading)
            await orders.stop(writing)
            await keys.stop(making)
            listed = await asyncio.to_thread(api.fetch, "SELECT id FROM api_key")
            api.move_clock(PENDING)  # a request that the outage interrupted counts as in flight
            repeated = await orders.repeat_all()
            await orders.close()
            facts = await asyncio.to_thread(_finish, api, market, problems)

    stored = {order["external_id"]: ids.ORDER.show(order["id"]) for order in facts.orders}
    keys_listed = {ids.API_KEY.show(row["id"]) for row in listed}
    scorecard.record(
        3,
        len(orders.acknowledged) + len(keys.acknowledged),
        kills=1,
        lost=len(orders.acknowledged.items() - stored.items())
        + len(keys.acknowledged - keys_listed),
        duplicates=len(facts.orders) - len(stored),
        recovery=[recovery],
        longest_answer_seconds=max(took for _, took, _ in watch.answers),
    )
    assert problems == []
    _check_facts(facts, len(stored))
    assert not_ready.status_code == 503
    assert {answer.status_code for _, _, answer in watch.answers} == {200, 503}
    assert {answer.status_code for _, answer in orders.answers} <= {201, 409, 503}
    assert {answer.status_code for _, answer in keys.answers} <= {201, 503}
    _check(orders.answers + keys.answers + [(took, answer) for _, took, answer in watch.answers])
    assert recovery < _LONGEST_RECOVERY
    assert any(answer.status_code == 503 for _, answer in orders.answers)
    assert keys.acknowledged <= keys_listed
    assert orders.acknowledged.items() <= repeated.items()
    assert stored == repeated


def _check(answers: Iterable[tuple[float, httpx.Response]]) -> None:
    for took, answer in answers:
        assert took < _LONGEST_ANSWER
        if answer.status_code == 503:
            assert answer.json()["code"] == "database_unavailable"
            assert int(answer.headers["retry-after"]) >= 1
        if answer.status_code == 409:  # it is back, and a first try may have had its effect
            assert answer.json()["code"] == "request_in_flight"


def _check_facts(facts: Facts, stored: int) -> None:
    invariants.assert_holds(facts)
    assert len(facts.orders) == stored, "each exists once"
    assert sum(map(len, facts.there.values())) == stored, "and was bought once"


def _finish(api: Server, market: Market, problems: list[str]) -> Facts:
    """Let the worker find out about orders that the outage interrupted, then read everything."""
    with chaos.accelerated_clock(api, market, 20), scorecard.kept_for_later(problems):
        chaos.wait_until_decided(api, 30)
    return invariants.read(api, market)


async def test_a_database_that_hangs_is_told_in_time(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    async with embedded.running(tmp_path / "data") as server:
        await _migrate(server.url())
        person = await launcher.make_person(server.url(), (Role.BUYER,), Plan.ENTERPRISE)
        stack = launcher.serving_on(server.url(), workers=1)
        api = await asyncio.to_thread(stack.__enter__)
        watch = Watch(api, person.headers)
        tasks = [asyncio.create_task(watch.ask()) for _ in range(_CLIENTS)]
        await watch.until(200, 0, 10)
        frozen = [server.pid, *family_of(server.pid)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            await watch.until(503, time.monotonic(), 10)
            not_ready = await asyncio.to_thread(api.call, "GET", "/readyz")
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        recovery = await watch.until(200, time.monotonic(), 15)
        await watch.stop(tasks)
        await asyncio.to_thread(stack.__exit__, None, None, None)

    scorecard.record(
        3,
        0,
        kills=1,
        recovery=[recovery],
        longest_answer_seconds=max(took for _, took, _ in watch.answers),
    )
    assert not_ready.status_code == 503
    assert {answer.status_code for _, _, answer in watch.answers} == {200, 503}
    _check((took, answer) for _, took, answer in watch.answers)
    assert recovery < _LONGEST_RECOVERY
