"""Ignores stale events: those older than the state of the order that is held already."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from threading import Lock
from typing import Any

from tradewind_sdk.webhooks.events import Event, read_time

CAPACITY = 100_000
_POLL_SECONDS = 0.01


def is_stale(event: Event | Mapping[str, Any], held: datetime | str | None) -> bool:
    """Whether to ignore an event, because a newer state of its order is held already.

    `held` is the `data.order.updated_at` of the newest event that you have applied to the order,
    as it came or as a datetime; None if there is none. An equally new event is not stale: an
    order and its payment may change together, and then two events show the same state.

    Compare and store in one transaction, with the order's row locked. Otherwise two events that
    arrive together may both win.
    """
    return held is not None and updated_at(event) < _aware(held)


def updated_at(event: Event | Mapping[str, Any]) -> datetime:
    """When the order in an event last changed; ValueError if the event does not say."""
    if isinstance(event, Event):
        return event.data.order.updated_at
    try:
        text = event["data"]["order"]["updated_at"]
    except (KeyError, TypeError):
        raise ValueError("The event has no data.order.updated_at.") from None
    return _aware(text)


def _aware(value: datetime | str) -> datetime:
    if not isinstance(value, datetime):
        return read_time(value)
    if value.tzinfo is None:
        raise ValueError(f"{value} has no time zone.")
    return value


class MemoryOrdering:
    """Remembers how new the state is that this process handled last, for each order.

    Events of one order take turns, so that an older one cannot overtake a newer one that is
    still being handled. If several processes receive, or one restarts, compare in your database
    instead: with is_stale, in the transaction that stores the order.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._handled: OrderedDict[str, datetime] = OrderedDict()
        self._turns: dict[str, tuple[Lock, int]] = {}  # with how many have or want the turn
        self._lock = Lock()

    @contextmanager
    def turn(self, event: Event) -> Iterator[bool]:
        """Wait for the turn of this event; the value is whether to handle it.

        If the block raises, the event counts as not handled.
        """
        order_id = event.data.order.id
        turn = self._join(order_id)
        try:
            with turn, self._judged(event) as is_new:
                yield is_new
        finally:
            self._leave(order_id)

    @asynccontextmanager
    async def turn_async(self, event: Event) -> AsyncIterator[bool]:
        """The same for tasks, which may belong to the event loops of several threads."""
        order_id = event.data.order.id
        turn = self._join(order_id)
        try:
            # An asyncio lock belongs to one event loop.
            while not turn.acquire(blocking=False):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
            try:
                with self._judged(event) as is_new:
                    yield is_new
            finally:
                turn.release()
        finally:
            self._leave(order_id)

    @contextmanager
    def _judged(self, event: Event) -> Iterator[bool]:
        order = event.data.order
        with self._lock:
            is_new = not is_stale(event, self._handled.get(order.id))
        yield is_new
        if is_new:
            with self._lock:
                self._handled[order.id] = order.updated_at
                self._handled.move_to_end(order.id)
                while len(self._handled) > self._capacity:
                    self._handled.popitem(last=False)

    def _join(self, order_id: str) -> Lock:
        with self._lock:
            turn, count = self._turns.get(order_id, (Lock(), 0))
            self._turns[order_id] = turn, count + 1
        return turn

    def _leave(self, order_id: str) -> None:
        with self._lock:
            turn, count = self._turns.pop(order_id)
            if count > 1:
                self._turns[order_id] = turn, count - 1
