"""Healthy endpoints beside bad ones: how much longer their deliveries wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median, quantiles
from urllib.parse import urlsplit

import asyncpg

from bench import processes
from bench.delivery_queue import Bench, opened
from bench.endpoints import Endpoints, reported_by
from bench.processes import System
from bench.results import Results
from bench.scenarios import BAD
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

HEALTHY = 50
RATE = 200
TURNS = 45
# Until each bad endpoint has got what it gets at first.
_SETTLE_SECONDS = 1.5
_OTHER = "without_bad_endpoints"


async def run(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """Tell the p99 of healthy endpoints beside three that swallow everything, and without them.

    Two workers run on databases of their own, of which one has the bad endpoints. They get events
    for a second each, in turn. Each turn gives a ratio, and the median of the ratios counts: what
    delays the machine lasts longer than a turn. The bad endpoints time out meanwhile, too.
    """
    async with AsyncExitStack() as stack:
        other_url = await stack.enter_async_context(_other_database(bench.url))
        other = await stack.enter_async_context(opened(other_url))
        await bench.queue_bad(endpoints, BAD)
        postmaster = await bench.postmaster()
        systems: list[System] = []
        for side in (other, bench):
            account_ids = [await side.make_account() for _ in range(HEALTHY)]
            for path, account_id in enumerate(account_ids):
                await side.subscribe(f"{endpoints.metered}/{path}", account_id)
            running = processes.running(side.url, account_ids, postmaster, endpoints.metered)
            systems.append(stack.enter_context(running))
        await asyncio.sleep(_SETTLE_SECONDS)
        await asyncio.to_thread(reported_by, endpoints.metered, "arrivals")  # none of before
        turns = []
        for turn in range(TURNS):
            # Each is first in every second turn.
            order = systems if turn % 2 else systems[::-1]
            p99s = {id(system): await asyncio.to_thread(_p99, system) for system in order}
            turns.append([p99s[id(system)] for system in systems])
    alone, beside = zip(*turns, strict=True)
    about = f"p99 of {HEALTHY} healthy endpoints beside three that hold {BAD:,} each"
    results.tell(median(bad / good for good, bad in turns), about, -1.2)
    results.note(
        f"{1000 * median(beside):.1f} ms against {1000 * median(alone):.1f} ms; "
        f"median of {TURNS} turns of a second each, {RATE} events/s"
    )


def _p99(system: System) -> float:
    """The p99 from the commit to the arrival, of a second of events."""
    return quantiles(system.latencies(RATE, 1, 1), n=100)[98]


@asynccontextmanager
async def _other_database(url: str) -> AsyncIterator[str]:
    """Another database of the same server, with all tables, while the block lasts."""
    server = await asyncpg.connect(url)
    try:
        await server.execute(f"CREATE DATABASE {_OTHER}")
        other_url = urlsplit(url)._replace(path=f"/{_OTHER}").geturl()
        database = Database(other_url, size=1, name="bench")
        await database.open()
        await migrate(database)
        await database.close()
        yield other_url
        await server.execute(f"DROP DATABASE {_OTHER} WITH (FORCE)")
    finally:
        await server.close()
