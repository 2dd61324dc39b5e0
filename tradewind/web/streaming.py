"""Streams: sends the pieces of an answer as they come, until either side ends it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from tradewind.web.request import Request, Send


async def send_stream(stream: AsyncIterator[bytes], request: Request, send: Send) -> int:
    """Send all of a stream; how many bytes that were. It is closed when the client has gone."""
    size = 0
    gone = asyncio.ensure_future(request.gone())
    try:
        while True:
            coming = asyncio.ensure_future(anext(stream, None))
            await asyncio.wait({coming, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                with suppress(asyncio.CancelledError):
                    await coming
                break
            piece = coming.result()
            if piece is None:
                break
            size += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not gone.done():
            await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    return size
