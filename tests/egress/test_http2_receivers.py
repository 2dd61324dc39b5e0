"""Receivers that misbehave in HTTP/2: floods of frames, resets, closed windows."""

import time

import pytest
from egress.http2_frames import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    RST_STREAM,
    SETTINGS,
    STATUS_103,
    STATUS_200,
    Behaviour,
    flooding_frames,
    frame,
    header,
    receiving_http2,
    sending_frames,
)
from egress.receivers import Certificates
from kit.egress import Names, code, sending

from tradewind.egress.result import Outcome

HOOK = "hooks.example.com"
SECONDS = 1.0
MANY = b"".join(header(b"x-%d" % number, b"y" * 100) for number in range(100))
REFUSED_STREAM = (7).to_bytes(4, "big")


def ok(stream: int) -> bytes:
    return frame(HEADERS, END_HEADERS, stream, STATUS_200)


def nothing(_stream: int) -> bytes:
    return b""


CASES: list[tuple[str, Behaviour, set[str | None]]] = [
    (
        "answers",
        sending_frames(ok, lambda stream: frame(DATA, END_STREAM, stream, b"ok")),
        {None},
    ),
    ("never ends its body", flooding_frames(ok, lambda s: frame(DATA, 0, s, b"x" * 1000)), {None}),
    (
        "resets after its headers",
        sending_frames(ok, lambda s: frame(RST_STREAM, 0, s, bytes(4))),
        {None},
    ),
    ("never answers", sending_frames(nothing), {"response_timeout"}),
    (
        "floods 103s",
        flooding_frames(nothing, lambda s: frame(HEADERS, END_HEADERS, s, STATUS_103)),
        {"headers_too_large"},
    ),
    (
        "never ends its headers",
        flooding_frames(
            lambda s: frame(HEADERS, 0, s, STATUS_200), lambda s: frame(CONTINUATION, 0, s, MANY)
        ),
        {"http2_error", "headers_too_large", "connection_closed"},
    ),
    (
        "never ends its headers, and says nothing in them",
        flooding_frames(
            lambda s: frame(HEADERS, 0, s, STATUS_200), lambda s: frame(CONTINUATION, 0, s)
        ),
        {"http2_error", "connection_closed"},
    ),
    (
        "floods pings",
        flooding_frames(nothing, lambda _: frame(PING, 0, 0, bytes(8))),
        {"http2_error", "connection_closed", "response_timeout"},
    ),
    (
        "floods settings",
        flooding_frames(nothing, lambda _: frame(SETTINGS, 0, 0)),
        {"http2_error", "connection_closed", "response_timeout"},
    ),
    (
        "resets",
        sending_frames(lambda s: frame(RST_STREAM, 0, s, (2).to_bytes(4, "big"))),
        {"http2_error"},
    ),
    (
        "refuses the stream",
        sending_frames(lambda s: frame(RST_STREAM, 0, s, REFUSED_STREAM)),
        {"http2_error", "connection_closed"},
    ),
    (
        "goes away",
        sending_frames(lambda _: frame(GOAWAY, 0, 0, bytes(4) + (2).to_bytes(4, "big"))),
        {"http2_error", "connection_closed", "response_timeout"},
    ),
    (
        "sends noise",
        sending_frames(lambda _: b"\xff" * 5000),
        {"http2_error", "connection_closed"},
    ),
]


@pytest.mark.parametrize(("name", "behaviour", "codes"), CASES, ids=[case[0] for case in CASES])
async def test_a_call_ends_in_time_and_rightly(
    name: str, behaviour: Behaviour, codes: set[str | None], authority: Certificates
) -> None:
    names = Names({HOOK: [["127.0.0.1"]]})
    async with (
        receiving_http2(behaviour, authority.serving(HOOK)) as receiver,
        sending(names, authorities=str(authority.bundle)) as sender,
    ):
        start = time.monotonic()
        result = await sender.post(receiver.url(HOOK, scheme="https"), b"{}", [], seconds=SECONDS)

        assert time.monotonic() - start < SECONDS + 0.5
        assert code(result) in codes, name
        assert result.delivered == (codes == {None})
        assert len(receiver.requests) <= 6  # a refused stream may be tried again: it was not read


async def test_a_closed_window_holds_up_nothing_for_longer_than_the_deadline(
    authority: Certificates,
) -> None:
    no_window = (4).to_bytes(2, "big") + bytes(4)
    names = Names({HOOK: [["127.0.0.1"]]})
    async with (
        receiving_http2(
            sending_frames(nothing), authority.serving(HOOK), settings=no_window
        ) as receiver,
        sending(names, authorities=str(authority.bundle)) as sender,
    ):
        url = receiver.url(HOOK, scheme="https")
        result = await sender.post(url, b"x" * 1_000_000, [], seconds=SECONDS)

    assert (result.outcome, code(result)) == (Outcome.TIMEOUT, "response_timeout")
    assert result.timings.total < SECONDS + 0.5
