"""What a delivery to an endpoint with a name costs, against one to an address."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median
from typing import cast
from urllib.parse import urlsplit

from bench.delivery_queue import Bench
from bench.endpoints import Endpoints
from bench.results import Results

_TURNS = 10
_TURN = 10_000
_NAMES = 10
_LIFETIME = 60
_A = 1
_LOOPBACK = bytes([127, 0, 0, 1])


async def run(bench: Bench, endpoints: Endpoints, results: Results) -> None:
    """Compare turns that follow each other, of the CPU of the engine alone.

    Most endpoints have a name, and every attempt asks for its addresses.
    """
    port = urlsplit(endpoints.good).port
    async with _name_server() as name_server, bench.working([name_server]):
        # The same number of lanes: what differs is the name.
        by_address = [await bench.subscribe(f"{endpoints.good}/{n}") for n in range(_NAMES)]
        by_name = [
            await bench.subscribe(f"http://n{n}.hooks.example.com:{port}/") for n in range(_NAMES)
        ]
        turns = [
            (await bench.deliver(by_address, _TURN), await bench.deliver(by_name, _TURN))
            for _ in range(_TURNS)
        ]
    ratio = median(address.cpu / name.cpu for address, name in turns)
    results.tell(ratio, "CPU of a delivery to an address, against one to a name", 0.75)


@asynccontextmanager
async def _name_server() -> AsyncIterator[str]:
    """A name server on loopback that has the address of loopback for every name."""

    class Protocol(asyncio.DatagramProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast("asyncio.DatagramTransport", transport)

        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            self.transport.sendto(_answer(data), addr)

    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Protocol, local_addr=("127.0.0.1", 0))
    try:
        yield "{}:{}".format(*transport.get_extra_info("sockname"))
    finally:
        transport.close()


def _answer(request: bytes) -> bytes:
    """The answer to a request with one question: an address if it asks for IPv4, else none."""
    end = request.index(b"\0", 12) + 5
    (kind,) = struct.unpack_from(">H", request, end - 4)
    records = b""
    if kind == _A:
        # The name is that of the question, which begins at byte 12.
        records = struct.pack(">HHHIH", 0xC00C, _A, 1, _LIFETIME, 4) + _LOOPBACK
    head = struct.pack(">HHHHH", 0x8180, 1, int(bool(records)), 0, 0)
    return request[:2] + head + request[12:end] + records
