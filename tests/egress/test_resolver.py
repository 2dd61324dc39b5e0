"""The resolver against a real DNS server on loopback: every answer and failure, in time."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest
from egress.name_server import (
    AAAA,
    REFUSED,
    SERVER_FAILURE,
    A,
    NameServer,
    Zone,
    naming,
)
from egress.receivers import OK, answering, receiving
from kit.egress import Watch, sending

from tradewind.egress import guard
from tradewind.egress.guard import AddressBlocked, Policy
from tradewind.egress.resolver import LookupFailed, Resolver
from tradewind.egress.result import Outcome

HOOK = "hooks.example.com"
GOOD4, GOOD6 = "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"
HOUR = 3600


@asynccontextmanager
async def resolving(
    server: NameServer, *, seconds: float = 2, at_once: int = 512, remembered: float = 1
) -> AsyncIterator[Resolver]:
    resolver = Resolver([server.address], seconds=seconds, at_once=at_once, remembered=remembered)
    try:
        yield resolver
    finally:
        await resolver.close()


async def found(resolver: Resolver, name: str = HOOK) -> list[str]:
    return [str(address) for address in await resolver.addresses(name)]


@pytest.mark.parametrize(
    ("zone", "addresses"),
    [
        (Zone([GOOD4]), [GOOD4]),
        (Zone([GOOD6]), [GOOD6]),
        (Zone([GOOD6, GOOD4, "93.184.216.35"]), [GOOD4, "93.184.216.35", GOOD6]),
        (Zone([GOOD4], alias="edge.example.net"), [GOOD4]),
        (Zone(["10.0.0.1", GOOD4, "::1"]), ["10.0.0.1", GOOD4, "::1"]),
        (Zone([GOOD4, GOOD6], failing=frozenset({AAAA})), [GOOD4]),
        (Zone([GOOD4, GOOD6], failing=frozenset({A})), [GOOD6]),
    ],
)
async def test_all_addresses_of_a_name_are_found(zone: Zone, addresses: list[str]) -> None:
    async with naming({HOOK: zone}) as server, resolving(server) as resolver:
        assert await found(resolver) == addresses

    assert {kind for _, kind in server.asked} == {A, AAAA}
    assert {name for name, _ in server.asked} == {HOOK}


@pytest.mark.parametrize(
    ("zone", "reason"),
    [
        (None, "name_not_found"),
        (Zone(), "name_not_found"),
        (Zone(alias="edge.example.net"), "name_not_found"),
        (Zone([f"93.184.216.{n}" for n in range(64)] + ["::1"] * 65), "too_many_addresses"),
        (Zone(code=SERVER_FAILURE), "dns_failed"),
        (Zone(code=REFUSED), "dns_failed"),
        (Zone(silent=frozenset({A, AAAA})), "dns_timeout"),
    ],
    ids=[
        "no such name",
        "no records",
        "alias to nothing",
        "too many",
        "server failure",
        "refused",
        "silence",
    ],
)
async def test_a_name_without_addresses_says_why(zone: Zone | None, reason: str) -> None:
    zones = {} if zone is None else {HOOK: zone}
    async with naming(zones) as server, resolving(server, seconds=1) as resolver:
        start = time.monotonic()
        with pytest.raises(LookupFailed) as failure:
            await resolver.addresses(HOOK)

    assert failure.value.reason == reason
    assert HOOK in str(failure.value)
    assert time.monotonic() - start < 1.5


async def test_one_question_without_an_answer_does_not_spoil_the_other() -> None:
    zone = Zone([GOOD4], silent=frozenset({AAAA}))
    async with naming({HOOK: zone}) as server, resolving(server, seconds=0.5) as resolver:
        assert await found(resolver) == [GOOD4]


async def test_names_with_garbled_answers_do_not_spoil_those_of_others() -> None:
    names = [f"a{number}.example.com" for number in range(20)]
    zones = {f"x-{name}": Zone([GOOD4], garbled=True) for name in names}
    zones |= {name: Zone([GOOD4]) for name in names}
    async with naming(zones) as server, resolving(server) as resolver:
        answers = await asyncio.gather(
            *(
                resolver.addresses(name)
                for pair in zip(zones, names, strict=False)
                for name in pair
            ),
            return_exceptions=True,
        )

    assert all(isinstance(answer, LookupFailed) for answer in answers[0::2])
    assert answers[1::2] == [(ip_address(GOOD4),)] * 20


async def test_who_asks_at_once_shares_one_question() -> None:
    zone = Zone([GOOD4], delay=0.05)
    async with naming({HOOK: zone}) as server, resolving(server) as resolver:
        answers = await asyncio.gather(*[found(resolver) for _ in range(50)])

    assert answers == [[GOOD4]] * 50
    assert sorted(server.asked) == [(HOOK, A), (HOOK, AAAA)]


async def test_who_stops_waiting_does_not_take_the_answer_from_others() -> None:
    zone = Zone([GOOD4], delay=0.1)
    async with naming({HOOK: zone}) as server, resolving(server) as resolver:
        first = asyncio.create_task(found(resolver))
        second = asyncio.create_task(found(resolver))
        await asyncio.sleep(0.02)
        first.cancel()

        assert await second == [GOOD4]


async def test_an_answer_is_not_remembered_for_as_long_as_its_records_live() -> None:
    zones = {HOOK: Zone([GOOD4], lifetime=HOUR)}
    async with naming(zones) as server, resolving(server, remembered=0.1) as resolver:
        before = await found(resolver)
        server.zones[HOOK] = Zone(["127.0.0.1"], lifetime=HOUR)
        await asyncio.sleep(0.15)

        assert (before, await found(resolver)) == ([GOOD4], ["127.0.0.1"])


async def test_neither_is_that_there_was_none() -> None:
    async with naming({HOOK: Zone()}) as server, resolving(server, remembered=0.1) as resolver:
        with pytest.raises(LookupFailed):
            await resolver.addresses(HOOK)
        server.zones[HOOK] = Zone([GOOD4], lifetime=HOUR)
        await asyncio.sleep(0.15)

        assert await found(resolver) == [GOOD4]


async def test_who_asks_a_moment_later_gets_the_same_answer() -> None:
    zones = {HOOK: Zone([GOOD4], lifetime=1)}
    async with naming(zones) as server, resolving(server) as resolver:
        assert resolver.remembered(HOOK) is None
        assert await found(resolver) == await found(resolver) == [GOOD4]
        assert resolver.remembered(HOOK) == (ip_address(GOOD4),)
        for _ in range(2):
            with pytest.raises(LookupFailed, match="has no address"):
                await found(resolver, "gone.example.com")
        assert resolver.remembered("gone.example.com") is None

    assert sorted(server.asked) == sorted(
        (name, kind) for name in (HOOK, "gone.example.com") for kind in (A, AAAA)
    )


async def test_an_answer_is_remembered_for_a_moment_only() -> None:
    zones = {HOOK: Zone([GOOD4], lifetime=HOUR)}
    async with naming(zones) as server, resolving(server, remembered=0.05) as resolver:
        await found(resolver)
        await asyncio.sleep(0.06)
        assert resolver.remembered(HOOK) is None


@pytest.mark.parametrize(
    "zone",
    [
        Zone([GOOD4]),
        Zone([GOOD4], alias="edge.example.net"),
        Zone([GOOD4], lifetime=HOUR, failing=frozenset({AAAA})),
    ],
    ids=["for one use", "an alias for one use", "half failed"],
)
async def test_an_answer_that_must_not_be_kept_is_asked_for_again(zone: Zone) -> None:
    async with naming({HOOK: zone}) as server, resolving(server) as resolver:
        assert await found(resolver) == [GOOD4]
        assert resolver.remembered(HOOK) is None


async def test_what_the_name_servers_failed_to_say_is_asked_again() -> None:
    zones = {HOOK: Zone(code=SERVER_FAILURE)}
    async with naming(zones) as server, resolving(server) as resolver:
        with pytest.raises(LookupFailed):
            await found(resolver)
        server.zones[HOOK] = Zone([GOOD4])
        assert await found(resolver) == [GOOD4]


async def test_an_answer_that_comes_after_its_moment_is_not_remembered() -> None:
    zones = {
        HOOK: Zone([GOOD4], lifetime=HOUR, delay=0.1),
        "b.example.com": Zone([GOOD4], lifetime=HOUR),
    }
    async with naming(zones) as server, resolving(server, remembered=0.05) as resolver:
        slow = asyncio.create_task(found(resolver))
        await asyncio.sleep(0.08)
        await found(resolver, "b.example.com")

        assert await slow == [GOOD4]
        assert resolver.remembered(HOOK) is None
        assert resolver.remembered("b.example.com") is not None


async def test_a_question_outlives_the_channel_it_was_asked_on() -> None:
    zones = {HOOK: Zone([GOOD4], delay=0.2), "b.example.com": Zone([GOOD4])}
    async with naming(zones) as server, resolving(server, remembered=0.01) as resolver:
        slow = asyncio.create_task(found(resolver))
        for _ in range(5):
            await asyncio.sleep(0.02)
            assert await found(resolver, "b.example.com") == [GOOD4]

        assert await slow == [GOOD4]


async def test_no_more_than_so_many_questions_are_asked_at_once() -> None:
    zones = {f"n{number}.example.com": Zone([GOOD4], delay=0.1) for number in range(6)}
    async with naming(zones) as server, resolving(server, at_once=2) as resolver:
        asking = asyncio.gather(*[found(resolver, name) for name in zones])
        await asyncio.sleep(0.05)
        assert len({name for name, _ in server.asked}) == 2
        assert await asking == [[GOOD4]] * 6


async def test_who_gets_no_turn_in_time_is_told_so() -> None:
    async with (
        naming({HOOK: Zone([GOOD4])}) as server,
        resolving(server, at_once=0, seconds=0.1) as resolver,
    ):
        with pytest.raises(LookupFailed) as failure:
            await found(resolver)

    assert failure.value.reason == "dns_timeout"
    assert server.asked == []


@pytest.mark.parametrize("server", ["ns.example.com", "ns.example.com:53", "", "1.2.3:53", "::1:x"])
def test_a_name_server_is_given_as_an_address(server: str) -> None:
    with pytest.raises(ValueError, match="name server"):
        Resolver([server])


@pytest.mark.parametrize("server", ["127.0.0.1", "127.0.0.1:5353", "::1", "[::1]:53"])
def test_a_name_server_may_have_a_port(server: str) -> None:
    Resolver([server])


@pytest.mark.parametrize(
    "zone",
    [
        Zone([GOOD4, "10.0.0.1"]),
        Zone([GOOD4, "::1"]),
        Zone(["169.254.169.254"], alias="a.example.net"),
    ],
)
async def test_one_bad_address_refuses_the_name(zone: Zone) -> None:
    async with naming({HOOK: zone}) as server, resolving(server) as resolver:
        with pytest.raises(AddressBlocked):
            await guard.admit(f"https://{HOOK}/", Policy(), resolver)


async def test_a_name_that_is_remembered_is_checked_again() -> None:
    watch = Watch()
    async with (
        naming({HOOK: Zone([GOOD4, "10.0.0.1"], lifetime=HOUR)}) as server,
        resolving(server) as resolver,
        sending(resolver, Policy(), watch=watch) as sender,
    ):
        results = [await sender.post(f"https://{HOOK}/", b"{}", []) for _ in range(2)]

    assert [result.outcome for result in results] == [Outcome.BLOCKED_ADDRESS] * 2
    assert watch.passed == []
    assert len(server.asked) == 2


async def test_a_delivery_by_name_through_a_real_name_server() -> None:
    zones = {HOOK: Zone(["127.0.0.1"], alias="edge.example.net")}
    async with (
        naming(zones) as server,
        resolving(server) as resolver,
        receiving(answering(OK)) as receiver,
        sending(resolver) as sender,
    ):
        good = await sender.post(receiver.url(HOOK), b"{}", [])
        gone = await sender.post(receiver.url("gone.example.com"), b"{}", [])

    assert good.delivered
    assert gone.outcome is Outcome.DNS_ERROR
