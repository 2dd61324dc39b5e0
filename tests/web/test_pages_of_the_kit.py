"""Pages of the web layer: who enters, which forms are taken, how errors look, and streams."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import httpx
import msgspec
import pytest

from tradewind import ids
from tradewind.auth.model import Operator
from tradewind.errors import ApiError
from tradewind.web.application import Application
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.limits import Budget, plan_rate
from tradewind.web.problems import status_of
from tradewind.web.request import Request
from tradewind.web.response import HTML, Response
from tradewind.web.site import ForgedForm, Form

pages = Routes("", tag="Test", hidden=True, pages=True)
CALLER = Caller(
    account_id=ids.new(),
    email="caller@test.example",
    name="",
    roles=frozenset({"buyer"}),
    plan="pro",
    created_at=datetime(2026, 11, 15, tzinfo=UTC),
    key_id=None,
    session_id=ids.new(),
    budget=Budget(plan_rate(1200), 0),
)


class Colour(StrEnum):
    """A choice."""

    RED = "red"


class ThingForm(Form):
    """Everything that a form can send."""

    name: str = ""
    note: str | None = None
    size: int = 7
    since: datetime | None = None
    colour: Colour | None = None
    tags: list[str] = msgspec.field(default_factory=list)
    loud: bool = False


class ThingQuery(Input):
    """Filters."""

    status: list[str] | None = None
    limit: int = 20


class Pieces:
    """Makes streams, and knows how many are open."""

    def __init__(self) -> None:
        self.open = 0
        self.endless = False

    async def __call__(self) -> AsyncGenerator[bytes, None]:
        self.open += 1
        try:
            for piece in (b"a", b"b"):
                yield piece
            if self.endless:
                await asyncio.Event().wait()
        finally:
            self.open -= 1


@pages.post("/things")
async def take_thing(caller: Caller, body: ThingForm) -> dict[str, Any]:
    """Show what arrived."""
    assert caller is CALLER
    return {"name": body.name, "note": body.note, "size": body.size, "since": body.since,
            "colour": body.colour, "tags": body.tags, "loud": body.loud}  # fmt: skip


@pages.get("/things")
async def list_things(caller: Caller, query: ThingQuery) -> dict[str, Any]:
    """Show what was asked for."""
    assert caller is CALLER
    return {"status": query.status, "limit": query.limit}


@pages.get("/secret")
async def operators_only(caller: Operator) -> None:
    """For operators."""
    raise AssertionError(caller)


@pages.get("/stream")
async def stream(caller: Caller, pieces: Pieces) -> Response:
    """Some pieces."""
    assert caller is CALLER
    return Response(stream=pieces(), content_type=b"text/event-stream")


class Nobody:
    """A gate that no page may ask."""

    async def admit(self, request: Request, *, urgent: bool) -> Caller:
        raise AssertionError(f"{request.path} asked the gate of the API, {urgent=}")

    async def recheck(self, request: Request) -> Caller:
        raise AssertionError(f"{request.path} asked the gate of the API")


class OpenSite:
    """Lets everybody in, and takes forms that say so."""

    async def enter(self, request: Request) -> Caller:
        assert request.caller is None
        return CALLER

    async def recheck(self, request: Request) -> Caller:
        raise AssertionError(f"{request.path} takes no time")

    def check_form(self, request: Request, caller: Caller | None, form: Form) -> None:
        assert caller is request.caller is CALLER
        if form.csrf != "ok":
            raise ForgedForm

    async def error_page(self, error: ApiError, request: Request) -> Response:
        assert request.id
        return Response(f"<p>{error.code}".encode(), status_of(type(error)), content_type=HTML)


def application(pieces: Pieces) -> Application:
    routes = pages.endpoints
    return Application(routes, {Pieces: pieces}, Nobody(), site=OpenSite(), public_url="http://t")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=application(Pieces()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as made:
        yield made


async def test_a_form_is_read_as_browsers_send_it(client: httpx.AsyncClient) -> None:
    form = {"csrf": "ok", "name": "", "note": "", "size": "", "since": "", "colour": "",
            "tags": ["a,b", "c"], "loud": "true"}  # fmt: skip

    answer = await client.post("/things", data=form)

    assert answer.json() == {
        "name": "", "note": None, "size": 7, "since": None, "colour": None,
        "tags": ["a,b", "c"], "loud": True,
    }  # fmt: skip
    assert "ratelimit" not in answer.headers


async def test_a_filter_is_read_as_browsers_send_it(client: httpx.AsyncClient) -> None:
    answer = await client.get("/things?status=a&status=b&limit=")

    assert answer.json() == {"status": ["a", "b"], "limit": 20}


@pytest.mark.parametrize(
    ("form", "status", "code"),
    [
        ({"csrf": "no"}, 403, "forged_form"),
        ({"name": "x"}, 403, "forged_form"),
        ({"csrf": "ok", "strange": ""}, 422, "validation_failed"),
        ({"csrf": "ok", "size": "much"}, 422, "validation_failed"),
        ({"csrf": "ok", "name": ["a", "b"]}, 422, "validation_failed"),
        ({"csrf": "ok", "tags": ["a\0"]}, 422, "validation_failed"),
    ],
)
async def test_what_is_wrong_with_a_form_is_told_in_a_page(
    client: httpx.AsyncClient, form: dict[str, Any], status: int, code: str
) -> None:
    answer = await client.post("/things", data=form)

    assert (answer.status_code, answer.text) == (status, f"<p>{code}")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


async def test_a_role_is_asked_for_as_in_the_api(client: httpx.AsyncClient) -> None:
    answer = await client.get("/secret")

    assert (answer.status_code, answer.text) == (403, "<p>insufficient_permissions")


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/nothing", "text/html", "text/html; charset=utf-8"),
        ("/nothing", "*/*", "application/problem+json"),
        ("/v1/nothing", "text/html", "application/problem+json"),
        ("/v1", "text/html", "application/problem+json"),
    ],
)
async def test_a_path_that_is_not_there_is_told_to_whom_asked(
    client: httpx.AsyncClient, path: str, accept: str, kind: str
) -> None:
    answer = await client.get(path, headers={"accept": accept})

    assert (answer.status_code, answer.headers["content-type"]) == (404, kind)


async def test_a_stream_is_sent_piece_by_piece(client: httpx.AsyncClient) -> None:
    answer = await client.get("/stream")

    assert answer.text == "ab"
    assert answer.headers["content-type"] == "text/event-stream"
    assert "content-length" not in answer.headers


async def test_a_stream_ends_when_its_client_has_gone() -> None:
    pieces = Pieces()
    pieces.endless = True
    gone = asyncio.Event()
    sent: list[bytes] = []

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if message.get("body") == b"b":
            gone.set()

    scope = {"type": "http", "method": "GET", "path": "/stream", "query_string": b"", "headers": []}
    async with asyncio.timeout(5):
        await application(pieces)(scope, receive, send)

    assert sent == [b"", b"a", b"b"]
    assert pieces.open == 0


def declared(method: str) -> Callable[[], None]:
    def declare() -> None:
        routes = Routes("/x", tag="Test", pages=True)

        async def handler(body: ThingQuery) -> None:
            """Take something that is no form."""
            raise AssertionError(body)

        getattr(routes, method)()(handler)

    return declare


@pytest.mark.parametrize("method", ["post", "delete", "patch"])
def test_a_page_without_a_form_of_ours_does_not_even_start(method: str) -> None:
    with pytest.raises(TypeError):
        declared(method)()


def test_cookies_are_found_in_any_of_their_lines() -> None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [(b"cookie", b"a=1; bc=2"), (b"cookie", b"c=3=3")],
    }

    async def receive() -> dict[str, Any]:
        raise AssertionError

    request = Request(scope, receive, ())

    assert [request.cookies.get(name) for name in ("a", "bc", "c", "b")] == ["1", "2", "3=3", None]
