"""Bad endpoints beside healthy ones: they do not delay deliveries to the others."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median, quantiles
from uuid import UUID

import pytest
from kit import scorecard
from kit.postgres import Postgres

from bench import workers
from bench.delivery_queue import Bench, opened
from bench.endpoints import Endpoints
from tradewind.events.journal import DELIVERIES

pytestmark = pytest.mark.xdist_group("fairness")

_HEALTHY = 10
# More than a worker may have under way in all: without lanes they would take all the room.
_BACKLOG = 1500
_SETTLE_SECONDS = 1.5
_EVENTS = 400
_WINDOW = 50
_PAUSE_SECONDS = 0.02
_MOST = 1.2
_MOST_ON_A_BUSY_MACHINE = 2.0


async def test_healthy_endpoints_wait_no_longer_beside_three_bad_ones(postgres: Postgres) -> None:
    """Two workers run side by side, on databases of their own, of which one has the bad endpoints.

    Both get the same events at the same moments, so each event is compared with itself: the median
    ratio of fifty in a row is what they waited longer. Of eight such windows the calmest counts. A
    p99, or all windows together, would tell how busy the machine is: where cores are short, whoever
    has more to do waits longer for them. Bad endpoints that take the room of others do so all the
    time, and for seconds: then there is no calm window, and half of them are far from it.
    """
    async with AsyncExitStack() as stack:
        endpoints = stack.enter_context(Endpoints())
        benches, hooks = [], []
        for _ in range(2):
            url = stack.enter_context(postgres.fresh_database())
            bench = await stack.enter_async_context(opened(url))
            benches.append(bench)
            urls = [f"{endpoints.metered}/{number}" for number in range(_HEALTHY)]
            hooks.append([await bench.subscribe(url) for url in urls])
        await benches[1].queue_bad(endpoints, _BACKLOG)
        for bench in benches:
            stack.enter_context(workers.working(bench.url, 1))
        await asyncio.sleep(_SETTLE_SECONDS)

        alone, beside = await flow(benches, hooks, endpoints)

    ratios = [bad / good for bad, good in zip(beside, alone, strict=True)]
    windows = [median(ratios[first : first + _WINDOW]) for first in range(0, _EVENTS, _WINDOW)]
    waited = f"{windows}; {median(beside)} against {median(alone)} seconds"
    scorecard.record(
        10,
        2 * _EVENTS,
        calmest_window_ratio=min(windows),
        median_ratio=median(windows),
        p99_beside_ms=1000 * quantiles(beside, n=100)[98],
        p99_alone_ms=1000 * quantiles(alone, n=100)[98],
    )
    assert len(ratios) == _EVENTS
    assert min(windows) <= _MOST, waited
    assert median(windows) <= _MOST_ON_A_BUSY_MACHINE, waited


async def flow(
    benches: Sequence[Bench], hooks: Sequence[Sequence[UUID]], endpoints: Endpoints
) -> Sequence[Sequence[float]]:
    """Send the same events through both; how long each took, in seconds, in the same order."""
    for number in range(_EVENTS):
        # Who comes first may be faster: they take turns.
        for which in (0, 1) if number % 2 else (1, 0):
            await benches[which].queue([hooks[which][number % _HEALTHY]], 1)
            benches[which].db.wakeups.announce(DELIVERIES)
        await asyncio.sleep(_PAUSE_SECONDS)
    for bench, mine in zip(benches, hooks, strict=True):
        async with asyncio.timeout(60):
            while await bench.pending(mine):  # noqa: ASYNC110 - the database has no event
                await asyncio.sleep(0.02)
    arrivals = endpoints.arrivals()
    return [
        await bench.latencies(mine, _EVENTS, arrivals)
        for bench, mine in zip(benches, hooks, strict=True)
    ]
