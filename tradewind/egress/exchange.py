"""A reusable libcurl handle: what it may connect to, and how much of a response it keeps."""

import socket
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import Any, Final

import pycurl

from tradewind.egress import descriptors
from tradewind.egress.addresses import Address
from tradewind.egress.failures import Facts
from tradewind.egress.grammar import Target
from tradewind.egress.result import Timings

LARGEST_BODY: Final = 4096
_LARGEST_HEAD: Final = 64 * 1024
_WEIGHT_OF_A_LINE: Final = 64  # overhead of a header line; limits their number
_IDLE_SECONDS: Final = 2
# The headers and this much of a body fit into one TLS record, which is sent whole or not.
_ONE_RECORD: Final = 8 * 1024
_NO_AUTHORITIES: Final = 77  # the CA file cannot be opened

OpenSocket = Callable[[int, int, int, Address], socket.socket | None]


class _Lent(socket.socket):
    """A socket that libcurl duplicates; ours is closed when it is garbage-collected."""

    def __del__(self) -> None:
        if self.fileno() >= 0:  # it may never have been opened
            self.close()


def open_socket(family: int, kind: int, protocol: int, _address: Address) -> socket.socket | None:
    """A socket with which libcurl connects to the address; None opens none."""
    return _Lent(family, kind, protocol)


class Exchange:
    """A handle that holds at most one answer: its last head, and the first 4 KiB of its body.

    It sends a request at most once. libcurl would send one again by itself when a kept connection
    ends before an answer began; but it gets the body from a callback and no way to rewind it, so
    it gives up instead (docs/decisions/0017).

    The socket callback is the guard that must be right. It opens nothing unless the address
    libcurl is about to connect to is the very one of this try, and allowed; when it fails in any
    way, no socket is opened.
    """

    def __init__(
        self,
        allows: Callable[[Address], bool],
        *,
        authorities: str,
        user_agent: str,
        opener: OpenSocket,
        diagnosis: bool = False,
    ) -> None:
        self._allows = allows
        self._opener = opener
        self._target: Target | None = None
        self._address: Address | None = None
        self._port = 0
        self._limits = (0, 0)
        self._length = -1
        self._always_fresh = self._fresh = diagnosis
        self.forget()
        self.curl = curl = pycurl.Curl()
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.USERAGENT, user_agent)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open)
        curl.setopt(pycurl.READFUNCTION, self._read_body)
        curl.setopt(pycurl.HEADERFUNCTION, self._take_header)
        curl.setopt(pycurl.WRITEFUNCTION, self._take_body)
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2)
        curl.setopt(pycurl.CAINFO, authorities)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.PATH_AS_IS, 1)
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.NETRC, 0)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.MAXAGE_CONN, _IDLE_SECONDS)
        if diagnosis:
            curl.setopt(pycurl.OPT_CERTINFO, 1)
            curl.setopt(pycurl.FRESH_CONNECT, 1)
            curl.setopt(pycurl.FORBID_REUSE, 1)
            curl.setopt(pycurl.SSL_SESSIONID_CACHE, 0)  # a resumed session shows no certificate

    def begin(
        self,
        target: Target,
        address: Address,
        body: bytes,
        headers: list[str],
        *,
        seconds: float,
        connect_seconds: float,
        fresh: bool = False,
    ) -> None:
        """Make the handle ready to be performed: one request, to one address.

        With `fresh` it uses no kept connection. What is the same as in its last call is left as
        it is.
        """
        curl = self.curl
        self._request = body
        if target is not self._target or address is not self._address:
            self._aim(curl, target, address)
        if len(body) != self._length:
            curl.setopt(pycurl.POSTFIELDSIZE_LARGE, len(body))
            self._length = len(body)
        # Where there is no body, there is nothing that would have to be rewound.
        fresh = fresh or self._always_fresh or not body
        if fresh != self._fresh:
            curl.setopt(pycurl.FRESH_CONNECT, fresh)
            self._fresh = fresh
        curl.setopt(pycurl.HTTPHEADER, headers)
        # To libcurl 0 is no limit at all.
        limits = max(1, ceil(seconds * 1000)), max(1, ceil(connect_seconds * 1000))
        if limits != self._limits:
            curl.setopt(pycurl.TIMEOUT_MS, limits[0])
            curl.setopt(pycurl.CONNECTTIMEOUT_MS, limits[1])
            self._limits = limits

    def _aim(self, curl: pycurl.Curl, target: Target, address: Address) -> None:
        curl.setopt(pycurl.URL, target.url)
        if address is not self._address or target.port != self._port:
            curl.setopt(pycurl.CONNECT_TO, [_pin(address, target.port)])
            self._port = target.port
        self._target = target
        self._address = address

    @property
    def head(self) -> bytes:
        return b"".join(self._lines)

    @property
    def body(self) -> bytes:
        return bytes(self._body)

    @property
    def reused(self) -> bool:
        return bool(self.curl.getinfo(pycurl.NUM_CONNECTS) == 0)

    @property
    def status(self) -> int:
        return int(self.curl.getinfo(pycurl.RESPONSE_CODE))

    def timings(self, *, dns: float, before: float, total: float) -> Timings:
        """The steps of the whole call; `before` is how long it had lasted when this try began."""
        connect = self.curl.getinfo(pycurl.CONNECT_TIME)
        tls = self.curl.getinfo(pycurl.APPCONNECT_TIME)
        # libcurl has a time for the first byte even where none came.
        first_byte = self.curl.getinfo(pycurl.STARTTRANSFER_TIME) if self._lines else 0
        return Timings(
            dns,
            before + connect if connect else None,
            before + tls if tls else None,
            before + first_byte if first_byte else None,
            total,
        )

    def facts(self, code: int) -> Facts:
        # The times of a kept connection, and of one that failed, do not tell how far it came.
        written = self.curl.getinfo(pycurl.REQUEST_SIZE) > 0
        begun = written or self._body_sent > 0
        return Facts(
            code,
            blocked=self._blocked,
            connected=begun or self.curl.getinfo(pycurl.CONNECT_TIME) > 0,
            secured=begun or (self._target is not None and self._target.scheme == "http"),
            begun=begun,
            # Of several TLS records the first may have left though libcurl counts none.
            sent=written or self._body_sent > _ONE_RECORD,
            answered=bool(self._lines),
            flooded=self._room < 0,
            verdict=self.curl.getinfo(pycurl.SSL_VERIFYRESULT),
            starved=self._starved or (code == _NO_AUTHORITIES and not descriptors.are_left()),
        )

    def certificate_ends(self) -> datetime | None:
        for certificate in self.curl.getinfo(pycurl.INFO_CERTINFO)[:1]:
            for name, value in certificate:
                if name == "Expire date":
                    return datetime.fromtimestamp(ssl.cert_time_to_seconds(value), UTC)
        return None

    def close(self) -> None:
        self.curl.close()

    def forget(self) -> None:
        """Give back the room that the last request and its answer took."""
        self._request = b""
        self._body_sent = 0
        self.complete = False  # the head of the answer, not of one with 1xx before it, is whole
        self._lines: list[bytes] = []
        self._preliminary = False
        self._room = _LARGEST_HEAD
        self._body = bytearray()
        self._blocked = self._starved = False

    def _open(self, _purpose: int, about: Any) -> socket.socket | int:
        try:
            address = ip_address(about.addr[0])
            if address == self._address and self._allows(address):
                opened = self._opener(about.family, about.socktype, about.protocol, address)
                # libcurl works on a duplicate.
                self._starved = not descriptors.are_left()
                return pycurl.SOCKET_BAD if opened is None or self._starved else opened
            self._blocked = True
        except OSError as error:  # out of file descriptors, or of the address family
            self._starved = descriptors.says_so(error)
        except Exception:  # noqa: BLE001 - whatever it is, nothing is opened
            self._blocked = True
        return int(pycurl.SOCKET_BAD)

    def _read_body(self, size: int) -> bytes:
        """Give libcurl the next part of the request's body.

        It asks for the first part before it sends anything, and for no part twice.
        """
        part = self._request[self._body_sent : self._body_sent + size]
        self._body_sent += len(part)
        return part

    def _take_header(self, line: bytes) -> int | None:
        """Keep the head of the last answer; taking nothing ends the call.

        Everything counts: preliminary answers (1xx), which may come without end, and what a
        endpoint appends after the body.
        """
        self._room -= len(line) + _WEIGHT_OF_A_LINE
        if self._room < 0:
            return 0
        if self.complete:
            return None
        if line != b"\r\n" and line != b"\n":  # noqa: PLR1714 - a set would hash every line
            if self._preliminary:
                self._lines = []
                self._preliminary = False
            self._lines.append(line)
        elif self._lines and not self._preliminary:
            status = self._lines[0].partition(b" ")[2][:3]
            self._preliminary = status.startswith(b"1") and status != b"101"
            self.complete = not self._preliminary
            if status == b"101":  # to another protocol, which nobody asked for
                return 0
        return None

    def _take_body(self, chunk: bytes) -> int | None:
        room = LARGEST_BODY - len(self._body)
        self._body += chunk[:room]
        return None if len(chunk) < room else 0


@lru_cache(maxsize=4096)
def _pin(address: Address, port: int) -> str:
    """Whatever the URL's host is, connect to this address.

    Host, certificate and TLS name stay those of the URL. A kept connection is used again only for
    the same name at the same address.
    """
    return f"::[{address}]:{port}" if isinstance(address, IPv6Address) else f"::{address}:{port}"
