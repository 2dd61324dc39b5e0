"""Errands: work that outlives the request that began it, and is finished before a process stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from tradewind.observability.logs import log

_STOP_SECONDS = 8.0


class Errands:
    """What this process has begun. Nobody waits for it longer than they like."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def within(self, seconds: float, work: Coroutine[Any, Any, Any]) -> bool:
        """Begin `work`, and wait for it so long; whether it ended. It goes on if it did not."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return bool(done)

    async def close(self) -> None:
        """Wait for what is still running, a little less long than a stop may take."""
        if self._running:
            await asyncio.wait(set(self._running), timeout=_STOP_SECONDS)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("errand.failed", error=repr(task.exception()))
