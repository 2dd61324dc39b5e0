"""What a delivery costs through real processes, and what a worker costs that has nothing to do."""

import asyncio
from collections.abc import AsyncIterator

from bench import processes
from bench.growth.meter import Round, median_round
from bench.growth.model import APPENDER, WORKER, Figure
from bench.growth.series import Effort
from bench.growth.stage import Site

DELIVER = "deliver an event"
IDLE_WORKER = "a second of an idle worker"
FLOW_RATE = 60
# Bursts take longer than what is done one after another: how many times as long they may take.
_BURSTS = 2


async def deliver(
    site: Site, dimension: str, size: int, effort: Effort, *, idle: bool = False
) -> AsyncIterator[Figure]:
    """Deliver events of the template's account, which has one webhook.

    The CPU is that of the median of some bursts, with one event a transaction. The latency is from
    a commit in one process to the arrival by another, at a steady rate.
    """
    account_id, endpoint = site.template.account_id, site.endpoints.metered
    with processes.running(site.url, [account_id], site.postmaster, endpoint) as system:
        meter = site.meter.beside(
            {APPENDER: system.appender.pid, WORKER: system.workers[0].process_id}
        )
        number = effort.deliveries
        tenth = max(1, number // 10)

        async def burst(events: int) -> None:
            await asyncio.to_thread(system.burst, events, 1)

        await burst(tenth)
        if idle:
            waiting = site.meter.beside({WORKER: system.workers[0].process_id})
            yield await waiting.measure_idle(dimension, size, IDLE_WORKER, effort.idle_seconds)

        async def measured_burst() -> Round:
            before = await meter.read()
            await burst(number)
            return Round((await meter.read()).since(before), number)

        kept = await median_round(measured_burst, effort.rounds, _BURSTS * effort.seconds)
        latencies = await asyncio.to_thread(system.latencies, FLOW_RATE, effort.flow_seconds, 1)
        statements = await meter.statements(lambda: burst(tenth), 1) / tenth
        yield await meter.figure(
            dimension, size, DELIVER, kept.spent, number, statements, latencies
        )
