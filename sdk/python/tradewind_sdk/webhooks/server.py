"""Receives webhooks with a server of the standard library, for development and small programs."""

from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tradewind_sdk.webhooks.body import read_body
from tradewind_sdk.webhooks.receiver import METHOD_NOT_ALLOWED, Answer, Handler, WebhookReceiver

_IDLE_SECONDS = 5


class WebhookServer(ThreadingHTTPServer):
    """An HTTP server that answers webhooks at every path, with a thread for each connection.

    `WebhookServer(("127.0.0.1", 3000), secret, handler).serve_forever()`. The handler is called in
    many threads at once. `options` are those of WebhookReceiver.
    """

    daemon_threads = True
    request_queue_size = 128  # connections of a burst that may wait to be accepted

    def __init__(
        self,
        address: tuple[str, int],
        secret: str | Sequence[str],
        handler: Handler,
        **options: Any,
    ) -> None:
        self.receiver = WebhookReceiver(secret, handler, **options)
        self.receiver.require_sync("This server")
        super().__init__(address, _Connection)


class _Connection(BaseHTTPRequestHandler):
    server: WebhookServer
    protocol_version = "HTTP/1.1"  # keep the connection open for the next webhook
    timeout = _IDLE_SECONDS  # then an idle connection is closed, and its thread ends
    wbufsize = -1  # send the response in one piece

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = read_body(self.rfile.read, self.headers["Content-Length"], receiver.max_body_bytes)
        if isinstance(body, Answer):
            self.close_connection = True
            self._respond(body)
        else:
            self._respond(receiver.receive(dict(self.headers.items()), body))

    def do_GET(self) -> None:
        self.close_connection = True  # a body that it may have is not read
        self._respond(METHOD_NOT_ALLOWED)

    def _respond(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.all_headers().items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: Any) -> None:
        """Log nothing: what is refused or fails is logged where that is decided."""
