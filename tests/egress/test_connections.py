"""Connections: which are kept, which are not, and calls that do not disturb each other."""

import asyncio
import gc
import time
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest
from egress.receivers import (
    OK,
    Behaviour,
    Certificates,
    Receiver,
    answering,
    flooding,
    hanging_after,
    receiving,
)
from kit.egress import DEVELOPMENT, Names, Watch, code, sending
from structlog.testing import capture_logs

from tradewind.egress import failures
from tradewind.egress.connect import connect, open_socket
from tradewind.egress.connection import EndpointConnection
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.egress.sender import Sender
from tradewind.egress.tls import tls_context

HOOK = "hooks.example.com"


async def until(results: list[AttemptResult], number: int) -> None:
    async with asyncio.timeout(10):
        while len(results) < number:  # noqa: ASYNC110 - the callbacks are what is tested
            await asyncio.sleep(0.005)


async def test_every_call_is_called_back_once() -> None:
    results: list[AttemptResult] = []
    async with receiving(answering(OK)) as receiver, sending() as sender:
        for _ in range(50):
            sender.begin(receiver.url("127.0.0.1"), b"{}", [], results.append)
        assert results == []
        await until(results, 50)
        await asyncio.sleep(0.05)

    assert [result.outcome for result in results] == [Outcome.DELIVERED] * 50


async def test_a_shorter_deadline_that_comes_later_ends_first() -> None:
    ended: list[float] = []
    async with receiving(hanging_after(b"")) as receiver, sending() as sender:

        async def post(seconds: float) -> None:
            result = await sender.post(receiver.url(), b"{}", [], seconds=seconds)
            assert code(result) == "response_timeout"
            ended.append(seconds)

        await asyncio.gather(post(0.4), post(0.1))

    assert ended == [0.1, 0.4]


async def test_a_callback_that_fails_takes_nobody_with_it() -> None:
    results: list[AttemptResult] = []

    def fail(_result: AttemptResult) -> None:
        raise RuntimeError("mine")

    async with receiving(answering(OK)) as receiver, sending() as sender:
        with capture_logs() as lines:
            for done in (fail, results.append, fail, results.append):
                sender.begin(receiver.url("127.0.0.1"), b"{}", [], done)
            await until(results, 2)
            again = await sender.post(receiver.url("127.0.0.1"), b"{}", [])

    assert again.delivered
    assert [line["event"] for line in lines] == ["egress.callback_failed"] * 2


async def test_closing_calls_nobody_back() -> None:
    results: list[AttemptResult] = []
    async with receiving(hanging_after(b"")) as receiver, sending() as sender:
        sender.begin(receiver.url("127.0.0.1"), b"{}", [], results.append)
        sender.begin(f"http://{HOOK}:1/", b"{}", [], results.append)
        await asyncio.sleep(0.05)

    await asyncio.sleep(0.05)
    assert [result.outcome for result in results] == [Outcome.DNS_ERROR]


async def posts(receiver: Receiver, sender: Sender, number: int) -> list[AttemptResult]:
    return [await sender.post(receiver.url(), b"{}", []) for _ in range(number)]


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        (OK, True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\nX-T: 1\r\n\r\n", True),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, True),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", True),
        (b"\r\n\r\n" + OK, True),
        (b"HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\nok", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False),
        (OK + b"junk", False),
        (OK + b"HTTP/1.1 2", False),
        (OK + OK, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + bytes(4096), False),
    ],
)
async def test_a_connection_is_kept_if_its_response_allows_it(response: bytes, kept: bool) -> None:
    """What came behind a response must not be read as the next one."""
    async with receiving(answering(response)) as receiver, sending() as sender:
        results = await posts(receiver, sender, 3)

    assert [result.outcome for result in results] == [Outcome.DELIVERED] * 3
    assert [result.reused for result in results] == [False, kept, kept]
    assert receiver.connections == (1 if kept else 3)


async def test_the_head_is_that_of_the_last_response() -> None:
    early = b"\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    async with receiving(answering(early, early, OK)) as receiver, sending() as sender:
        result = await sender.post(receiver.url(), b"{}", [])

    assert (result.status, result.headers, result.body) == (200, (("Content-Length", "2"),), b"ok")


async def test_a_body_may_end_with_its_connection() -> None:
    response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok"
    async with receiving(answering(response, then_close=True)) as receiver, sending() as sender:
        result = await sender.post(receiver.url(), b"{}", [], seconds=2)

    assert (result.outcome, result.body) == (Outcome.DELIVERED, b"ok")
    assert result.timings.total < 1


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 600 + OK, "headers_too_large"),
        (b"HTTP/1.1 099 What\r\nContent-Length: 0\r\n\r\n" + OK, "status_unknown"),
        (b"HTTP/1.1 000 What\r\nContent-Length: 0\r\n\r\n", "status_unknown"),
        (b"RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "not_http"),
        (b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n", "not_http"),
    ],
)
async def test_what_no_client_should_take_is_not_delivered(response: bytes, problem: str) -> None:
    async with receiving(answering(response)) as receiver, sending() as sender:
        result = await sender.post(receiver.url(), b"{}", [], seconds=2)

    assert (result.outcome, code(result)) == (Outcome.INVALID_RESPONSE, problem)


async def test_a_response_in_single_bytes_is_read_whole() -> None:
    pieces = [bytes([byte]) for byte in OK]

    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0)

    async with receiving(behave) as receiver, sending() as sender:
        results = await posts(receiver, sender, 2)

    assert {(result.status, result.head, result.body) for result in results} == {
        (200, OK.partition(b"\r\n\r\n")[0] + b"\r\n", b"ok")
    }
    assert results[1].reused


async def test_what_comes_unasked_is_no_response() -> None:
    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.1 500 Unasked\r\nContent-Length: 0\r\n\r\n")

    async with receiving(behave) as receiver, sending() as sender:
        first = await sender.post(receiver.url(), b"{}", [])
        await asyncio.sleep(0.1)
        second = await sender.post(receiver.url(), b"{}", [])

    assert (first.status, second.status) == (200, 200)
    assert not second.reused


async def test_an_idle_connection_that_its_receiver_closed_keeps_nobody_busy() -> None:
    async with receiving(answering(OK, then_close=True)) as receiver, sending() as sender:
        first = await sender.post(receiver.url(), b"{}", [])
        before = time.process_time()
        await asyncio.sleep(0.3)
        spent = time.process_time() - before
        second = await sender.post(receiver.url(), b"{}", [])

    assert first.delivered
    assert second.delivered
    assert spent < 0.15


async def test_a_connection_that_was_closed_a_moment_ago_is_not_used() -> None:
    """Before the event loop has seen it: the attempt would fail, though nothing is wrong."""
    async with receiving(answering(OK, then_close=True)) as receiver, sending() as sender:
        results = await posts(receiver, sender, 20)

    assert [result.outcome for result in results] == [Outcome.DELIVERED] * 20


async def test_an_idle_connection_is_closed_after_a_while() -> None:
    ended = asyncio.Event()

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        assert await reader.read() == b""
        ended.set()

    async with receiving(behave) as receiver, sending() as sender:
        await sender.post(receiver.url(), b"{}", [])
        async with asyncio.timeout(5):
            await ended.wait()


async def test_only_so_many_idle_connections_are_kept() -> None:
    async with receiving(answering(OK)) as receiver:
        sender = Sender(DEVELOPMENT, Names(), opener=Watch(), idle_connections=3)
        for _ in range(2):
            await asyncio.gather(*[sender.post(receiver.url(), b"{}", []) for _ in range(5)])
        await sender.close()

    assert receiver.connections == 5 + 2


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_connection_is_not_kept_while_its_request_is_being_sent(
    authority: Certificates, scheme: str
) -> None:
    """An endpoint may answer before it has read everything."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)

    connections: list[asyncio.StreamWriter] = []
    tls = authority.serving(HOOK) if scheme == "https" else None
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    url = f"{scheme}://{HOOK}:{server.sockets[0].getsockname()[1]}/"
    names = Names({HOOK: [["127.0.0.1"]]})
    async with server, sending(names, authorities=str(authority.bundle)) as sender:
        first = await sender.post(url, bytes(16 * 1024 * 1024), [], seconds=4)
        second = await sender.post(url, b"{}", [], seconds=4)
        for writer in connections:
            writer.transport.abort()

    assert (first.delivered, second.delivered, second.reused) == (True, True, False)


async def test_a_connection_between_two_sweeps_is_not_used_either() -> None:
    """Idle connections are closed every two seconds, so some are idle for longer."""
    other = "other.example.com"
    names = Names({HOOK: [["127.0.0.1"]], other: [["127.0.0.1"]]})
    async with receiving(answering(OK)) as receiver, sending(names) as sender:
        await sender.post(receiver.url(HOOK), b"{}", [])
        await asyncio.sleep(1)
        await sender.post(receiver.url(other), b"{}", [])
        await asyncio.sleep(2.2)
        late = await sender.post(receiver.url(other), b"{}", [])

    assert late.delivered
    assert not late.reused


async def test_the_connection_of_a_diagnosis_is_not_kept() -> None:
    async with receiving(answering(OK)) as receiver, sending() as sender:
        await sender.post(receiver.url(), b"{}", [], diagnosis=True)
        after = await sender.post(receiver.url(), b"{}", [])

    assert not after.reused


@pytest.mark.parametrize(
    ("first", "wave"), [(b"1;", b"x" * 65536), (b"2\r\nok\r\n0\r\n", b"X-T: 1\r\n" * 10_000)]
)
async def test_what_wraps_a_body_is_limited_too(first: bytes, wave: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with receiving(flooding(head + first, wave)) as receiver, sending() as sender:
        result = await sender.post(receiver.url(), b"{}", [], seconds=4)

    assert result.delivered
    assert result.timings.total < 2


@pytest.mark.parametrize("unasked", [b"", b"SSH-2.0-x\r\n"], ids=["silent", "with a banner"])
async def test_an_endpoint_that_closes_what_it_accepts_is_told_at_once(unasked: bytes) -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(unasked)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, sending() as sender:
        results = [await sender.post(url, b"{}", [], seconds=4) for _ in range(20)]

    assert {result.outcome for result in results} <= {
        Outcome.CONNECTION_CLOSED,
        Outcome.INVALID_RESPONSE,
    }
    assert max(result.timings.total for result in results) < 2


@asynccontextmanager
async def connected(
    authority: Certificates, behaviour: Behaviour, scheme: str = "http"
) -> AsyncIterator[EndpointConnection]:
    """A connection to an endpoint that behaves so."""
    tls = tls_context(str(authority.bundle))
    serving = authority.serving(HOOK) if scheme == "https" else None
    async with receiving(behaviour, tls=serving) as receiver:
        connection = await connect(
            DEVELOPMENT.read(receiver.url(HOOK, scheme=scheme)),
            ip_address("127.0.0.1"),
            allows=DEVELOPMENT.allows,
            opener=open_socket,
            tls=tls,
            buffer=memoryview(bytearray(65536)),
            seconds=2,
        )
        yield connection
        connection.close()
        await connection.lost


REQUEST = b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"


async def test_a_request_on_a_connection_that_has_ended_is_over_at_once(
    authority: Certificates,
) -> None:
    over = asyncio.Event()
    async with connected(authority, answering(then_close=True)) as connection:
        connection.send(REQUEST, over.set)
        await connection.lost
        over.clear()

        connection.send(REQUEST, over.set)
        async with asyncio.timeout(2):
            await over.wait()

    assert connection.failure is failures.CLOSED


async def test_what_tls_takes_for_itself_is_limited_too(authority: Certificates) -> None:
    """New keys and tickets come without data, and an endpoint may send them without end."""
    over = asyncio.Event()
    async with connected(authority, hanging_after(), "https") as connection:
        connection.send(REQUEST, over.set)
        for _ in range(20):
            connection.get_buffer(16 * 1024)
        async with asyncio.timeout(2):
            await over.wait()

    assert connection.failure is failures.CLOSED


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_connection_that_has_ended_is_freed_at_once(
    authority: Certificates, scheme: str, anyio_backend: tuple[str, dict[str, bool]]
) -> None:
    """A worker's garbage collector comes seldom, and a response takes up to 64 KiB."""
    if scheme == "https" and not anyio_backend[1]["use_uvloop"]:
        pytest.skip("The TLS of asyncio itself refers to what it served.")
    over = asyncio.Event()
    gc.collect()
    gc.disable()
    try:
        async with connected(authority, answering(OK), scheme) as connection:
            connection.send(REQUEST, over.set)
            await over.wait()
        freed = weakref.ref(connection)
        del connection
        await asyncio.sleep(0.05)
        assert freed() is None
    finally:
        gc.enable()


async def test_if_too_many_are_idle_the_one_that_waited_longest_is_closed() -> None:
    names = Names({name: [["127.0.0.1"]] for name in ("a.example.com", "b.example.com")})
    async with receiving(answering(OK)) as receiver:
        sender = Sender(DEVELOPMENT, names, opener=Watch(), idle_connections=1)
        await sender.post(receiver.url("a.example.com"), b"{}", [])
        await sender.post(receiver.url("b.example.com"), b"{}", [])
        second = await sender.post(receiver.url("b.example.com"), b"{}", [])
        first = await sender.post(receiver.url("a.example.com"), b"{}", [])
        await sender.close()

    assert (second.reused, first.reused) == (True, False)


async def test_a_cancelled_call_ends_its_handshake() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            began.set()
        ended.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"https://{HOOK}:{server.sockets[0].getsockname()[1]}/"
    async with server, sending(Names({HOOK: [["127.0.0.1"]]})) as sender, asyncio.timeout(4):
        call = asyncio.create_task(sender.post(url, b"{}", []))
        await began.wait()
        call.cancel()
        await ended.wait()

    assert call.cancelled()
