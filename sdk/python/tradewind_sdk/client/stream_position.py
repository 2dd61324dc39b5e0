"""How far a stream of events has come, and whether it is resumed when it is lost. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from tradewind_sdk.client.call import Call
from tradewind_sdk.client.retries import RetryPolicy
from tradewind_sdk.client.sse import EventStreamReader, ServerSentEvent

_LAST_EVENT_ID = "Last-Event-Id"


class StreamPosition:
    """The place in the journal after which a stream goes on."""

    def __init__(self, policy: RetryPolicy, call: Call) -> None:
        self.call = call
        """The call that begins the stream, or resumes it."""
        self._policy = policy
        self._reader = EventStreamReader()
        self._lost_at: float | None = None
        self._retry = 0

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """The events that are complete with these bytes."""
        self._lost_at = None
        self._retry = 0
        return self._reader.feed(chunk)

    def lose(self, now: float) -> None:
        """Begin again after the last block. An event that was cut off is sent again, whole."""
        if self._reader.last_id:
            headers = {**self.call.headers, _LAST_EVENT_ID: self._reader.last_id}
            self.call = replace(self.call, headers=headers)
        self._reader = EventStreamReader()
        if self._lost_at is None:
            self._lost_at = now

    def may_resume(self, now: float) -> bool:
        """Whether to connect again; a stream that never began is not tried any longer."""
        return self._lost_at is not None and now - self._lost_at < self._policy.longest_wait

    def delay(self, chance: float) -> float:
        """Seconds until the next connection; they grow while nothing is received."""
        delay = self._policy.backoff(self._retry, chance)
        self._retry += 1
        return delay
