"""Opens connections to endpoints: the address is checked once more, right before the socket."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Final

from tradewind.egress import failures
from tradewind.egress.addresses import Address
from tradewind.egress.connection import EndpointConnection
from tradewind.egress.failures import SendFailure
from tradewind.egress.grammar import Target
from tradewind.egress.tls import SHUTDOWN_SECONDS

OpenSocket = Callable[[int, int, int, Address], socket.socket | None]

_RECEIVE_BUFFER: Final = 16 * 1024
# Failures after which the next address of the name may be tried.
_MAY_TRY_NEXT: Final = frozenset(
    {failures.NOT_CONNECTED, failures.CONNECT_TIMEOUT, failures.TLS_TIMEOUT}
)


class ConnectFailed(Exception):
    """No connection could be used, so nothing was sent.

    `connected_at` is when the endpoint accepted the connection, if it did.
    """

    def __init__(self, failure: SendFailure, connected_at: float | None = None) -> None:
        super().__init__(failure.problem.message)
        self.failure = failure
        self.connected_at = connected_at

    @property
    def may_try_next(self) -> bool:
        return self.failure in _MAY_TRY_NEXT


def open_socket(family: int, kind: int, protocol: int, _address: Address) -> socket.socket | None:
    """A socket to connect to the address with; None opens none."""
    return socket.socket(family, kind, protocol)


async def connect(
    target: Target,
    address: Address,
    *,
    allows: Callable[[Address], bool],
    opener: OpenSocket,
    tls: ssl.SSLContext,
    buffer: memoryview,
    seconds: float,
) -> EndpointConnection:
    """Connect to an address that is allowed, within `seconds`, or raise ConnectFailed."""
    opened = _open(address, allows, opener)
    loop = asyncio.get_running_loop()
    connection: EndpointConnection | None = None
    try:
        async with asyncio.timeout(seconds):
            await loop.sock_connect(opened, (str(address), target.port))
            connection = EndpointConnection(target.origin, address, opened, buffer)
            await _secure(loop, connection, opened, target, tls, seconds)
    except TimeoutError:
        if connection is None or target.scheme == "http":
            raise ConnectFailed(failures.CONNECT_TIMEOUT) from None
        raise ConnectFailed(failures.TLS_TIMEOUT, connection.connected_at) from None
    except OSError as error:
        if connection is None:
            raise ConnectFailed(failures.of_connect(error)) from None
        raise ConnectFailed(failures.of_handshake(error), connection.connected_at) from None
    finally:
        if connection is None:  # else the event loop closes it
            opened.close()
    return connection


def _open(address: Address, allows: Callable[[Address], bool], opener: OpenSocket) -> socket.socket:
    """The guard that must be right: if it fails in any way, no socket is opened."""
    family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
    try:
        is_allowed = allows(address)
    except Exception as error:
        raise ConnectFailed(failures.BLOCKED) from error
    if not is_allowed:
        raise ConnectFailed(failures.BLOCKED)
    try:
        opened = opener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, address)
    except OSError as error:  # out of file descriptors, or of the address family
        raise ConnectFailed(failures.of_connect(error)) from None
    if opened is None:
        raise ConnectFailed(failures.NOT_CONNECTED)
    opened.setblocking(False)
    # Whatever is in it is read without a pause, also a flood of TLS records without data.
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
    return opened


async def _secure(
    loop: asyncio.AbstractEventLoop,
    connection: EndpointConnection,
    opened: socket.socket,
    target: Target,
    tls: ssl.SSLContext,
    seconds: float,
) -> None:
    """Let the event loop serve the connection, after the TLS handshake if there is one."""
    if target.scheme == "http":
        await loop.create_connection(lambda: connection, sock=opened)
        return
    await loop.create_connection(
        lambda: connection,
        sock=opened,
        ssl=tls,
        server_hostname=target.host.strip("[]"),
        # Our own limit comes first. If it comes at an awkward moment, uvloop keeps what it has of
        # the handshake until this one.
        ssl_handshake_timeout=max(0.0, seconds) + 1,
        ssl_shutdown_timeout=SHUTDOWN_SECONDS,
    )
