"""Live updates: tells open pages that something changed, with one poll for all of them."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from tradewind.auth.model import Role
from tradewind.dashboard.shell import queries
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller

_POLL_SECONDS = 2.0
_HEARTBEAT_SECONDS = 15.0
_STREAM_SECONDS = 50.0
_STREAMS_PER_ACCOUNT = 8

# A text by topic (`orders`, `deliveries`, `approvals`, ...) that differs after every change.
Fingerprints = Mapping[str, str]


@dataclass(eq=False, slots=True)
class _Stream:
    """An open page: the fingerprints it last got, and the topics to send next."""

    account_id: UUID
    session_id: UUID | None
    sees_approvals: bool
    fingerprints: Fingerprints | None = None
    changed: set[str] = field(default_factory=set)
    ended: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self) -> None:
        self.ended = True
        self.wake.set()

    def compare(self, latest: Fingerprints) -> None:
        """Note the topics that changed; the first poll only sets the baseline."""
        previous = self.fingerprints
        if previous is not None:
            self.changed |= {topic for topic in latest if previous.get(topic) != latest[topic]}
        if self.changed or previous is None:
            self.wake.set()
        self.fingerprints = latest


class Live:
    """The streams of this process. It polls only while there are any.

    A stream ends after a while, and at once when the process stops or its session ends: a server
    that stops waits for its responses, and a stream is one.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._streams: list[_Stream] = []
        self._polling: asyncio.Task[None] | None = None
        self._closed = False

    def events(self, caller: Caller, last_mark: str | None = None) -> AsyncGenerator[bytes, None]:
        """The events for a page that this caller has open.

        `last_mark` is the last mark that the page got. If it no longer matches, something changed
        before this stream started, and the page is told to update.
        """
        sees_approvals = bool(caller.roles & {Role.APPROVER, Role.OPERATOR})
        stream = _Stream(caller.account_id, caller.session_id, sees_approvals)
        siblings = [other for other in self._streams if other.account_id == caller.account_id]
        for oldest in siblings[: max(0, len(siblings) + 1 - _STREAMS_PER_ACCOUNT)]:
            oldest.end()
        return self._events(stream, last_mark)

    def close(self) -> None:
        """End every stream now."""
        self._closed = True
        for stream in self._streams:
            stream.end()
        if self._polling is not None:
            self._polling.cancel()

    async def _events(self, stream: _Stream, last_mark: str | None) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _STREAM_SECONDS
        self._streams.append(stream)
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            yield b"retry: 1000\n: welcome\n\n"
            watching = False
            while not self._closed and loop.time() < deadline:
                timeout = min(_HEARTBEAT_SECONDS, deadline - loop.time())
                if not await _wait(stream.wake, timeout):
                    yield b": heartbeat\n\n"
                    continue
                stream.wake.clear()
                mark = _mark(stream.fingerprints)
                if stream.changed:
                    topics = ",".join(sorted(stream.changed))
                    stream.changed.clear()
                    yield f"id: {mark}\nevent: change\ndata: {topics}\n\n".encode()
                if stream.fingerprints is not None and not watching:
                    watching = True
                    if mark != last_mark:
                        yield f"id: {mark}\nevent: watching\ndata: {mark}\n\n".encode()
                    yield b": watching from here on\n\n"
                if stream.ended:
                    return
        finally:
            self._streams.remove(stream)

    async def _poll(self) -> None:
        while self._streams and not self._closed:
            try:
                await self._poll_once()
            except TradewindError as error:
                log.warning("live.failed", error=str(error))
            await asyncio.sleep(_POLL_SECONDS)

    async def _poll_once(self) -> None:
        streams = list(self._streams)
        sessions = [stream.session_id for stream in streams if stream.session_id]
        open_sessions = await queries.open_sessions(self._db, sessions)
        accounts = list({stream.account_id for stream in streams})
        fingerprints = await queries.account_fingerprints(self._db, accounts)
        approvals = ""
        if any(stream.sees_approvals for stream in streams):
            approvals = await queries.approvals_fingerprint(self._db)
        for stream in streams:
            if stream.session_id not in open_sessions:
                stream.changed.add("session")
                stream.end()
                continue
            latest = fingerprints[stream.account_id]
            if stream.sees_approvals:
                latest = {**latest, "approvals": approvals}
            stream.compare(latest)


def _mark(fingerprints: Fingerprints | None) -> str:
    """A short hash of the fingerprints."""
    text = "\n".join(f"{topic}={value}" for topic, value in sorted((fingerprints or {}).items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


async def _wait(wake: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(wake.wait(), max(0.0, seconds))
    except TimeoutError:
        return False
    return True
