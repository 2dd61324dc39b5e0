"""A request as an endpoint reads it: Starlette's, with its id and where it really came from."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect
from starlette.requests import Request as StarletteRequest
from starlette.types import Receive, Scope

from tradewind import ids
from tradewind.web.problems import DuplicateHeader

if TYPE_CHECKING:
    from tradewind.web.caller import Caller

Network = IPv4Network | IPv6Network

_HTTP1 = frozenset({"1", "1.0", "1.1"})
_PRINTABLE = (0x20, 0x7E)
LONGEST_AGENT = 100
# Of a body that nobody reads: more than any endpoint takes, and as much as proxies let through.
DISCARDED_BYTES = 12 * 1024 * 1024
DISCARDING_SECONDS = 2.0
_WELL_FORMED_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class Request(StarletteRequest):
    """One HTTP request; its body has not been read yet."""

    __slots__ = (
        "_sent",
        "address",
        "caller",
        "has_no_body",
        "id",
        "method",
        "path",
        "query_string",
    )

    def __init__(self, scope: Scope, receive: Receive, proxies: Sequence[Network]) -> None:
        super().__init__(scope, receive)
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query_string: bytes = scope["query_string"]
        # Starlette's `headers` compares and decodes them one by one, at each lookup. Every request
        # is asked for headers that it does not have, so those lookups use this.
        self._sent: dict[bytes, bytes] = dict(scope["headers"])
        # Whether it is certain, before anything is read, that there is no body: HTTP/1 announces
        # every body by one of two headers, HTTP/2 needs neither.
        self.has_no_body = (
            scope.get("http_version") in _HTTP1
            and b"content-length" not in self._sent
            and b"transfer-encoding" not in self._sent
        )
        # Who opened this page, as soon as that is known; the endpoints of the API do not set it.
        self.caller: Caller | None = None
        sent_id = self.headers["x-request-id"] if b"x-request-id" in self._sent else ""
        self.id = sent_id if _WELL_FORMED_ID.fullmatch(sent_id) else ids.REQUEST.show(ids.new())
        peer: str = (scope.get("client") or ("", 0))[0]
        self.address = peer
        if proxies:
            # Some proxies append to the line of X-Forwarded-For, others add a line.
            forwarded = ",".join(self.headers.getlist("x-forwarded-for"))
            self.address = client_address(peer, forwarded, proxies)

    @property
    def agent(self) -> str | None:
        """How the program that sent it calls itself (`X-Agent-Name`): one line of printable ASCII.

        Nobody checks it; the credentials say who is responsible.
        """
        sent = self._sent.get(b"x-agent-name")
        if sent is None:
            return None
        text = "".join(
            chr(byte) if _PRINTABLE[0] <= byte <= _PRINTABLE[1] else " " for byte in sent
        )
        return " ".join(text.split())[:LONGEST_AGENT] or None

    def single_header(self, name: str) -> str | None:
        """A header that has only one meaning; different values of it are DuplicateHeader."""
        sent = name.encode()
        if sent not in self._sent:
            return None
        values: set[bytes] = {value for key, value in self.scope["headers"] if key == sent}
        if len(values) > 1:
            raise DuplicateHeader(name)
        return values.pop().decode("latin-1")

    @property
    def has_encoded_slash(self) -> bool:
        """Whether the path holds a slash that was sent as `%2F`."""
        return b"%2f" in self.scope.get("raw_path", b"").lower()

    @property
    def is_api(self) -> bool:
        """Whether the path belongs to the API, rather than to pages for people."""
        return self.path.startswith("/v1/") or self.path == "/v1"

    @property
    def wants_html(self) -> bool:
        """Whether a browser asks for a page, rather than a program for JSON."""
        return not self.is_api and "text/html" in self.headers.get("accept", "")

    @property
    def declared_length(self) -> int:
        declared = self._sent.get(b"content-length", b"0")
        return int(declared) if declared.isdigit() else 0

    async def limited_body(self, limit: int) -> bytes | None:
        """The whole body, or None when it is longer than `limit`.

        ClientDisconnect when the client goes away before the body is complete.
        """
        if self.declared_length > limit:
            return None
        if self._stream_consumed:
            raise RuntimeError("The body was read before.")
        body = bytearray()
        # As Starlette's `stream` does it, without a generator.
        while not self._stream_consumed:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._is_disconnected = True
                raise ClientDisconnect
            body += message.get("body", b"")
            self._stream_consumed = not message.get("more_body", False)
            if len(body) > limit:
                return None
        return bytes(body)

    async def discard_body(
        self, limit: int = DISCARDED_BYTES, seconds: float = DISCARDING_SECONDS
    ) -> None:
        """Read the rest of the body after the response, and keep nothing of it.

        A connection that is closed while its client is sending is reset, and then a client or a
        proxy may lose the response. A body that is too long or too slow is not worth the wait: the
        connection is closed. So it is if the client waits for `100 Continue` before it sends.
        """
        if (
            self._stream_consumed
            or self._is_disconnected
            or self.declared_length > limit
            or b"expect" in self._sent
        ):
            return
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while size < limit:
                    message = await self._receive()
                    size += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return


def client_address(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """The nearest address that is not one of our own proxies.

    Each proxy appends the address that called it. So the list is read from its right end, and only
    as far as the proxies that we trust: anything further left may be written by the client.
    """
    address = peer
    hops = [hop.strip() for hop in forwarded.split(",")]
    while hops and _is_within(address, tuple(proxies)):
        hop = hops.pop()
        if not _is_address(hop):
            break
        address = hop
    return address


@lru_cache(maxsize=4096)
def _is_within(address: str, networks: tuple[Network, ...]) -> bool:
    canonical = canonical_address(address)
    return canonical is not None and any(ip_address(canonical) in network for network in networks)


@lru_cache(maxsize=4096)
def canonical_address(text: str) -> str | None:
    """An address in its shortest form, an IPv4 address in IPv6 as IPv4; None: it is no address."""
    if not _is_address(text):
        return None
    parsed = ip_address(text)
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return str(parsed)


def _is_address(text: str) -> bool:
    if "%" in text:  # a zone means something on one machine only
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
