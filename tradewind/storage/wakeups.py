"""Wake-ups: notify sleeping loops, in this and in other processes, that there is work."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, suppress

import asyncpg

from tradewind.errors import ServiceUnavailable
from tradewind.observability.logs import log
from tradewind.storage import sql

# How long announcements are gathered before the next NOTIFY: for so long for each in the last one.
# Up to five hundred a second each is sent almost at once, and beyond that they gather more and
# more, so that a busy process sends fifty a second and not one for each transaction.
_SECONDS_EACH = 0.002
_LONGEST_SECONDS = 0.02
_RECONNECT_SECONDS = 1.0
# More subjects than these are not named: a payload has 8,000 bytes at most.
_MOST_SUBJECTS = 100
_FAILURES = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    ServiceUnavailable,
)


class Wakeup(asyncio.Event):
    """Set when one of its topics is announced, until it is cleared.

    `subjects` says what the announcements were about, for example accounts, as far as they did.
    """

    def __init__(self) -> None:
        super().__init__()
        self.subjects: set[str] = set()

    def clear(self) -> None:
        super().clear()
        self.subjects.clear()


class Wakeups:
    """Sends and receives wake-ups. They only save time: every loop also polls.

    A NOTIFY inside a transaction takes a database-wide lock at its commit, so it is sent after the
    commit, gathered with others (see above), and a failure to send is ignored.
    """

    def __init__(
        self, fetch: sql.Fetch, connect: Callable[[], Awaitable[asyncpg.Connection]]
    ) -> None:
        self._fetch = fetch
        self._connect = connect
        self._waiting: dict[str, set[Wakeup]] = {}
        # Topics, with their subjects.
        self._unsent: defaultdict[str, set[str]] = defaultdict(set)
        self._announced = 0
        self._sender: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None

    def announce(self, topic: str, subject: str | None = None) -> None:
        """Wake the loops that wait for `topic`: at once in this process, soon in the others."""
        subjects = () if subject is None else (subject,)
        self._wake(topic, subjects)
        self._unsent[topic].update(subjects)
        self._announced += 1
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send())

    @contextmanager
    def waiting(self, *topics: str) -> Iterator[Wakeup]:
        """An event that is set when any process announces one of the topics, from now on."""
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(self._listen())
        event = Wakeup()
        for topic in topics:
            self._waiting.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            for topic in topics:
                self._waiting[topic].discard(event)

    async def close(self) -> None:
        """Stop listening; topics that were not sent yet are dropped."""
        for task in (self._sender, self._listener):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _send(self) -> None:
        while self._unsent:
            unsent, self._unsent = self._unsent, defaultdict(set)
            announced, self._announced = self._announced, 0
            try:
                await sql.notify(self._fetch, [_payload(*topic) for topic in unsent.items()])
            except _FAILURES as error:
                log.warning("wakeup.not_sent", topics=sorted(unsent), error=str(error))
            await asyncio.sleep(min(_SECONDS_EACH * announced, _LONGEST_SECONDS))

    async def _listen(self) -> None:
        while True:
            with suppress(*_FAILURES):
                await self._listen_once()
            # Topics may have been announced while we did not listen, so wake everyone.
            for topic in self._waiting:
                self._wake(topic)
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen_once(self) -> None:
        connection = await self._connect()
        try:
            lost = asyncio.Event()
            connection.add_termination_listener(lambda _connection: lost.set())
            await connection.add_listener(
                sql.CHANNEL,
                lambda _connection, _pid, _channel, payload: self._wake(*_read(payload)),
            )
            for topic in self._waiting:
                self._wake(topic)
            await lost.wait()
        finally:
            connection.terminate()

    def _wake(self, topic: str, subjects: Collection[str] = ()) -> None:
        for event in self._waiting.get(topic, ()):
            event.subjects.update(subjects)
            event.set()


def _payload(topic: str, subjects: Collection[str]) -> str:
    named = subjects if len(subjects) <= _MOST_SUBJECTS else ()
    return f"{topic}:{','.join(named)}" if named else topic


def _read(payload: str) -> tuple[str, Collection[str]]:
    topic, colon, subjects = payload.partition(":")
    return topic, subjects.split(",") if colon else ()
