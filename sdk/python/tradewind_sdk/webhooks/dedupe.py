"""Recognises an event that was handled before, by its id."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from threading import Lock
from typing import Protocol

CAPACITY = 100_000


class EventInProgress(Exception):
    """The same event is being handled right now, and may still fail.

    Answer 503. If the first succeeds, its repeat is recognised as a duplicate; if it fails, the
    repeat is handled.
    """


class Deduplicator(Protocol):
    """Decides whether an event is handled. Write your own to keep the ids in your database."""

    def once(self, event_id: str) -> AbstractContextManager[bool]:
        """Open a context whose value is True if the event was not handled before."""
        ...


class AsyncDeduplicator(Protocol):
    """The same for handlers that are coroutine functions."""

    def once(self, event_id: str) -> AbstractAsyncContextManager[bool]:
        """Open a context whose value is True if the event was not handled before."""
        ...


class MemoryDeduplicator:
    """Remembers the ids of the events that this process handled last.

    If several processes receive, or one restarts, keep the ids in your database instead: in a
    table with a unique column, written in the transaction that has the event's effect.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._handled: OrderedDict[str, None] = OrderedDict()
        self._in_progress: set[str] = set()
        self._lock = Lock()

    @contextmanager
    def once(self, event_id: str) -> Iterator[bool]:
        """Whether to handle this event: `with deduplicator.once(event.id) as is_first: ...`.

        If the block raises, the event counts as not handled, so its repeat is let through. While
        another thread or task handles the same event, EventInProgress is raised.
        """
        with self._lock:
            if event_id in self._in_progress:
                raise EventInProgress(event_id)
            is_first = event_id not in self._handled
            if is_first:
                self._in_progress.add(event_id)
        if not is_first:
            yield False
            return
        try:
            yield True
        except BaseException:
            with self._lock:
                self._in_progress.discard(event_id)
            raise
        with self._lock:
            self._in_progress.discard(event_id)
            self._handled[event_id] = None
            while len(self._handled) > self._capacity:
                self._handled.popitem(last=False)
