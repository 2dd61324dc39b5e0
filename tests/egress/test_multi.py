"""Many calls on one selector: each gets one callback, and an error reaches no other call."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pycurl
import pytest
from egress.receivers import OK, answering, hanging_after, receiving
from structlog.testing import capture_logs

from tradewind.egress import multi as module
from tradewind.egress.multi import Multi


@pytest.fixture(params=["epoll", "selectors"], autouse=True)
def everywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Linux, and as where there is no epoll."""
    if request.param == "selectors":
        monkeypatch.setattr(module, "_HAS_EPOLL", False)


@asynccontextmanager
async def multi() -> AsyncIterator[Multi]:
    made = Multi(idle_connections=10)
    try:
        yield made
    finally:
        made.close()


def call(url: str, *, milliseconds: int = 5000) -> pycurl.Curl:
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.POSTFIELDS, b"{}")
    curl.setopt(pycurl.PROXY, "")
    curl.setopt(pycurl.WRITEFUNCTION, lambda _: None)
    curl.setopt(pycurl.TIMEOUT_MS, milliseconds)
    return curl


async def until(codes: list[int], number: int) -> None:
    async with asyncio.timeout(10):
        while len(codes) < number:  # noqa: ASYNC110 - the callbacks are what is tested
            await asyncio.sleep(0.005)


async def test_every_call_is_called_back_once_with_its_code() -> None:
    codes: list[int] = []
    async with receiving(answering(OK)) as receiver, multi() as many:
        for _ in range(50):
            many.perform(call(receiver.url("127.0.0.1")), codes.append)
        assert codes == []
        await until(codes, 50)

    assert codes == [pycurl.E_OK] * 50


async def test_times_are_kept_though_a_shorter_one_comes_later() -> None:
    ended: list[int] = []
    async with receiving(hanging_after(b"")) as receiver, multi() as many:
        url = receiver.url("127.0.0.1")
        many.perform(call(url, milliseconds=400), lambda _: ended.append(400))
        many.perform(call(url, milliseconds=100), lambda _: ended.append(100))
        await until(ended, 2)

    assert ended == [100, 400]


async def test_a_callback_that_fails_takes_nobody_with_it() -> None:
    codes: list[int] = []

    def fail(_code: int) -> None:
        raise RuntimeError("mine")

    async with receiving(answering(OK)) as receiver, multi() as many:
        with capture_logs() as lines:
            for done in (fail, codes.append, fail, codes.append):
                many.perform(call(receiver.url("127.0.0.1")), done)
            await until(codes, 2)

    assert [line["event"] for line in lines] == ["egress.callback_failed"] * len(lines) != []


async def test_what_is_forgotten_is_not_called_back() -> None:
    codes: list[int] = []
    async with receiving(answering(OK)) as receiver, multi() as many:
        dropped = call(receiver.url("127.0.0.1"))
        many.perform(dropped, lambda _: codes.append(-1))
        many.perform(call(receiver.url("127.0.0.1")), codes.append)
        many.forget(dropped)
        many.forget(dropped)
        await until(codes, 1)

    assert codes == [pycurl.E_OK]


async def test_closing_calls_nobody_back() -> None:
    codes: list[int] = []
    async with receiving(hanging_after(b"")) as receiver, multi() as many:
        many.perform(call(receiver.url("127.0.0.1")), codes.append)
        await asyncio.sleep(0.05)

    await asyncio.sleep(0.05)
    assert codes == []


async def test_an_idle_connection_that_its_receiver_closed_keeps_nobody_busy() -> None:
    codes: list[int] = []
    async with receiving(answering(OK, then_close=True)) as receiver, multi() as many:
        many.perform(call(receiver.url("127.0.0.1")), codes.append)
        await until(codes, 1)
        before = time.process_time()
        await asyncio.sleep(0.3)
        spent = time.process_time() - before
        many.perform(call(receiver.url("127.0.0.1")), codes.append)
        await until(codes, 2)

    assert codes == [pycurl.E_OK] * 2
    assert spent < 0.15


def test_a_number_that_is_another_socket_by_now_is_watched_anew() -> None:
    sockets = module.sockets()
    first, peer = socket.socketpair()
    number = first.fileno()
    sockets.watch(pycurl.POLL_IN, number, None, None)
    sockets.watch(pycurl.POLL_REMOVE, number, None, None)
    second, its_peer = socket.socketpair()
    first.close()
    os.dup2(second.fileno(), number)
    sockets.expect_new()

    sockets.watch(pycurl.POLL_IN, number, None, None)
    its_peer.send(b"x")

    assert sockets.ready() == [(number, pycurl.POLL_IN)]
    sockets.close()
    os.close(number)
    for each in (peer, second, its_peer):
        each.close()


def test_a_connection_that_was_last_written_to_stays_open_when_it_is_idle() -> None:
    """Its response may come in the turn in which its request was sent."""
    ours, theirs = socket.socketpair()
    watched = module.sockets()
    with ours, theirs:
        watched.watch(pycurl.POLL_OUT, ours.fileno(), None, None)
        watched.watch(pycurl.POLL_REMOVE, ours.fileno(), None, None)

        assert watched.ready() == []
        ours.sendall(b"still open")
        assert theirs.recv(100) == b"still open"
    watched.close()
