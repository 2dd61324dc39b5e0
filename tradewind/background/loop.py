"""A loop: work while there is some, sleep until woken, stop gently."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from tradewind.errors import TradewindError
from tradewind.observability.logs import log

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
    """Call `step` until `stop` is set: at once again while it found work, else after a rest.

    The rest ends after `idle` seconds, or when `wake` is set. A step that fails is logged and
    tried again after a pause that doubles up to half a minute, with a jitter, so that those who
    failed together do not come back together; the loop itself never ends by it.
    """
    pause = _FIRST_PAUSE
    while not stop.is_set():
        wake.clear()
        try:
            busy = await step()
        except Exception as error:  # noqa: BLE001 - whatever it is, the loop goes on
            expected = isinstance(error, TradewindError)
            (log.warning if expected else log.exception)(
                "loop.failed", loop=name, error=str(error), pause=pause
            )
            await _first_of(stop, None, pause * random.uniform(1, 1.5))  # noqa: S311 - a jitter
            pause = min(2 * pause, _LONGEST_PAUSE)
            continue
        pause = _FIRST_PAUSE
        if not busy:
            await _first_of(stop, wake, idle)


async def _first_of(stop: asyncio.Event, wake: asyncio.Event | None, seconds: float) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in (stop, wake) if event is not None]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
