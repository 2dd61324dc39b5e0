"""Reads a stream of events as the standard says, with the standard library and httpx alone."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from kit.server import Person, Server

# Nobody here speaks TLS; but a client that is not given one reads every certificate there is.
_TLS = ssl.create_default_context()


@dataclass(frozen=True)
class StreamedEvent:
    """An event as a client of the stream gets it."""

    id: str
    event: str
    data: str


@dataclass
class OpenStream:
    """An open stream: its events in turn, its comments, and the number to resume after."""

    answer: httpx.Response
    lines: Iterator[str]
    comments: list[str] = field(default_factory=list)
    last_id: str = ""

    def blocks(self) -> Iterator[StreamedEvent | None]:
        """Each block that ends with an empty line: an event, or None where it has no data."""
        kind, data = "", list[str]()
        for line in self.lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if line == "":
                yield StreamedEvent(self.last_id, kind, "\n".join(data)) if data else None
                kind, data = "", []
            elif name == "":
                self.comments.append(value)
            elif name == "id":
                self.last_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)

    def events(self) -> Iterator[StreamedEvent]:
        return (event for event in self.blocks() if event is not None)

    def take(self, count: int) -> list[StreamedEvent]:
        """The next so many events."""
        events = self.events()
        return [next(events) for _ in range(count)]


@contextmanager
def streaming(
    api: Server,
    by: Person | None = None,
    *,
    after: object | None = None,
    query: str = "",
    token: str | None = None,
) -> Iterator[OpenStream]:
    """An open stream that has told its first number; on a connection of its own."""
    headers = by.headers if by else {"authorization": f"Bearer {token}"}
    if after is not None:
        headers = {**headers, "last-event-id": str(after)}
    url = f"{api.url}/v1/events/stream{query}"
    with httpx.stream("GET", url, headers=headers, timeout=25, verify=_TLS) as answer:
        if answer.status_code != 200:
            answer.read()
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/event-stream"
        stream = OpenStream(answer, answer.iter_lines())
        assert next(stream.blocks()) is None
        yield stream


def refusal(api: Server, by: Person, *, after: object | None = None, query: str = "") -> Any:
    """The status and code with which a stream must be refused."""
    headers = by.headers if after is None else {**by.headers, "last-event-id": str(after)}
    url = f"{api.url}/v1/events/stream{query}"
    with httpx.stream("GET", url, headers=headers, timeout=25, verify=_TLS) as answer:
        assert answer.status_code != 200
        assert answer.headers["content-type"] == "application/problem+json"
        answer.read()
        return answer.status_code, answer.json()["code"]
