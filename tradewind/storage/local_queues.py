"""Local queues: few transactions of this process at a time wait for the same lock in PostgreSQL."""

import asyncio
from collections.abc import Collection, Hashable
from weakref import WeakValueDictionary

# One that holds the lock until its commit, and one that has sent its statement and gets it next.
_AT_ONCE = 2


class LocalQueues:
    """A queue in this process for each lock in the database that many transactions want.

    PostgreSQL queues them too, but there each of them wakes a process: sixteen transactions that
    append to one journal took twice the CPU, at two thirds of the rate.
    """

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    def are_free(self, keys: Collection[Hashable]) -> bool:
        """Whether `enter` would not wait now."""
        queues = (self._queues.get(key) for key in keys)
        return not any(queue is not None and queue.locked() for queue in queues)

    async def enter(self, keys: Collection[Hashable]) -> list[asyncio.Semaphore]:
        """Wait for a turn at each of these locks, in this order; return what `leave` needs.

        Everybody has to name them in the same order, or two may wait for each other.
        """
        entered: list[asyncio.Semaphore] = []
        try:
            for key in keys:
                queue = self._queues.get(key)
                if queue is None:
                    queue = self._queues[key] = asyncio.Semaphore(_AT_ONCE)
                await queue.acquire()
                entered.append(queue)
        except BaseException:
            self.leave(entered)
            raise
        return entered

    def leave(self, entered: Collection[asyncio.Semaphore]) -> None:
        for queue in entered:
            queue.release()
