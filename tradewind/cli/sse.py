"""Parses server-sent events as the HTML standard says. Pure."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """A block of a stream. Without `data` it is no event, and only says how far the stream is."""

    id: str
    kind: str
    data: str | None


class LineTooLong(ValueError):
    """A line of a stream is longer than its reader accepts."""


@dataclass(slots=True)
class SseParser:
    """Takes the bytes of a stream as they come, and returns the blocks that they complete."""

    longest: int
    last_id: str = ""
    _rest: bytes = b""
    _kind: str = ""
    _data: list[str] = field(default_factory=list)

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > self.longest:
            raise LineTooLong
        for line in lines:
            event = self._line(line.removesuffix(b"\r").decode(errors="replace"))
            if event is not None:
                yield event

    def _line(self, line: str) -> ServerSentEvent | None:
        if line == "":
            data = "\n".join(self._data) if self._data else None
            event = ServerSentEvent(self.last_id, self._kind, data)
            self._kind, self._data = "", []
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self.last_id = value
        elif name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        return None


async def parse(chunks: AsyncIterable[bytes], *, longest: int) -> AsyncIterator[ServerSentEvent]:
    """The blocks of a stream; one that is cut off before its end is dropped."""
    parser = SseParser(longest)
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
