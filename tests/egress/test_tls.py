"""TLS: the host name of the URL is verified, bad certificates are told apart, steps are timed."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from egress.receivers import OK, Certificates, Receiver, answering, hanging_after, receiving
from kit.egress import Names, Watch, code, sending

from tradewind.egress.result import Outcome
from tradewind.egress.sender import Sender

HOOK = "hooks.example.com"
NAMES = {HOOK: [["127.0.0.1"]]}


@asynccontextmanager
async def trusting(authority: Certificates, watch: Watch | None = None) -> AsyncIterator[Sender]:
    async with sending(Names(NAMES), watch=watch, authorities=str(authority.bundle)) as sender:
        yield sender


async def test_the_certificate_is_that_of_the_name_not_of_the_address(
    authority: Certificates,
) -> None:
    async with (
        receiving(answering(OK), tls=authority.serving(HOOK)) as receiver,
        trusting(authority) as sender,
    ):
        by_name = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [])
        again = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [])
        by_address = await sender.post(receiver.url(scheme="https"), b"{}", [])

    assert by_name.delivered
    assert again.reused
    assert (by_address.outcome, code(by_address)) == (Outcome.TLS_ERROR, "certificate_wrong_name")
    assert len(receiver.requests) == 2


@pytest.mark.parametrize(
    ("certified", "days", "self_signed", "problem"),
    [
        (HOOK, -1, False, "certificate_expired"),
        ("other.example.com", 30, False, "certificate_wrong_name"),
        (HOOK, 30, True, "certificate_self_signed"),
    ],
)
async def test_a_bad_certificate_is_refused_before_anything_is_sent(
    authority: Certificates, certified: str, days: int, self_signed: bool, problem: str
) -> None:
    tls = authority.serving(certified, days=days, self_signed=self_signed)
    async with receiving(answering(OK), tls=tls) as receiver, trusting(authority) as sender:
        result = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [], seconds=2)

    assert (result.outcome, code(result)) == (Outcome.TLS_ERROR, problem)
    assert receiver.requests == []


async def test_an_unknown_authority_is_refused(authority: Certificates) -> None:
    async with (
        receiving(answering(OK), tls=authority.serving(HOOK)) as receiver,
        sending(Names(NAMES)) as sender,
    ):
        result = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [], seconds=2)

    assert (result.outcome, code(result)) == (Outcome.TLS_ERROR, "certificate_unknown_issuer")
    assert receiver.requests == []


async def test_old_versions_of_tls_are_refused(authority: Certificates) -> None:
    tls = authority.serving(HOOK)
    with pytest.warns(DeprecationWarning, match="TLSv1 "):
        tls.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="TLSv1_1 "):
        tls.maximum_version = ssl.TLSVersion.TLSv1_1
    tls.set_ciphers("ALL:@SECLEVEL=0")
    async with receiving(answering(OK), tls=tls) as receiver, trusting(authority) as sender:
        result = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [], seconds=2)

    assert (result.outcome, code(result)) == (Outcome.TLS_ERROR, "tls_handshake_failed")


@asynccontextmanager
async def raw(first: bytes | None, *, close: bool) -> AsyncIterator[Receiver]:
    """A server that knows nothing of TLS: it says `first`, then closes, or never speaks again."""
    receiver = Receiver()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        receiver.connections += 1
        with contextlib.suppress(OSError):
            if first is not None:
                await reader.read(1)
                writer.write(first)
            if not close:
                await reader.read()
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


@pytest.mark.parametrize(
    ("first", "close", "outcome", "problem"),
    [
        (OK, False, Outcome.TLS_ERROR, "tls_handshake_failed"),
        (b"\x16\x03\x01\xff\xff" + b"x" * 99, False, Outcome.TLS_ERROR, "tls_handshake_failed"),
        (None, True, Outcome.TLS_ERROR, "tls_handshake_failed"),
        (None, False, Outcome.TIMEOUT, "tls_timeout"),
    ],
    ids=["plain http", "nonsense", "resets", "hangs"],
)
async def test_what_speaks_no_tls_is_told(
    authority: Certificates, first: bytes | None, close: bool, outcome: Outcome, problem: str
) -> None:
    async with raw(first, close=close) as receiver, trusting(authority) as sender:
        result = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [], seconds=1)

    assert (result.outcome, code(result)) == (outcome, problem)
    assert result.timings.total < 1.5
    assert receiver.connections == 1


async def test_a_diagnosis_takes_every_step_and_tells_the_end_of_the_certificate(
    authority: Certificates,
) -> None:
    tls = authority.serving(HOOK, days=12)
    async with receiving(answering(OK), tls=tls) as receiver, trusting(authority) as sender:
        url = receiver.url(HOOK, scheme="https")
        usual = await sender.post(url, b"{}", [])
        seen = await sender.post(url, b"{}", [], diagnosis=True)
        after = await sender.post(url, b"{}", [])

    assert usual.certificate_ends is None
    assert seen.certificate_ends is not None
    assert (seen.certificate_ends - datetime.now(UTC)).days == 12
    assert not seen.reused
    times = seen.timings
    assert times.connect is not None
    assert times.tls is not None
    assert times.first_byte is not None
    assert times.connect < times.tls < times.first_byte <= times.total
    assert after.reused
    assert receiver.connections == 2


async def test_a_hanging_receiver_is_a_timeout_behind_tls_too(authority: Certificates) -> None:
    async with (
        receiving(hanging_after(), tls=authority.serving(HOOK)) as receiver,
        trusting(authority) as sender,
    ):
        url = receiver.url(HOOK, scheme="https")
        result = await sender.post(url, b"{}", [], seconds=0.5)

    assert (result.outcome, code(result)) == (Outcome.TIMEOUT, "response_timeout")
