"""A marketplace that answers what a test scripted, badly if asked to, and remembers the calls."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tradewind.egress.client import Client, Reply
from tradewind.platforms.access import PlatformAccess
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao.connector import TaobaoConnector
from tradewind.platforms.taobao.gateway import sign_request
from tradewind.platforms.taobao.marketplace import TRAITS

DATA = Path(__file__).parents[2] / "data/taobao"
NOW = 1763164800.0
KEY, SECRET = "500123", "helloworld"


def recorded(name: str) -> bytes:
    return (DATA / f"{name}.json").read_bytes()


def data_of(name: str) -> Any:
    """What is inside the envelope of a recorded answer."""
    answer = json.loads(recorded(name))
    return answer.get("result", answer)["data"]


@dataclass(frozen=True)
class Answer:
    """An answer with a body and a status."""

    body: bytes
    status: int = 200


@dataclass(frozen=True)
class Call:
    """What arrived."""

    path: str
    params: dict[str, str]


# The request is read; then nothing is said, or the connection is cut.
HANG = Answer(b"", -1)
DROP = Answer(b"", -2)
GARBAGE = Answer("<html>系统繁忙</html>".encode())
SERVER_ERROR = Answer(b"<h1>500</h1>", 500)

Scripted = Answer | str | Callable[[dict[str, str]], Answer]


def answer(data: Any) -> Answer:
    """A yes, with this inside."""
    return Answer(json.dumps({"code": "0", "success": True, "data": data}).encode())


def refusal(code: str) -> Answer:
    """An operation's no."""
    return Answer(json.dumps({"success": False, "error_code": code, "error_msg": "No."}).encode())


class Marketplace:
    """`on` scripts the answers of a path, the last of which is given for ever."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.wrongly_signed: list[Call] = []
        self._script: dict[str, deque[Scripted]] = defaultdict(deque)
        self.url = ""

    def on(self, path: str, *answers: Scripted) -> None:
        self._script[path].extend(answers)

    def asked(self, path: str) -> list[dict[str, str]]:
        return [call.params for call in self.calls if call.path == path]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Marketplace"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}/rest"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                int(line.partition(":")[2])
                for line in head.split("\r\n")
                if line.lower().startswith("content-length:")
            )
            body = (await reader.readexactly(length)).decode()
            answer = self._answer(head.split(" ")[1].removeprefix("/rest"), body)
            if answer is HANG:
                await reader.read()
            elif answer is not DROP:
                start = f"HTTP/1.1 {answer.status} Said\r\nContent-Length: {len(answer.body)}\r\n"
                writer.write(start.encode() + b"Connection: close\r\n\r\n" + answer.body)
                await writer.drain()
        finally:
            writer.close()

    def _answer(self, path: str, body: str) -> Answer:
        call = Call(path, dict(parse_qsl(body, strict_parsing=True)))
        self.calls.append(call)
        if call.params.get("sign") != sign_request(SECRET, path, call.params):
            self.wrongly_signed.append(call)
        answers = self._script[path]
        scripted = answers.popleft() if len(answers) > 1 else answers[0]
        if isinstance(scripted, str):
            return Answer(recorded(scripted))
        return scripted if isinstance(scripted, Answer) else scripted(call.params)


class Impatient(PacedClient):
    """A link whose calls may take half a second."""

    async def post(
        self,
        operation: str,
        path: str,
        prepare: Callable[[], tuple[bytes, Sequence[str]]],
        *,
        safe: bool,
        seconds: float = 2.0,
    ) -> Reply:
        return await super().post(operation, path, prepare, safe=safe, seconds=seconds)


async def no_pace(_: float) -> None:
    """As fast as it goes."""


@dataclass
class Stand:
    """The connector, the marketplace it talks to, and the tokens that were reported refused.

    `patient` is the connector with all the time that calls usually have.
    """

    market: Marketplace
    taobao: TaobaoConnector
    patient: TaobaoConnector
    link: PacedClient
    refused: list[str] = field(default_factory=list)


@asynccontextmanager
async def standing() -> AsyncIterator[Stand]:
    async with Marketplace().serving() as market:
        client = Client()
        link = Impatient("taobao", market.url, client, no_pace)
        refused: list[str] = []

        async def get_access(token: str | None) -> PlatformAccess:
            if token is not None:
                refused.append(token)
            return PlatformAccess(KEY, SECRET, f"token-{len(refused)}")

        def over(way: PacedClient) -> TaobaoConnector:
            return TaobaoConnector(TRAITS, way, get_access, now=lambda: NOW)

        patient = over(PacedClient("taobao", market.url, client, no_pace))
        yield Stand(market, over(link), patient, link, refused)
        await client.close()
    assert market.wrongly_signed == []
