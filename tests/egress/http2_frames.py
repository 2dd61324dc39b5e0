"""Receivers that break HTTP/2 frame by frame, behind TLS on loopback."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from egress.receivers import Receiver

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS = 1, 4
STATUS_200 = b"\x88"
STATUS_103 = b"\x08\x03103"

Behaviour = Callable[[asyncio.StreamWriter, int], Awaitable[None]]


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags])
    return head + stream.to_bytes(4, "big") + payload


def header(name: bytes, value: bytes) -> bytes:
    """A header that no table remembers; both shorter than 127 letters."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


@asynccontextmanager
async def receiving_http2(
    behaviour: Behaviour, tls: ssl.SSLContext, *, settings: bytes = b""
) -> AsyncIterator[Receiver]:
    """Let `behaviour` answer each stream that was opened."""
    receiver = Receiver()
    tls.set_alpn_protocols(["h2"])
    under_way: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        receiver.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await reader.readexactly(24)
            writer.write(frame(SETTINGS, 0, 0, settings))
            while not writer.is_closing():
                head = await reader.readexactly(9)
                payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
                if head[3] == HEADERS:
                    receiver.requests.append(payload)
                    await behaviour(writer, int.from_bytes(head[5:9], "big"))
        writer.transport.abort()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in list(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def sending_frames(*frames: Callable[[int], bytes]) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter, stream: int) -> None:
        for made in frames:
            writer.write(made(stream))
        await writer.drain()

    return behave


def flooding_frames(first: Callable[[int], bytes], wave: Callable[[int], bytes]) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter, stream: int) -> None:
        writer.write(first(stream))
        while not writer.is_closing():
            writer.write(wave(stream) * 200)
            await writer.drain()
            await asyncio.sleep(0)

    return behave
