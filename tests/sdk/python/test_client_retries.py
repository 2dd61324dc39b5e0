"""The client against a server that fails: what is tried again, when, and with which key."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from kit.server import free_port
from tradewind_sdk.client import (
    ApiConnectionError,
    ApiError,
    ApiTimeout,
    AsyncTradewind,
    AuthenticationError,
    Conflict,
    InvalidResponse,
    NotFound,
    RateLimited,
    RetryPolicy,
    ServerError,
    Tradewind,
    ValidationError,
)
from tradewind_sdk.client.sse import EventStreamReader

Reply = tuple[int, dict[str, str], bytes] | None
OK: Reply = (200, {}, b'{"id": "ORD1"}')
QUICK = RetryPolicy(first_delay=0.02)
LINE: Any = {"product_id": "1", "quantity": 1}


@dataclass
class Request:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class FlakyServer:
    """Answers with one reply after the other; None closes the connection after reading."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def answers(self, *replies: Reply) -> None:
        self.replies, self.requests = list(replies), []

    def keys(self) -> list[str | None]:
        return [request.headers.get("idempotency-key") for request in self.requests]


@contextmanager
def serving() -> Iterator[FlakyServer]:
    class Connection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append(
                Request(self.command, self.path, headers, body, time.monotonic())
            )
            reply = server.replies.pop(0)
            if reply is None:
                self.close_connection = True
                return
            status, extra, content = reply
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **extra}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - the names of http.server

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Connection) as listener:
        listener.daemon_threads = True
        server = FlakyServer(f"http://127.0.0.1:{listener.server_address[1]}")
        thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
        thread.start()
        yield server
        listener.shutdown()
        thread.join()


@pytest.fixture(scope="module", name="server")
def flaky_server() -> Iterator[FlakyServer]:
    with serving() as made:
        yield made


@pytest.fixture(scope="module", name="client")
def quick_client(server: FlakyServer) -> Iterator[Tradewind]:
    with Tradewind(server.url, api_key="twk_x", timeout=2, retries=QUICK) as made:
        yield made


def problem(status: int, code: str, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    body = {"status": status, "code": code, "detail": "Why.", "request_id": "req_1", **more}
    return status, headers or {}, json.dumps(body).encode()


def create(client: Tradewind, **more: Any) -> Any:
    return client.orders.create(platform="sandbox", items=[LINE], address={}, **more)  # type: ignore[typeddict-item]


def test_all_tries_of_a_call_have_one_key_and_one_body(
    server: FlakyServer, client: Tradewind
) -> None:
    server.answers(problem(503, "database_away", {"Retry-After": "1"}), None, OK)

    assert create(client, expected_total_cny=Decimal("128.50"))["id"] == "ORD1"

    first, second, third = server.requests
    assert len(set(server.keys())) == 1
    assert len(server.keys()[0] or "") == 36
    assert first.body == second.body == third.body
    assert json.loads(first.body)["expected_total_cny"] == 128.5
    assert first.headers["x-api-key"] == "twk_x"
    assert 1.0 <= second.at - first.at < 2.0  # Retry-After, which is longer than the delay
    assert third.at - second.at < 0.9

    # Another call has another key; a key of the caller's is sent as it is.
    earlier = server.keys()[0]
    server.answers(OK, OK)
    create(client)
    create(client, idempotency_key="mine")
    assert server.keys()[0] != earlier
    assert server.keys()[1] == "mine"


def test_a_response_that_is_cut_off_is_requested_again(
    server: FlakyServer, client: Tradewind
) -> None:
    cut_off: Reply = (200, {"content-length": "99", "connection": "close"}, b'{"id":')
    server.answers(cut_off, OK)
    assert client.orders.get("ORD1")["id"] == "ORD1"

    server.answers(cut_off, OK)
    with pytest.raises(ApiConnectionError):
        client.webhooks.create(url="https://shop.example/hook")
    assert len(server.requests) == 1


def test_a_list_that_does_not_go_on_ends(server: FlakyServer, client: Tradewind) -> None:
    page = b'{"items": [{"id": "whk_1"}], "has_more": true, "next_cursor": "same"}'
    server.answers((200, {}, page), (200, {}, page))

    assert len(list(client.webhooks.list())) == 2
    assert [request.path for request in server.requests] == [
        "/v1/webhooks",
        "/v1/webhooks?cursor=same",
    ]


def test_the_same_in_asyncio(server: FlakyServer) -> None:
    async def place() -> Any:
        async with AsyncTradewind(server.url, access_token="token", retries=QUICK) as client:
            return await client.orders.cancel("ORD1")

    in_flight = problem(409, "request_in_flight", {"Retry-After": "0"})
    server.answers(problem(429, "rate_limited", {"Retry-After": "0"}), None, in_flight, OK)

    assert asyncio.run(place()) == {"id": "ORD1"}
    assert len(server.requests) == 4
    assert len(set(server.keys())) == 1
    assert server.requests[0].headers["authorization"] == "Bearer token"
    assert server.requests[0].path == "/v1/orders/ORD1/cancel"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (None, ApiConnectionError),
        (problem(502, "platform_failed", {"Retry-After": "0"}), ServerError),
        (problem(503, "database_away", {"Retry-After": "0"}), ServerError),
    ],
)
def test_a_post_without_a_key_is_not_repeated_once_it_was_sent(
    server: FlakyServer, client: Tradewind, reply: Reply, error: type[Exception]
) -> None:
    server.answers(reply, OK)

    with pytest.raises(error) as raised:
        client.webhooks.create(url="https://shop.example/hook")

    assert len(server.requests) == 1
    assert getattr(raised.value, "may_have_been_sent", True)
    assert server.keys() == [None]


def test_a_post_without_a_key_is_repeated_if_it_was_not_looked_at(
    server: FlakyServer, client: Tradewind
) -> None:
    server.answers(problem(429, "rate_limited", {"Retry-After": "0"}), OK)

    client.webhooks.create(url="https://shop.example/hook")

    assert len(server.requests) == 2


def test_nobody_listens() -> None:
    retries = RetryPolicy(max_retries=1, first_delay=0.02)
    with (
        Tradewind(f"http://127.0.0.1:{free_port()}", retries=retries) as client,
        pytest.raises(ApiConnectionError) as raised,
    ):
        client.server.healthz()

    assert not raised.value.may_have_been_sent


def test_it_gives_up_and_says_why(server: FlakyServer, client: Tradewind) -> None:
    server.answers(*[problem(503, "database_away", {"Retry-After": "0"})] * 9)
    with pytest.raises(ServerError) as gave_up:
        client.me.get()
    assert (len(server.requests), gave_up.value.code) == (4, "database_away")

    # A wait that is too long is the caller's to decide about.
    server.answers(problem(429, "rate_limited", {"Retry-After": "61"}, retry_after=61), OK)
    with pytest.raises(RateLimited) as limited:
        client.me.get()
    assert (len(server.requests), limited.value.retry_after) == (1, 61)

    # A proxy may name the time instead of the seconds.
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    server.answers(problem(503, "maintenance", {"Retry-After": later}), OK)
    with pytest.raises(ServerError) as away:
        client.me.get()
    assert 3590 < (away.value.retry_after or 0) <= 3601

    errors = [{"pointer": "/items", "code": "too_few", "message": "Order something."}]
    server.answers(problem(422, "validation_failed", errors=errors))
    with pytest.raises(ValidationError, match="/items: Order something") as invalid:
        create(client)
    assert invalid.value.errors[0].pointer == "/items"
    assert (invalid.value.request_id, invalid.value.status) == ("req_1", 422)

    server.answers(problem(409, "invalid_transition", current="paid", allowed=["shipped"]))
    with pytest.raises(Conflict) as conflict:
        client.orders.cancel("ORD1")
    assert (conflict.value.current, conflict.value.allowed) == ("paid", ["shipped"])


@pytest.mark.parametrize(
    ("reply", "error", "code"),
    [
        ((404, {"X-Request-Id": "req_2"}, b"<html>"), NotFound, "http_404"),
        ((400, {}, b"[" * 100_000), ApiError, "http_400"),
        ((302, {"Location": "http://127.0.0.1:9/"}, b""), ApiError, "http_302"),
        ((418, {}, b'{"code": 1, "errors": [1, {}], "detail": null}'), ApiError, "http_418"),
    ],
)
def test_what_a_proxy_answers_is_an_error_too(
    server: FlakyServer, client: Tradewind, reply: Reply, error: type[ApiError], code: str
) -> None:
    server.answers(reply)

    with pytest.raises(error) as raised:
        client.orders.get("ORD1")

    assert raised.value.code == code
    assert raised.value.request_id == ("req_2" if code == "http_404" else None)


def test_a_success_that_is_not_json_is_no_success(server: FlakyServer, client: Tradewind) -> None:
    server.answers((200, {}, b"<html>"))

    with pytest.raises(InvalidResponse):
        client.orders.get("ORD1")


def test_a_slow_server_times_out() -> None:
    silent = socket_that_never_answers()
    with silent as url, Tradewind(url, timeout=0.2, retries=RetryPolicy(0)) as client:
        with pytest.raises(ApiTimeout) as raised:
            client.me.get()
        assert raised.value.may_have_been_sent


@contextmanager
def socket_that_never_answers() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_parameters_are_sent_as_they_are_meant(server: FlakyServer, client: Tradewind) -> None:
    page: Reply = (200, {}, b'{"items": [{"id": "ORD1"}], "has_more": false, "next_cursor": null}')
    server.answers(page, OK, (204, {}, b""))

    orders = client.orders.list(
        status=["paid", "shipped"],
        external_id="a,b&c",
        created_after=datetime(2026, 11, 15, tzinfo=UTC),
        limit=5,
    )
    assert server.requests == []  # nothing is requested before the first item
    assert [order["id"] for order in orders] == ["ORD1"]
    client.webhooks.update("whk_1", is_active=False, description=None)
    client.webhooks.delete("whk_/../1")

    listed, updated, deleted = server.requests
    assert listed.path == (
        "/v1/orders?status=paid&status=shipped&external_id=a%2Cb%26c"
        "&created_after=2026-11-15T00%3A00%3A00%2B00%3A00&limit=5"
    )
    assert json.loads(updated.body) == {"is_active": False, "description": None}
    assert updated.headers["content-type"] == "application/json"
    assert deleted.path == "/v1/webhooks/whk_%2F..%2F1"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda client: client.orders.get(""),
        lambda client: client.orders.get(".."),
        lambda client: client.orders.list(created_after=datetime(2026, 1, 1)).pages().__next__(),  # noqa: DTZ001
        lambda _: Tradewind("shop.example"),
        lambda _: Tradewind("https://shop.example", api_key=""),
    ],
)
def test_a_call_that_would_mean_something_else_is_not_sent(
    server: FlakyServer, client: Tradewind, wrong: Callable[[Tradewind], Any]
) -> None:
    server.answers()

    with pytest.raises(ValueError, match=r"has|is empty"):
        wrong(client)

    assert server.requests == []


def test_a_client_of_the_callers_stays_open(server: FlakyServer) -> None:
    server.answers(OK, OK)
    with httpx.Client() as http:
        with Tradewind(server.url, http=http) as client:
            client.me.get()
        with Tradewind(server.url, http=http) as client:
            client.me.get()

    assert len(server.requests) == 2


STREAM = (
    b": hello\n\nid: 6\n\nid: 7\nevent: order.updated\ndata: {\n"
    b"data: }\n\n:\nid: 8\r\ndata:x\r\n\r\nid: 9\ndata: cut off"
)


def stream_replies() -> list[Reply]:
    kind = {"content-type": "text/event-stream"}
    return [
        problem(503, "database_away", {"Retry-After": "0"}),
        (200, kind, b"id: 5\n\n"),
        (200, {**kind, "content-length": "9999", "connection": "close"}, STREAM),
        None,
        # The slot of the lost connection may count for a while: longer than a call is retried.
        *[problem(429, "too_many_streams", {"Retry-After": "0"})] * (QUICK.max_retries + 1),
        (200, kind, b"id: 9\ndata: whole\n\n"),
        problem(401, "invalid_credentials"),
    ]


RECEIVED = [("7", "order.updated", "{\n}"), ("8", "message", "x"), ("9", "message", "whole")]


def test_a_stream_is_resumed_after_the_last_event(server: FlakyServer, client: Tradewind) -> None:
    server.answers(*stream_replies())
    stream = client.events.stream(event="order.updated")

    events = [next(stream) for _ in RECEIVED]
    with pytest.raises(AuthenticationError):
        next(stream)

    assert [(event.id, event.event, event.data) for event in events] == RECEIVED
    positions = [request.headers.get("last-event-id") for request in server.requests]
    assert positions == [None, None, "5", *["8"] * 6, "9"]
    assert server.requests[0].path == "/v1/events/stream?event=order.updated"


def test_the_same_stream_in_asyncio(server: FlakyServer) -> None:
    async def follow() -> list[tuple[str, str, str]]:
        async with AsyncTradewind(server.url, api_key="twk_x", retries=QUICK) as client:
            stream = client.events.stream(last_event_id="4")
            events = [await anext(stream) for _ in RECEIVED]
            with pytest.raises(AuthenticationError):
                await anext(stream)
        return [(event.id, event.event, event.data) for event in events]

    server.answers(*stream_replies())

    assert asyncio.run(follow()) == RECEIVED
    positions = [request.headers.get("last-event-id") for request in server.requests]
    assert positions == ["4", "4", "5", *["8"] * 6, "9"]


def test_a_stream_without_retries_ends_when_it_is_lost(server: FlakyServer) -> None:
    _, first, cut_off, *_ = stream_replies()
    with Tradewind(server.url, retries=RetryPolicy(0)) as client:
        server.answers(first)
        assert list(client.events.stream()) == []
        server.answers(cut_off)
        with pytest.raises(ApiConnectionError):
            list(client.events.stream())


def test_a_stream_may_be_cut_anywhere() -> None:
    """A line may hold separators that only Python knows, and a chunk may end inside CR LF."""
    text = 'id: 1\r\ndata: {"a":"\u2028"}\r\n\r\nid: 2\rdata: b\r\rid: 3\ndata: c\n\n'.encode()

    for size in (1, 2, 3, 7, len(text)):
        reader = EventStreamReader()
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        events = [event for chunk in chunks for event in reader.feed(chunk)]
        assert [(event.id, event.data) for event in events] == [
            ("1", '{"a":"\u2028"}'),
            ("2", "b"),
            ("3", "c"),
        ], size
    with pytest.raises(ValueError, match="too long"):
        list(EventStreamReader().feed(b"x" * (1024 * 1024 + 1)))
