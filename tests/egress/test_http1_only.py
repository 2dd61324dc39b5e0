"""Endpoints are called with HTTP/1.1 only, whatever else they offer."""

import asyncio
import socket
import ssl

import pytest
from egress.flooding import flooding_endpoint
from egress.receivers import OK, Certificates, answering, receiving
from kit.egress import Names, code, sending
from kit.lag import LARGEST_LAG, measuring_lag

from tradewind.egress.result import Outcome

HOOK = "hooks.example.com"
NAMES = {HOOK: [["127.0.0.1"]]}
SECONDS = 2.0
SETTINGS, PING, GOAWAY = 4, 6, 7


def speaking_http2(authority: Certificates) -> ssl.SSLContext:
    tls = authority.serving(HOOK)
    tls.set_alpn_protocols(["h2", "http/1.1"])
    return tls


def frame(kind: int, payload: bytes = b"") -> bytes:
    """A frame of HTTP/2 that belongs to the whole connection."""
    return len(payload).to_bytes(3, "big") + bytes([kind, 0]) + bytes(4) + payload


def flood(kind: int, payload: bytes) -> bytes:
    return frame(SETTINGS) + frame(kind, payload) * 2000


async def test_an_endpoint_that_offers_http2_is_called_by_http1(authority: Certificates) -> None:
    chosen: list[str | None] = []

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await answering(OK)(reader, writer)

    async with (
        receiving(behave, tls=speaking_http2(authority)) as endpoint,
        sending(Names(NAMES), authorities=str(authority.bundle)) as sender,
    ):
        url = endpoint.url(HOOK, scheme="https")
        results = [await sender.post(url, b"{}", []) for _ in range(2)]

    assert [result.delivered for result in results] == [True, True]
    assert results[1].reused
    assert chosen == ["http/1.1"] * 2
    assert all(request.startswith(b"POST /hook HTTP/1.1\r\n") for request in endpoint.requests)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [(GOAWAY, (2**31 - 1).to_bytes(4, "big") + bytes(4)), (PING, bytes(8))],
    ids=["goaway", "ping"],
)
async def test_a_flood_of_http2_frames_does_not_hold_up_the_loop(
    authority: Certificates, kind: int, payload: bytes
) -> None:
    """A client that speaks HTTP/2 may read such a flood for as long as it lasts."""
    wave = flood(kind, payload)

    def send_frames(connection: socket.socket) -> None:
        while True:
            connection.sendall(wave)

    with flooding_endpoint(send_frames, tls=speaking_http2(authority)) as endpoint:
        url = endpoint.url(HOOK, scheme="https")
        async with (
            sending(Names(NAMES), authorities=str(authority.bundle)) as sender,
            measuring_lag() as lag,
        ):
            result = await sender.post(url, b"{}", [], seconds=SECONDS)

    assert (result.outcome, code(result)) == (Outcome.INVALID_RESPONSE, "not_http")
    assert lag.seconds <= LARGEST_LAG
    assert len(endpoint.requests) == 1
