"""One connection to an endpoint: it sends a request, and keeps the start of its response."""

import asyncio
import re
import socket
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from typing import Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from tradewind.egress import failures
from tradewind.egress.addresses import Address
from tradewind.egress.failures import SendFailure

LARGEST_BODY: Final = 4096
_LARGEST_HEAD: Final = 64 * 1024
# After the head, what wraps the body may have as much again: chunk sizes, extensions, trailers.
_LARGEST_REST: Final = 64 * 1024
# What may come in all for a response by TLS, with records that carry no data: new keys, tickets.
_LARGEST_TLS: Final = 4 * _LARGEST_HEAD
_WEIGHT_OF_A_LINE: Final = 64  # overhead of a header line; limits their number
_MOST_INTERIM: Final = 500
# An endpoint may answer a request before it has read it. A longer one may still be on its way.
_LARGEST_KEPT_REQUEST: Final = 64 * 1024
_INTERIM: Final = range(100, 200)
_SWITCHING_PROTOCOLS: Final = 101
_ENCODINGS: Final = frozenset({b"chunked", b"identity"})
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_HEAD: Final = re.compile(rb"[\r\n]*([^\r\n].*?)\r?\n\r?\n", re.DOTALL)
_TRANSFER_ENCODING: Final = re.compile(rb"^transfer-encoding:(.*)$", re.MULTILINE)


class _Unwanted(Exception):
    """Nothing more of the response is wanted."""


class EndpointConnection(asyncio.BufferedProtocol):
    """A connection that holds at most one response: its last head, the first 4 KiB of its body.

    It never sends anything twice, and nothing by itself. It closes itself unless its response came
    whole, said nothing against it, and nothing came behind it.
    """

    def __init__(
        self, origin: str, address: Address, connected: socket.socket, buffer: memoryview
    ) -> None:
        """`buffer` takes what comes in, until it is read at once; connections share it."""
        self.origin = origin
        self.address = address
        self.connected_at = self.idle_since = perf_counter()
        self.secured_at: float | None = None
        self.certificate_ends: datetime | None = None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._socket = connected
        self._buffer = buffer
        self._transport: asyncio.Transport
        self._over: Callable[[], None] | None = None
        self._parser = HttpResponseParser(self)
        # What endpoints get wrong, and what does not change where a response ends.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,  # control characters and folded lines
            lenient_chunked_length=True,  # Content-Length beside chunks, which count
            lenient_optional_cr_before_lf=True,
        )
        self.forget()

    def forget(self) -> None:
        """Clear what was kept of the last response."""
        self.status: int | None = None
        self.head = self.body = b""
        self.failure: SendFailure | None = None
        self.first_byte_at: float | None = None
        # Whether it may send another request, now that a response is over.
        self.may_be_kept = False
        self._received = b""  # until the head is complete
        self._room = _LARGEST_HEAD  # how many bytes may still come
        self._tls_room = _LARGEST_TLS
        self._interim = 0  # how many responses with 1xx came before
        self._is_whole = False

    @property
    def is_alive(self) -> bool:
        """Whether the endpoint has neither closed it nor sent anything unasked."""
        if self._is_closing():
            return False
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def send(self, request: bytes, over: Callable[[], None]) -> None:
        """Send a request; `over` is called once, when there is a response or a failure.

        If it is closed before, nobody is called.
        """
        self._over = over
        self._is_large = len(request) > _LARGEST_KEPT_REQUEST
        if self._is_closing():  # the endpoint has closed it, or sent something unasked
            asyncio.get_running_loop().call_soon(self._end)
        else:
            self._transport.write(request)

    def close(self) -> None:
        """Close it, and call nobody back. What was not sent yet is not sent."""
        self._over = None
        self.may_be_kept = False
        if not self.lost.done():
            self._transport.abort()

    def _is_closing(self) -> bool:
        return self.lost.done() or self._transport.is_closing()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if certificate := transport.get_extra_info("peercert"):
            self.secured_at = perf_counter()
            ends = ssl.cert_time_to_seconds(certificate["notAfter"])
            self.certificate_ends = datetime.fromtimestamp(ends, UTC)

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        if self.status is None and self.failure is None:
            has_line = b"\n" in self._received
            self.failure = failures.HEADERS_INCOMPLETE if has_line else failures.CLOSED
        self.may_be_kept = False
        self._end()
        # They refer to this object, and would keep it until the garbage collector comes.
        del self._transport, self._parser

    def get_buffer(self, size: int) -> memoryview:
        if self.secured_at is not None:
            # With TLS, `size` came in, of which perhaps nothing is data.
            self._tls_room -= size
            if self._tls_room < 0:
                self._transport.abort()
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        if self._over is None:
            self.close()  # nobody asked
            return
        if self.first_byte_at is None:
            self.first_byte_at = perf_counter()
        data = self._buffer[:size]
        if self.status is None:
            self._received += data
        self._room -= size
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self.may_be_kept = False
            if self.status is None and self.failure is None:
                self.failure = failures.NOT_HTTP
            self._end()
            return
        if self._is_whole:
            self._end()
        elif self._room < 0:
            if self.status is None:
                self.failure = failures.HEADERS_TOO_LARGE
            self._end()

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise _Unwanted

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status in _INTERIM and status != _SWITCHING_PROTOCOLS:
            self._interim += 1
            if self._interim > _MOST_INTERIM:
                self.failure = failures.HEADERS_TOO_LARGE
                raise _Unwanted
            return
        head = _last_head(self._received, self._interim)
        if len(head) + head.count(b"\n") * _WEIGHT_OF_A_LINE > _LARGEST_HEAD:
            self.failure = failures.HEADERS_TOO_LARGE
            raise _Unwanted
        if not _is_readable(head.lower()):
            self.failure = failures.NOT_HTTP
            raise _Unwanted
        self.status = status
        self.head = head
        self._received = b""
        self._room = _LARGEST_REST

    def on_body(self, chunk: bytes) -> None:
        self.body += chunk
        if len(self.body) >= LARGEST_BODY:
            self.body = self.body[:LARGEST_BODY]
            raise _Unwanted

    def on_message_complete(self) -> None:
        if self.status is not None:
            self._is_whole = True
            self.may_be_kept = self._parser.should_keep_alive() and not self._is_large

    def _end(self) -> None:
        """Call back, if somebody waits for it; close it unless it may be kept."""
        over, self._over = self._over, None
        if not self.may_be_kept:
            self.close()
        if over is not None:
            over()


def _last_head(received: bytes, interim: int) -> bytes:
    """The head of the response behind so many interim ones, without its blank line."""
    if interim:
        heads = islice(_HEAD.finditer(received), interim, None)
        begin = next((match.start(1) for match in heads), len(received))
        received = received[begin:]
    received = received.lstrip(b"\r\n")
    end = _BLANK_LINE.search(received)
    return received if end is None else received[: end.start()] + b"\r\n"


def _is_readable(head: bytes) -> bool:
    """Whether it is HTTP, and the body comes as it is or in chunks: we ask for nothing else."""
    if not head.startswith(b"http/1."):
        return False
    return b"transfer-encoding" not in head or all(
        value.strip() in _ENCODINGS for value in _TRANSFER_ENCODING.findall(head)
    )
