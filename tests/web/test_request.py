"""A request: its id, the real address of the client, and a body that is not read."""

import asyncio
import socket
import time
from collections.abc import Sequence
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
from kit.server import Server

from tradewind import ids
from tradewind.imports.table import MOST_BYTES
from tradewind.web.request import DISCARDED_BYTES, DISCARDING_SECONDS, Request, client_address

PROXIES = tuple(map(ip_network, ("10.0.0.0/8", "2001:db8:1::/48")))


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        # A caller of ours directly: what it says about others is not believed.
        ("198.51.100.1", "203.0.113.9", "198.51.100.1"),
        ("198.51.100.1", "10.0.0.1", "198.51.100.1"),
        # One proxy, then two.
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", " 203.0.113.9 ,10.0.0.2 ", "203.0.113.9"),
        # What the client itself wrote stands further left than what our proxies saw.
        ("10.0.0.1", "1.2.3.4, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "10.9.9.9, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "127.0.0.1, nonsense, 203.0.113.9", "203.0.113.9"),
        # Only proxies all the way: the furthest one is the client.
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        # Garbage ends the trail at the last proxy that we know.
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, nonsense", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, nonsense, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "203.0.113.9:4711", "10.0.0.1"),
        ("10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "203.0.113.9,", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.999", "10.0.0.1"),
        ("10.0.0.1", "0xCB007109", "10.0.0.1"),
        # IPv6, and IPv4 in the clothes of IPv6.
        ("2001:db8:1::1", "2001:db8:2::9", "2001:db8:2::9"),
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, ::ffff:10.0.0.2", "203.0.113.9"),
        ("::ffff:198.51.100.1", "203.0.113.9", "::ffff:198.51.100.1"),
        # A peer without an address, such as a socket in the file system.
        ("", "203.0.113.9", ""),
    ],
)
def test_the_client_is_the_nearest_address_that_is_no_proxy_of_ours(
    peer: str, forwarded: str, address: str
) -> None:
    assert client_address(peer, forwarded, PROXIES) == address


def test_without_proxies_nobody_is_believed() -> None:
    assert client_address("10.0.0.1", "203.0.113.9", ()) == "10.0.0.1"


def noted_address(server: Server, *forwarded: str) -> str | None:
    """What the audit log notes as the address of an operator who locks an account."""
    operator, account = server.operator(), server.person()
    lines = [("x-forwarded-for", line) for line in forwarded]
    answer = httpx.post(
        f"{server.url}/v1/admin/accounts/{account.id}/lock",
        headers=[*operator.headers.items(), *lines],
        json={"reason": "test"},
    )
    assert answer.status_code == 200, answer.text
    audit = server.call("GET", f"/v1/admin/audit?account={account.id}", by=operator).json()
    [address] = [item["address"] for item in audit["items"] if item["action"] == "account.locked"]
    return None if address is None else str(address)


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["1.2.3.4, 203.0.113.9, 10.0.0.7"], "203.0.113.9"),
        (["1.2.3.4", "203.0.113.9", "10.0.0.7"], "203.0.113.9"),  # a line for each proxy
        (["2001:db8::9"], "2001:db8::9"),
        (["garbage"], "127.0.0.1"),
        ([], "127.0.0.1"),
    ],
)
def test_behind_a_trusted_proxy_the_forwarded_address_counts(
    configured_api: Server, lines: list[str], address: str
) -> None:
    assert noted_address(configured_api, *lines) == address


def test_without_trusted_proxies_the_forwarded_address_does_not_count(api: Server) -> None:
    assert noted_address(api, "203.0.113.9") == "127.0.0.1"


def test_the_limit_for_logins_is_by_the_address_behind_the_proxy(configured_api: Server) -> None:
    wrong = {"email": "nobody@test.example", "password": "wrong"}

    statuses = [
        configured_api.call(
            "POST", "/v1/auth/login", json=wrong, headers={"x-forwarded-for": address}
        ).status_code
        for address in (
            *("203.0.113.1", "203.0.113.1", "203.0.113.1", "203.0.113.2"),
            *("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"),
            *("9.9.9.9, 203.0.113.1", "::ffff:203.0.113.1"),
        )
    ]

    assert statuses == [401, 401, 429, 401, 401, 401, 429, 401, 429, 429]


@pytest.mark.parametrize("sent", ["a", "7f3e.A_b:C-9", "x" * 128, "00-4bf92f3577b34da6-01"])
def test_a_well_formed_request_id_is_kept(api: Server, sent: str) -> None:
    answer = api.call("GET", "/v1/me", headers={"x-request-id": sent})

    assert answer.headers["x-request-id"] == sent
    assert answer.json()["request_id"] == sent


@pytest.mark.parametrize(
    "sent", ["", "x" * 129, "a b", "-a", "a\tb", 'a"b', "a{b}", "a,b", "ü".encode(), "<script>"]
)
def test_a_malformed_request_id_is_replaced(api: Server, sent: str | bytes) -> None:
    answer = api.call("GET", "/v1/me", headers={"x-request-id": sent})

    value = answer.headers["x-request-id"]
    assert ids.REQUEST.read(value)
    assert answer.json()["request_id"] == value


def test_a_request_without_an_id_gets_a_new_one_each_time(api: Server) -> None:
    value = {api.call("GET", "/healthz").headers["x-request-id"] for _ in range(3)}

    assert len(value) == 3
    assert all(map(ids.REQUEST.read, value))


def _head(path: str, length: int, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: x", "content-type: text/csv", *headers]
    return "\r\n".join([*lines, f"content-length: {length}", "", ""]).encode()


def _read_status(connection: socket.socket) -> bytes:
    """The status line of the next response, of which the rest is read, too."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        assert chunk, received
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += connection.recv(65536)
    return head.split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("size", "with_key", "status"),
    [(11 * 2**20, False, b"401"), (300_000, False, b"401"), (11 * 2**20, True, b"413")],
)
def test_a_client_that_sends_all_before_it_reads_gets_the_error(
    api: Server, size: int, *, with_key: bool, status: bytes
) -> None:
    """And it may use the connection again: what it sent was read to its end."""
    assert MOST_BYTES < 11 * 2**20 < DISCARDED_BYTES
    key = [f"x-api-key: {api.person().key}"] if with_key else []
    with socket.create_connection(("127.0.0.1", httpx.URL(api.url).port), 10) as connection:
        for _ in range(2):
            connection.sendall(_head("/v1/imports", size, *key))
            for begin in range(0, size, 65536):
                connection.sendall(b"x" * min(65536, size - begin))
            assert status in _read_status(connection)


@pytest.mark.parametrize(
    ("length", "header"),
    [(DISCARDED_BYTES + 1, "a: b"), (1000, "expect: 100-continue")],
    ids=["too long", "not sent before it is asked for"],
)
def test_a_body_that_is_not_worth_the_wait_is_not_waited_for(
    api: Server, length: int, header: str
) -> None:
    with socket.create_connection(("127.0.0.1", httpx.URL(api.url).port), 10) as connection:
        connection.sendall(_head("/v1/imports", length, header))
        assert b"401" in _read_status(connection)
        answered = time.monotonic()

        assert connection.recv(1) == b""
        assert time.monotonic() - answered < DISCARDING_SECONDS


def test_a_client_that_sends_no_more_is_answered_at_once_and_then_closed(api: Server) -> None:
    with socket.create_connection(("127.0.0.1", httpx.URL(api.url).port), 10) as connection:
        connection.sendall(_head("/v1/imports", 1000) + b"half")
        assert b"401" in _read_status(connection)

        assert connection.recv(1) == b""


async def _discard(messages: Sequence[dict[str, Any]], **limits: Any) -> int:
    """How many messages are read; the last one comes again and again."""
    count = 0

    async def receive() -> dict[str, Any]:
        nonlocal count
        count += 1
        await asyncio.sleep(0)
        return messages[min(count, len(messages)) - 1]

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [(b"transfer-encoding", b"chunked")],
    }
    await Request(scope, receive, ()).discard_body(**limits)
    return count


async def test_so_many_bytes_are_discarded_and_for_so_long() -> None:
    chunk = {"type": "http.request", "body": bytes(1000), "more_body": True}
    last = {"type": "http.request", "body": b"", "more_body": False}

    assert await _discard([chunk, chunk, last]) == 3
    assert await _discard([chunk, {"type": "http.disconnect"}]) == 2
    assert await _discard([chunk], limit=5000) == 5
    started = time.monotonic()
    await _discard([{**chunk, "body": b""}], seconds=0.05)
    assert 0.05 <= time.monotonic() - started < DISCARDING_SECONDS
