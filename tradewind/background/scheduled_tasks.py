"""Scheduled tasks: each runs when it is due, in exactly one process."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

from tradewind.background import sql
from tradewind.observability.logs import log
from tradewind.observability.metrics import TASK_FAILURES
from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class ScheduledTask:
    """Work that is due at an interval, and may safely run twice."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]


def count_from_zero(tasks: Sequence[ScheduledTask]) -> None:
    """Show the failures of each task from the start, so that the first one is an increase."""
    for task in tasks:
        TASK_FAILURES.labels(task.name)


async def run_due_tasks(db: Database, tasks: Sequence[ScheduledTask]) -> bool:
    """Run the tasks that are due and that no other process claimed; whether there were any."""
    any_due = False
    for task in tasks:
        if await sql.claim_task(db, task.name, every=task.every):
            started = perf_counter()
            try:
                await task.run()
            except Exception:
                TASK_FAILURES.labels(task.name).inc()
                log.warning("scheduled_task.failed", task=task.name)
                raise
            took_ms = round((perf_counter() - started) * 1000, 1)
            log.info("scheduled_task.done", task=task.name, took_ms=took_ms)
            any_due = True
    return any_due
