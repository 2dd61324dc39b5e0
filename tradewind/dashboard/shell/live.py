"""Live: tells open pages that something of theirs changed, by one look for all of them."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from tradewind.auth.model import Role
from tradewind.dashboard.shell import queries as sql
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller

_LOOK_SECONDS = 2.0
_HEARTBEAT_SECONDS = 15.0
_STREAM_SECONDS = 50.0
_STREAMS_PER_ACCOUNT = 8

Prints = Mapping[str, str]


@dataclass(eq=False, slots=True)
class _Stream:
    """One open page: what it was last told, and what it is to be told next."""

    account_id: UUID
    session_id: UUID | None
    sees_approvals: bool
    known: Prints | None = None
    changed: set[str] = field(default_factory=set)
    ended: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self) -> None:
        self.ended = True
        self.wake.set()

    def compare(self, now: Prints) -> None:
        """Note what is no longer as it was; the first look only tells how things are."""
        if self.known is not None:
            self.changed |= {
                topic for topic, print_ in now.items() if self.known.get(topic) != print_
            }
        if self.changed or self.known is None:
            self.wake.set()
        self.known = now


class Live:
    """The streams of this process. It looks only while there are any.

    A stream ends by itself before long, and at once when the process stops or its session does:
    a server that stops waits for its answers, and a stream is one.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._streams: list[_Stream] = []
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    def events(self, caller: Caller, seen: str | None = None) -> AsyncGenerator[bytes, None]:
        """The events for a page that this caller has open.

        `seen` is the last mark that the page got: if it fits no more, or there is none, what
        changed before this stream began would be missed, and the page is told to look.
        """
        watched = bool(caller.roles & {Role.APPROVER, Role.OPERATOR})
        stream = _Stream(caller.account_id, caller.session_id, watched)
        own = [one for one in self._streams if one.account_id == caller.account_id]
        for oldest in own[: max(0, len(own) + 1 - _STREAMS_PER_ACCOUNT)]:
            oldest.end()
        return self._told(stream, seen)

    def close(self) -> None:
        """End every stream, now."""
        self._closed = True
        for stream in self._streams:
            stream.end()
        if self._looking is not None:
            self._looking.cancel()

    async def _told(self, stream: _Stream, seen: str | None) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        over = loop.time() + _STREAM_SECONDS
        self._streams.append(stream)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            yield b"retry: 1000\n: welcome\n\n"
            watching = False
            while not self._closed and loop.time() < over:
                if await _woken(stream.wake, min(_HEARTBEAT_SECONDS, over - loop.time())):
                    stream.wake.clear()
                    if stream.changed:
                        topics = ",".join(sorted(stream.changed))
                        stream.changed.clear()
                        mark = _mark(stream.known)
                        yield f"id: {mark}\nevent: change\ndata: {topics}\n\n".encode()
                    if stream.known is not None and not watching:
                        watching = True
                        mark = _mark(stream.known)
                        if mark != seen:
                            yield f"id: {mark}\nevent: watching\ndata: {mark}\n\n".encode()
                        yield b": watching from here on\n\n"
                    if stream.ended:
                        return
                else:
                    yield b": still here\n\n"
        finally:
            self._streams.remove(stream)

    async def _look(self) -> None:
        while self._streams and not self._closed:
            try:
                await self._look_once()
            except TradewindError as error:
                log.warning("live.failed", error=str(error))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _look_once(self) -> None:
        asked = list(self._streams)
        sessions = [one.session_id for one in asked if one.session_id]
        living = await sql.live_sessions(self._db, sessions)
        rows = await sql.fingerprints(self._db, list({one.account_id for one in asked}))
        own = {row["account_id"]: row for row in rows}
        approvals = ""
        if any(one.sees_approvals for one in asked):
            approvals = await sql.approvals_fingerprint(self._db)
        for stream in asked:
            if stream.session_id not in living:
                stream.changed.add("session")
                stream.end()
                continue
            row = own[stream.account_id]
            prints = {"orders": str(row["orders"]), "deliveries": str(row["deliveries"])}
            if stream.sees_approvals:
                prints["approvals"] = approvals
            stream.compare(prints)


def _mark(prints: Prints | None) -> str:
    """How things are, in a few letters that tell nothing else."""
    told = "\n".join(f"{topic}={print_}" for topic, print_ in sorted((prints or {}).items()))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


async def _woken(wake: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(wake.wait(), max(0.0, seconds))
    except TimeoutError:
        return False
    return True
