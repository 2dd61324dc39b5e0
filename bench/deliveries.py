"""The delivery engine against bare pycurl: rate, fairness, latency and cost."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean, median, quantiles
from uuid import UUID

import asyncpg

from bench import one_post, processes, workers
from bench import sender as bare_sender
from bench.endpoints import Endpoints
from bench.results import Results
from bench.servers import tree_cpu_seconds
from bench.subscribe import subscribe
from tradewind import ids
from tradewind.delivery.engine import ENGINE_CONNECTIONS, ENGINE_SESSION_SETTINGS, Engine
from tradewind.egress.guard import Policy
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.observability import logs
from tradewind.runtime.wiring import tune_garbage_collection
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

PAIRS = 5
DRAIN = 50_000
TURNS = 20
TURN = 10_000
POISON = 10_000
HEALTHY = 50
MILLION = 1_000_000
FLOW_SECONDS = 6.0
FLOW_RATE = 200
FAN_OUT = 100
FAN_OUT_EVENTS = 300
SINGLE_EVENTS = 5_000
ACROSS = 9
ACROSS_RATE = 60
_PATIENCE_SECONDS = 120.0
_AT_A_TIME = 50_000
_PARTS = 20  # of a long queue
_BODY = (
    b'{"id":"evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW","event":"order.updated","created_at":'
    b'"2026-11-15T01:02:03.004Z","data":{"order":{"id":"ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW","platform":'
    b'"sandbox","order_id":"1688001","status":"paid","payment_status":"paid",'
    b'"platform_payment_status":"paid","total_amount_cny":128.5,'
    b'"updated_at":"2026-11-15T01:02:03.004Z"}}}'
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
        self.account = ids.new()
        self.wake = asyncio.Event()

    async def prepare(self) -> None:
        await self.db.execute(
            """
            INSERT INTO account (id, email, roles, plan, created_at, updated_at)
            VALUES ($1, $2, '{buyer}', 'pro', now(), now())
            """,
            self.account,
            f"{self.account}@bench.example",
        )

    async def subscribe(self, url: str) -> UUID:
        return await subscribe(self.db, self.keyring, self.account, url)

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
                SELECT id, $1, last_number - $4 + ordinal, id, 'order.updated', $2, at
                  FROM input, head
            )
            INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id,
                                        event_at, due_at, event, purchase_order_id)
            SELECT $1, ($5::uuid[])[1 + ordinal % $6], 1, id, at, at, 'order.updated', id
              FROM input
            """,
            self.account,
            _BODY,
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

    async def latencies(self, subscriptions: Sequence[UUID], number: int) -> Sequence[float]:
        """Seconds from the commit to the endpoint's answer, of the latest `number` events."""
        rows = await self.db.fetch(
            """
            SELECT extract(epoch FROM started_at - event_at)::float + duration_ms / 1000.0 AS took
              FROM delivery_attempt
             WHERE subscription_id = ANY ($1::uuid[])
             ORDER BY event_at DESC
             LIMIT $2
            """,
            list(subscriptions),
            number,
        )
        return [row["took"] for row in rows]

    async def queue_bad(self, endpoints: Endpoints, number: int) -> None:
        """Queue `number` events each for a black hole, a dead name and an endpoint that drips."""
        for url in (endpoints.black_hole, "http://dead.invalid/hook", endpoints.dripping):
            await self.queue([await self.subscribe(url)], number)

    async def postmaster(self) -> int:
        """The process id of the server, which runs on this machine."""
        data_directory: str = await self.db.fetchval("SHOW data_directory")
        return int((Path(data_directory) / "postmaster.pid").read_text().splitlines()[0])

    async def clear(self) -> None:
        """Remove what a figure left behind, so that the next one is not measured beside it.

        Events stay. They are vacuumed and written now: autovacuum and a checkpoint would do it
        while something else is measured, and their CPU is PostgreSQL's.
        """
        await self.db.execute(
            "TRUNCATE delivery_queue, delivery_attempt, subscription_hour, subscription_health"
        )
        await self.db.execute("DELETE FROM webhook_subscription")
        connection = await asyncpg.connect(self.url)  # without the pool's time limit
        try:
            await connection.execute("VACUUM (ANALYZE) event, journal_head, webhook_subscription")
            await connection.execute("CHECKPOINT")
        finally:
            await connection.close()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Engine]:
        """An engine that delivers while the block lasts."""
        resolver = Resolver()
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


async def run(database_url: str, results: Results) -> None:
    """Tell every figure."""
    logs.configure("json", "error")
    tune_garbage_collection()
    async with opened(database_url) as bench:
        with Endpoints() as endpoints:
            results.section("Deliveries")
            for figure in (
                _drain,
                _price,
                _one_post,
                _fairness,
                _latency,
                _many,
                _processes,
                _workers,
                _million,
            ):
                await figure(bench, endpoints, results)
                await bench.clear()


async def _drain(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What one engine spends on a delivery, against bare pycurl before and after.

    The ratio is one of CPU. A ratio of rates depends on how the system shares two cores between
    the engine, PostgreSQL and the endpoint: from run to run it changed by a third.
    """
    ratios, costs = [], []
    before = await _bare(endpoints)
    for _ in range(PAIRS):
        costs.append(await bench.drain([await bench.subscribe(endpoints.good)], DRAIN))
        await bench.clear()
        after = await _bare(endpoints)
        ratios.append(mean((before.cpu, after.cpu)) / costs[-1].cpu)
        before = after
    ratio = median(ratios)
    results.tell(ratio, "CPU of a bare POST by pycurl, against a whole delivery", 0.5)
    results.note(
        f"{median(cost.rate for cost in costs):,.0f} deliveries/s against "
        f"{before.rate:,.0f} bare POSTs/s"
    )


async def _bare(endpoints: Endpoints) -> Cost:
    meter = Meter()
    await bare_sender.bare(endpoints.good, DRAIN)
    return meter.cost(DRAIN)


async def _price(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What one delivery costs in statements, WAL and CPU."""
    subscriptions = [await bench.subscribe(endpoints.good)]
    await bench.queue(subscriptions, DRAIN)
    before = await _spent(bench.db)
    cost = await bench.drain_queued(subscriptions, DRAIN)
    after = await _spent(bench.db)
    statements = (after[0] - before[0]) / DRAIN
    results.tell(statements, "statements for a delivery (transactions of the database)", -0.1)
    results.note(f"{(after[1] - before[1]) / DRAIN:,.0f} bytes of WAL for a delivery")
    results.note(f"{cost.cpu * 1000:.2f} s of CPU for 1,000 deliveries")


async def _one_post(_bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What it costs that libcurl cannot send a POST twice."""
    ratio = await one_post.run(endpoints.good, results)
    results.tell(ratio, "CPU of a POST that cannot be sent twice, against one that can", -1.1)


async def _spent(db: Database) -> tuple[int, int]:
    await db.execute("SELECT pg_stat_force_next_flush()")
    row = await db.fetchrow(
        """
        SELECT xact_commit, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS wal
          FROM pg_stat_database
         WHERE datname = current_database()
        """
    )
    return (0, 0) if row is None else (row["xact_commit"], row["wal"])


async def _fairness(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """The p99 of healthy endpoints beside three that swallow everything, and without them.

    Each is the median of several turns: a pause of the machine makes the p99 of one turn, and of
    all of them together, but not that of most.
    """
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(PAIRS):
        healthy = [await bench.subscribe(f"{endpoints.good}/{n}") for n in range(HEALTHY)]
        alone.append(quantiles(await _latencies(bench, healthy), n=100)[98])
        await bench.queue_bad(endpoints, POISON)
        beside.append(quantiles(await _latencies(bench, healthy), n=100)[98])
        await bench.clear()
    ratio = median(beside) / median(alone)
    results.tell(ratio, "p99 of 50 healthy endpoints beside three that hold 10,000 each", -1.2)


async def _latencies(bench: Bench, healthy: Sequence[UUID]) -> Sequence[float]:
    async with bench.working():
        await asyncio.sleep(1.5)  # until each of the three has swallowed what it gets at first
        return await _flow(bench, healthy)


async def _flow(bench: Bench, subscriptions: Sequence[UUID]) -> Sequence[float]:
    """Seconds from the commit to the endpoint, at a steady flow."""
    began = time.perf_counter()
    sent = 0
    while (now := time.perf_counter() - began) < FLOW_SECONDS:
        due = int(now * FLOW_RATE) + 1 - sent
        for _ in range(due):
            await bench.queue([subscriptions[sent % len(subscriptions)]], 1)
            sent += 1
        await asyncio.sleep(0.002)
    while await bench.pending(subscriptions):  # noqa: ASYNC110 - the database has no event
        await asyncio.sleep(0.02)
    return await bench.latencies(subscriptions, sent)


async def _latency(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    subscriptions = [await bench.subscribe(endpoints.good)]
    async with bench.working():
        times = await _flow(bench, subscriptions)
    posts = await _bare_posts(endpoints.good)
    cut, bare = quantiles(times, n=100), quantiles(posts, n=100)
    results.say(
        f"commit to endpoint at {FLOW_RATE}/s: p50 {cut[49] * 1000:.1f} ms, "
        f"p99 {cut[98] * 1000:.1f} ms; {cut[49] / bare[49]:.1f} and {cut[98] / bare[98]:.1f} times "
        "a bare POST"
    )


async def _bare_posts(url: str) -> Sequence[float]:
    sender = Sender(Policy(development=True), Resolver())
    times = []
    for _ in range(500):
        began = time.perf_counter()
        await sender.post(url, _BODY, ["Content-Type: application/json"])
        times.append(time.perf_counter() - began)
    await sender.close()
    return times


async def _many(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What a delivery costs with one subscription, against one of a thousand.

    The CPU of the engine and of PostgreSQL decides how many deliveries a machine can make. The two
    take many short turns: the CPU that the same work takes changes by a quarter within seconds.
    """
    one = [await bench.subscribe(endpoints.good)]
    thousand = [await bench.subscribe(f"{endpoints.good}/{n}") for n in range(1000)]
    alone, beside = [], []
    async with bench.working():
        await bench.deliver(thousand, TURN)  # connects to each of them
        for _ in range(TURNS):
            alone.append(await bench.deliver(one, TURN))
            beside.append(await bench.deliver(thousand, TURN))
    ratio = sum(cost.whole_cpu for cost in alone) / sum(cost.whole_cpu for cost in beside)
    engine_ratio = sum(cost.cpu for cost in alone) / sum(cost.cpu for cost in beside)
    results.tell(ratio, "CPU of a delivery with one subscription, against 1,000 of them", 0.7)
    results.note(f"{engine_ratio:.2f} without PostgreSQL")
    rate = median(cost.rate for cost in beside)
    results.note(f"{rate:,.0f} deliveries/s with 1,000 subscriptions")


async def _processes(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """From the journal to the endpoint through real processes, every one of them counted."""
    results.say("Through real processes: appender, worker, PostgreSQL, endpoint")
    postmaster = await bench.postmaster()
    fan_out = f"{FAN_OUT_EVENTS} events for {FAN_OUT} subscriptions"
    one = await _burst(bench, endpoints, FAN_OUT_EVENTS, FAN_OUT)
    results.say(f"{fan_out}: {one}")
    two = await _burst(bench, endpoints, FAN_OUT_EVENTS, FAN_OUT, number=2)
    results.say(f"{fan_out}, two workers: {two}")
    single = await _burst(bench, endpoints, SINGLE_EVENTS, 1)
    appended = await _only_append(bench, endpoints, SINGLE_EVENTS)
    results.say(f"one event a transaction, one subscription: {single}")
    results.say(
        f"{single.cpu - appended.cpu:.2f} s of it from the commit to the recorded attempt; "
        f"{appended.cpu:.2f} s for the transactions alone"
    )
    healthy = await _latency_by_another(bench, endpoints, postmaster, results)
    await bench.clear()
    await bench.queue_bad(endpoints, POISON)
    beside = await _latency_by_another(bench, endpoints, postmaster, results)
    results.say(f"{beside / healthy:.2f} times the p99 beside endpoints that never answer")


async def _burst(
    bench: Bench, endpoints: Endpoints, events: int, subscriptions: int, *, number: int = 1
) -> processes.Spent:
    """What it takes `number` workers to deliver events that come as fast as they can."""
    for path in range(subscriptions):
        await bench.subscribe(f"{endpoints.metered}/{path}")
    postmaster = await bench.postmaster()
    with processes.running(
        bench.url, bench.account, postmaster, endpoints.metered, number=number
    ) as system:
        await asyncio.to_thread(system.burst, events // 10, subscriptions)
        spent = await asyncio.to_thread(system.burst, events, subscriptions)
    await bench.clear()
    return spent


async def _only_append(bench: Bench, endpoints: Endpoints, events: int) -> processes.Spent:
    """What the transactions take whose events have one subscription, without any worker."""
    await bench.subscribe(f"{endpoints.metered}/0")
    postmaster = await bench.postmaster()
    with processes.running(
        bench.url, bench.account, postmaster, endpoints.metered, number=0
    ) as system:
        await asyncio.to_thread(system.only_append, events // 10)
        spent = await asyncio.to_thread(system.only_append, events)
    await bench.clear()
    return spent


async def _latency_by_another(
    bench: Bench, endpoints: Endpoints, postmaster: int, results: Results
) -> float:
    """Tell the time from a commit in one process to the arrival by another; return the p99."""
    for number in range(ACROSS):
        await bench.subscribe(f"{endpoints.metered}/{number}")
    with processes.running(bench.url, bench.account, postmaster, endpoints.metered) as system:
        await asyncio.to_thread(system.latencies, ACROSS_RATE, 2, ACROSS)
        times = await asyncio.to_thread(system.latencies, ACROSS_RATE, int(FLOW_SECONDS), ACROSS)
    cut = quantiles(times, n=100)
    results.say(
        f"commit to arrival, {ACROSS_RATE} events/s for {ACROSS} endpoints: "
        f"p50 {cut[49] * 1000:.1f} ms, p99 {cut[98] * 1000:.1f} ms"
    )
    return cut[98]


async def _workers(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What a second worker adds. With two cores, the database has had one of them already."""
    rates = []
    for number in (1, 2):
        subscriptions = [await bench.subscribe(endpoints.good)]
        with workers.working(bench.url, number) as running:
            await bench.queue(subscriptions, DRAIN)
            counts, postmaster = [DRAIN // 10, DRAIN], await bench.postmaster()
            first, last = await asyncio.to_thread(workers.marks_at, running, counts, postmaster)
        rates.append(DRAIN * 0.9 / (last.seconds - first.seconds))
        await bench.clear()
    results.tell(
        rates[1] / rates[0],
        f"rate with two workers ({rates[1]:,.0f}/s) against one, on {os.cpu_count()} cores",
    )


@dataclass(frozen=True)
class LongDrain:
    """How a worker drained a long queue: its first quarter against its last, and its memory.

    `cpu_ratio` is that of the CPU for a delivery, of the worker and PostgreSQL together.
    """

    cpu_ratio: float
    rate_ratio: float
    memory_ratio: float
    peak_mib: float


async def drain_long_queue(bench: Bench, endpoints: Endpoints, rows: int) -> LongDrain:
    """Have one worker deliver `rows` pending rows of one subscription.

    Each quarter is the median of its five parts: the CPU that the same work takes changes by a
    quarter for seconds, and a single part is delivered in three.
    """
    subscriptions = [await bench.subscribe(endpoints.good)]
    for _ in range(rows // _AT_A_TIME):
        await bench.queue(subscriptions, _AT_A_TIME)
    inner = [rows * part // _PARTS for part in range(1, _PARTS)]
    counts = [rows // 100, *inner, rows - rows // 100]  # not how it starts, nor how it ends
    with workers.working(bench.url, 1) as running:
        postmaster = await bench.postmaster()
        marks = await asyncio.to_thread(workers.marks_at, running, counts, postmaster)
        peak = running[0].peak_mib()
    return LongDrain(
        _first_against_last([mark.cpu_seconds for mark in marks], counts),
        _first_against_last([mark.seconds for mark in marks], counts),
        marks[-1].memory_mib / marks[_PARTS // 10].memory_mib,
        peak,
    )


def _first_against_last(spent: Sequence[float], counts: Sequence[int]) -> float:
    """What a delivery took in the first quarter of the parts, against the last."""
    each = [
        (spent_by - spent_before) / (count - count_before)
        for (spent_before, spent_by), (count_before, count) in zip(
            pairwise(spent), pairwise(counts), strict=True
        )
    ]
    quarter = len(each) // 4
    return median(each[:quarter]) / median(each[-quarter:])


async def _million(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """Whether the last quarter of a million costs no more than the first, in as little memory."""
    drain = await drain_long_queue(bench, endpoints, MILLION)
    results.tell(
        drain.cpu_ratio,
        f"CPU of a delivery in the first quarter of {MILLION:,}, against the last",
        0.8,
    )
    results.note(f"{drain.rate_ratio:.2f} times the first quarter's rate in the last")
    results.tell(drain.peak_mib, "MiB of memory of the worker at the most", -300)
