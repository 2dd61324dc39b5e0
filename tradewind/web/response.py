"""An answer: what an endpoint sends when the declared status and a body are not all."""

from collections.abc import AsyncIterator, Sequence
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
    """The header that says where under /v1 that is which a 201 tells of."""
    return b"location", "/".join(("/v1", *steps)).encode()


@dataclass(slots=True)
class Response:
    """A body with a status and headers of its own. Bytes go out as they are, the rest as JSON.

    With a `stream` there is no body: its pieces are sent as they come, until it or the client ends.
    """

    body: Any = None
    status: int | None = None
    headers: Sequence[tuple[bytes, bytes]] = field(default_factory=list)
    content_type: bytes = JSON
    stream: AsyncIterator[bytes] | None = None

    def encoded(self) -> bytes:
        if self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else encode(self.body)
