"""A response: for endpoints that set more than a body, such as a status, headers or a stream."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec

Headers = list[tuple[bytes, bytes]]

encode = msgspec.json.Encoder().encode

JSON = b"application/json"
PROBLEM = b"application/problem+json"
HTML = b"text/html; charset=utf-8"
NO_STORE = (b"cache-control", b"no-store")


def location(*steps: str) -> tuple[bytes, bytes]:
    """The Location header of a 201: a path under /v1."""
    return b"location", "/".join(("/v1", *steps)).encode()


@dataclass(slots=True)
class Response:
    """A body with its status and headers. Bytes are sent as they are, anything else as JSON.

    With a `stream` there is no body: its chunks are sent as they come, until it or the client ends.
    If the stream fails, the connection is closed before the end of the response, so that the client
    can tell. A stream that is `paced` leaves time to other requests between its chunks. What is
    `held` for the stream is released after it. Once `abandoned` is set, the stream is cut off, also
    while it waits for a client that does not read.
    """

    body: Any = None
    status: int | None = None
    headers: Sequence[tuple[bytes, bytes]] = field(default_factory=list)
    content_type: bytes = JSON
    stream: AsyncGenerator[bytes, None] | None = None
    paced: bool = False
    held: AsyncExitStack | None = None
    abandoned: asyncio.Event | None = None

    def encoded(self) -> bytes:
        if self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else encode(self.body)
