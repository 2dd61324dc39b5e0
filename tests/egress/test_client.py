"""The client for marketplaces: whole answers, and whether a request may have been sent."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import perf_counter

import pytest
from egress.receivers import (
    OK,
    Behaviour,
    Certificates,
    answering,
    bound_sockets,
    full_queue,
    hanging_after,
    receiving,
)

from tradewind.egress import client as module
from tradewind.egress.client import CallFailed, Client, Reply

HOST = "hooks.example.com"
ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.1")


@asynccontextmanager
async def calling(authorities: str | None = None) -> AsyncIterator[Client]:
    client = Client(authorities)
    try:
        yield client
    finally:
        await client.close()


async def post(client: Client, url: str, *, repeatable: bool = True, seconds: float = 5) -> Reply:
    return await client.post(
        url, b"a=1", ["Content-Type: text/plain"], seconds=seconds, repeatable=repeatable
    )


async def failure(client: Client, url: str, *, seconds: float = 5) -> tuple[str, bool]:
    """Why a call failed, and whether it may have been sent."""
    with pytest.raises(CallFailed) as failed:
        await post(client, url, seconds=seconds)
    return str(failed.value), failed.value.sent


async def test_a_request_as_it_is_sent() -> None:
    async with receiving(answering(OK)) as receiver, calling() as client:
        reply = await post(client, receiver.url(path="/a/b?c=d"))

    assert reply == Reply(200, b"ok")
    assert receiver.requests == [
        b"POST /a/b?c=d HTTP/1.1\r\n"
        b"Host: 127.0.0.1:%d\r\n"
        b"User-Agent: Tradewind\r\n"
        b"Accept: */*\r\n"
        b"Accept-Encoding: identity\r\n"
        b"Content-Type: text/plain\r\n"
        b"Content-Length: 3\r\n"
        b"\r\n"
        b"a=1" % receiver.port
    ]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (b"HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnone", Reply(404, b"none")),
        (b"HTTP/1.1 204 None\r\n\r\n", Reply(204, b"")),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
            Reply(200, b"abc"),
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n" + OK, Reply(200, b"ok")),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", Reply(200, b"until the end")),
        (b"HTTP/1.1 302 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", Reply(302, b"")),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + b"x" * 65536,
            Reply(200, b"x" * 65536),
        ),
    ],
)
async def test_answers_come_whole_in_every_form(response: bytes, expected: Reply) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for at in range(0, len(response), 1000):
            writer.write(response[at : at + 1000])
            await writer.drain()
        if b"until" in response:
            writer.close()

    async with receiving(answer) as receiver, calling() as client:
        assert await post(client, receiver.url()) == expected


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
)
async def test_an_answer_that_is_cut_off_or_no_http_is_none(response: bytes) -> None:
    async def cut_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response)
        await writer.drain()
        writer.close()

    async with receiving(cut_off) as receiver, calling() as client:
        _, sent = await failure(client, receiver.url())

    assert sent
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("head", [b"Content-Length: 30000000", b"Transfer-Encoding: chunked"])
async def test_an_answer_that_is_too_large_is_not_kept(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LARGEST_RESPONSE", 100_000)

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
        for _number in range(1000):
            writer.write(b"7530\r\n" + b"x" * 30_000 + b"\r\n")
            await writer.drain()

    async with receiving(flood) as receiver, calling() as client:
        reason, sent = await failure(client, receiver.url())

    assert (reason, sent) == ("The response is too large.", True)


async def test_connections_are_kept_for_what_is_repeatable() -> None:
    async with receiving(answering(OK)) as receiver, calling() as client:
        for repeatable, connections in ((True, 1), (True, 1), (False, 2), (True, 2), (False, 3)):
            await post(client, receiver.url(), repeatable=repeatable)
            assert receiver.connections == connections


async def test_calls_at_once_have_a_connection_each() -> None:
    async with receiving(answering(OK)) as receiver, calling() as client:
        for _ in range(2):
            await asyncio.gather(*(post(client, receiver.url()) for _ in range(5)))

    assert receiver.connections == 5
    assert len(receiver.requests) == 10


def dying(response: bytes) -> Behaviour:
    """Answer the first request of each connection, and the second with something else."""
    answered: set[object] = set()

    async def behave(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if writer in answered:
            writer.write(response)
            await writer.drain()
            writer.close()
        else:
            answered.add(writer)
            writer.write(OK)

    return behave


async def test_what_is_repeatable_is_sent_again_if_a_kept_connection_is_dead() -> None:
    async with receiving(dying(b"")) as receiver, calling() as client:
        await post(client, receiver.url())
        assert await post(client, receiver.url()) == Reply(200, b"ok")

    assert (receiver.connections, len(receiver.requests)) == (2, 3)


async def test_nothing_is_sent_again_once_an_answer_has_begun() -> None:
    async with receiving(dying(b"HTTP/1.1 200")) as receiver, calling() as client:
        await post(client, receiver.url())
        _, sent = await failure(client, receiver.url())

    assert sent
    assert len(receiver.requests) == 2


@pytest.mark.parametrize("words", [b"HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n", b"x"])
async def test_a_kept_connection_that_says_something_unasked_is_not_used(words: bytes) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(words)

    async with receiving(answer) as receiver, calling() as client:
        await post(client, receiver.url())
        await asyncio.sleep(0.2)
        assert await post(client, receiver.url()) == Reply(200, b"ok")

    assert receiver.connections == 2


async def test_a_request_that_is_answered_before_it_was_sent_ends_its_connection() -> None:
    """What is left of it would be taken for the next request."""
    is_over = asyncio.Event()
    connections = 0

    async def answer_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n")
        await is_over.wait()
        writer.close()

    server = await asyncio.start_server(answer_early, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        async with calling() as client:
            for body in (b"x" * 5_000_000, b"a=1"):
                reply = await client.post(url, body, [], seconds=2, repeatable=True)
                assert reply == Reply(413, b"")
    finally:
        is_over.set()
        server.close()

    assert connections == 2


@pytest.mark.parametrize("more", [OK, b"HTTP/1.1 200"])
async def test_a_connection_with_a_second_response_is_not_kept(more: bytes) -> None:
    async with receiving(answering(OK + more)) as receiver, calling() as client:
        for _ in range(2):
            assert await post(client, receiver.url()) == Reply(200, b"ok")

    assert receiver.connections == 2


async def test_addresses_are_looked_up_again_after_a_failed_handshake(
    authority: Certificates,
) -> None:
    async with (
        receiving(answering(OK)) as broken,
        receiving(answering(OK), tls=authority.serving(HOST)) as receiver,
        calling(str(authority.bundle)) as client,
    ):
        url = f"https://{HOST}/"
        with resolving("127.0.0.1", port=broken.port):
            _, sent = await failure(client, url)
            assert not sent
        with resolving("127.0.0.1", port=receiver.port):
            assert await post(client, url, repeatable=False) == Reply(200, b"ok")
        with resolving("127.0.0.1", port=broken.port):
            assert await post(client, url, repeatable=False) == Reply(200, b"ok")


async def test_a_call_ends_in_time_and_takes_its_connection_along() -> None:
    async with receiving(hanging_after(b"HTTP/1.1 200 OK\r\n")) as receiver, calling() as client:
        assert await failure(client, receiver.url(), seconds=0.2) == (
            "No whole answer came in time.",
            True,
        )
        assert await failure(client, receiver.url(), seconds=0.2) == (
            "No whole answer came in time.",
            True,
        )
        assert receiver.connections == 2


async def test_a_call_that_is_cancelled_takes_its_connection_along() -> None:
    async with receiving(hanging_after(b"")) as receiver, calling() as client:
        call = asyncio.create_task(post(client, receiver.url()))
        while not receiver.requests:  # noqa: ASYNC110 - the other side has no event
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        with pytest.raises(CallFailed):
            await post(client, receiver.url(), seconds=0.2)

    assert receiver.connections == 2


async def test_nothing_was_sent_where_nobody_listens(
    authority: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 0.3)
    async with receiving(answering(OK)) as mute, calling(str(authority.bundle)) as client:
        for url in (
            f"http://127.0.0.1:{port}/",
            "http://no-such-host.invalid/",
            mute.url(scheme="https"),
            f"http://{'a' * 64}.example/",
            "ftp://127.0.0.1/",
            "http://[::1",
            "http://127.0.0.1:99999/",
            f"http://127.0.0.1:{port}/ü",
        ):
            _, sent = await failure(client, url)
            assert not sent, url


@contextmanager
def resolving(*addresses: str, port: int) -> Iterator[None]:
    """Every name has these addresses. The event loop also asks for those of an address."""

    async def resolve(host: str, asked: int, **_: object) -> list[object]:
        chosen = [(host, asked)] if host in ADDRESSES else [(each, port) for each in addresses]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in chosen]

    loop = asyncio.get_running_loop()
    original, loop.getaddrinfo = loop.getaddrinfo, resolve  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        loop.getaddrinfo = original  # type: ignore[method-assign]


async def test_the_certificate_is_checked_before_anything_is_sent(authority: Certificates) -> None:
    async with (
        receiving(answering(OK), tls=authority.serving(HOST)) as receiver,
        calling(str(authority.bundle)) as client,
        calling() as distrustful,
    ):
        with resolving("127.0.0.1", port=receiver.port):
            url = receiver.url(HOST, scheme="https")
            assert await post(client, url) == Reply(200, b"ok")
            assert await post(client, url) == Reply(200, b"ok")
            _, sent = await failure(distrustful, url)
            assert not sent
            _, sent = await failure(client, receiver.url("another.example.com", scheme="https"))
            assert not sent

    assert len(receiver.requests) == 2


async def test_the_addresses_of_a_host_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 1.0)
    full, served = bound_sockets(*ADDRESSES[1:])
    async with receiving(answering(OK), at=served) as receiver, calling() as client:
        # Nobody listens at the first address, and nobody answers at the second.
        with full_queue(full), resolving(*ADDRESSES, port=receiver.port):
            began = perf_counter()
            assert await post(client, receiver.url(HOST), repeatable=False) == Reply(200, b"ok")
            assert perf_counter() - began > 0.3
            began = perf_counter()
            assert await post(client, receiver.url(HOST), repeatable=False) == Reply(200, b"ok")
            assert perf_counter() - began < 0.3, "the one that answered is tried first"
        with resolving("127.0.0.2", port=receiver.port):
            _, sent = await failure(client, receiver.url("another.example.com"))
            assert not sent


async def test_a_call_that_fails_meanwhile_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 1.0)
    full, served = bound_sockets(*ADDRESSES[1:])
    async with receiving(answering(OK), at=served) as receiver, calling() as client:
        with full_queue(full), resolving(*ADDRESSES, port=receiver.port):
            reply = asyncio.create_task(post(client, receiver.url(HOST)))
            await asyncio.sleep(0.05)  # it waits for the second address
            monkeypatch.setattr(module, "_CONNECT_SECONDS", 0.0)
            _, sent = await failure(client, receiver.url(HOST))
            assert not sent

            assert await reply == Reply(200, b"ok")
