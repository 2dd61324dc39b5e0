"""A fault of the cluster under load: two buyers, payments, deliveries, and the evidence of all."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx
from simulator.sandbox_kit import Market

from kit import chaos, invariants
from kit.cluster_judge import Evidence
from kit.cluster_load import Payments, balanced_client
from kit.invariants import Facts
from kit.order_writers import OrderWriters
from kit.postgres import MOVABLE_CLOCK
from kit.server import Person, Server, ServerLauncher
from kit.system import System
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from tools.cluster.layout import Kind
from tools.cluster.run import Cluster
from tradewind import ids
from tradewind.auth.model import Plan, Role
from tradewind.orders.idempotency import PENDING

_NEXT_SECONDS = 0.5
_PAUSE_SECONDS = 0.3
_PAY_EVERY = 3
_PATIENCE_SECONDS = 60.0
_SPEED = 20


@dataclass
class Buyer:
    """An account that places orders, with a webhook of its own."""

    system: System
    path: str
    orders: OrderWriters
    writing: list[asyncio.Task[None]] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    cursor: str = ""

    def start(self) -> None:
        """Place orders: one writer repeats what is not acknowledged, one goes on with the next."""
        self.writing = [
            asyncio.create_task(self.orders.place(1)),
            asyncio.create_task(self.orders.place(2, new_key_after=_NEXT_SECONDS)),
        ]

    async def read_on(self) -> None:
        """Read what is new in the journal, by the cursor of the last time."""
        events, self.cursor = await asyncio.to_thread(self.system.read_journal, self.cursor)
        self.read += events


class ClusterLoad:
    """Orders, payments and deliveries that go on until they are told to stop."""

    def __init__(
        self, api: Server, endpoint: WebhookEndpoint, buyers: Sequence[Buyer], payments: Payments
    ) -> None:
        self._api = api
        self._endpoint = endpoint
        self.buyers = buyers
        self._payments = payments
        self._paying: asyncio.Task[None] | None = None
        self._going = True

    @property
    def times(self) -> list[tuple[float, float]]:
        """When each acknowledged order was sent and answered."""
        return [item for buyer in self.buyers for item in buyer.orders.times]

    @property
    def acknowledged(self) -> int:
        return sum(len(buyer.orders.acknowledged) for buyer in self.buyers)

    @property
    def delivered_at(self) -> list[float]:
        return sorted(request.at for request in self._endpoint.received)

    def start(self) -> None:
        for buyer in self.buyers:
            buyer.start()
        self._paying = asyncio.create_task(self._pay())

    async def _pay(self) -> None:
        """Pay some of the orders of the first buyer, one after the other."""
        number = 0
        orders = self.buyers[0].orders.acknowledged
        while self._going:
            if number < len(orders):
                await self._payments.pay(list(orders.values())[number])
                number += _PAY_EVERY
            else:
                await asyncio.sleep(0.1)

    async def until_more(self, count: int, patience: float) -> None:
        for buyer in self.buyers:
            await buyer.orders.until_more(count, patience)

    async def until_sent_after(self, moment: float, patience: float) -> None:
        """Wait until an order is acknowledged that was sent after this moment."""
        async with asyncio.timeout(patience):
            while not any(sent >= moment for sent, _ in self.times):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def until_rejected(self, count: int, patience: float) -> None:
        """Wait until so many more orders than now were answered with 503."""
        wanted = self._rejected() + count
        async with asyncio.timeout(patience):
            while self._rejected() < wanted:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.02)

    def _rejected(self) -> int:
        answers = [answer for buyer in self.buyers for _, answer in buyer.orders.answers]
        return sum(answer.status_code == httpx.codes.SERVICE_UNAVAILABLE for answer in answers)

    async def read_on(self) -> None:
        for buyer in self.buyers:
            await buyer.read_on()

    async def stop(self) -> None:
        """Let what is under way come to its end."""
        self._going = False
        async with asyncio.timeout(_PATIENCE_SECONDS):
            for buyer in self.buyers:
                await buyer.orders.stop(buyer.writing)
            if self._paying is not None:
                await self._paying

    async def finish(self) -> None:
        """Repeat every request, and have orders and deliveries brought to their end."""
        await asyncio.to_thread(self._api.move_clock, PENDING)
        for buyer in self.buyers:
            await buyer.orders.repeat_all()
        await asyncio.to_thread(self._drain)
        await self.read_on()

    def _drain(self) -> None:
        with chaos.accelerated_clock(self._api, self.buyers[0].system.market, _SPEED):
            chaos.wait_until_decided(self._api, _PATIENCE_SECONDS)
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while left := self._api.fetch("SELECT * FROM delivery_queue LIMIT 5"):
                assert time.monotonic() < deadline, [dict(row) for row in left]
                time.sleep(0.2)

    async def collect(self) -> tuple[list[Evidence], Facts]:
        """What everybody saw, for each buyer."""
        facts = await asyncio.to_thread(invariants.read, self._api, self.buyers[0].system.market)
        query = "SELECT id, account_id, purchase_order_id FROM event"
        events = await asyncio.to_thread(self._api.fetch, query)
        return [self._evidence(buyer, facts, events) for buyer in self.buyers], facts

    def _evidence(self, buyer: Buyer, facts: Facts, events: Sequence[Any]) -> Evidence:
        account = buyer.system.buyer.uuid
        statuses = Counter(answer.status_code for _, answer in buyer.orders.answers)
        is_first = buyer is self.buyers[0]
        return Evidence(
            acknowledged=buyer.orders.acknowledged,
            sent=buyer.orders.sent,
            stored={
                order["external_id"]: ids.ORDER.show(order["id"])
                for order in facts.orders
                if order["account_id"] == account
            },
            approved=self._payments.approved if is_first else set(),
            debits={
                reference: sum(len(facts.debits[order["id"]]) for order in orders)
                for reference, orders in facts.there.items()
            },
            journaled={
                ids.EVENT.show(event["id"]): ids.ORDER.show(event["purchase_order_id"])
                for event in events
                if event["account_id"] == account
            },
            delivered=[request.event_id for request in self._endpoint.at(buyer.path)],
            read=buyer.read,
            statuses=statuses + self._payments.statuses if is_first else statuses,
        )

    async def close(self) -> None:
        await self._payments.close()
        for buyer in self.buyers:
            await buyer.orders.close()


@asynccontextmanager
async def loaded(cluster: Cluster, launcher: ServerLauncher) -> AsyncIterator[ClusterLoad]:
    """Two buyers with a webhook each, whose orders are placed through all API hosts."""
    connection = await asyncpg.connect(cluster.database_url, timeout=10)
    await connection.execute(MOVABLE_CLOCK)
    await connection.close()
    url = cluster.database_url
    buyers = [await launcher.make_person(url, (Role.BUYER,), Plan.ENTERPRISE) for _ in range(2)]
    approver = await launcher.make_person(url, (Role.APPROVER,), Plan.ENTERPRISE)
    async with AsyncExitStack() as stack:
        endpoint = stack.enter_context(running_endpoint(cluster.layout.gateway))
        base = await asyncio.to_thread(cluster.reach_endpoint, endpoint.port)
        market = Market(cluster.layout.marketplace_url)
        stack.callback(market.client.close)
        api = _server(cluster, launcher)
        stack.callback(api.client.close)
        urls = cluster.layout.api_urls
        prepared = [
            await asyncio.to_thread(
                _prepare, System(api, market, person, approver), urls, base, f"/buyer{number}"
            )
            for number, person in enumerate(buyers, 1)
        ]
        load = ClusterLoad(api, endpoint, prepared, Payments(urls, buyers[0], approver))
        stack.push_async_callback(load.close)
        load.start()
        yield load


def _server(cluster: Cluster, launcher: ServerLauncher) -> Server:
    host = cluster.layout.of_kind(Kind.API)[0]
    log = cluster.programs.logs / f"{host.name}.log"
    process = cluster.programs.processes[host.name][-1]
    return Server(cluster.database_url, launcher, cluster.layout.api_urls[0], log, process)


def _prepare(system: System, urls: Sequence[str], base: str, path: str) -> Buyer:
    hook = system.ok("POST", "/v1/webhooks", json={"url": f"{base}{path}"})
    system.api.launcher.secrets.add(hook["secret"])
    person: Person = system.buyer
    client = balanced_client(urls, person.headers)
    return Buyer(system, path, OrderWriters(system, path, client=client, pause=_PAUSE_SECONDS))
