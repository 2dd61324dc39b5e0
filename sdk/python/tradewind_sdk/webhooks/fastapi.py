"""Receives webhooks in a FastAPI application."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from tradewind_sdk.webhooks.receiver import (
    INCOMPLETE,
    TOO_LARGE,
    Answer,
    AsyncHandler,
    Handler,
    WebhookReceiver,
)


def webhook_endpoint(
    secret: str | Sequence[str], handler: Handler | AsyncHandler, **options: Any
) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint: `app.post("/hook")(webhook_endpoint(…))`.

    `handler` is a function, which runs in a thread, or a coroutine function. `options` are those
    of WebhookReceiver.
    """
    receiver = WebhookReceiver(secret, handler, **options)

    async def receive_webhook(request: Request) -> Response:
        body = await _read(request, receiver.max_body_bytes)
        if isinstance(body, Answer):
            answer = body
        else:
            answer = await receiver.receive_async(request.headers, body)
        return Response(answer.body, answer.status, dict(answer.headers), "text/plain")

    return receive_webhook


async def _read(request: Request, limit: int) -> bytes | Answer:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                return TOO_LARGE
    except ClientDisconnect:
        return INCOMPLETE
    return bytes(body)
