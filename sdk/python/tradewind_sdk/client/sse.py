"""Reads server-sent events from the bytes of a response."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST_EVENT = 1024 * 1024
# Other separators that Python knows, such as U+2028, are part of a line.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class EventTooLong(ValueError):
    """An event of a stream has more than 1 MiB."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event of a stream. Send `id` as `Last-Event-ID` to continue after it."""

    id: str
    event: str
    data: str


class EventStreamReader:
    """Puts the pieces of a stream together to events, as the HTML standard says."""

    def __init__(self) -> None:
        self.last_id = ""
        """The id of the last block, also of one without an event; empty before the first."""
        self._rest = b""
        self._id = ""
        self._event = ""
        self._data: list[str] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Take what was received; returns the events that it completes."""
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        self._check(len(self._rest))
        for line in lines:
            event = self._take(line.decode("utf-8", "replace"))
            if event is not None:
                yield event

    def _take(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._complete()
        if line.startswith(":"):  # a comment keeps the connection open
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self._id = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
            self._length += len(value)
            self._check(self._length)
        return None

    def _complete(self) -> ServerSentEvent | None:
        self.last_id = self._id
        event, data = self._event, self._data
        self._event, self._data, self._length = "", [], 0
        if not data:
            return None
        return ServerSentEvent(self._id, event or "message", "\n".join(data))

    @staticmethod
    def _check(length: int) -> None:
        if length > _LONGEST_EVENT:
            raise EventTooLong("An event of the stream is too long.")
