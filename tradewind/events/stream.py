"""Streams of events: sends open streams what is new, with one look at the journal for all."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from tradewind.errors import Forbidden, Gone, TradewindError, Unauthenticated
from tradewind.events import read, sql
from tradewind.events.journal import DELIVERIES
from tradewind.events.read import Cursor, JournalPage
from tradewind.events.stream_slots import Slot, StreamSlots
from tradewind.events.wire import comment, message, position
from tradewind.observability.logs import log
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database

_HEARTBEAT_SECONDS = 15.0
# Credentials are checked this often, and events are sent only within a second of a check.
_CHECK_SECONDS = 0.4
_CHECKED_SECONDS = 1.0
_GRACE_SECONDS = 0.3
# The least time between two looks at the journal, and the most. Deliveries are announced, so where
# webhooks are used streams are woken at once. Events without deliveries are not: every change of
# an order would cost a statement more, whether or not anybody streams.
_LOOK_SECONDS = 0.05
_POLL_SECONDS = 0.2
_PAGE_EVENTS = 100
# Of all streams of this process, so that they leave connections to other requests.
_READS_AT_ONCE = 4

_STOPPING = "the server is stopping; connect again"
_CREDENTIAL_ENDED = "the credential ended"
_FAILED = "the server failed; connect again"
_SLOT_LOST = "the connection to the database was lost; connect again"


@dataclass(eq=False, slots=True)
class EventStream:
    """An open stream: what it sends, how far it has come, and why it ends."""

    account_id: UUID
    order_id: UUID | None
    kinds: Sequence[str] | None
    slot: Slot
    position: Cursor
    recheck: Callable[[], Awaitable[object]]
    # Held while one of the account's streams reads the journal, so that others get their turn.
    reading: asyncio.Lock
    checked_at: float
    has_news: bool = True
    end_reason: str = ""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    # Set when it has had the time to end by itself: its client does not read.
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self, reason: str) -> None:
        if not self.end_reason:
            self.end_reason = reason
            self.wake.set()
            asyncio.get_running_loop().call_later(_GRACE_SECONDS, self.abandoned.set)


class EventStreams:
    """The streams of this process. It looks at the journal only while there are any.

    A server that stops waits for its responses, and a stream is one: `close` ends them all.
    """

    def __init__(
        self, db: Database, *, kept: timedelta, heartbeat_seconds: float = _HEARTBEAT_SECONDS
    ) -> None:
        self._db = db
        self._kept = kept
        self._heartbeat_seconds = heartbeat_seconds
        self._slots = StreamSlots(db)
        self._streams: set[EventStream] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._reading = asyncio.Semaphore(_READS_AT_ONCE)
        self._closed = False

    @asynccontextmanager
    async def open(
        self,
        account_id: UUID,
        cursor: Cursor | None,
        *,
        order_id: UUID | None,
        kinds: Sequence[str] | None,
        recheck: Callable[[], Awaitable[object]],
    ) -> AsyncIterator[EventStream]:
        """A stream that begins at the cursor, or without one with what is new.

        `recheck` raises when the credential of the stream has ended.
        """
        admitted_at = asyncio.get_running_loop().time()
        begin = await read.start(self._db, account_id, cursor)
        slot = await self._slots.take(account_id)
        reading = next(
            (other.reading for other in self._streams if other.account_id == account_id),
            asyncio.Lock(),
        )
        stream = EventStream(
            account_id, order_id, kinds, slot, begin, recheck, reading, checked_at=admitted_at
        )
        self._streams.add(stream)
        if self._closed:
            stream.end(_STOPPING)
        else:
            self._start(self._follow_journal)
            self._start(self._check_credentials)
        try:
            yield stream
        finally:
            self._streams.discard(stream)
            await self._slots.release(slot)

    async def chunks(self, stream: EventStream) -> AsyncGenerator[bytes, None]:
        """What a stream sends, until it ends."""
        loop = asyncio.get_running_loop()
        # The position is told at once: a client that is cut off before its first event resumes.
        sent = stream.position.number
        yield b"retry: 1000\n" + position(sent)
        heartbeat_at = loop.time() + self._heartbeat_seconds
        while not stream.end_reason:
            if loop.time() >= heartbeat_at:
                heartbeat_at += self._heartbeat_seconds
                moved = stream.position.number > sent
                sent = stream.position.number
                yield comment("heartbeat") + (position(sent) if moved else b"")
            elif stream.has_news and loop.time() - stream.checked_at < _CHECKED_SECONDS:
                page = await self._read(stream)
                if page is not None and not stream.end_reason:
                    stream.position = page.end
                    if page.events:
                        sent = page.events[-1].number
                        yield b"".join(map(message, page.events))
            else:
                await _wait(stream.wake, heartbeat_at - loop.time())
                stream.wake.clear()
        yield comment(stream.end_reason)

    def close(self) -> None:
        """End every stream now."""
        self._closed = True
        for stream in self._streams:
            stream.end(_STOPPING)
        for task in self._tasks.values():
            task.cancel()

    async def release(self) -> None:
        """Close, and give back what is held in the database."""
        self.close()
        await self._slots.close()

    def _start(self, loop: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run a loop for all streams, unless it runs already."""
        name = loop.__name__
        if name not in self._tasks or self._tasks[name].done():
            # Not in the context of this request: what is logged there belongs to its account.
            self._tasks[name] = asyncio.create_task(loop(), context=Context())
            self._tasks[name].add_done_callback(self._stopped)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        """End all streams if a loop failed: their clients connect again, which starts it again."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("event_stream.failed", exc_info=error)
            for stream in self._streams:
                stream.end(_FAILED)

    async def _read(self, stream: EventStream) -> JournalPage | None:
        """The next events of a stream; None if they cannot be read now, or never."""
        stream.has_news = False
        try:
            async with stream.reading, self._reading:
                page = await read.read(
                    self._db,
                    stream.account_id,
                    stream.position,
                    order_id=stream.order_id,
                    kinds=stream.kinds,
                    limit=_PAGE_EVENTS,
                    kept=self._kept,
                )
        except DatabaseAway:  # the next look at the journal wakes the stream again
            return None
        except Gone as error:
            stream.end(str(error))
            return None
        stream.has_news |= page.has_more
        return page

    async def _follow_journal(self) -> None:
        with self._db.wakeups.waiting(DELIVERIES) as news:
            while self._streams:
                news.clear()
                with suppress(DatabaseAway):
                    await self._look()
                await asyncio.sleep(_LOOK_SECONDS)
                await _wait(news, _POLL_SECONDS)

    async def _look(self) -> None:
        streams = list(self._streams)
        lost = await self._slots.lost()
        last = await sql.last_numbers(self._db, list({stream.account_id for stream in streams}))
        for stream in streams:
            if stream.slot in lost:
                stream.end(_SLOT_LOST)
            elif last.get(stream.account_id, 0) != stream.position.number:
                stream.has_news = True
                stream.wake.set()

    async def _check_credentials(self) -> None:
        """Check the credentials of all streams at once, which costs the gate one statement."""
        while self._streams:
            streams = list(self._streams)
            await asyncio.gather(*map(self._check, streams))
            await asyncio.sleep(_CHECK_SECONDS)

    async def _check(self, stream: EventStream) -> None:
        asked_at = asyncio.get_running_loop().time()
        try:
            await stream.recheck()
        except (Unauthenticated, Forbidden):
            stream.end(_CREDENTIAL_ENDED)
        except TradewindError as error:
            log.warning("event_stream.not_checked", error=str(error))
        else:
            stream.checked_at = asked_at
            if stream.has_news:
                stream.wake.set()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), max(0.0, seconds))
