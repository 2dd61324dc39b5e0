"""Out of file descriptors: the call fails as our fault, not as the endpoint's."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from egress.name_server import Zone, naming
from egress.receivers import OK, answering, receiving
from kit.egress import Names, Watch, code, sending

from tradewind.egress.resolver import Resolver
from tradewind.egress.result import Outcome

HOOK = "hooks.example.com"


@contextmanager
def only_left(count: int) -> Iterator[None]:
    """Let this process open so many more files, and none beyond them."""
    first_free = os.dup(2)
    os.close(first_free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free + count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_call_without_a_descriptor_is_not_the_receivers_failure() -> None:
    watch = Watch()
    names = Names({HOOK: [["127.0.0.1", "127.0.0.2"]]})
    async with receiving(answering(OK)) as receiver, sending(names, watch=watch) as sender:
        with only_left(0):
            starved = await sender.post(receiver.url(HOOK), b"{}", [])
        later = await sender.post(receiver.url(HOOK), b"{}", [])

    assert (starved.outcome, code(starved)) == (Outcome.CONNECT_FAILED, "out_of_descriptors")
    assert starved.problem is not None
    assert starved.problem.is_ours
    assert starved.tried == 1
    assert later.delivered
    assert len(receiver.requests) == 1


async def test_a_connection_that_is_kept_needs_no_descriptor() -> None:
    async with receiving(answering(OK)) as receiver, sending() as sender:
        first = await sender.post(receiver.url(), b"{}", [])
        with only_left(0):
            second = await sender.post(receiver.url(), b"{}", [])

    assert (first.delivered, second.delivered, second.reused) == (True, True, True)


async def test_a_name_that_cannot_be_asked_for_is_not_the_receivers_failure() -> None:
    async with naming({HOOK: Zone(["127.0.0.1"])}) as server, receiving(answering(OK)) as receiver:
        resolver = Resolver([server.address])
        async with sending(resolver) as sender:
            with only_left(0):
                starved = await sender.post(receiver.url(HOOK), b"{}", [])
        await resolver.close()

    assert (starved.outcome, code(starved)) == (Outcome.DNS_ERROR, "out_of_descriptors")
    assert starved.problem is not None
    assert starved.problem.is_ours
    assert receiver.requests == []


async def test_a_receiver_that_refuses_is_blamed() -> None:
    async with sending() as sender:
        result = await sender.post("http://127.0.0.1:9/", b"{}", [])

    assert code(result) == "connection_refused"
    assert result.problem is not None
    assert not result.problem.is_ours
