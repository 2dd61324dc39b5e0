"""How an attempt to call an endpoint ended, in words that a customer may read."""

from datetime import datetime
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    """How an attempt ended."""

    DELIVERED = "delivered"
    HTTP_ERROR = "http_error"
    TIMEOUT = "timeout"
    DNS_ERROR = "dns_error"
    CONNECT_FAILED = "connect_failed"
    TLS_ERROR = "tls_error"
    BLOCKED_ADDRESS = "blocked_address"
    CONNECTION_CLOSED = "connection_closed"
    INVALID_RESPONSE = "invalid_response"
    # The sender gives neither of these: the delivery engine does.
    UNKNOWN = "unknown"  # it was sent, and its worker died before reporting
    CANCELLED = "cancelled"  # nothing was sent


class Problem(msgspec.Struct, frozen=True):
    """Why an attempt did not deliver: a code for programs, a sentence for people.

    `is_ours`: this process lacked something. Nothing was sent; the endpoint did not fail.
    """

    code: str
    message: str
    is_ours: bool = False


class Timings(msgspec.Struct, frozen=True):
    """Seconds from the start of the attempt to the end of each step; None for one not taken.

    An attempt over a kept connection takes no connect and no tls.
    """

    dns: float | None = None
    connect: float | None = None
    tls: float | None = None
    first_byte: float | None = None
    total: float = 0.0


_NO_TIMINGS = Timings()


class AttemptResult(msgspec.Struct, frozen=True, gc=False):
    """How one attempt ended. It holds no address and no words of a library.

    `status` and `head` are there when the response's headers came whole; `body` is what came of the
    body, 4 KiB at most. `tried` counts addresses. `reused` is whether a kept connection served.
    `certificate_ends` is known only for a diagnosis whose handshake succeeded.
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
    def is_ours(self) -> bool:
        """Whether nothing was sent because this process lacked something: no attempt was made."""
        return self.problem is not None and self.problem.is_ours

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return headers_of(self.head)


def headers_of(head: bytes) -> tuple[tuple[str, str], ...]:
    """The headers of a response, in their order; the status line is not one of them."""
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if ":" in line)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
