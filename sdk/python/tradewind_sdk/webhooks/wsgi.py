"""Receives webhooks as a WSGI application, for gunicorn, uWSGI, mod_wsgi and others."""

from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tradewind_sdk.webhooks.body import read_body
from tradewind_sdk.webhooks.receiver import METHOD_NOT_ALLOWED, Answer, Handler, WebhookReceiver

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class WebhookWSGIApp:
    """A WSGI application that answers webhooks at every path; mount it where you like.

    `options` are those of WebhookReceiver.
    """

    def __init__(self, secret: str | Sequence[str], handler: Handler, **options: Any) -> None:
        self._receiver = WebhookReceiver(secret, handler, **options)
        self._receiver.require_sync("WSGI")

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        answer = self._answer(environ)
        # A server for WSGI decides about the connection itself.
        headers = [item for item in answer.all_headers().items() if item[0] != "Connection"]
        status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
        start_response(status, headers)
        return [answer.body]

    def _answer(self, environ: "WSGIEnvironment") -> Answer:
        if environ["REQUEST_METHOD"] != "POST":
            return METHOD_NOT_ALLOWED
        read: Callable[[int], bytes] = environ["wsgi.input"].read
        length = environ.get("CONTENT_LENGTH") or None
        # Without a length the input may have no end, unless the server promises one.
        if length is None and environ.get("wsgi.input_terminated"):
            length = ""
        body = read_body(read, length, self._receiver.max_body_bytes)
        if isinstance(body, Answer):
            return body
        return self._receiver.receive(_headers(environ), body)


def _headers(environ: "WSGIEnvironment") -> dict[str, str]:
    return {
        name[len("HTTP_") :].replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
