"""Endpoints that flood the client from a thread, also while the event loop reads."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_LONGEST_FLOOD_SECONDS = 15.0

Flood = Callable[[socket.socket], None]


@dataclass
class FloodingEndpoint:
    """Reads the head of one request on each connection, and then sends without end."""

    port: int
    requests: list[bytes] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", *, scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}/hook"


def waves(first: bytes, wave: bytes) -> Flood:
    """Send `first`, and then `wave` as fast as it is taken."""
    wave *= max(1, 65536 // len(wave))

    def flood(connection: socket.socket) -> None:
        connection.sendall(first)
        end = time.monotonic() + _LONGEST_FLOOD_SECONDS
        while time.monotonic() < end:
            connection.sendall(wave)

    return flood


@contextmanager
def flooding_endpoint(
    flood: Flood, *, tls: ssl.SSLContext | None = None
) -> Iterator[FloodingEndpoint]:
    listener = socket.create_server(("127.0.0.1", 0))
    endpoint = FloodingEndpoint(listener.getsockname()[1])
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if tls is not None:
                connection = tls.wrap_socket(connection, server_side=True)
                connections.append(connection)
            head = b""
            while b"\r\n\r\n" not in head:
                received = connection.recv(65536)
                if not received:
                    return
                head += received
            endpoint.requests.append(head)
            flood(connection)
        connection.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        thread.join(5)
