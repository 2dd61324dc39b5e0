"""A database with an account, and webhooks and queued events for benchmarks of deliveries."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg

from bench.endpoints import Endpoints
from bench.servers import tree_cpu_seconds
from bench.subscribe import subscribe
from tradewind import ids
from tradewind.delivery.engine import ENGINE_CONNECTIONS, ENGINE_SESSION_SETTINGS, Engine
from tradewind.egress.guard import Policy
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.wakeups import Wakeup

_PATIENCE_SECONDS = 120.0
# The body of an event, with a place for its id.
BODY = (
    '{"id":"%s","event":"order.updated","created_at":'
    '"2026-11-15T01:02:03.004Z","data":{"order":{"id":"ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW","platform":'
    '"sandbox","order_id":"1688001","status":"paid","payment_status":"paid",'
    '"platform_payment_status":"paid","total_amount_cny":128.5,'
    '"updated_at":"2026-11-15T01:02:03.004Z"}}}'
)


@dataclass(frozen=True)
class Cost:
    """What deliveries took: their rate, and the CPU of this process and of PostgreSQL for each."""

    rate: float
    cpu: float
    database_cpu: float = 0.0

    @property
    def whole_cpu(self) -> float:
        return self.cpu + self.database_cpu


class Meter:
    """Measures from its creation on, PostgreSQL too if its process id is given."""

    def __init__(self, postmaster: int | None = None) -> None:
        self._postmaster = postmaster
        self._began = time.perf_counter()
        self._cpu = time.process_time()
        self._database_cpu = self._database_seconds()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def cost(self, number: int) -> Cost:
        return Cost(
            number / self.seconds,
            (time.process_time() - self._cpu) / number,
            (self._database_seconds() - self._database_cpu) / number,
        )

    def _database_seconds(self) -> float:
        return 0.0 if self._postmaster is None else tree_cpu_seconds(self._postmaster)


class Bench:
    """A database with an account, and subscriptions and events on request."""

    def __init__(self, url: str, db: Database, engine_db: Database, keyring: Keyring) -> None:
        self.url = url
        self.db = db
        self.engine_db = engine_db
        self.keyring = keyring
        self.account: UUID
        self.wake = Wakeup()

    async def prepare(self) -> None:
        self.account = await self.make_account()

    async def make_account(self) -> UUID:
        """Another account; it has no webhook."""
        account_id = ids.new()
        await self.db.execute(
            """
            INSERT INTO account (id, email, roles, plan, created_at, updated_at)
            VALUES ($1, $2, '{buyer}', 'pro', now(), now())
            """,
            account_id,
            f"{account_id}@bench.example",
        )
        return account_id

    async def subscribe(self, url: str, account_id: UUID | None = None) -> UUID:
        """Subscribe a URL to the events of an account, or of that which every bench has."""
        return await subscribe(self.db, self.keyring, account_id or self.account, url)

    async def queue(self, subscriptions: Sequence[UUID], number: int) -> None:
        """Queue `number` events, one a microsecond, dealt out over the subscriptions."""
        await self.db.execute(
            """
            WITH input AS MATERIALIZED (
                SELECT id, ordinal, now() - ($4 - ordinal) * interval '1 microsecond' AS at
                  FROM unnest($3::uuid[]) WITH ORDINALITY AS input (id, ordinal)
            ),
            head AS (
                INSERT INTO journal_head AS head (account_id, last_number, last_event_id)
                SELECT $1, ordinal, id FROM input WHERE ordinal = $4
                ON CONFLICT (account_id) DO UPDATE
                   SET last_number = head.last_number + excluded.last_number,
                       last_event_id = excluded.last_event_id
                RETURNING last_number
            ),
            inserted AS (
                INSERT INTO event (id, account_id, number, purchase_order_id, type, body,
                                   created_at)
                SELECT id, $1, last_number - $4 + ordinal, id, 'order.updated',
                       convert_to(format($2, id), 'UTF8'), at
                  FROM input, head
            )
            INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id,
                                        event_at, due_at, event, purchase_order_id)
            SELECT $1, ($5::uuid[])[1 + ordinal % $6], 1, id, at, at, 'order.updated', id
              FROM input
            """,
            self.account,
            BODY,
            [ids.new() for _ in range(number)],
            number,
            list(subscriptions),
            len(subscriptions),
        )
        self.wake.set()

    async def pending(self, subscriptions: Sequence[UUID]) -> bool:
        """Whether anything is left; a count would take as long as some of the work."""
        is_pending: bool = await self.db.fetchval(
            """
            SELECT EXISTS (SELECT FROM unnest($1::uuid[]) AS subscription (id)
                            WHERE EXISTS (SELECT FROM delivery_queue
                                           WHERE subscription_id = subscription.id))
            """,
            list(subscriptions),
        )
        return is_pending

    async def latencies(
        self, subscriptions: Sequence[UUID], number: int, arrivals: Mapping[str, float]
    ) -> Sequence[float]:
        """Seconds from the commit to the arrival, of the latest `number` events, latest first.

        `arrivals` are those that the metered endpoint noted, on another clock of this machine.
        """
        rows = await self.db.fetch(
            """
            SELECT event_id, extract(epoch FROM event_at)::float AS at
              FROM delivery_attempt
             WHERE subscription_id = ANY ($1::uuid[])
             ORDER BY event_at DESC
             LIMIT $2
            """,
            list(subscriptions),
            number,
        )
        between = time.time() - time.perf_counter()
        return [arrivals[str(row["event_id"])] + between - row["at"] for row in rows]

    async def queue_bad(self, endpoints: Endpoints, number: int) -> None:
        """Queue `number` events each for a black hole, a dead name and an endpoint that drips."""
        for url in (endpoints.black_hole, "http://dead.invalid/hook", endpoints.dripping):
            await self.queue([await self.subscribe(url)], number)
        await self.settle("delivery_queue")

    async def postmaster(self) -> int:
        """The process id of the server, which runs on this machine."""
        data_directory: str = await self.db.fetchval("SHOW data_directory")
        return int((Path(data_directory) / "postmaster.pid").read_text().splitlines()[0])

    async def clear(self) -> None:
        """Remove what a figure left behind, so that the next one is not measured beside it."""
        await self.db.execute(
            "TRUNCATE delivery_queue, delivery_attempt, subscription_hour, subscription_health"
        )
        await self.db.execute("DELETE FROM webhook_subscription")
        await self.settle()

    async def settle(self, *tables: str) -> None:
        """Vacuum what was written, and write it to the disk, now.

        Autovacuum and a checkpoint would do it while something is measured, and their CPU is
        PostgreSQL's.
        """
        connection = await asyncpg.connect(self.url)  # without the pool's time limit
        names = ", ".join(["event", "journal_head", "webhook_subscription", *tables])
        try:
            await connection.execute(f"VACUUM (ANALYZE) {names}")
            await connection.execute("CHECKPOINT")
        finally:
            await connection.close()

    @asynccontextmanager
    async def working(self, name_servers: Sequence[str] = ()) -> AsyncIterator[Engine]:
        """An engine that delivers while the block lasts."""
        resolver = Resolver(name_servers)
        sender = Sender(Policy(development=True), resolver)
        engine = Engine(self.db, self.keyring, sender, engine_db=self.engine_db)
        stop = asyncio.Event()
        task = asyncio.create_task(engine.run(stop, self.wake))
        try:
            yield engine
        finally:
            stop.set()
            await asyncio.wait({task}, timeout=30)
            await sender.close()
            await resolver.close()

    async def drain(self, subscriptions: Sequence[UUID], number: int) -> Cost:
        """Queue `number` deliveries, and deliver until none of them is left."""
        await self.queue(subscriptions, number)
        return await self.drain_queued(subscriptions, number)

    async def drain_queued(self, subscriptions: Sequence[UUID], number: int) -> Cost:
        """Deliver until none of the `number` deliveries in the queue is left."""
        meter = Meter(await self.postmaster())
        async with self.working():
            await self._delivered(subscriptions, meter)
            return meter.cost(number)

    async def deliver(self, subscriptions: Sequence[UUID], number: int) -> Cost:
        """Queue `number` deliveries, and let the engine that runs deliver them."""
        await self.queue(subscriptions, number)
        meter = Meter(await self.postmaster())
        self.wake.set()
        await self._delivered(subscriptions, meter)
        return meter.cost(number)

    async def _delivered(self, subscriptions: Sequence[UUID], meter: Meter) -> None:
        # While the first has something, nobody asks for all: a thousand questions are work too.
        while await self.pending(subscriptions[:1]) or await self.pending(subscriptions):
            if meter.seconds > _PATIENCE_SECONDS:
                raise RuntimeError("The queue was not drained in time.")
            await asyncio.sleep(0.1)


@asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[Bench]:
    """A bench on a database, with an account of its own."""
    db = Database(database_url, size=8, name="bench")
    engine_db = Database(
        database_url, size=ENGINE_CONNECTIONS, name="bench", settings=ENGINE_SESSION_SETTINGS
    )
    await db.open()
    await engine_db.open()
    try:
        bench = Bench(database_url, db, engine_db, Keyring([DEVELOPMENT_SECRET]))
        await bench.prepare()
        yield bench
    finally:
        await engine_db.close()
        await db.close()
