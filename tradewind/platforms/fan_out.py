"""Makes several calls to a marketplace, a few at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
_CONCURRENCY = 4


async def fan_out(calls: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """Make all calls and return their results in order; the first failure ends the others."""
    limit = asyncio.Semaphore(_CONCURRENCY)

    async def limited(call: Callable[[], Awaitable[T]]) -> T:
        async with limit:
            return await call()

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(limited(call)) for call in calls]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
