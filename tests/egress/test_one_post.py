"""One attempt is one POST, however and whenever an endpoint ends the connection."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from egress.receivers import OK, Certificates, bound_sockets
from kit.egress import Names, Watch, code, sending

from tradewind.egress.result import AttemptResult, Outcome
from tradewind.egress.sender import Sender

HOOK = "hooks.example.com"
SECONDS = 2.0
SMALL, LARGE = b"{}", bytes(1_000_000)


@dataclass
class Endpoint:
    """Counts the request heads that arrive, on all connections, before anything else is done.

    It answers until `ends` is set. From then on it ends the connection of every request: when its
    head has come, or when the whole of it has, with a FIN or with a reset.
    """

    ends: str = ""
    port: int = 0
    connections: int = 0
    heads: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    server: asyncio.Server | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                if "head" not in self.ends:
                    length = int(head.lower().partition(b"content-length:")[2].split()[0])
                    await reader.readexactly(length)
                if not self.ends:
                    writer.write(OK)
                    continue
                if "port" in self.ends and self.server is not None:
                    self.server.close()
                end(writer, abruptly="reset" in self.ends)
        writer.close()


def end(writer: asyncio.StreamWriter, *, abruptly: bool) -> None:
    if abruptly:
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()


@asynccontextmanager
async def listening(
    tls: ssl.SSLContext | None = None, *, at: socket.socket | None = None
) -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    at = at or bound_sockets("127.0.0.1")[0]
    server = await asyncio.start_server(endpoint.serve, sock=at, ssl=tls)
    endpoint.server = server
    endpoint.port = server.sockets[0].getsockname()[1]
    try:
        yield endpoint
    finally:
        server.close()
        for writer in endpoint.writers:
            writer.transport.abort()
        await asyncio.sleep(0)


@dataclass
class Stage:
    """An endpoint, and a sender that knows its name."""

    endpoint: Endpoint
    sender: Sender
    url: str

    async def post(self, body: bytes = SMALL) -> AttemptResult:
        return await self.sender.post(self.url, body, [], seconds=SECONDS)


@asynccontextmanager
async def staged(authority: Certificates, scheme: str) -> AsyncIterator[Stage]:
    tls = authority.serving(HOOK) if scheme == "https" else None
    names = Names({HOOK: [["127.0.0.1"]]})
    async with (
        listening(tls) as endpoint,
        sending(names, authorities=str(authority.bundle)) as sender,
    ):
        yield Stage(endpoint, sender, f"{scheme}://{HOOK}:{endpoint.port}/hook")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "new"])
@pytest.mark.parametrize(
    ("ends", "body"),
    [
        ("after the head", LARGE),
        ("after the request", SMALL),
        ("after the request", LARGE),
        ("reset after the head", LARGE),
        ("reset after the request", SMALL),
        ("after the request, and the port too", SMALL),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
async def test_a_connection_that_ends_unanswered_had_one_post(
    authority: Certificates, scheme: str, kept: bool, ends: str, body: bytes
) -> None:
    async with staged(authority, scheme) as stage:
        if kept:
            assert (await stage.post()).delivered
        before = len(stage.endpoint.heads)
        stage.endpoint.ends = ends

        result = await stage.post(body)

        assert (result.outcome, code(result)) == (Outcome.CONNECTION_CLOSED, "connection_closed")
        assert result.status is None
        assert len(stage.endpoint.heads) - before == 1
        assert stage.endpoint.connections == 1


async def test_other_kept_connections_do_not_get_the_post_either(authority: Certificates) -> None:
    async with staged(authority, "http") as stage:
        results = await asyncio.gather(*[stage.post() for _ in range(5)])
        assert all(result.delivered for result in results)
        assert stage.endpoint.connections == 5
        stage.endpoint.ends = "after the request"

        results = [await stage.post() for _ in range(5)]

    assert {result.outcome for result in results} == {Outcome.CONNECTION_CLOSED}
    assert len(stage.endpoint.heads) == 10


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("abruptly", [False, True], ids=["closed", "reset"])
async def test_a_connection_that_was_ended_while_idle_is_not_used(
    authority: Certificates, scheme: str, abruptly: bool
) -> None:
    """Servers that restart close idle connections without a word; no attempt may fail for it."""
    async with staged(authority, scheme) as stage:
        await asyncio.gather(*[stage.post() for _ in range(5)])
        for writer in stage.endpoint.writers:
            end(writer, abruptly=abruptly)
        await asyncio.sleep(0.05)

        results = [await stage.post() for _ in range(6)]

    assert [result.outcome for result in results] == [Outcome.DELIVERED] * 6
    assert results[-1].reused
    assert len(stage.endpoint.heads) == 5 + 6


async def test_a_connection_that_was_idle_for_two_seconds_is_not_used(
    authority: Certificates,
) -> None:
    """Servers close idle connections after two seconds and more, maybe while we send."""
    async with staged(authority, "http") as stage:
        await stage.post()
        early = await stage.post()
        await asyncio.sleep(2.1)
        late = await stage.post()

    assert (early.reused, late.reused) == (True, False)
    assert stage.endpoint.connections == 2


@pytest.mark.parametrize("ends", ["after the request", "after the request, and the port too"])
async def test_another_address_does_not_get_what_the_first_has_read(ends: str) -> None:
    names = Names({HOOK: [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]]})
    watch = Watch()
    sockets = bound_sockets("127.0.0.1", "127.0.0.2")
    async with (
        listening(at=sockets[0]) as first,
        listening(at=sockets[1]) as second,
        sending(names, watch=watch) as sender,
    ):
        url = f"http://{HOOK}:{first.port}/hook"
        await sender.post(url, SMALL, [])
        first.ends = ends
        result = await sender.post(url, SMALL, [], seconds=SECONDS)

        assert (result.outcome, result.tried) == (Outcome.CONNECTION_CLOSED, 1)
        assert (len(first.heads), len(second.heads)) == (2, 0)
        assert len(watch.passed) == 1


async def test_another_address_gets_what_a_dead_idle_connection_could_not_take() -> None:
    """Nothing was sent on it, and the first address is gone: the second may have the request."""
    names = Names({HOOK: [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]]})
    sockets = bound_sockets("127.0.0.1", "127.0.0.2")
    async with (
        listening(at=sockets[0]) as first,
        listening(at=sockets[1]) as second,
        sending(names) as sender,
    ):
        url = f"http://{HOOK}:{first.port}/hook"
        await sender.post(url, SMALL, [])
        assert first.server is not None
        first.server.close()
        for writer in first.writers:
            writer.close()
        await asyncio.sleep(0.05)
        result = await sender.post(url, SMALL, [], seconds=SECONDS)

    assert (result.outcome, result.tried) == (Outcome.DELIVERED, 2)
    assert (len(first.heads), len(second.heads)) == (1, 1)


async def test_a_post_without_a_body_is_not_sent_again_either(authority: Certificates) -> None:
    """There is no body to hand over, so it gets a connection of its own."""
    async with staged(authority, "http") as stage:
        assert (await stage.post()).delivered
        stage.endpoint.ends = "after the request"

        result = await stage.post(b"")

    assert result.outcome is Outcome.CONNECTION_CLOSED
    assert len(stage.endpoint.heads) == 2
    assert b"content-length: 0" in stage.endpoint.heads[1].lower()
