"""Checks the TLS proxy: calls the public URL, and looks at what arrives at the API's port."""

import asyncio
import secrets
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from tradewind.cli.doctor_checks.finding import Finding
from tradewind.settings.settings import Settings

_CHECK = "proxy"
# An address that nobody has: what a client claims to be.
_CLAIMED = "192.0.2.1"
_LARGEST_BODY = 11 * 2**20
# Tradewind closes an idle connection after so many seconds; the proxy must do so before.
_IDLE_SECONDS = 15.0
_ANSWER_SECONDS = 20.0
_CLOSE_SECONDS = 1.0
_CHUNK = 2**16

# The lines of nginx and of Caddy.
_VERSION = " (nginx: proxy_http_version 1.1; Caddy: transport http without h2c)"
_UPSTREAM = " (nginx: proxy_pass; Caddy: reverse_proxy)"
_CONNECTION = ' (nginx: proxy_set_header Connection ""; Caddy: keepalive 10s)'
_HOST = " (nginx: proxy_set_header Host $host; Caddy: no header_up Host)"
_FORWARDED = (
    " (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; "
    "Caddy: no header_up X-Forwarded-For)"
)
_BODY = " (nginx: client_max_body_size 12m; Caddy: request_body max_size 12MiB)"
_IDLE = " (nginx: keepalive_timeout 10s; Caddy: keepalive 10s)"


@dataclass(slots=True)
class Arrival:
    """A request as it came from the proxy."""

    peer: str
    version: str
    headers: Mapping[str, str]
    body: int


@dataclass(slots=True)
class ProbeServer:
    """Answers in place of the API, and notes what arrives and when connections end."""

    token: str
    arrivals: list[Arrival] = field(default_factory=list)
    speaks_http2: bool = False
    connections: set[asyncio.StreamWriter] = field(default_factory=set)
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)
    serving: set[asyncio.Task[Any]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self.serving.add(task)
            task.add_done_callback(self.serving.discard)
        self.connections.add(writer)
        self.all_closed.clear()
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except asyncio.CancelledError:
            pass  # at the end of the program; Python 3.11 would print it as an error
        finally:
            self.connections.discard(writer)
            if not self.connections:
                self.all_closed.set()
            writer.close()

    async def close(self) -> None:
        """Close every connection, and wait until nobody serves one."""
        for writer in self.connections:
            writer.transport.abort()
        if self.serving:
            await asyncio.wait(self.serving, timeout=_CLOSE_SECONDS)

    async def closes_within(self, seconds: float) -> bool:
        """Wait until no connection is open; False when one is for so long."""
        if self.connections:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.all_closed.wait(), seconds)
        return not self.connections

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *fields = head.rstrip("\r\n").split("\r\n")
        version = line.rpartition(" ")[2]
        if version == "HTTP/2.0":
            self.speaks_http2 = True
            return False
        pairs = (text.partition(":") for text in fields)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = int(headers.get("content-length", "0"))
        left = body
        while left:
            left -= len(await reader.readexactly(min(left, _CHUNK)))
        if self.token in line:
            peer = writer.get_extra_info("peername")[0]
            self.arrivals.append(Arrival(peer, version, headers, body))
        content = self.token.encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(content) + content)
        await writer.drain()
        return headers.get("connection", "").lower() != "close"


async def check_proxy(chosen: Settings) -> list[Finding]:
    """Listen in place of the API, which must not run, and call the public URL."""
    probe = ProbeServer(secrets.token_hex(16))
    try:
        server = await asyncio.start_server(probe.serve, chosen.host, chosen.port, reuse_port=False)
    except OSError as error:
        return [
            _failed(
                f"This check listens on TRADEWIND_PORT {chosen.port} itself, and cannot "
                f"({error.strerror}); stop `tradewind serve` first."
            )
        ]
    try:
        status = large = await _call(chosen.public_url, probe.token, 0)
        stays_open = False
        if probe.arrivals:
            large = await _call(chosen.public_url, probe.token, _LARGEST_BODY)
            stays_open = not await probe.closes_within(_IDLE_SECONDS - 1)
    except ssl.SSLCertVerificationError as error:
        return [
            _failed(
                f"The certificate of TRADEWIND_PUBLIC_URL is not valid ({error.verify_message}); "
                "check the certificate of the proxy."
            )
        ]
    except (OSError, TimeoutError, ValueError) as error:
        return [_failed(f"TRADEWIND_PUBLIC_URL was not reached ({str(error) or 'no answer'}).")]
    finally:
        server.close()
        await probe.close()
    problems = judge(chosen, probe, status, large, stays_open=stays_open)
    return [_failed(problem) for problem in problems] or [
        Finding(_CHECK, "ok", "Requests arrive as they should, and idle connections end in time.")
    ]


def judge(
    chosen: Settings, probe: ProbeServer, status: int, large: int, *, stays_open: bool
) -> Sequence[str]:
    """What is wrong, with the line of the proxy's configuration that puts it right.

    `status` and `large` are the answers to a small and to the largest request.
    """
    if probe.speaks_http2:
        return [f"The proxy uses HTTP/2 to Tradewind; let it use HTTP/1.1{_VERSION}."]
    if not probe.arrivals:
        return [
            (
                f"The proxy answered {status} itself; let it lead to TRADEWIND_HOST {chosen.host} "
                f"and TRADEWIND_PORT {chosen.port}{_UPSTREAM}."
            )
        ]
    first = probe.arrivals[0]
    problems = []
    if first.version != "HTTP/1.1":
        problems.append(
            f"The proxy uses {first.version} to Tradewind; let it use HTTP/1.1{_VERSION}."
        )
    if first.headers.get("connection", "").lower() == "close":
        problems.append(
            f"The proxy opens a connection for each request; let it keep them open{_CONNECTION}."
        )
    name = urlsplit(chosen.public_url).hostname
    arrived = first.headers.get("host", "")
    if urlsplit(f"//{arrived}").hostname != name:
        problems.append(
            f"The proxy sends Host {arrived} instead of {name}; let it pass Host on{_HOST}."
        )
    if not _names_client(first.headers.get("x-forwarded-for", "")):
        problems.append(
            "The proxy does not append the address of the client to X-Forwarded-For, so clients "
            f"can claim any; let it do so{_FORWARDED}."
        )
    if not any(ip_address(first.peer) in network for network in chosen.trusted_proxies):
        problems.append(
            f"TRADEWIND_TRUSTED_PROXIES does not have {first.peer}, from where the proxy connects; "
            "add it."
        )
    if all(arrival.body < _LARGEST_BODY for arrival in probe.arrivals):
        problems.append(f"The proxy answered {large} to a body of 11 MiB; allow 12 MiB{_BODY}.")
    if stays_open:
        problems.append(
            f"The proxy keeps idle connections for more than {_IDLE_SECONDS:.0f} seconds, when "
            f"Tradewind closes them; let it close them earlier{_IDLE}."
        )
    return problems


def _names_client(forwarded: str) -> bool:
    last = forwarded.rpartition(",")[2].strip()
    with suppress(ValueError):
        return bool(ip_address(last)) and last != _CLAIMED
    return False


async def _call(url: str, token: str, size: int) -> int:
    """The status of the answer to a request with a body of this size."""
    parts = urlsplit(url)
    is_https = parts.scheme == "https"
    async with asyncio.timeout(_ANSWER_SECONDS):
        reader, writer = await asyncio.open_connection(
            parts.hostname,
            parts.port or (443 if is_https else 80),
            ssl=ssl.create_default_context() if is_https else None,
        )
        try:
            writer.write(
                f"POST /{token} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
                f"X-Forwarded-For: {_CLAIMED}\r\nContent-Length: {size}\r\n\r\n".encode()
            )
            answer = asyncio.ensure_future(reader.readline())
            with suppress(ConnectionError):
                for _ in range(size // _CHUNK):
                    if answer.done():  # it answered before it had read all
                        break
                    writer.write(bytes(_CHUNK))
                    await writer.drain()
                    await asyncio.sleep(0)  # `drain` alone lets nothing else run
            line = (await answer).decode("latin-1").split(" ")
            return int(line[1])
        except IndexError:
            raise ValueError("the answer is not HTTP") from None
        finally:
            writer.close()


def _failed(sentence: str) -> Finding:
    return Finding(_CHECK, "failed", sentence)
