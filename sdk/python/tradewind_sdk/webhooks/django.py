"""Receives webhooks in a Django project."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from tradewind_sdk.webhooks.body import read_body
from tradewind_sdk.webhooks.receiver import (
    METHOD_NOT_ALLOWED,
    Answer,
    AsyncHandler,
    Handler,
    WebhookReceiver,
)

View = Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]


def webhook_view(
    secret: str | Sequence[str], handler: Handler | AsyncHandler, **options: Any
) -> View:
    """Make a view for a URLconf; it is exempt from the check for CSRF tokens.

    Use it as `path("hook", webhook_view(secret, handler))`.
    A coroutine function as `handler` makes an asynchronous view. `options` are those of
    WebhookReceiver.
    """
    receiver = WebhookReceiver(secret, handler, **options)

    def receive_webhook(request: HttpRequest) -> HttpResponse:
        body = _read(request, receiver.max_body_bytes)
        return _response(
            body if isinstance(body, Answer) else receiver.receive(request.headers, body)
        )

    async def receive_webhook_async(request: HttpRequest) -> HttpResponse:
        body = _read(request, receiver.max_body_bytes)
        return _response(
            body
            if isinstance(body, Answer)
            else await receiver.receive_async(request.headers, body)
        )

    view: View = csrf_exempt(receive_webhook_async if receiver.is_async else receive_webhook)
    return view


def _read(request: HttpRequest, limit: int) -> bytes | Answer:
    if request.method != "POST":
        return METHOD_NOT_ALLOWED
    length = request.META.get("CONTENT_LENGTH") or None
    # Over WSGI, Django reads no body without a length; over ASGI it has read the whole body.
    if length is None and "wsgi.input" not in request.META:
        length = ""
    return read_body(request.read, length, limit)


def _response(answer: Answer) -> HttpResponse:
    headers = {name: value for name, value in answer.headers.items() if name != "Connection"}
    return HttpResponse(
        answer.body, status=answer.status, headers=headers, content_type="text/plain"
    )
