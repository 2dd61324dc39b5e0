"""Dedupe: recognises an event that was delivered before, by its id."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

MOST_REMEMBERED = 100_000


class BeingHandled(Exception):
    """The same event is being handled right now, and may yet fail.

    Answer 503: if the other succeeds, the repeat is recognised then; if not, it is the one that
    counts.
    """


class Seen:
    """Remembers, in this process, the ids of events that were handled: the last so many.

    Where several processes receive, or one restarts, keep the ids in your database instead: in a
    table with a unique id, written in the transaction that has the event's effect.
    """

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._handled: OrderedDict[str, None] = OrderedDict()
        self._under_way: set[str] = set()
        self._lock = Lock()

    @contextmanager
    def once(self, event_id: str) -> Iterator[bool]:
        """Whether to handle this event: `with seen.once(event["id"]) as is_first: ...`.

        An event whose handling raises was not handled, so its repeat is let through. It raises
        BeingHandled while the same event is in the hands of another thread or task.
        """
        with self._lock:
            if event_id in self._under_way:
                raise BeingHandled(event_id)
            is_first = event_id not in self._handled
            if is_first:
                self._under_way.add(event_id)
        if not is_first:
            yield False
            return
        try:
            yield True
        except BaseException:
            with self._lock:
                self._under_way.discard(event_id)
            raise
        with self._lock:
            self._under_way.discard(event_id)
            self._handled[event_id] = None
            while len(self._handled) > self._most:
                self._handled.popitem(last=False)
