"""Deliveries through real processes: what `make bench` and `make compare` measure."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from statistics import quantiles

from bench import processes
from bench.delivery_queue import Bench
from bench.endpoints import Endpoints
from bench.processes import Spent
from bench.servers import THIS_PROGRAM, Program

FAN_OUT = 100
FAN_OUT_EVENTS = 300
SINGLE_EVENTS = 5_000
BURSTS = 5
ACROSS = 9
ACROSS_RATE = 60
# How many deliveries wait for each bad endpoint.
BAD = 10_000
_WARM_UP_SECONDS = 2
_FLOW_SECONDS = 6
Percentiles = tuple[float, float]


@asynccontextmanager
async def bursts(
    bench: Bench,
    endpoints: Endpoints,
    events: int,
    subscriptions: int,
    *,
    number: int = 1,
    program: Program = THIS_PROGRAM,
) -> AsyncIterator[Callable[[], Awaitable[Spent]]]:
    """Measure what it takes `number` workers to deliver events that come as fast as they can."""
    for path in range(subscriptions):
        await bench.subscribe(f"{endpoints.metered}/{path}")
    postmaster = await bench.postmaster()
    with processes.running(
        bench.url, [bench.account], postmaster, endpoints.metered, number=number, program=program
    ) as system:
        await asyncio.to_thread(system.burst, events // 10, subscriptions)

        async def measure() -> Spent:
            spent = await asyncio.to_thread(system.burst, events, subscriptions)
            await bench.settle("delivery_queue")
            return spent

        yield measure
    await bench.clear()


async def burst(
    bench: Bench,
    endpoints: Endpoints,
    events: int,
    subscriptions: int,
    *,
    number: int = 1,
    turns: int = BURSTS,
) -> Spent:
    """The same, several times; what the middle one took, by its CPU.

    A burst lasts two seconds, in which the speed of a machine may change by half.
    """
    async with bursts(bench, endpoints, events, subscriptions, number=number) as measure:
        return middle([await measure() for _ in range(turns)])


async def only_append(bench: Bench, endpoints: Endpoints, events: int) -> Spent:
    """What the transactions take whose events have one subscription, without any worker."""
    await bench.subscribe(f"{endpoints.metered}/0")
    postmaster = await bench.postmaster()
    with processes.running(
        bench.url, [bench.account], postmaster, endpoints.metered, number=0
    ) as system:
        await asyncio.to_thread(system.only_append, events // 10)
        spent = await asyncio.to_thread(system.only_append, events)
    await bench.clear()
    return spent


@asynccontextmanager
async def latencies(
    bench: Bench, endpoints: Endpoints, *, beside: bool, program: Program = THIS_PROGRAM
) -> AsyncIterator[Callable[[], Awaitable[Percentiles]]]:
    """Measure the p50 and p99 in seconds, from a commit in one process to the arrival by another.

    `beside` endpoints that never answer, or without them.
    """
    if beside:
        await bench.queue_bad(endpoints, BAD)
    for number in range(ACROSS):
        await bench.subscribe(f"{endpoints.metered}/{number}")
    postmaster = await bench.postmaster()
    with processes.running(
        bench.url, [bench.account], postmaster, endpoints.metered, program=program
    ) as system:
        await asyncio.to_thread(system.latencies, ACROSS_RATE, _WARM_UP_SECONDS, ACROSS)

        async def measure() -> Percentiles:
            times = await asyncio.to_thread(system.latencies, ACROSS_RATE, _FLOW_SECONDS, ACROSS)
            cut = quantiles(times, n=100)
            return cut[49], cut[98]

        yield measure
    await bench.clear()


async def latency(bench: Bench, endpoints: Endpoints, *, beside: bool) -> Percentiles:
    """The same, once."""
    async with latencies(bench, endpoints, beside=beside) as measure:
        return await measure()


def middle(turns: Sequence[Spent]) -> Spent:
    """The turn with the median of the CPU."""
    return sorted(turns, key=lambda spent: spent.cpu)[len(turns) // 2]
