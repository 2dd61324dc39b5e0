"""The sender: what it sends, its connections, the addresses it tries, and its results."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address, ip_network

import pytest
from egress.receivers import (
    OK,
    answering,
    bound_sockets,
    full_queue,
    hanging_after,
    receiving,
    resetting,
)
from kit.egress import DEVELOPMENT, Names, Watch, code, sending

from tradewind.egress import addresses, failures
from tradewind.egress.connect import ConnectFailed, connect
from tradewind.egress.guard import Policy
from tradewind.egress.result import Outcome

HOOK = "hooks.example.com"


@asynccontextmanager
async def nobody_there(host: str = "127.0.0.1") -> AsyncIterator[int]:
    """A port of loopback that refuses connections."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as bound:
        bound.bind((host, 0))
        yield bound.getsockname()[1]


async def test_a_request_says_what_it_must_and_nothing_more() -> None:
    names = Names({HOOK: [["127.0.0.1"]]})
    async with receiving(answering(OK)) as receiver, sending(names) as sender:
        result = await sender.post(
            receiver.url(HOOK, path="/a/../b?next=http://127.0.0.1/&x=%0a"),
            b'{"a": 1}',
            ["Content-Type: application/json", "X-Service-Event: order.updated"],
        )

    head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
    assert result.delivered
    assert body == b'{"a": 1}'
    assert sorted(head.decode().split("\r\n")) == sorted(
        [
            "POST /a/../b?next=http://127.0.0.1/&x=%0a HTTP/1.1",
            f"Host: {HOOK}:{receiver.port}",
            "User-Agent: service-api-webhooks/1.0",
            "Accept: */*",
            "Accept-Encoding: identity",
            "Content-Type: application/json",
            "X-Service-Event: order.updated",
            "Content-Length: 8",
        ]
    )


async def test_a_result_tells_status_headers_body_and_times() -> None:
    answer = b"HTTP/1.1 201 Made\r\nX-One: 1\r\nx-two:  a: b \r\nContent-Length: 2\r\n\r\nok"
    names = Names({HOOK: [["127.0.0.1"]]})
    async with receiving(answering(answer)) as receiver, sending(names) as sender:
        result = await sender.post(receiver.url(HOOK), b"{}", [])

    assert (result.status, result.body, result.tried) == (201, b"ok", 1)
    assert result.headers == (("X-One", "1"), ("x-two", "a: b"), ("Content-Length", "2"))
    times = result.timings
    assert times.tls is None
    assert times.dns is not None
    assert times.connect is not None
    assert times.first_byte is not None
    assert 0 <= times.dns <= times.connect <= times.first_byte <= times.total < 1


async def test_connections_are_kept_for_the_same_name_at_the_same_address() -> None:
    names = Names({HOOK: [["127.0.0.1"]], "other.example.com": [["127.0.0.1"]]})
    async with receiving(answering(OK)) as receiver, sending(names) as sender:
        results = [await sender.post(receiver.url(HOOK), b"{}", []) for _ in range(5)]
        other = await sender.post(receiver.url("other.example.com"), b"{}", [])

    assert [result.reused for result in results] == [False, True, True, True, True]
    assert not other.reused
    assert receiver.connections == 2
    assert names.asked == [HOOK] * 5 + ["other.example.com"]


async def test_a_kept_connection_does_not_outlive_the_address_of_its_name() -> None:
    """Who moves a name away from an address is no longer called there, and we check the new one."""
    names = Names({HOOK: [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["169.254.169.254"]]})
    watch = Watch()
    async with receiving(answering(OK)) as receiver, sending(names, watch=watch) as sender:
        first, second, moved, bad = [
            await sender.post(receiver.url(HOOK), b"{}", []) for _ in range(4)
        ]

    assert first.delivered
    assert second.reused
    assert moved.outcome is Outcome.CONNECT_FAILED  # nobody listens on 127.0.0.2
    assert bad.outcome is Outcome.BLOCKED_ADDRESS
    assert watch.passed == [ip_address("127.0.0.1"), ip_address("127.0.0.2")]
    assert len(receiver.requests) == 2


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["self", "http://127.0.0.1:1/", "http://[::1]:1/", "//x/", "/"])
async def test_a_redirect_is_not_followed(status: int, where: str) -> None:
    async with receiving(hanging_after()) as behind:
        location = behind.url() if where == "self" else where
        head = f"HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        watch = Watch()
        async with (
            receiving(answering(head.encode())) as receiver,
            sending(watch=watch) as sender,
        ):
            result = await sender.post(receiver.url(), b"{}", [], seconds=1)

    assert (result.outcome, result.status, code(result)) == (
        Outcome.HTTP_ERROR,
        status,
        "redirect",
    )
    assert len(receiver.requests) == 1
    assert behind.connections == 0
    assert len(watch.passed) == 1


async def test_no_proxy_and_no_cookie_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n"
    async with nobody_there() as port, receiving(answering(answer)) as receiver:
        for variable in ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(variable, f"http://127.0.0.1:{port}")
        async with sending() as sender:
            results = [await sender.post(receiver.url(), b"{}", []) for _ in range(2)]

    assert all(result.delivered for result in results)
    assert not any(b"ookie" in request for request in receiver.requests)


async def test_addresses_are_tried_in_turn_until_one_connects() -> None:
    names = Names({HOOK: [["127.0.0.3", "127.0.0.2", "127.0.0.1", "::1"]]})
    watch = Watch()
    async with receiving(answering(OK)) as receiver, sending(names, watch=watch) as sender:
        result = await sender.post(receiver.url(HOOK), b"{}", [])

    assert result.delivered
    assert result.tried == 3
    assert [str(address) for address in watch.passed] == ["127.0.0.3", "127.0.0.2", "127.0.0.1"]


async def test_only_so_many_addresses_are_tried() -> None:
    names = Names({HOOK: [[f"127.0.0.{n}" for n in range(2, 200)]]})
    async with nobody_there() as port, sending(names) as sender:
        result = await sender.post(f"http://{HOOK}:{port}/", b"{}", [])

    assert (result.outcome, result.tried) == (Outcome.CONNECT_FAILED, 6)


async def test_an_address_that_took_the_request_is_the_last_one() -> None:
    names = Names({HOOK: [["127.0.0.1", "127.0.0.2"]]})
    watch = Watch()
    async with receiving(resetting) as receiver, sending(names, watch=watch) as sender:
        result = await sender.post(receiver.url(HOOK), b"{}", [], seconds=1)

    assert (result.outcome, result.tried) == (Outcome.CONNECTION_CLOSED, 1)
    assert len(receiver.requests) == len(watch.passed) == 1


async def test_an_address_that_never_connects_leaves_time_for_the_next() -> None:
    names = Names({HOOK: [["127.0.0.2", "127.0.0.1"]]})
    full, served = bound_sockets("127.0.0.2", "127.0.0.1")
    async with receiving(answering(OK), at=served) as receiver, sending(names) as sender:
        with full_queue(full):
            result = await sender.post(receiver.url(HOOK), b"{}", [], seconds=2)
            alone = await sender.post(receiver.url("127.0.0.2"), b"{}", [], seconds=0.5)

    assert (result.outcome, result.tried) == (Outcome.DELIVERED, 2)
    assert 0.9 < result.timings.total < 1.5
    assert (alone.outcome, code(alone)) == (Outcome.TIMEOUT, "connect_timeout")


async def test_localhost_is_loopback_without_a_name_server() -> None:
    names = Names()
    async with receiving(answering(OK), host="::1") as receiver, sending(names) as sender:
        result = await sender.post(receiver.url("localhost"), b"{}", [])
        direct = await sender.post(receiver.url("[::1]"), b"{}", [])

    assert (result.delivered, result.tried) == (True, 2)
    assert direct.delivered
    assert names.asked == []


async def test_a_refused_connection_is_told_without_an_address() -> None:
    names = Names({HOOK: [["127.0.0.9"]]})
    async with nobody_there() as port, sending(names) as sender:
        result = await sender.post(f"http://{HOOK}:{port}/", b"{}", [])

    assert (result.outcome, code(result)) == (Outcome.CONNECT_FAILED, "connection_refused")
    assert "127" not in repr(result.problem)
    assert result.status is None
    assert result.timings.connect is result.timings.first_byte is None


async def test_a_blocked_address_is_told_without_the_address() -> None:
    names = Names({HOOK: [["10.1.2.3"]], "mixed.example.com": [["93.184.216.34", "10.1.2.3"]]})
    async with sending(names, Policy()) as sender:
        results = [
            await sender.post(f"https://{host}/", b"{}", [])
            for host in (HOOK, "mixed.example.com", "10.1.2.3", "[::1]")
        ]

    assert {result.outcome for result in results} == {Outcome.BLOCKED_ADDRESS}
    assert len({result.problem for result in results}) == 1
    assert "10." not in repr(results)


async def test_the_deployments_own_addresses_are_not_called() -> None:
    own = (ip_network("93.184.216.34"), ip_network("2606:2800:220:1::/64"))
    names = Names({HOOK: [["93.184.216.34"]]})
    watch = Watch()
    async with sending(names, Policy(own_addresses=own), watch=watch) as sender:
        named = await sender.post(f"https://{HOOK}/", b"{}", [])
        literal = await sender.post("https://[2606:2800:220:1::5]/", b"{}", [])

    assert named.outcome is literal.outcome is Outcome.BLOCKED_ADDRESS
    assert watch.passed == []


async def test_a_name_that_is_not_found_is_told() -> None:
    async with sending(Names()) as sender:
        result = await sender.post("https://gone.example.com/", b"{}", [])

    assert (result.outcome, code(result)) == (Outcome.DNS_ERROR, "name_not_found")


async def test_the_deadline_covers_the_name_servers() -> None:
    class Silent:
        def remembered(self, _name: str) -> None:
            return None

        async def addresses(self, _name: str) -> tuple[addresses.Address, ...]:
            await asyncio.sleep(60)
            raise AssertionError

    async with sending(Silent()) as sender:
        result = await sender.post(f"https://{HOOK}/", b"{}", [], seconds=0.2)

    assert (result.outcome, code(result)) == (Outcome.DNS_ERROR, "dns_timeout")
    assert 0.15 < result.timings.total < 0.5


async def test_a_call_whose_time_is_up_before_it_begins_has_a_limit_all_the_same() -> None:
    async with receiving(hanging_after(b"")) as receiver, sending() as sender:
        async with asyncio.timeout(5):
            result = await sender.post(receiver.url("127.0.0.1"), b"{}", [], seconds=0)

    assert not result.delivered


async def test_a_cancelled_call_leaves_the_sender_usable() -> None:
    async with (
        receiving(hanging_after()) as bad,
        receiving(answering(OK)) as good,
        sending() as sender,
    ):
        calls = [asyncio.create_task(sender.post(bad.url(), b"{}", [])) for _ in range(20)]
        await asyncio.sleep(0.1)
        for call in calls:
            call.cancel()
        ends = await asyncio.gather(*calls, return_exceptions=True)
        result = await sender.post(good.url(), b"{}", [])

    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    assert result.delivered


async def test_nothing_is_carried_from_one_call_to_the_next() -> None:
    long = b"HTTP/1.1 500 No\r\nX-Secret: theirs\r\nContent-Length: 6\r\n\r\nsecret"
    async with (
        receiving(answering(long)) as first,
        receiving(answering(b"HTTP/1.1 204 No Content\r\n\r\n")) as second,
        sending() as sender,
    ):
        await sender.post(first.url(), b"{}", ["X-Service-Delivery: dlv_1"])
        result = await sender.post(second.url(), b"[]", [])

    assert (result.outcome, result.headers, result.body) == (Outcome.DELIVERED, (), b"")
    assert b"dlv_1" not in second.requests[0]
    assert second.requests[0].endswith(b"[]")


async def test_addresses_are_tried_in_turn_after_other_calls() -> None:
    names = Names({HOOK: [["127.0.0.2", "127.0.0.1"]]})
    async with receiving(answering(OK)) as receiver, sending(names) as sender:
        first = await sender.post(receiver.url(), b"{}", [])
        second = await sender.post(receiver.url(HOOK), b"{}", [])

    assert (first.delivered, first.tried) == (True, 1)
    assert (second.delivered, second.tried) == (True, 2)


async def test_no_socket_opens_unless_the_guard_says_so_right_before() -> None:
    """Even where every layer above failed, nothing is opened that is not allowed."""
    target = DEVELOPMENT.read("http://127.0.0.1:9/")

    def broken(_address: addresses.Address) -> bool:
        raise RuntimeError

    for allows in (lambda _: False, broken):
        watch = Watch()
        with pytest.raises(ConnectFailed) as failed:
            await connect(
                target,
                ip_address("127.0.0.1"),
                allows=allows,
                opener=watch,
                tls=ssl.create_default_context(),
                buffer=memoryview(bytearray(1)),
                seconds=1,
            )
        assert failed.value.failure is failures.BLOCKED
        assert not failed.value.may_try_next
        assert watch.passed == []
