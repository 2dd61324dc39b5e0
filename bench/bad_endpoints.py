"""Bad endpoints for benchmarks: one never answers, one sends a byte at a time."""

import asyncio
import contextlib
import socket
import sys

import uvloop

_DRIP_SECONDS = 0.5


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one byte at a time, and never come to the end of the headers."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n\r\n")
        for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 100:
            if writer.is_closing():
                break
            writer.write(bytes([letter]))
            await writer.drain()
            await asyncio.sleep(_DRIP_SECONDS)
    writer.close()


async def main() -> None:
    # It takes connections, as far as its backlog goes, and never reads from them.
    hole = socket.create_server(("127.0.0.1", 0), backlog=4096)
    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    sys.stdout.write(f"{hole.getsockname()[1]} {server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
