"""Measures the lag of an event loop: the largest delay of a callback every 5 ms."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

LARGEST_LAG = 0.1
_EVERY_SECONDS = 0.005
_SCHEDSTAT = Path("/proc/thread-self/schedstat")


@dataclass
class Lag:
    """The largest delay so far, in seconds."""

    seconds: float = 0.0


def waited_for_cpu() -> float:
    """Seconds for which this thread was ready to run, but the machine ran others."""
    return int(_SCHEDSTAT.read_text().split()[1]) / 1e9


@asynccontextmanager
async def measuring_lag() -> AsyncIterator[Lag]:
    """Measure the delay of the running loop's callbacks while the block runs.

    Time for which the machine was busy with other processes does not count; time that the loop's
    thread spent running or blocked does. What earlier tests left in memory is kept from the garbage
    collector, as a worker does with what it has at its start: a look through it takes 0.15 seconds.
    """
    lag = Lag()
    gc.collect()
    gc.freeze()
    ticking = asyncio.create_task(_tick(lag))
    try:
        await asyncio.sleep(0)
        yield lag
        await asyncio.sleep(2 * _EVERY_SECONDS)  # for a tick that is late
    finally:
        ticking.cancel()
        gc.unfreeze()


async def _tick(lag: Lag) -> None:
    last = time.perf_counter() - waited_for_cpu()
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        now = time.perf_counter() - waited_for_cpu()
        lag.seconds = max(lag.seconds, now - last - _EVERY_SECONDS)
        last = now
