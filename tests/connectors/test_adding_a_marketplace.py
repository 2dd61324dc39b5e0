"""The guide to adding a marketplace works: its code is taken from the page and run."""

import asyncio
import contextlib
import importlib
import json
import re
import sys
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from connectors.stand import ADDRESS, outcome
from kit.blocks import compared, find, ran

import tradewind.platforms
from tradewind.egress.client import Client
from tradewind.platforms import registry
from tradewind.platforms.access import AppCredentials
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    Reason,
    Rejected,
    Throttled,
    Unavailable,
)
from tradewind.platforms.model import Line, OrderRequest, PaymentState, PlatformOrderStatus, Query
from tradewind.platforms.registry import PlatformEndpoint, Platforms
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.limits import plan_rate

GUIDE = "docs/how-to/add-a-marketplace.md"
FOLDER = "tradewind/platforms/harbour/"
PACKAGE = "tradewind.platforms.harbour"


def files() -> dict[str, str]:
    """The files of the guide: each block says in its first line where it belongs."""
    parts = [block.text.partition("\n") for block in find(GUIDE, "python")]
    return {path.removeprefix(f"# {FOLDER}"): code for path, _, code in parts}


def patched(source: str) -> str:
    """A source with the guide's diff applied to it."""
    (diff,) = find(GUIDE, "diff")
    for hunk in re.split(r"^@@.*\n", diff.text, flags=re.MULTILINE)[1:]:
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        assert source.count(before) == 1, f"the guide speaks of what is not there:\n{before}"
        source = source.replace(before, after)
    return source


class Harbour:
    """The marketplace of the guide; `mood` is what it does to the next call that it gets."""

    def __init__(self) -> None:
        self.orders: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.token = "token-1"
        self.mood = ""
        self.url = ""
        self._writers: list[asyncio.StreamWriter] = []

    async def stop(self) -> None:
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer on a connection until the other side closes it, or the mood breaks it."""
        self._writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
                body = json.loads(await reader.readexactly(int(fields["Content-Length"])))
                said = self._answer(head.split(" ")[1].removeprefix("/v1/"), fields, body)
                if said is None:
                    break
                start = f"HTTP/1.1 200 OK\r\nContent-Length: {len(said)}\r\n\r\n"
                writer.write(start.encode() + said)
                await writer.drain()
        writer.close()

    def _answer(self, operation: str, fields: dict[str, str], body: Any) -> bytes | None:
        """None is silence, and a connection that breaks."""
        self.calls.append(operation)
        mood, self.mood = self.mood, ""
        if operation == "token":
            return self._token(body)
        if (fields["X-App"], fields["X-Token"]) != ("me:secret", self.token):
            return _no("token_refused")
        if mood == "busy":
            return _no("busy")
        data = getattr(self, f"_{operation}")(body)
        answers = {"drop": None, "garbage": b"<html>"}
        said = json.dumps({"ok": True, "data": data})
        answers["no_amount"] = said.replace("11.15", "much").encode()
        return answers.get(mood, said.encode())

    def _token(self, body: dict[str, str]) -> bytes:
        if body.get("refresh_token") != "refresh-me":
            return _no("agree_again")
        self.token += "1"
        pair = {"access_token": self.token, "refresh_token": "refresh-me", "expires_in": 3_600}
        return json.dumps({"ok": True, "data": pair}).encode()

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        hits = [
            {"id": str(2**60 + no), "title": f"{body['text']} {no}", "yuan": "6.15"}
            for no in range(1, 6)
        ]
        first = (body["page"] - 1) * body["size"]
        return {"total": 5, "hits": hits[first : first + body["size"]]}

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = [{"no": str(at), "yuan": "6.15", **row} for at, row in enumerate(body["rows"], 1)]
        made = {
            "id": str(2**61 + len(self.orders)),
            "reference": body["reference"],
            "status": "unpaid",
            "yuan": "11.15",
            "freight_yuan": "5.00",
            "changed_ms": 1_763_164_800_000,
            "rows": rows,
        }
        self.orders.append(made)
        return made

    def _orders(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        ids, reference = body.get("ids"), body.get("reference")
        return [
            order
            for order in self.orders
            if (ids is None or order["id"] in ids)
            and (reference is None or order["reference"] == reference)
        ]


def _no(code: str) -> bytes:
    return json.dumps({"ok": False, "code": code, "message": "No."}).encode()


@pytest.fixture
async def harbour() -> AsyncIterator[Harbour]:
    made = Harbour()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()
    await made.stop()


@pytest.fixture
def extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """The registry as it is after the guide was followed: a folder more, and a line."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    for name, code in files().items():
        (folder / name).write_text(code)
    monkeypatch.setattr(
        tradewind.platforms, "__path__", [*tradewind.platforms.__path__, str(tmp_path)]
    )
    importlib.invalidate_caches()
    module = types.ModuleType("registry_with_harbour")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    source = Path(registry.__file__).read_text()
    exec(compile(patched(source), "registry.py", "exec"), module.__dict__)  # noqa: S102 - our page
    yield module
    imported = {f"{PACKAGE}.{name.removesuffix('.py')}" for name in files()}
    if imported - {f"{PACKAGE}.__init__"} <= set(sys.modules):
        ran(find(GUIDE, "python", "diff"))
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]
    vars(tradewind.platforms).pop("harbour", None)


@pytest.fixture
async def platforms(
    db: Database, keyring: Keyring, harbour: Harbour, extended: types.ModuleType
) -> AsyncIterator[Platforms]:
    """An installation that has only Harbour, with an application and a token."""
    client = Client()
    places = {"harbour": PlatformEndpoint(harbour.url, plan_rate(600_000), simulated=True)}
    made = Platforms(db, keyring, client, places, marketplaces=extended.MARKETPLACES)
    value = AppCredentials("me", "secret", "token-1", "refresh-me")
    await store_configured_credentials(db, made, {"harbour": value})
    yield made
    await client.close()


@pytest.fixture
async def connector(platforms: Platforms) -> Connector:
    return await platforms.connector("harbour")


DRAFT = OrderRequest("ORD-1", [Line(str(2**60 + 1), None, 1)], ADDRESS)


def test_the_guide_names_the_files_that_it_shows() -> None:
    (tree,) = find(GUIDE, "text")

    assert tree.text.startswith(FOLDER)
    assert set(re.findall(r"(\w+\.py)", tree.text)) == set(files())
    compared([tree])


def test_it_is_a_folder_and_a_line(extended: types.ModuleType) -> None:
    assert list(extended.MARKETPLACES) == [*registry.MARKETPLACES, "harbour"]


async def test_it_is_listed(platforms: Platforms) -> None:
    listed = {listing.traits.platform: listing for listing in await platforms.listed()}

    assert listed["harbour"].traits.name == "Harbour"
    assert listed["harbour"].connection is not None
    assert platforms.named("the-harbour") == "harbour"
    market = platforms.marketplace("harbour")
    assert market.traits.picture_origins == ("https://pictures.harbour.example",)
    assert market.url_setting == "TRADEWIND_PLATFORM_HARBOUR_URL"


async def test_searching_through_it(connector: Connector) -> None:
    result = await connector.search(Query("teapot", page=2, size=2))

    assert (result.total, result.page) == (5, 2)
    assert [(offer.id, offer.title, offer.price_fen) for offer in result.offers] == [
        (str(2**60 + 3), "teapot 3", 615),
        (str(2**60 + 4), "teapot 4", 615),
    ]


async def test_an_order_through_it(connector: Connector, harbour: Harbour) -> None:
    placed = await connector.create(DRAFT)
    order = await connector.read_one(placed.order_ids[0])
    harbour.orders[0]["status"] = "on_fire"
    (later,) = await connector.find_by_reference("ORD-1")

    assert (list(placed.order_ids), placed.total_fen) == ([str(2**61)], 1_115)
    assert (order.status, order.payment) == (
        PlatformOrderStatus.PENDING_PAYMENT,
        PaymentState.UNPAID,
    )
    assert (order.goods_fen, order.freight_fen, order.total_fen) == (615, 500, 1_115)
    assert (later.status, later.raw_status) == (None, "on_fire")


@pytest.mark.parametrize("mood", ["drop", "garbage", "no_amount"])
async def test_an_answer_that_is_lost_is_found_out(
    connector: Connector, harbour: Harbour, mood: str
) -> None:
    harbour.mood = mood

    with pytest.raises(OutcomeUnknown):
        await connector.create(DRAFT)

    assert harbour.calls == ["create"]
    assert len(await connector.find_by_reference("ORD-1")) == 1


@pytest.mark.parametrize("mood", ["drop", "garbage", "busy"])
async def test_a_search_is_answered_or_later(
    connector: Connector, harbour: Harbour, mood: str
) -> None:
    harbour.mood = mood

    result = await outcome(connector.search(Query("teapot")))

    assert isinstance(result, Unavailable) == (mood != "drop")
    assert isinstance(result, Throttled) == (mood == "busy")


async def test_a_refused_token_is_renewed(connector: Connector, harbour: Harbour) -> None:
    harbour.token = "token-2"

    placed = await connector.create(DRAFT)

    assert harbour.calls == ["create", "token", "create"]
    assert [order["id"] for order in harbour.orders] == list(placed.order_ids)


async def test_an_operator_is_needed_in_the_end(
    db: Database, platforms: Platforms, harbour: Harbour
) -> None:
    await store_configured_credentials(
        db, platforms, {"harbour": AppCredentials("me2", "secret", "token-1", "used-up")}
    )

    with pytest.raises(NotAuthorised):
        await (await platforms.connector("harbour")).search(Query("teapot"))

    assert harbour.calls == ["search", "token"]


async def test_what_it_cannot_is_said(connector: Connector) -> None:
    calls = [
        connector.detail("1", "en"),
        connector.preview([], ADDRESS),
        connector.cancel("1"),
        connector.pay("1", 1, "op"),
        connector.pay_link(["1"]),
        connector.refunds("1"),
    ]
    results = [await outcome(call) for call in calls]

    reasons = {result.reason for result in results if isinstance(result, Rejected)}
    assert (len(results), reasons) == (6, {Reason.NOT_SUPPORTED})
