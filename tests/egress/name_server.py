"""A small DNS server on loopback that answers as a test says, or not at all."""

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from typing import cast

A, CNAME, AAAA = 1, 5, 28
NO_SUCH_NAME, SERVER_FAILURE, REFUSED = 3, 2, 5


@dataclass
class Zone:
    """What the server knows of one name; `silent` kinds of questions get no answer."""

    addresses: Sequence[str] = ()
    alias: str = ""
    code: int = 0
    silent: frozenset[int] = frozenset()
    failing: frozenset[int] = frozenset()
    lifetime: int = 0
    delay: float = 0
    garbled: bool = False  # a record that cannot be parsed comes first


@dataclass
class NameServer:
    """`asked` are the questions, in their order: name and kind."""

    zones: dict[str, Zone]
    port: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def naming(zones: Mapping[str, Zone]) -> AsyncIterator[NameServer]:
    server = NameServer(dict(zones))

    class Protocol(asyncio.DatagramProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast("asyncio.DatagramTransport", transport)

        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            name, kind, question = _question(data)
            server.asked.append((name, kind))
            zone = server.zones.get(name, Zone(code=NO_SUCH_NAME))
            if kind in zone.silent:
                return
            answer = _answer(data[:2], question, kind, zone)
            loop = asyncio.get_running_loop()
            loop.call_later(zone.delay, self.transport.sendto, answer, addr)

    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Protocol, local_addr=("127.0.0.1", 0))
    server.port = transport.get_extra_info("sockname")[1]
    try:
        yield server
    finally:
        transport.close()


def _question(data: bytes) -> tuple[str, int, bytes]:
    labels, at = [], 12
    while length := data[at]:
        labels.append(data[at + 1 : at + 1 + length].decode())
        at += 1 + length
    (kind,) = struct.unpack_from(">H", data, at + 1)
    return ".".join(labels).lower(), kind, data[12 : at + 5]


def _answer(identity: bytes, question: bytes, kind: int, zone: Zone) -> bytes:
    code = SERVER_FAILURE if kind in zone.failing else zone.code
    owner, records = b"\xc0\x0c", []
    if zone.alias and not code:
        records.append(_record(owner, CNAME, zone.lifetime, _name(zone.alias)))
        owner = _name(zone.alias)
    if zone.garbled:
        records.append(_record(owner, kind, zone.lifetime, b"\x08"))
    for address in map(ip_address, zone.addresses):
        its_kind = A if isinstance(address, IPv4Address) else AAAA
        if its_kind == kind and not code:
            records.append(_record(owner, kind, zone.lifetime, address.packed))
    head = struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0)
    return identity + head + question + b"".join(records)


def _record(owner: bytes, kind: int, lifetime: int, data: bytes) -> bytes:
    return owner + struct.pack(">HHIH", kind, 1, lifetime, len(data)) + data


def _name(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
