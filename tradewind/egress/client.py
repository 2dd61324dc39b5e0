"""The HTTP client for marketplaces: kept connections, with a deadline and a size limit."""

import asyncio
import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, Final, cast
from urllib.parse import urlsplit

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from tradewind.egress.tls import SHUTDOWN_SECONDS, tls_context

_CONNECT_SECONDS: Final = 3.0
_LARGEST_RESPONSE: Final = 8 * 1024 * 1024
# What may come in all: the body, and the heads and chunk sizes around it.
_LARGEST_REPLY: Final = 2 * _LARGEST_RESPONSE
_IDLE_CONNECTIONS: Final = 64
# Marketplaces close idle connections after a minute or so.
_IDLE_SECONDS: Final = 30.0
_LENGTHS: Final = frozenset({b"content-length", b"transfer-encoding"})
_LARGEST_KEPT_REQUEST: Final = 64 * 1024
# How long the addresses of a host are used without another lookup.
_ADDRESS_SECONDS: Final = 60.0
_INTERIM: Final = range(100, 200)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response."""

    status: int
    body: bytes


# What `getaddrinfo` returns of an address.
_Address = tuple[int, int, int, str, Any]


class CallFailed(Exception):
    """No whole answer came. `sent` is whether the request may have reached the other side."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a URL leads, and the first lines of a request to it."""

    origin: str
    host: str
    port: int
    is_secure: bool
    first_lines: str


class _Connection(asyncio.Protocol):
    """A connection to a marketplace, with one request at a time."""

    def __init__(self) -> None:
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.idle_since = 0.0
        self.may_be_kept = False
        # Whether anything came for the last request.
        self.has_begun = False
        self._transport: asyncio.Transport
        self._reply: asyncio.Future[Reply] | None = None

    @property
    def is_open(self) -> bool:
        return not self.lost.done() and not self._transport.is_closing()

    async def exchange(self, request: bytes) -> Reply:
        """Send a request and return its whole response, or raise CallFailed."""
        if not self.is_open:
            raise CallFailed("The connection was closed at once.", sent=False)
        self._parser = HttpResponseParser(self)
        self._body = bytearray()
        self._received = 0
        self._is_final = self._has_length = self.may_be_kept = self.has_begun = False
        self._is_large = len(request) > _LARGEST_KEPT_REQUEST
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._reply
        finally:
            self._reply = None

    def close(self) -> None:
        """Close it; what was not sent yet is not sent."""
        if not self.lost.done():
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        if self._reply is not None:
            self._fail(f"The connection was closed: {error or 'by the other side'}.")

    def eof_received(self) -> None:
        """A body without a length ends with the connection."""
        if self._reply is not None and self._is_final and not self._has_length:
            self._end()

    def data_received(self, data: bytes) -> None:
        if self._reply is None or self._reply.done():
            self.close()  # nobody asked
            return
        self.has_begun = True
        self._received += len(data)
        if self._received > _LARGEST_REPLY:
            self._fail("The response is too large.")
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(f"The response is no HTTP: {error}.")

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._has_length = False
        if self._reply is None or self._reply.done():
            self.may_be_kept = False
            self.close()  # a second response to one request

    def on_header(self, name: bytes, _value: bytes) -> None:
        if name.lower() in _LENGTHS:
            self._has_length = True

    def on_headers_complete(self) -> None:
        self._is_final = self._parser.get_status_code() not in _INTERIM

    def on_body(self, chunk: bytes) -> None:
        self._body += chunk
        if len(self._body) > _LARGEST_RESPONSE:
            self._fail("The response is too large.")

    def on_message_complete(self) -> None:
        if self._is_final and self._reply is not None and not self._reply.done():
            # A request that is answered before all of it was sent may still be on its way.
            is_sent = not self._is_large and not self._transport.get_write_buffer_size()
            self.may_be_kept = is_sent and self._parser.should_keep_alive()
            self._end()

    def _end(self) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(Reply(self._parser.get_status_code(), bytes(self._body)))

    def _fail(self, reason: str) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(CallFailed(reason, sent=True))
        self.close()


class Client:
    """Calls over kept-alive connections. It follows no redirect, uses no proxy and no cookie."""

    def __init__(self, authorities: str | None = None) -> None:
        """`authorities` is a file of certificates to trust in place of the system's."""
        self._tls = tls_context(authorities)
        self._idle: dict[str, deque[_Connection]] = {}
        self._open: set[_Connection] = set()
        # The addresses of each origin, the one that served the last connection first, and until
        # when they are used without another lookup.
        self._addresses: dict[str, tuple[Sequence[_Address], float]] = {}

    async def post(
        self, url: str, body: bytes, headers: Sequence[str], *, seconds: float, repeatable: bool
    ) -> Reply:
        """Send a POST, and wait for the whole answer, all within `seconds`.

        What is not `repeatable` is sent over a new connection. A kept one may have been closed by
        the other side at this moment; what is repeatable is then sent again over a new one.
        """
        try:
            target = _read(url)
            lines = "\r\n".join([*headers, f"Content-Length: {len(body)}\r\n\r\n"])
            request = (target.first_lines + lines).encode("ascii") + body
        except ValueError as error:
            raise CallFailed(f"The request cannot be sent: {error}.", sent=False) from None
        is_sent = False
        try:
            async with asyncio.timeout(seconds):
                if repeatable and (kept := self._take(target.origin)) is not None:
                    is_sent = True
                    try:
                        return await self._exchange(kept, target, request)
                    except CallFailed:
                        if kept.has_begun:
                            raise
                connection = await self._connect(target, is_sent=is_sent)
                is_sent = True
                return await self._exchange(connection, target, request)
        except TimeoutError:
            raise CallFailed("No whole answer came in time.", sent=is_sent) from None

    async def close(self) -> None:
        """Close every connection."""
        for connection in list(self._open):
            connection.close()
        if self._open:
            await asyncio.wait([connection.lost for connection in self._open])

    def _take(self, origin: str) -> _Connection | None:
        """The kept connection that was used last, if it is still open."""
        idle = self._idle.get(origin)
        now = perf_counter()
        while idle:
            connection = idle.pop()
            if connection.is_open and now - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def _exchange(self, connection: _Connection, target: _Target, request: bytes) -> Reply:
        try:
            return await connection.exchange(request)
        finally:
            if connection.may_be_kept and connection.is_open:
                connection.idle_since = perf_counter()
                idle = self._idle.setdefault(target.origin, deque())
                idle.append(connection)
                if len(idle) > _IDLE_CONNECTIONS:
                    idle.popleft().close()
            else:
                connection.close()

    async def _connect(self, target: _Target, *, is_sent: bool) -> _Connection:
        """Connect, or raise CallFailed. The addresses of the host are tried in turn."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                addresses = await self._find(target)
                opened, address = await _open_socket(addresses)
                connection = await self._secure(opened, target)
        except (OSError, UnicodeError) as error:
            self._addresses.pop(target.origin, None)
            reason = str(error) or "not in time"
            raise CallFailed(f"No connection: {reason}.", sent=is_sent) from None
        if address is not addresses[0]:
            others = [other for other in addresses if other is not address]
            # Another call may have failed meanwhile and forgotten them: then they are looked up.
            _, until = self._addresses.get(target.origin, ((), 0.0))
            self._addresses[target.origin] = [address, *others], until
        self._open.add(connection)
        connection.lost.add_done_callback(lambda _: self._open.discard(connection))
        return connection

    async def _find(self, target: _Target) -> Sequence[_Address]:
        """The addresses of a host."""
        known, until = self._addresses.get(target.origin, ((), 0.0))
        if perf_counter() < until:
            return known
        loop = asyncio.get_running_loop()
        addresses: list[_Address] = list(
            await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        )
        addresses.sort(key=lambda address: address not in known[:1])
        self._addresses[target.origin] = addresses, perf_counter() + _ADDRESS_SECONDS
        return addresses

    async def _secure(self, opened: socket.socket, target: _Target) -> _Connection:
        """Let the event loop serve a connection, after the TLS handshake if there is one."""
        loop = asyncio.get_running_loop()
        if not target.is_secure:
            return (await loop.create_connection(_Connection, sock=opened))[1]
        _, connection = await loop.create_connection(
            _Connection,
            sock=opened,
            ssl=self._tls,
            server_hostname=target.host,
            ssl_handshake_timeout=_CONNECT_SECONDS + 1,  # our own limit comes first
            ssl_shutdown_timeout=SHUTDOWN_SECONDS,
        )
        return connection


async def _open_socket(addresses: Sequence[_Address]) -> tuple[socket.socket, _Address]:
    """Connect to the first address that accepts, and return it; each has its share of the time."""
    loop = asyncio.get_running_loop()
    deadline = perf_counter() + _CONNECT_SECONDS
    problem = OSError("The host has no address.")
    for number, address in enumerate(addresses):
        family, kind, protocol, _, socket_address = address
        share = (deadline - perf_counter()) / (len(addresses) - number)
        try:
            opened = socket.socket(family, kind, protocol)
        except OSError as error:  # the system has no such family of addresses
            problem = error
            continue
        try:
            opened.setblocking(False)
            async with asyncio.timeout(share):
                await loop.sock_connect(opened, socket_address)
        except OSError as error:
            opened.close()
            problem = error
        except BaseException:
            opened.close()
            raise
        else:
            return opened, address
    raise problem


@lru_cache(maxsize=1024)
def _read(url: str) -> _Target:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        raise CallFailed(f"{parts.scheme} is not supported.", sent=False)
    is_secure = parts.scheme == "https"
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return _Target(
        f"{parts.scheme}://{parts.netloc}",
        parts.hostname,
        parts.port or (443 if is_secure else 80),
        is_secure,
        f"POST {path}{query} HTTP/1.1\r\n"
        f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
        "User-Agent: Tradewind\r\n"
        "Accept: */*\r\n"
        "Accept-Encoding: identity\r\n",
    )
