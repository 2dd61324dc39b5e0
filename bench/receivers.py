"""Receivers for benchmarks: one that answers, one that never does, and one that drips."""

import asyncio
import socket
import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

_DRIP_SECONDS = 0.5


class Receivers:
    """A good receiver in a process of its own, and two bad ones on threads of ours."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.receiver"], stdout=subprocess.PIPE, text=True
        )
        if self._process.stdout is None:
            raise RuntimeError("The receiver has no output.")
        self.good = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        # It takes connections, as far as its backlog goes, and never reads from them.
        self._hole = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.black_hole = f"http://127.0.0.1:{self._hole.getsockname()[1]}"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(_drip, "127.0.0.1", 0), self._loop
        ).result(10)
        self.dripping = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(10)
        self._hole.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one byte at a time, and never come to the end of the headers."""
    try:
        await reader.readuntil(b"\r\n\r\n")
        for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 100:
            writer.write(bytes([letter]))
            await writer.drain()
            await asyncio.sleep(_DRIP_SECONDS)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
