"""Hostile clients flood the API: memory stays flat, and other clients are served as before."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from statistics import median, quantiles

import httpx
import pytest
from kit import scorecard
from kit.processes import family_of, read
from kit.server import Person, Server, ServerLauncher

from tradewind.runtime.serve import HEADER_BYTES, HEADER_SECONDS

# On a loaded machine everything takes longer: these only separate "served" from "stuck".
_SLACK_SECONDS = 10.0
_LONGEST_ANSWER = 5.0
_MOST = 1.2
_MOST_ON_A_BUSY_MACHINE = 2.0
_MOST_GROWTH = 64 * 1024 * 1024

_BODY_SECONDS = 30
_SILENT = 200
_SLOW = 20
_WAVES = 12
_BOMBS = 10
_STILL_OPEN = b"still open"

_GET = b"GET /healthz HTTP/1.1\r\nhost: x\r\n"
_MANY_HEADERS = _GET + b"".join(b"x-%d: 1\r\n" % n for n in range(5_000)) + b"\r\n"
_HUGE_HEADER = _GET + b"x-huge: " + b"a" * (HEADER_BYTES * 4) + b"\r\n\r\n"
_HEADERS, _SETTINGS, _END_HEADERS = 1, 4, 4  # types of frames in HTTP/2, and a flag
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SLOW_BODY = (
    b"POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    b"content-length: 1000\r\n\r\n"
)


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Write one frame of HTTP/2."""
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags])
    return head + stream.to_bytes(4, "big") + payload


def _http2_bomb() -> bytes:
    """100 KB of HTTP/2: 25 requests that wait for a body, each with 15 MB of unpacked headers.

    The first request puts a header of 4 KB into the table of HPACK, and each byte after it
    repeats that header.
    """
    value = b"a" * 3900
    length = len(value) - 127
    stored = b"\x40\x01x\x7f" + bytes([(length & 0x7F) | 0x80, length >> 7]) + value
    login = b"\x83\x86\x04\x0e/v1/auth/login" + b"\x0f\x10\x10application/json"
    streams = [
        _frame(_HEADERS, _END_HEADERS, 2 * n + 1, login + (b"" if n else stored) + b"\xbe" * 3900)
        for n in range(25)
    ]
    return _PREFACE + _frame(_SETTINGS, 0, 0) + b"".join(streams)


_HTTP2_BOMB = _http2_bomb()


async def _talk(
    port: int, first: bytes, *, drip: bytes = b"", patience: float
) -> tuple[bytes, float]:
    """Send, then perhaps drip, and read until the server closes: what came, and how long it took.

    What came is _STILL_OPEN if the connection is open after `patience`.
    """
    started = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    dripping = asyncio.create_task(_drip(writer, drip))
    received = b""
    try:
        async with asyncio.timeout(patience):
            writer.write(first)
            while chunk := await reader.read(65_536):
                received += chunk
    except ConnectionError:
        pass  # closed while we still sent
    except TimeoutError:
        received = _STILL_OPEN
    finally:
        dripping.cancel()
        writer.transport.abort()
    return received, time.monotonic() - started


async def _drip(writer: asyncio.StreamWriter, drip: bytes) -> None:
    while drip and not writer.is_closing():
        await asyncio.sleep(0.5)
        writer.write(drip)


def _memory(api: Server) -> int:
    """The resident memory of the API's processes, in bytes."""
    pages = [read(pid, "statm").split() for pid in family_of(api.process.pid)]
    return sum(int(fields[1]) for fields in pages if fields) * 4096


class _Others:
    """A client that behaves asks two servers by turns: one that is left alone, and the other.

    Both are on this machine, so what else it does delays both. Each wave of bombs gives a ratio:
    the time that the attacked server took, against that of the quiet one. The lower quartile of
    these ratios counts: a fault of the server shows in each wave, a busy machine only in some.
    """

    def __init__(self, quiet: Server, attacked: Server) -> None:
        self._servers = [(_port(api), _get_me(api.person())) for api in (quiet, attacked)]
        self.alone: list[float] = []
        self.beside: list[float] = []
        self.ratios: list[float] = []
        self._in_waves = 0
        self.problems: list[str] = []

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._ask())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError), scorecard.kept_for_later(self.problems):
                await task

    async def ask_both(self, order: Sequence[int] = (0, 1)) -> dict[int, float]:
        """How long each of the two took."""
        took = {}
        for which in order:
            port, request = self._servers[which]
            answer, took[which] = await _talk(port, request, patience=_LONGEST_ANSWER)
            assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
        return took

    async def _ask(self) -> None:
        while True:
            # Who comes first may be slower: they take turns.
            took = await self.ask_both((0, 1) if len(self.alone) % 2 else (1, 0))
            self.alone.append(took[0])
            self.beside.append(took[1])
            await asyncio.sleep(0.01)

    def end_wave(self) -> None:
        if alone := sum(self.alone[self._in_waves :]):
            self.ratios.append(sum(self.beside[self._in_waves :]) / alone)
        self._in_waves = len(self.alone)


def _port(api: Server) -> int:
    return httpx.URL(api.url).port or 0


def _get_me(person: Person, *more: str) -> bytes:
    lines = [f"{name}: {value}" for name, value in person.headers.items()]
    head = ["GET /v1/me HTTP/1.1", "host: x", "connection: close", *lines, *more]
    return ("\r\n".join(head) + "\r\n\r\n").encode()


async def _waves(port: int, duplicate: bytes, others: _Others) -> tuple[list[bytes], list[bytes]]:
    """Header bombs of every kind and requests with two credentials, wave after wave.

    Returns what was answered to the bombs, and what to the others.
    """
    answers: list[bytes] = []
    for _ in range(_WAVES):
        talks = [
            _talk(port, bomb, patience=_LONGEST_ANSWER)
            for bomb in (_MANY_HEADERS, _HUGE_HEADER, _HTTP2_BOMB, duplicate)
            for _ in range(_BOMBS)
        ]
        answers += [answer for answer, _ in await asyncio.gather(*talks)]
        await asyncio.sleep(0.5)
        others.end_wave()
    waves = [answers[n : n + 4 * _BOMBS] for n in range(0, len(answers), 4 * _BOMBS)]
    return (
        [answer for wave in waves for answer in wave[: 3 * _BOMBS]],
        [answer for wave in waves for answer in wave[3 * _BOMBS :]],
    )


async def _all(
    port: int, count: int, first: bytes, patience: float, drip: bytes = b""
) -> Counter[bytes]:
    """Many connections of one kind at once; how many ended with which status line."""
    talks = [_talk(port, first, drip=drip, patience=patience) for _ in range(count)]
    return Counter(answer[:12] for answer, _ in await asyncio.gather(*talks))


async def test_hostile_connections_end_and_neither_fill_memory_nor_delay_others(
    launcher: ServerLauncher, api: Server
) -> None:
    """The others are compared while all of it goes on: the bombs, and the slow connections."""
    problems: list[str] = []
    with launcher.serving() as attacked:
        port = _port(attacked)
        others = await asyncio.to_thread(_Others, api, attacked)
        person = await asyncio.to_thread(attacked.person)
        for _ in range(20):  # what a process allocates once, it has allocated now
            with scorecard.kept_for_later(problems):
                await others.ask_both()
        before = _memory(attacked)
        header_patience = HEADER_SECONDS + _SLACK_SECONDS
        body_patience = _BODY_SECONDS + _SLACK_SECONDS

        slow = asyncio.gather(
            _all(port, _SILENT, b"", header_patience),
            _all(port, _SLOW, _GET + b"x-half:", header_patience),
            _all(port, _SLOW, _GET, header_patience, drip=b"x-drip: 1\r\n"),
            _all(port, _SLOW, _SLOW_BODY, body_patience, drip=b" "),
        )
        async with others.asking():
            duplicate = _get_me(person, "x-api-key: another")
            bombs, duplicates = await _waves(port, duplicate, others)
        silent, half, dripped, slow_bodies = await slow
        after = _memory(attacked)

    ended = Counter(answer[:12] for answer in bombs)
    rejected = Counter(answer[:12] for answer in duplicates)
    closed = Counter({b"": _SLOW})
    wrong = (
        (_SILENT - silent[b""])
        + (2 * _SLOW - half[b""] - dripped[b""])
        + (_SLOW - slow_bodies[b"HTTP/1.1 408"])
        + (len(bombs) - ended[b"HTTP/1.1 431"] - ended[b""])
        + (len(duplicates) - rejected[b"HTTP/1.1 400"])
    )
    problems += others.problems
    ratios = others.ratios
    calm = quantiles(ratios, n=4)[0] if len(ratios) > 1 else 0.0
    scorecard.record(
        20,
        _SILENT + 3 * _SLOW + len(bombs) + len(duplicates),
        violations=wrong + len(problems),
        grown_mib=(after - before) / 2**20,
        lower_quartile_ratio=calm,
        median_ratio=median(ratios or [0.0]),
        p99_beside_ms=_p99_ms(others.beside),
        p99_alone_ms=_p99_ms(others.alone),
    )
    assert problems == []
    assert len(ratios) == _WAVES
    assert calm <= _MOST, ratios
    assert median(ratios) <= _MOST_ON_A_BUSY_MACHINE, ratios
    assert after - before < _MOST_GROWTH
    assert (silent, half, dripped) == ({b"": _SILENT}, closed, closed)
    assert slow_bodies == {b"HTTP/1.1 408": _SLOW}
    assert set(ended) <= {b"HTTP/1.1 431", b""}, ended
    assert rejected == {b"HTTP/1.1 400": _WAVES * _BOMBS}


def _p99_ms(took: list[float]) -> float:
    return 1000 * quantiles(took, n=100)[98] if len(took) > 1 else 0.0


@pytest.mark.parametrize(
    "preface",
    [_HTTP2_BOMB, _PREFACE + _frame(_SETTINGS, 0, 0)],
    ids=["bomb", "preface"],
)
async def test_http2_is_closed_at_once(api: Server, preface: bytes) -> None:
    answer, took = await _talk(_port(api), preface, patience=_SLACK_SECONDS)

    assert answer == b""
    assert took < _LONGEST_ANSWER
