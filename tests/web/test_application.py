"""The application with test endpoints: idempotent requests, bugs, unusual responses."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from tradewind import ids
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web.application import Application
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.idempotency import IdempotencyKey, StoredResponse
from tradewind.web.inputs import Input, Output
from tradewind.web.limits import Budget, plan_rate
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/v1", tag="Test")


class Counter:
    """What the endpoints change, so that a test can count effects."""

    def __init__(self) -> None:
        self.effects = 0
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()


class ThingIn(Input):
    """A thing to make."""

    name: str
    size: int = 1


class ThingOut(Output):
    """A thing that was made."""

    number: int
    name: str


@routes.post("/things", status=201)
async def make_thing(
    caller: Caller, body: ThingIn, idempotency_key: IdempotencyKey, db: Database, counter: Counter
) -> Response:
    """Make a thing, once per Idempotency-Key."""
    assert caller.email

    def show(thing: ThingOut) -> Response:
        return Response(thing, 201, [(b"etag", b'"1"')])

    stored = StoredResponse(idempotency_key, show)
    pending = timedelta(seconds=10) if body.name == "later" else None
    async with transaction(db) as tx:
        await stored.claim(tx)
        counter.entered.set()
        await counter.gate.wait()
        counter.effects += 1
        made = ThingOut(number=counter.effects, name=body.name)
        stored.store(tx, made, pending=pending)
    if body.name == "later":
        made = ThingOut(number=made.number, name="fuller")
        await stored.replace(db, made)
    if body.name == "crash":
        raise RuntimeError("between commit and response")
    return show(made)


@routes.post("/things/{thing}/polish")
async def polish_thing(
    thing: str, caller: Caller, idempotency_key: IdempotencyKey | None, db: Database
) -> ThingOut:
    """Polish a thing; the key is optional here."""
    assert caller.email
    async with transaction(db) as tx:
        stored: StoredResponse[ThingOut] = StoredResponse(
            idempotency_key, lambda made: Response(made, 200)
        )
        await stored.claim(tx)
        made = ThingOut(number=0, name=thing)
        stored.store(tx, made)
    return made


@routes.get("/bug")
async def bug() -> None:
    """Fail in a way that nobody foresaw."""
    raise RuntimeError("the secret is 1234")


class OpenGate:
    """Lets everybody in as whom they say they are."""

    async def admit(self, request: Request, *, urgent: bool) -> Caller:
        assert not urgent
        return Caller(
            account_id=UUID(request.headers.get("x-account", str(UUID(int=1)))),
            email="caller@test.example",
            name="",
            roles=frozenset(),
            plan="pro",
            created_at=datetime.now(UTC),
            key_id=None,
            session_id=ids.new(),
            budget=Budget(plan_rate(1200), 0),
        )

    async def recheck(self, request: Request) -> Caller:
        return await self.admit(request, urgent=False)


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
async def client(db: Database, counter: Counter) -> AsyncIterator[httpx.AsyncClient]:
    parts = {Database: db, Counter: counter}
    app = Application(routes.endpoints, parts, OpenGate(), public_url="http://test")
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as made:
        yield made


def key(text: str) -> dict[str, str]:
    return {"idempotency-key": text}


async def test_a_repeated_request_gets_the_same_bytes_and_has_one_effect(
    client: httpx.AsyncClient, counter: Counter
) -> None:
    first = await client.post("/v1/things", json={"name": "a"}, headers=key("k"))
    again = await client.post(
        "/v1/things",
        content=b'{ "size": 1, "name": "a" }',
        headers={**key("k"), "content-type": "application/json"},
    )

    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert again.headers["etag"] == first.headers["etag"] == '"1"'
    assert again.headers["content-type"] == "application/json"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert counter.effects == 1


async def test_a_key_is_needed_and_must_be_readable(
    client: httpx.AsyncClient, counter: Counter
) -> None:
    for headers, code in (
        ({}, "idempotency_key_missing"),
        (key(""), "idempotency_key_malformed"),
        (key("x" * 256), "idempotency_key_malformed"),
        ({"idempotency-key": "\u00e4".encode("latin-1")}, "idempotency_key_malformed"),
    ):
        answer = await client.post("/v1/things", json={"name": "a"}, headers=headers)  # type: ignore[arg-type]
        assert answer.status_code == 400
        assert answer.json()["code"] == code
    assert counter.effects == 0


async def test_a_key_used_for_another_body_or_path_is_rejected(
    client: httpx.AsyncClient, counter: Counter
) -> None:
    await client.post("/v1/things", json={"name": "a"}, headers=key("k"))
    other = await client.post("/v1/things", json={"name": "b"}, headers=key("k"))
    await client.post("/v1/things/a/polish", headers=key("p"))
    elsewhere = await client.post("/v1/things/b/polish", headers=key("p"))

    assert other.status_code == elsewhere.status_code == 422
    assert other.json()["code"] == elsewhere.json()["code"] == "idempotency_key_reused"
    assert counter.effects == 1


async def test_keys_belong_to_an_account_and_a_route(
    client: httpx.AsyncClient, counter: Counter
) -> None:
    stranger = {**key("k"), "x-account": str(UUID(int=2))}
    await client.post("/v1/things", json={"name": "a"}, headers=key("k"))

    theirs = await client.post("/v1/things", json={"name": "b"}, headers=stranger)
    other_route = await client.post("/v1/things/a/polish", headers=key("k"))

    assert theirs.status_code == 201
    assert theirs.json()["name"] == "b"
    assert other_route.status_code == 200
    assert counter.effects == 2


async def test_a_request_under_way_is_not_waited_for(
    client: httpx.AsyncClient, counter: Counter
) -> None:
    counter.gate.clear()
    first = asyncio.create_task(client.post("/v1/things", json={"name": "a"}, headers=key("k")))
    await counter.entered.wait()

    meanwhile = await client.post("/v1/things", json={"name": "a"}, headers=key("k"))
    counter.gate.set()

    assert meanwhile.status_code == 409
    assert meanwhile.json()["code"] == "request_in_flight"
    assert (await first).status_code == 201
    assert counter.effects == 1


async def test_what_was_rejected_as_invalid_is_not_remembered(client: httpx.AsyncClient) -> None:
    wrong = await client.post("/v1/things", json={"nmae": "a"}, headers=key("k"))
    right = await client.post("/v1/things", json={"name": "a"}, headers=key("k"))

    assert wrong.status_code == 422
    assert right.status_code == 201


async def test_the_fuller_answer_is_the_one_that_is_repeated(client: httpx.AsyncClient) -> None:
    first = await client.post("/v1/things", json={"name": "later"}, headers=key("k"))
    again = await client.post("/v1/things", json={"name": "later"}, headers=key("k"))

    assert first.json()["name"] == again.json()["name"] == "fuller"
    assert first.content == again.content


async def test_after_a_crash_the_answer_as_of_the_commit_is_repeated(
    client: httpx.AsyncClient, counter: Counter
) -> None:
    crashed = await client.post("/v1/things", json={"name": "crash"}, headers=key("k"))
    again = await client.post("/v1/things", json={"name": "crash"}, headers=key("k"))

    assert crashed.status_code == 500
    assert again.status_code == 201
    assert again.json() == {"number": 1, "name": "crash"}
    assert counter.effects == 1


async def test_a_bug_is_a_problem_that_tells_nothing(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/bug")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "internal_error"
    assert "1234" not in answer.text


@pytest.mark.parametrize(
    ("fails_at", "told"),
    [
        ("startup", ["lifespan.startup.failed"]),
        ("shutdown", ["lifespan.startup.complete", "lifespan.shutdown.failed"]),
        (None, ["lifespan.startup.complete", "lifespan.shutdown.complete"]),
    ],
)
async def test_the_server_learns_whether_start_and_stop_succeeded(
    fails_at: str | None, told: list[str]
) -> None:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        if fails_at == "startup":
            raise RuntimeError("the secret is 1234")
        yield
        if fails_at == "shutdown":
            raise RuntimeError("the secret is 1234")

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.shutdown" if sent else "lifespan.startup"}

    async def send(message: MutableMapping[str, str]) -> None:
        sent.append(message)

    sent: list[MutableMapping[str, str]] = []
    app = Application([], {}, OpenGate(), public_url="http://test", lifespan=lifespan)
    await app({"type": "lifespan"}, receive, send)

    assert [message["type"] for message in sent] == told
    assert "1234" not in str(sent)


async def test_an_abandoned_stream_is_cut_off_though_its_client_does_not_read() -> None:
    abandoned, sending, released = asyncio.Event(), asyncio.Event(), asyncio.Event()
    streams = Routes("/v1", tag="Test")

    @streams.get("/endless")
    async def endless() -> Response:
        async def chunks() -> AsyncGenerator[bytes, None]:
            while True:
                yield b"more"

        held = AsyncExitStack()
        held.callback(released.set)
        return Response(stream=chunks(), held=held, abandoned=abandoned)

    async def receive() -> dict[str, str]:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            sending.set()
            await asyncio.Event().wait()

    app = Application(streams.endpoints, {}, OpenGate(), public_url="http://test")
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/endless",
        "query_string": b"",
        "headers": [],
        "http_version": "1.1",
    }
    request = asyncio.create_task(app(scope, receive, send))
    async with asyncio.timeout(10):
        await sending.wait()
        assert not released.is_set()
        abandoned.set()
        await request

    assert released.is_set()
