"""What became of a call to a stranger's address, in words that a tenant may read."""

from datetime import datetime
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    DELIVERED = "delivered"
    HTTP_ERROR = "http_error"
    TIMEOUT = "timeout"
    DNS_ERROR = "dns_error"
    CONNECT_FAILED = "connect_failed"
    TLS_ERROR = "tls_error"
    BLOCKED_ADDRESS = "blocked_address"
    CONNECTION_CLOSED = "connection_closed"
    INVALID_RESPONSE = "invalid_response"


class Problem(msgspec.Struct, frozen=True):
    """Why a call did not deliver: a code for programs, a sentence for people.

    `is_ours`: for want of something here. Nothing was sent, and the receiver is not to blame.
    """

    code: str
    message: str
    is_ours: bool = False


class Timings(msgspec.Struct, frozen=True):
    """Seconds from the start of the call to the end of each step; None for one not taken.

    A call over a connection that was kept from an earlier one takes no connect and no tls.
    """

    dns: float | None = None
    connect: float | None = None
    tls: float | None = None
    first_byte: float | None = None
    total: float = 0.0


_NO_TIMINGS = Timings()


class Result(msgspec.Struct, frozen=True, gc=False):
    """The end of one call. It holds no address and none of libcurl's words.

    `status` and `head` are there when the answer's headers came whole; `body` is what came of the
    body, 4 KiB at most. `tried` counts addresses. `reused` is whether a kept connection served.
    `certificate_ends` is known only for a diagnosis whose handshake went well.
    """

    outcome: Outcome
    status: int | None = None
    problem: Problem | None = None
    head: bytes = b""
    body: bytes = b""
    timings: Timings = _NO_TIMINGS
    tried: int = 0
    reused: bool = False
    certificate_ends: datetime | None = None

    @property
    def delivered(self) -> bool:
        return self.outcome is Outcome.DELIVERED

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The answer's headers, in their order; the status line is not one of them."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines if ":" in line)
        return tuple((name.strip(), value.strip()) for name, _, value in pairs)
