"""Stopping under load: every request that was begun is answered, and the process ends soon."""

import asyncio
import contextlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx
from kit import scorecard
from kit.server import Server, ServerLauncher
from kit.system import ADDRESS

from tradewind.auth.model import Plan, Role

_ROUNDS = 20 if "SOAK_KILLS" in os.environ else 2
_CLIENTS = 16
_HELD = 8
_LONGEST_STOP = 15
# How long requests are still under way after the API has closed its port.
_HELD_SECONDS = 0.5
_NO_LIMIT = {"TRADEWIND_PLANS": "free=120,pro=1200,enterprise=6000000"}
_REQUEST_ID = re.compile(r'"request_id":"(stopping-[0-9]+)"')
# The state of a connection that was reset, in the first byte of `struct tcp_info` of Linux.
_TCP_CLOSE = 7
_RESET_SECONDS = 0.5


class _NotRead(Exception):
    """The connection was closed, and the server had read nothing of the request."""


@dataclass
class _Tally:
    """What became of the requests: each that was sent is answered, was never read, or is broken.

    The server's log shows only requests that ended, so it cannot say which ones were begun. The
    kernel can: it resets a connection that is closed with unread bytes in it, and one that gets
    bytes after it was closed. So a request whose connection was reset before the first byte of an
    answer was not read. If it was closed without a reset, the request was read, and is broken.
    """

    sent: int = 0
    answered: set[str] = field(default_factory=set)
    not_read: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)

    def lost(self, log: str) -> dict[str, str]:
        """The broken requests, and those that the server says it worked on without an answer."""
        worked_on = set(_REQUEST_ID.findall(log)) - self.answered
        return {**dict.fromkeys(worked_on, "in the log, and not answered"), **self.broken}


class _Connection:
    """One connection to the API, read as HTTP says: the head, and a body of its stated length."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._loop = asyncio.get_running_loop()
        self._unread = b""

    @classmethod
    async def open(cls, port: int) -> "_Connection":
        connected = socket.socket()
        connected.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(connected, ("127.0.0.1", port))
        except OSError:
            connected.close()
            raise
        return cls(connected)

    def close(self) -> None:
        self._socket.close()

    async def send(self, content: bytes) -> None:
        try:
            await self._loop.sock_sendall(self._socket, content)
        except ConnectionError:
            raise _NotRead from None

    async def head(self) -> tuple[int, Mapping[str, str]]:
        """The status and the headers of the next response."""
        while b"\r\n\r\n" not in self._unread:
            self._unread += await self._receive(self._unread)
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(status.split(" ")[1]), headers

    async def body(self, length: int) -> bytes:
        while len(self._unread) < length:
            self._unread += await self._receive(b"head")
        body, self._unread = self._unread[:length], self._unread[length:]
        return body

    async def _receive(self, so_far: bytes) -> bytes:
        try:
            received = await self._loop.sock_recv(self._socket, 65536)
        except ConnectionError as error:
            if so_far:
                raise AssertionError(f"reset after {so_far[:100]!r}") from error
            raise _NotRead from None
        if received:
            return received
        if not so_far and await self._is_reset():
            raise _NotRead
        raise AssertionError(f"closed after {so_far[:100]!r}")

    async def _is_reset(self) -> bool:
        """Tell whether a reset follows the end of what the server has sent."""
        deadline = time.monotonic() + _RESET_SECONDS
        while time.monotonic() < deadline:
            if self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _TCP_CLOSE:
                return True
            await asyncio.sleep(0.005)
        return False


def _request(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: x"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _complete_answer(connection: _Connection, request_id: str, status: int) -> bool:
    """Read a whole answer and check it; whether the connection stays open."""
    answered, headers = await connection.head()
    shown = json.loads(await connection.body(int(headers["content-length"])))
    assert (answered, headers["x-request-id"]) == (status, request_id), shown
    return headers.get("connection") != "close"


async def _ask_until_gone(
    port: int, headers: dict[str, str], tally: _Tally, ids: "itertools.count[int]", *, keep: bool
) -> None:
    """Ask until no connection is taken; on one that is kept, or on a new one for each request."""
    connection: _Connection | None = None
    while True:
        if connection is None:
            try:
                connection = await _Connection.open(port)
            except OSError:
                return
        request_id = f"stopping-{next(ids)}"
        more = {} if keep else {"connection": "close"}
        tally.sent += 1
        kept = False
        try:
            asked = {**headers, **more, "x-request-id": request_id}
            await connection.send(_request("GET", "/v1/me", asked))
            kept = await _complete_answer(connection, request_id, 200) and keep
            tally.answered.add(request_id)
        except _NotRead:
            tally.not_read.add(request_id)
        except (AssertionError, KeyError, ValueError) as error:
            tally.broken[request_id] = repr(error)
        if not kept:
            connection.close()
            connection = None


async def _begin(
    port: int, headers: dict[str, str], request_id: str, content: bytes
) -> _Connection:
    """Begin a request: the API has read its head, asks for its body, and waits for it."""
    connection = await _Connection.open(port)
    more = {
        "content-type": "application/json",
        "content-length": str(len(content)),
        "expect": "100-continue",
        "x-request-id": request_id,
    }
    await connection.send(_request("POST", "/v1/addresses", {**headers, **more}))
    status, _ = await connection.head()
    assert status == 100
    return connection


async def _finish(connection: _Connection, request_id: str, content: bytes, tally: _Tally) -> None:
    try:
        await connection.send(content)
        await _complete_answer(connection, request_id, 201)
        tally.answered.add(request_id)
    except (_NotRead, AssertionError, KeyError, ValueError) as error:
        tally.broken[request_id] = repr(error)
    finally:
        connection.close()


async def _until_refused(port: int) -> None:
    deadline = time.monotonic() + _LONGEST_STOP
    while True:
        assert time.monotonic() < deadline, "the port is still open"
        try:
            (await _Connection.open(port)).close()
        except OSError:
            return
        await asyncio.sleep(0.005)


async def test_sigterm_answers_what_was_begun_and_ends_soon(
    launcher: ServerLauncher, database_url: str
) -> None:
    """Requests that wait for their bodies are finished; so is all else that the API has read."""
    for _ in range(_ROUNDS):
        person = await launcher.make_person(database_url, (Role.BUYER,), Plan.ENTERPRISE)
        tally, ids = _Tally(), itertools.count(1)
        content = json.dumps(ADDRESS).encode()
        with launcher.serving_on(database_url, settings=_NO_LIMIT) as api:
            port = httpx.URL(api.url).port or 0
            clients = [
                asyncio.create_task(
                    _ask_until_gone(port, person.headers, tally, ids, keep=number % 2 == 0)
                )
                for number in range(_CLIENTS)
            ]
            held = {f"stopping-{next(ids)}" for _ in range(_HELD)}
            begun = {name: await _begin(port, person.headers, name, content) for name in held}
            tally.sent += len(begun)
            api.process.send_signal(signal.SIGTERM)
            started = time.monotonic()
            await _until_refused(port)
            await asyncio.sleep(_HELD_SECONDS)
            await asyncio.gather(
                *(_finish(connection, name, content, tally) for name, connection in begun.items())
            )
            await asyncio.wait(clients, timeout=_LONGEST_STOP)
            ended = await _ended_after(api, started)
            lost = tally.lost(api.log.read_text())
            saved = await asyncio.to_thread(
                api.fetch, "SELECT count(*) FROM saved_address WHERE account_id = $1", person.uuid
            )

        scorecard.record(
            18,
            len(tally.answered),
            kills=1,
            lost=len(lost),
            closed_before_it_was_read=len(tally.not_read),
            longest_stop_seconds=ended,
        )
        assert lost == {}
        assert held <= tally.answered
        assert saved[0][0] == len(held)
        assert len(tally.answered) > len(held), "there was load"
        assert tally.sent == len(tally.answered) + len(tally.not_read)
        assert ended < _LONGEST_STOP
        assert api.process.returncode == 0
        assert all(client.done() for client in clients)


async def _ended_after(api: Server, started: float) -> float:
    """Seconds until the API ended; as many as were waited for if it did not."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        left = _LONGEST_STOP - (time.monotonic() - started)
        await asyncio.to_thread(api.process.wait, max(left, 0.01))
    return time.monotonic() - started
