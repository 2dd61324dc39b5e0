"""The delivery engine against bare pycurl: rate, fairness, latency and cost."""

import asyncio
import os
import time
from collections.abc import Sequence
from statistics import mean, median, quantiles
from uuid import UUID

from bench import by_name, fairness, scenarios, sender, workers
from bench.delivery_queue import BODY, Bench, Cost, Meter, opened
from bench.endpoints import Endpoints
from bench.long_queue import drain_long_queue
from bench.results import Results
from bench.scenarios import (
    ACROSS,
    ACROSS_RATE,
    BURSTS,
    FAN_OUT,
    FAN_OUT_EVENTS,
    SINGLE_EVENTS,
)
from tradewind.egress.guard import Policy
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.observability import logs
from tradewind.runtime.wiring import tune_garbage_collection
from tradewind.storage.pool import Database

PAIRS = 5
DRAIN = 50_000
# POSTs by bare pycurl beside each burst.
POSTS = 20_000
TURNS = 20
TURN = 10_000
MILLION = 1_000_000
FLOW_SECONDS = 4.0
FLOW_RATE = 200
FLOWS_ACROSS = 9


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
                _posts,
                _latency,
                _many,
                by_name.run,
                _processes,
                _workers,
                _million,
            ):
                await figure(bench, endpoints, results)
                await bench.clear()


async def _drain(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What the process of one engine spends on a delivery, against bare pycurl before and after.

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
    results.tell(ratio, "CPU of a bare POST by pycurl, against the engine's for a delivery", 0.5)
    results.note(
        f"{median(cost.rate for cost in costs):,.0f} deliveries/s against "
        f"{before.rate:,.0f} bare POSTs/s"
    )


async def _bare(endpoints: Endpoints, posts: int = DRAIN) -> Cost:
    meter = Meter()
    await sender.bare(endpoints.good, posts)
    return meter.cost(posts)


async def _price(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What one delivery costs in transactions, WAL and CPU."""
    subscriptions = [await bench.subscribe(endpoints.good)]
    await bench.queue(subscriptions, DRAIN)
    before = await _spent(bench.db)
    cost = await bench.drain_queued(subscriptions, DRAIN)
    after = await _spent(bench.db)
    transactions = (after[0] - before[0]) / DRAIN
    results.tell(transactions, "transactions of the database for a delivery", -0.1, digits=4)
    results.note(f"{(after[1] - before[1]) / DRAIN:,.0f} bytes of WAL for a delivery")
    results.note(
        f"{cost.cpu * 1000:.2f} s of CPU of the engine for 1,000 deliveries, "
        f"{cost.database_cpu * 1000:.2f} s of PostgreSQL"
    )


async def _posts(_bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What a POST takes without the rest of a delivery."""
    await sender.run(endpoints, results)


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


def _calm(turns: Sequence[float]) -> float:
    """The lower quartile: the best turn of few is luck, and the worst ones are the machine's."""
    return quantiles(turns, n=4)[0]


async def _flow(
    bench: Bench, endpoints: Endpoints, subscriptions: Sequence[UUID]
) -> Sequence[float]:
    """Seconds from the commit to the arrival, at a steady flow."""
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
    arrivals = await asyncio.to_thread(endpoints.arrivals)
    return await bench.latencies(subscriptions, sent, arrivals)


async def _latency(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    subscriptions = [await bench.subscribe(endpoints.metered)]
    async with bench.working():
        times = await _flow(bench, endpoints, subscriptions)
    posts = await _bare_posts(endpoints.good)
    cut, bare = quantiles(times, n=100), quantiles(posts, n=100)
    results.say(
        f"commit to arrival at {FLOW_RATE}/s: p50 {cut[49] * 1000:.1f} ms, "
        f"p99 {cut[98] * 1000:.1f} ms; {cut[49] / bare[49]:.1f} and {cut[98] / bare[98]:.1f} times "
        "a bare POST"
    )


async def _bare_posts(url: str) -> Sequence[float]:
    sender = Sender(Policy(development=True), Resolver())
    times = []
    for _ in range(500):
        began = time.perf_counter()
        await sender.post(url, BODY.encode(), ["Content-Type: application/json"])
        times.append(time.perf_counter() - began)
    await sender.close()
    return times


async def _many(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What a delivery costs with one subscription, against one of a thousand.

    The CPU of the engine and of PostgreSQL decides how many deliveries a machine can make. The two
    take many short turns, and each is compared with the next: the CPU that the same work takes
    changes by a quarter within seconds.
    """
    one = [await bench.subscribe(endpoints.good)]
    thousand = [await bench.subscribe(f"{endpoints.good}/{n}") for n in range(1000)]
    async with bench.working():
        await bench.deliver(thousand, TURN)  # connects to each of them
        turns = [
            (await bench.deliver(one, TURN), await bench.deliver(thousand, TURN))
            for _ in range(TURNS)
        ]
    ratio = median(alone.whole_cpu / beside.whole_cpu for alone, beside in turns)
    engine_ratio = median(alone.cpu / beside.cpu for alone, beside in turns)
    results.tell(ratio, "CPU of a delivery with one subscription, against 1,000 of them", 0.7)
    results.note(f"{engine_ratio:.2f} without PostgreSQL")
    rate = median(beside.rate for _, beside in turns)
    results.note(f"{rate:,.0f} deliveries/s with 1,000 subscriptions")


async def _processes(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """From the journal to the endpoint through real processes, every one of them counted."""
    results.section("Deliveries through real processes: appender, worker, PostgreSQL")
    await _fan_out(bench, endpoints, results)
    await _single(bench, endpoints, results)
    await _latency_across(bench, endpoints, results)
    await fairness.run(bench, endpoints, results)


async def _fan_out(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What events for many subscriptions take, and how that compares with a bare POST.

    The bare POSTs are sent beside each burst, so that the ratio does not depend on the machine.
    """
    async with scenarios.bursts(bench, endpoints, FAN_OUT_EVENTS, FAN_OUT) as burst:
        turns = [(await _bare(endpoints, POSTS), await burst()) for _ in range(BURSTS)]
    fan_out = f"{FAN_OUT_EVENTS} events for {FAN_OUT} subscriptions"
    spent = scenarios.middle([spent for _, spent in turns])
    results.tell(spent.rate, f"deliveries/s, {fan_out}", goal=16_000)
    results.tell(spent.cpu, "s of CPU for 1,000 of them", goal=-0.1)
    results.note(spent.parts)
    # The CPU for a thousand in seconds is that for each in milliseconds.
    ratio = median(bare.cpu * 1000 / spent.cpu for bare, spent in turns)
    results.tell(ratio, "CPU of a bare POST by pycurl, against all CPU of such a delivery", 0.28)
    results.note(f"{median(bare.cpu for bare, _ in turns) * 1e6:.1f} µs for a bare POST")
    two = await scenarios.burst(bench, endpoints, FAN_OUT_EVENTS, FAN_OUT, number=2)
    results.tell(two.rate, f"deliveries/s, {fan_out}, two workers")
    results.tell(two.cpu, "s of CPU for 1,000 of them")
    results.note(two.parts)


async def _single(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What a delivery takes from the commit to the recorded attempt, one event a transaction.

    Each turn is compared with one of the transactions alone.
    """
    turns = []
    for _ in range(BURSTS):
        delivered = await scenarios.burst(bench, endpoints, SINGLE_EVENTS, 1, turns=1)
        turns.append((delivered, await scenarios.only_append(bench, endpoints, SINGLE_EVENTS)))
    spent = scenarios.middle([delivered for delivered, _ in turns])
    results.tell(spent.rate, "deliveries/s, one event a transaction, one subscription")
    results.tell(spent.cpu, "s of CPU for 1,000 of them")
    results.note(spent.parts)
    recorded = median(delivered.cpu - appended.cpu for delivered, appended in turns)
    results.tell(recorded, "s of it from the commit to the recorded attempt", goal=-0.5)
    ratio = median(appended.cpu / delivered.cpu for delivered, appended in turns)
    results.tell(ratio, "CPU of the transactions alone, against that of both", 0.6)


async def _latency_across(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """The time from a commit in one process to the arrival by another, medians of several turns.

    The p99 of a turn is that of the machine's longest pauses: so the lower quartile is shown as
    well, and the lower quartiles are compared.
    """
    healthy, beside = [], []
    for _ in range(FLOWS_ACROSS):
        healthy.append(await scenarios.latency(bench, endpoints, beside=False))
        beside.append(await scenarios.latency(bench, endpoints, beside=True))
    flow = f"ms from commit to arrival, {ACROSS_RATE} events/s for {ACROSS} endpoints"
    for place, turns in (("", healthy), (" beside endpoints that never answer", beside)):
        p50s, p99s = ([1000 * time for time in times] for times in zip(*turns, strict=True))
        results.tell(median(p50s), f"{flow}{place}, p50", goal=None if place else -3)
        results.tell(median(p99s), f"{flow}{place}, p99", goal=None if place else -5)
        results.note(f"{_calm(p99s):.1f} the lower quartile of {FLOWS_ACROSS} turns")
    ratio = _calm([p99 for _, p99 in beside]) / _calm([p99 for _, p99 in healthy])
    results.tell(ratio, "p99 beside endpoints that never answer, against that without", -1.2)
    results.note("lower quartiles of the turns")


async def _workers(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """What a second worker adds. With two cores, the database has had one of them already."""
    rates = []
    for number in (1, 2):
        subscriptions = [await bench.subscribe(endpoints.good)]
        with workers.working(bench.url, number) as running:
            await bench.queue(subscriptions, DRAIN)
            counts, postmaster = [DRAIN // 10, DRAIN], await bench.postmaster()
            first, last = await asyncio.to_thread(
                workers.marks_at, running, counts, postmaster, endpoints.good_process_id
            )
        rates.append(DRAIN * 0.9 / (last.seconds - first.seconds))
        await bench.clear()
    results.tell(
        rates[1] / rates[0],
        f"rate with two workers ({rates[1]:,.0f}/s) against one, on {os.cpu_count()} cores",
    )


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
