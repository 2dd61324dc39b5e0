"""Receives webhooks as an ASGI application, for Starlette, Quart, granian, uvicorn and others."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from tradewind_sdk.webhooks.receiver import (
    METHOD_NOT_ALLOWED,
    TOO_LARGE,
    Answer,
    AsyncHandler,
    Handler,
    WebhookReceiver,
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class WebhookASGIApp:
    """An ASGI application that answers webhooks at every path; mount it where you like.

    `handler` is a function, which runs in a thread, or a coroutine function. `options` are those
    of WebhookReceiver.
    """

    def __init__(
        self, secret: str | Sequence[str], handler: Handler | AsyncHandler, **options: Any
    ) -> None:
        self._receiver = WebhookReceiver(secret, handler, **options)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            answer = await self._answer(scope, receive)
            if answer is not None:
                await _send(answer, send)
        else:
            raise ValueError(f"Webhooks do not come by {scope['type']}.")

    async def _answer(self, scope: Message, receive: Receive) -> Answer | None:
        if scope["method"] != "POST":
            return METHOD_NOT_ALLOWED
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":  # nobody waits for an answer
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._receiver.max_body_bytes:
                return TOO_LARGE
        return await self._receiver.receive_async(headers, bytes(body))


async def _send(answer: Answer, send: Send) -> None:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in answer.all_headers().items()
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _live(receive: Receive, send: Send) -> None:
    """Agree with starting and stopping, as a server expects of a whole application."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
