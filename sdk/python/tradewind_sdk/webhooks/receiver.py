"""Receives a webhook whatever the framework: verify, parse, handle each event once, answer."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from tradewind_sdk.webhooks.dedupe import (
    AsyncDeduplicator,
    Deduplicator,
    EventInProgress,
    MemoryDeduplicator,
)
from tradewind_sdk.webhooks.events import Event, InvalidEvent, parse_event
from tradewind_sdk.webhooks.ordering import MemoryOrdering
from tradewind_sdk.webhooks.verify import (
    TOLERANCE_SECONDS,
    VerificationError,
    checked_secrets,
    verify,
)

Handler = Callable[[Event], None]
AsyncHandler = Callable[[Event], Awaitable[None]]

MAX_BODY_BYTES = 256 * 1024
"""Longer bodies are refused unread; an event has less than 1 KiB."""

_logger = logging.getLogger("tradewind_sdk.webhooks")


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a webhook. Everything but 2xx is sent again after one and five minutes."""

    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        return f"{self.text}\n".encode()

    def all_headers(self) -> dict[str, str]:
        length = str(len(self.body))
        return {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": length,
            **self.headers,
        }


HANDLED = Answer(200, "Handled.")
DUPLICATE = Answer(200, "Handled before.")
STALE = Answer(200, "Ignored: a newer state of the order was handled.")
METHOD_NOT_ALLOWED = Answer(405, "Send a POST.", {"Allow": "POST"})
LENGTH_REQUIRED = Answer(411, "The request has no Content-Length.", {"Connection": "close"})
TOO_LARGE = Answer(413, "The body is too large for an event.", {"Connection": "close"})
INCOMPLETE = Answer(400, "The body ended too early.", {"Connection": "close"})
IN_PROGRESS = Answer(503, "The same event is being handled right now.", {"Retry-After": "60"})
FAILED = Answer(500, "The event was received and could not be handled.")


class WebhookReceiver:
    """Verifies webhooks with a secret, and passes each event to a handler once.

    Adapters give it the raw body. It answers 200 when the handler has returned, the event was
    handled before, or a newer one of its order was (unless `ignore_stale` is False); 401 if the
    webhook is not genuine, 400 if it is but holds no event, 503 while the same event is being
    handled, and 500 if the handler raised, which is logged.

    The sender waits ten seconds: let the handler store the event, and work on it afterwards.
    """

    def __init__(
        self,
        secret: str | Sequence[str],
        handler: Handler | AsyncHandler,
        *,
        deduplicator: Deduplicator | AsyncDeduplicator | None = None,
        ignore_stale: bool = True,
        tolerance: float = TOLERANCE_SECONDS,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self.max_body_bytes = max_body_bytes
        self.is_async = _is_async(handler)
        self._secrets = checked_secrets(secret)
        self._handler: Callable[[Event], Any] = handler
        self._deduplicator = deduplicator or MemoryDeduplicator()
        self._ordering = MemoryOrdering() if ignore_stale else None
        self._tolerance = tolerance

    def require_sync(self, framework: str) -> None:
        """Raise TypeError if the handler is a coroutine function, which nobody would await."""
        if self.is_async:
            raise TypeError(f"{framework} calls handlers without awaiting them; pass a function.")

    def receive(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer a webhook, and call a handler that is a function."""
        event = self._checked(headers, body)
        if isinstance(event, Answer):
            return event
        try:
            context = self._deduplicator.once(event.id)
            if isinstance(context, AbstractAsyncContextManager):
                _needs_async_handler()
            with context as is_first:
                return self._handle(event) if is_first else DUPLICATE
        except Exception as error:  # noqa: BLE001 - whatever it is, the sender gets an answer
            return _answer_to(error, event)

    async def receive_async(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer a webhook. A handler that is a function runs in a thread."""
        if not self.is_async:
            return await asyncio.to_thread(self.receive, headers, body)
        event = self._checked(headers, body)
        if isinstance(event, Answer):
            return event
        try:
            context = self._deduplicator.once(event.id)
            if isinstance(context, AbstractAsyncContextManager):
                async with context as is_first:
                    return await self._handle_async(event) if is_first else DUPLICATE
            with context as is_first:
                return await self._handle_async(event) if is_first else DUPLICATE
        except Exception as error:  # noqa: BLE001 - whatever it is, the sender gets an answer
            return _answer_to(error, event)

    def _handle(self, event: Event) -> Answer:
        if self._ordering is None:
            self._handler(event)
            return HANDLED
        with self._ordering.turn(event) as is_new:
            if is_new:
                self._handler(event)
        return HANDLED if is_new else STALE

    async def _handle_async(self, event: Event) -> Answer:
        if self._ordering is None:
            await self._handler(event)
            return HANDLED
        async with self._ordering.turn_async(event) as is_new:
            if is_new:
                await self._handler(event)
        return HANDLED if is_new else STALE

    def _checked(self, headers: Mapping[str, str], body: bytes) -> Event | Answer:
        if len(body) > self.max_body_bytes:
            return TOO_LARGE
        try:
            verify(self._secrets, headers, body, tolerance=self._tolerance)
        except VerificationError as error:
            _logger.warning("A webhook was refused: %s", error.reason)
            return Answer(401, str(error))
        try:
            return parse_event(body)
        except InvalidEvent as error:
            _logger.warning("A genuine webhook holds no event: %s", error)
            return Answer(400, str(error))


def _is_async(handler: Callable[[Event], Any]) -> bool:
    """Whether the handler is a coroutine function, or an object that is called like one."""
    call = getattr(type(handler), "__call__", None)  # noqa: B004 - its kind is asked, not whether
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)


def _needs_async_handler() -> NoReturn:
    raise TypeError("An asynchronous deduplicator needs a handler that is a coroutine function.")


def _answer_to(error: Exception, event: Event) -> Answer:
    if isinstance(error, EventInProgress):
        return IN_PROGRESS
    _logger.error("Event %s was not handled.", event.id, exc_info=error)
    return FAILED
