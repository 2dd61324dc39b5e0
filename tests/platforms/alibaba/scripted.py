"""A small HTTP server that answers as a test says, and records its calls."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import pytest
from platforms.alibaba.payloads import raw

from tradewind.egress.client import Client, Reply
from tradewind.platforms.access import PlatformAccess
from tradewind.platforms.alibaba import gateway, values
from tradewind.platforms.alibaba.connector import AlibabaConnector
from tradewind.platforms.alibaba.marketplace import TRAITS
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import Rejected
from tradewind.platforms.paced_client import PacedClient

KEY, SECRET = "1000000a1b2", "test123"
NOW = 1_528_942_782.5


@dataclass(frozen=True)
class Step:
    """One answer; without a body the connection is dropped, or left hanging."""

    body: bytes | None = None
    status: int = 200
    hang: bool = False


HANG = Step(hang=True)
DROP = Step()
BROKEN = Step(b"<h1>500</h1>", 500)
GARBAGE = Step("<html><body>系统繁忙</body></html>".encode())
TOKEN_REFUSED = Step(b'{"error_code":"401","error_message":"Request need user authorized"}', 401)


def say(name: str) -> Step:
    """A recorded answer."""
    return Step(raw(name))


def answer(value: Any, status: int = 200) -> Step:
    return Step(values.encode(value).encode(), status)


@dataclass(frozen=True)
class Call:
    """A request as it arrived."""

    path: str
    form: dict[str, str]

    @property
    def api(self) -> str:
        return self.path.split("/")[-2]

    @property
    def signed(self) -> bool:
        signature = gateway.sign_request(SECRET, self.path.removeprefix("/openapi/"), self.form)
        return self.form.get("_aop_signature") == signature


@dataclass
class Market:
    """What to answer, and what was asked. The last step of a script is repeated."""

    url: str = ""
    calls: list[Call] = field(default_factory=list)
    refused: list[str | None] = field(default_factory=list)
    respond: Callable[[Call], Step] = field(default=lambda _: DROP)

    def script(self, *steps: Step) -> None:
        left = list(steps)
        self.respond = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def by_api(self, **steps: Step) -> None:
        """Answers by the last word of an API's name, in lower case."""
        self.respond = lambda call: steps[call.api.rpartition(".")[2].lower()]

    @property
    def apis(self) -> list[str]:
        return [call.api.rpartition(".")[2] for call in self.calls]

    async def access(self, refused: str | None) -> PlatformAccess:
        """As the connections do: the token that was refused is followed by a fresh one."""
        self.refused.append(refused)
        return PlatformAccess(KEY, SECRET, "token-2" if refused else "token-1")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lengths = [line for line in head.lower().split("\r\n") if "content-length" in line]
                body = await reader.readexactly(int(lengths[0].partition(":")[2]))
                form = dict(parse_qsl(body.decode(), keep_blank_values=True))
                call = Call(head.split(" ")[1], form)
                self.calls.append(call)
                step = self.respond(call)
                if step.hang:
                    await reader.read()
                if step.body is None or step.hang:
                    return
                head = f"HTTP/1.1 {step.status} X\r\nContent-Length: {len(step.body)}\r\n\r\n"
                writer.write(head.encode() + step.body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


class HastyLink(PacedClient):
    """A link that waits as long as a test wants to, where ours would wait ten seconds."""

    patience = 5.0

    async def post(
        self,
        operation: str,
        path: str,
        prepare: Callable[[], tuple[bytes, Sequence[str]]],
        *,
        safe: bool,
        seconds: float = 0,
    ) -> Reply:
        return await super().post(
            operation, path, prepare, safe=safe, seconds=seconds or self.patience
        )


@asynccontextmanager
async def serving() -> AsyncIterator[Market]:
    market = Market()
    server = await asyncio.start_server(market.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    market.url = f"http://127.0.0.1:{port}"
    try:
        yield market
    finally:
        server.close()


@asynccontextmanager
async def linked(url: str) -> AsyncIterator[HastyLink]:
    async def no_wait(_: float) -> None:
        pass

    client = Client()
    try:
        yield HastyLink("alibaba", url, client, no_wait)
    finally:
        await client.close()


def connect(market: Market, link: PacedClient) -> Connector:
    return AlibabaConnector(TRAITS, link, market.access, now=lambda: NOW)


async def never(awaited: Any) -> Rejected:
    with pytest.raises(Rejected) as refused:
        await awaited
    return refused.value
