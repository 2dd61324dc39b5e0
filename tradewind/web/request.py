"""A request as an endpoint sees it: its id, headers, and where it really came from."""

import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

from tradewind import ids
from tradewind.web.problems import DuplicateHeader

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Network = IPv4Network | IPv6Network

_HTTP1 = frozenset({"1", "1.0", "1.1"})
_WELL_FORMED_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class BrokenOff(Exception):
    """The client went away before its body was whole."""


class Request:
    """One HTTP request, before anybody looked at its body."""

    __slots__ = (
        "_is_http1",
        "_lines",
        "_receive",
        "address",
        "caller",
        "headers",
        "hides_a_slash",
        "id",
        "method",
        "path",
        "query_string",
    )

    def __init__(self, scope: Scope, receive: Receive, proxies: Sequence[Network]) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query_string: bytes = scope["query_string"]
        self._lines: Sequence[tuple[bytes, bytes]] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(self._lines)
        # Who opened this page, as soon as that is known; the endpoints of the API do not set it.
        self.caller: Any = None
        self.hides_a_slash = b"%2f" in scope.get("raw_path", b"").lower()
        self._receive = receive
        self._is_http1 = scope.get("http_version", "") in _HTTP1
        sent = self.header(b"x-request-id")
        well_formed = sent is not None and _WELL_FORMED_ID.fullmatch(sent)
        self.id: str = sent if sent and well_formed else ids.REQUEST.show(ids.new())
        peer: str = (scope.get("client") or ("", 0))[0]
        self.address = client_address(peer, _forwarded(scope), proxies) if proxies else peer

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    def header_lines(self, name: bytes) -> list[str]:
        """Every line of a header that may come in several."""
        return [value.decode("latin-1") for line, value in self._lines if line == name]

    def single_header(self, name: bytes) -> str | None:
        """A header of which only one value can be meant; different ones are DuplicateHeader."""
        if len(self.headers) < len(self._lines) and len(set(self.header_lines(name))) > 1:
            raise DuplicateHeader(name.decode())
        return self.header(name)

    def cookie(self, name: str) -> str | None:
        """A cookie's value. HTTP/2 may send each cookie in a line of its own."""
        lead = name + "="
        for line_name, line in self._lines:
            if line_name == b"cookie":
                for pair in line.decode("latin-1").split(";"):
                    if pair.strip().startswith(lead):
                        return pair.strip().removeprefix(lead)
        return None

    @property
    def is_api(self) -> bool:
        """Whether the path belongs to the API, rather than to pages for people."""
        return self.path.startswith("/v1/") or self.path == "/v1"

    @property
    def wants_a_page(self) -> bool:
        """Whether a browser asks for something to show, rather than a program for an answer."""
        return not self.is_api and "text/html" in (self.header(b"accept") or "")

    async def gone(self) -> None:
        """Wait until the client is no longer there."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    @property
    def has_no_body(self) -> bool:
        """Whether it is certain, before anything is read, that there is no body.

        HTTP/1 announces every body by one of two headers; HTTP/2 needs neither.
        """
        return (
            self._is_http1
            and b"content-length" not in self.headers
            and b"transfer-encoding" not in self.headers
        )

    @property
    def declared_length(self) -> int:
        declared = self.headers.get(b"content-length", b"0")
        return int(declared) if declared.isdigit() else 0

    async def body(self, limit: int) -> bytes | None:
        """The whole body, or None when it is longer than `limit`.

        One that breaks off raises BrokenOff: half a request is none.
        """
        if self.declared_length > limit:
            return None
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise BrokenOff
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > limit:
                return None
            chunks.append(chunk)
            if not message.get("more_body"):
                return b"".join(chunks) if len(chunks) > 1 else chunk


def client_address(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """The nearest address that is not one of our own proxies.

    Each proxy appends the address it was called from, so the list is believed from its right
    end, and only as far as the proxies that we trust; what a client wrote stands further left.
    """
    address = peer
    hops = [hop.strip() for hop in forwarded.split(",")]
    while hops and _is_within(address, tuple(proxies)):
        hop = hops.pop()
        if not _is_address(hop):
            break
        address = hop
    return address


def _forwarded(scope: Scope) -> str:
    """All of X-Forwarded-For: some proxies append to its line, others add a line of their own."""
    lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return b",".join(lines).decode("latin-1")


@lru_cache(maxsize=4096)
def _is_within(address: str, networks: tuple[Network, ...]) -> bool:
    if not _is_address(address):
        return False
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return any(parsed in network for network in networks)


def _is_address(text: str) -> bool:
    if "%" in text:  # a zone means something on one machine only
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
