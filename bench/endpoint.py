"""A bare endpoint for benchmarks: it answers every POST with 200, and notes arrivals if asked."""

import asyncio
import json
import ssl
import sys
from time import perf_counter
from typing import cast

import uvloop

_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
_ID = b'{"id":"'


class Endpoint(asyncio.Protocol):
    """Reads requests by their Content-Length, pipelined or not."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(self._received) < end + 4 + length:
                return
            body = self._received[end + 4 : end + 4 + length]
            self._received = self._received[end + 4 + length :]
            self._transport.write(self._response(head, body))

    def _response(self, _head: bytes, _body: bytes) -> bytes:
        return _RESPONSE


class MeteredEndpoint(Endpoint):
    """Notes when each event arrived. GET /count says how many did; GET /arrivals tells them.

    The clock is CLOCK_MONOTONIC, which is the same in all processes of a machine.
    """

    arrivals: list[tuple[str, float]] = []  # noqa: RUF012 - one for all connections

    def _response(self, head: bytes, body: bytes) -> bytes:
        if head.startswith(b"post "):
            event_id = body.partition(_ID)[2].partition(b'"')[0].decode()
            self.arrivals.append((event_id, perf_counter()))
            return _RESPONSE
        if head.startswith(b"get /count"):
            answer = json.dumps(len(self.arrivals)).encode()
        else:
            answer = json.dumps(self.arrivals).encode()
            self.arrivals.clear()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(answer), answer)


async def main() -> None:
    kind = MeteredEndpoint if "--meter" in sys.argv else Endpoint
    tls = None
    if "--tls" in sys.argv:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(sys.argv[sys.argv.index("--tls") + 1])
    server = await asyncio.get_running_loop().create_server(kind, "127.0.0.1", 0, ssl=tls)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
