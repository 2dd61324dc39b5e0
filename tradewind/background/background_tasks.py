"""Background tasks: work that outlives its request and is finished before the process stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from tradewind.observability.logs import log

_STOP_SECONDS = 8.0


class BackgroundTasks:
    """The tasks of this process that are still running."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def within(self, seconds: float, work: Coroutine[Any, Any, Any]) -> bool:
        """Start `work` and wait for at most so many seconds; returns whether it ended in time."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return bool(done)

    async def close(self) -> None:
        """Wait for running tasks, a little less long than a stop may take."""
        if self._running:
            await asyncio.wait(set(self._running), timeout=_STOP_SECONDS)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("background_task.failed", error=repr(task.exception()))
