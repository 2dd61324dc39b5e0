"""Limits what expensive requests of one account take of a process, so that it slows no other."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from uuid import UUID

from tradewind.errors import TooMany

# Of one account, in one process. It is less than half of the connections for such work.
EXPENSIVE_AT_ONCE = 4
_WAIT_SECONDS = 5.0
_RETRY_SECONDS = 1
# A download rests no longer between two pieces, however slowly they were read.
_LONGEST_REST_SECONDS = 1.0


class TooManyConcurrentRequests(TooMany):
    """Too many expensive requests of your account are running at the same time.

    Lists, searches, previews and counts are expensive. A few of them run at once, and more wait
    for up to five seconds; this one did not get its turn. Send it again after the seconds in
    `Retry-After`, and send fewer at the same time. This limit is the same for every plan.
    """

    code = "too_many_concurrent_requests"
    title = "Too many requests at the same time"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} expensive requests of your account are running, and none of them ended in "
            "time; send fewer at the same time.",
            retry_after=_RETRY_SECONDS,
        )


@dataclass(slots=True)
class _AccountSlots:
    free: asyncio.Semaphore
    requests: int = 0


class ConcurrencyLimit:
    """A few slots for each account's expensive requests; further ones wait in order."""

    def __init__(
        self, limit: int = EXPENSIVE_AT_ONCE, *, wait_seconds: float = _WAIT_SECONDS
    ) -> None:
        self._limit = limit
        self._wait_seconds = wait_seconds
        self._accounts: dict[UUID, _AccountSlots] = {}
        self._downloads = 0

    @asynccontextmanager
    async def slot(self, account_id: UUID) -> AsyncIterator[None]:
        """Hold a slot of the account; TooManyConcurrentRequests when none becomes free in time."""
        slots = self._accounts.get(account_id)
        if slots is None:
            slots = self._accounts[account_id] = _AccountSlots(asyncio.Semaphore(self._limit))
        slots.requests += 1
        try:
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await slots.free.acquire()
            except TimeoutError:
                raise TooManyConcurrentRequests(self._limit) from None
            try:
                yield
            finally:
                slots.free.release()
        finally:
            slots.requests -= 1
            if not slots.requests:
                del self._accounts[account_id]

    async def paced(self, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """The pieces of a long download, with a rest after each.

        All downloads of the process together are made in half of its time at most: the more of
        them there are, the longer each rests for the time that a piece took.
        """
        self._downloads += 1
        try:
            while True:
                began = perf_counter()
                try:
                    piece = await anext(pieces)
                except StopAsyncIteration:
                    return
                took = perf_counter() - began
                yield piece
                rest = took * (2 * self._downloads - 1)
                await asyncio.sleep(min(rest, _LONGEST_REST_SECONDS))
        finally:
            self._downloads -= 1
