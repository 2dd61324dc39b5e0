"""A webhook endpoint written from the contract alone, with the standard library."""

import contextlib
import hashlib
import hmac
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_TOLERANCE_SECONDS = 300
_PATIENCE_SECONDS = 20.0
_FIELDS = {
    "id",
    "platform",
    "order_id",
    "status",
    "payment_status",
    "platform_payment_status",
    "total_amount_cny",
    "updated_at",
}
# Everything that any endpoint of this process of the test run was sent.
ALL_RECEIVED: list["Received"] = []
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    client_port: int = 0  # the sender's end of the connection

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def delivery(self) -> str:
        return self.headers["x-service-delivery"]

    @property
    def event_id(self) -> str:
        result: str = self.json["id"]
        return result


@dataclass(frozen=True)
class Reply:
    """An answer that is more than a status."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"ok"


# Close the connection without a response.
HANG_UP = Reply(0)


@dataclass
class WebhookEndpoint:
    """An HTTP server that takes everything down; `answer` decides the status by request."""

    port: int
    answer: Callable[[Received], int | Reply] = lambda _: 200
    received: list[Received] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def take(self, request: Received) -> int | Reply:
        ALL_RECEIVED.append(request)
        with self._changed:
            self.received.append(request)
            self._changed.notify_all()
        return self.answer(request)

    def at(self, path: str) -> list[Received]:
        return [request for request in self.received if request.path == path]

    def until(self, good: Callable[[list[Received]], bool]) -> list[Received]:
        """Wait until what was received is as it should become, for a while at the most."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with self._changed:
            while not good(self.received):
                left = deadline - time.monotonic()
                assert left > 0, [(request.path, request.event_id) for request in self.received]
                self._changed.wait(left)
            return list(self.received)


def assert_genuine(request: Received, secret: str) -> None:
    """Everything that the contract says about a delivery, checked from its text."""
    headers = request.headers
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "service-api-webhooks/1.0"
    assert headers["x-service-event"] in ("order.updated", "payment.updated")
    assert headers["x-service-delivery"].startswith("dlv_")
    timestamp = headers["x-service-timestamp"]
    assert re.fullmatch(r"\d+", timestamp)
    assert abs(int(timestamp) - time.time()) < _TOLERANCE_SECONDS
    signed = timestamp.encode() + b"." + request.body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(headers["x-service-signature"], f"sha256={expected}")
    body = request.json
    assert set(body) == {"id", "event", "created_at", "data"}
    assert body["id"].startswith("evt_")
    assert body["event"] == headers["x-service-event"]
    assert _TIME.fullmatch(body["created_at"])
    assert set(body["data"]) == {"order"}
    order = body["data"]["order"]
    assert set(order) == _FIELDS
    assert order["id"].startswith("ORD")
    assert _TIME.fullmatch(order["updated_at"])
    assert all(order[name] is not None for name in _FIELDS - {"order_id", "total_amount_cny"})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


# The ports that endpoints of this process had. Processes of one run take ports of their own.
_USED_PORTS: set[int] = set()
_PROCESSES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def _on_new_port(host: str, handler: type[BaseHTTPRequestHandler]) -> _Server:
    """A server on a port that no other endpoint of the run had.

    Webhooks of earlier tests still retry at the ports of theirs, when a test moves the clock.
    """
    rejected: list[_Server] = []
    try:
        while True:
            server = _Server((host, 0), handler)
            port = server.server_address[1]
            if port % _PROCESSES == _PROCESS and port not in _USED_PORTS:
                _USED_PORTS.add(port)
                return server
            rejected.append(server)
    finally:
        for other in rejected:
            other.server_close()


@contextmanager
def running_endpoint(host: str = "127.0.0.1") -> Iterator[WebhookEndpoint]:
    """An endpoint on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            port = self.client_address[1]
            answer = endpoint.take(Received(self.path, headers, body, time.time(), port))
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            if reply is HANG_UP:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in {"content-length": len(reply.body), **reply.headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(reply.body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = _on_new_port(host, Handler)
    endpoint = WebhookEndpoint(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
