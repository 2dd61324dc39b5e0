"""Receives webhooks in a Flask application."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import Response, request

from tradewind_sdk.webhooks.body import read_body
from tradewind_sdk.webhooks.receiver import Answer, Handler, WebhookReceiver


def webhook_view(
    secret: str | Sequence[str], handler: Handler, **options: Any
) -> Callable[[], Response]:
    """Make a view: `app.add_url_rule("/hook", view_func=webhook_view(…), methods=["POST"])`.

    `options` are those of WebhookReceiver.
    """
    receiver = WebhookReceiver(secret, handler, **options)
    receiver.require_sync("Flask")

    def receive_webhook() -> Response:
        length = request.headers.get("Content-Length")
        if length is None and request.environ.get("wsgi.input_terminated"):
            length = ""
        body = read_body(request.stream.read, length, receiver.max_body_bytes)
        headers = dict(request.headers)
        answer = body if isinstance(body, Answer) else receiver.receive(headers, body)
        # A server for WSGI decides about the connection itself.
        sent = {name: text for name, text in answer.headers.items() if name != "Connection"}
        return Response(answer.body, answer.status, sent, mimetype="text/plain")

    return receive_webhook
