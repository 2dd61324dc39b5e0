"""The metrics listener: `/metrics` and `/healthz` of a process, on a port of their own."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from tradewind.errors import CannotStart


@contextmanager
def serving(host: str, port: int, registry: CollectorRegistry) -> Iterator[int]:
    """Serve `/metrics` and `/healthz` from a thread; yields the port (0 chooses a free one)."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/metrics":
                self._send(200, CONTENT_TYPE_LATEST, generate_latest(registry))
            elif path == "/healthz":
                self._send(200, "application/json", b'{"status":"ok"}')
            else:
                self._send(
                    404, "text/plain", b"Not found. This listener serves /metrics and /healthz.\n"
                )

        def _send(self, status: int, content_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Scrapes are not logged."""

    class Listener(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    try:
        server = Listener((host, port), Handler)
    except OSError as error:
        raise CannotStart(
            f"The metrics listener cannot use {host}:{port} ({error.strerror}); "
            "set TRADEWIND_METRICS_LISTEN to another address."
        ) from None
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True, name="metrics")
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
