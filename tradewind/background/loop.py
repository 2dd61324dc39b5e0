"""A loop: works while there is work, sleeps until it is woken, and stops between two steps."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.observability.metrics import LOOP_FAILURES

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


async def repeat(
    name: str,
    step: Callable[[], Awaitable[bool]],
    *,
    stop: asyncio.Event,
    wake: asyncio.Event,
    idle: float,
) -> None:
    """Call `step` until `stop` is set: again at once while it had work, else after a pause.

    The pause ends after `idle` seconds, or when `wake` is set. A step that fails is logged and
    retried with exponential backoff up to half a minute, with jitter, so that loops that failed
    together do not retry together. A failure never ends the loop.
    """
    pause = _FIRST_PAUSE
    failures = LOOP_FAILURES.labels(name)
    stopping = asyncio.create_task(_wake_at_the_stop(stop, wake))
    try:
        while not stop.is_set():
            wake.clear()
            try:
                busy = await step()
            except Exception as error:  # noqa: BLE001 - the loop continues after any error
                failures.inc()
                expected = isinstance(error, TradewindError)
                (log.warning if expected else log.exception)(
                    "loop.failed", loop=name, error=str(error), pause=pause
                )
                await _wait(stop, pause * random.uniform(1, 1.5))  # noqa: S311 - a jitter
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            pause = _FIRST_PAUSE
            if not busy:
                await _wait(wake, idle)
    finally:
        stopping.cancel()


async def _wake_at_the_stop(stop: asyncio.Event, wake: asyncio.Event) -> None:
    """End the rest of a loop that is stopped: to wait for both events would take two tasks."""
    await stop.wait()
    wake.set()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
