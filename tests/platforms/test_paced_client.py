"""The way to a marketplace: a call whose time is over before it began is not sent."""

import asyncio
from time import process_time
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.egress.client import Client
from tradewind.platforms.failures import Unavailable
from tradewind.platforms.paced_client import PacedClient, encode_form


@pytest.mark.parametrize("safe", [True, False])
async def test_a_call_that_waited_for_too_long_for_its_turn_is_not_sent(*, safe: bool) -> None:
    arrived: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.append(await reader.read(100))
        writer.close()

    async def frozen(_: float) -> None:
        await asyncio.sleep(0.1)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Client()
    link = PacedClient("sandbox", f"http://127.0.0.1:{port}", client, frozen)

    with pytest.raises(Unavailable) as failure:
        await link.post("create", "/", lambda: (b"", []), safe=safe, seconds=0.05)

    assert failure.value.code == "no_time"
    await asyncio.sleep(0.05)
    assert arrived == []
    await client.close()
    server.close()
    await server.wait_closed()


@given(st.text(min_size=1, max_size=20), st.integers(1, 3), st.text(max_size=20))
def test_a_long_value_of_a_form_is_encoded_as_a_short_one(
    piece: str, times: int, short: str
) -> None:
    params = {"a b": piece * (20_000 * times // len(piece) + 1), "ü": short, "c": ""}

    encoded = encode_form(params).decode("ascii")

    assert dict(parse_qsl(encoded, keep_blank_values=True, strict_parsing=True)) == params


def test_a_picture_in_a_form_takes_no_time() -> None:
    started = process_time()
    encode_form({"image": "ab+/cd==" * 600_000})
    assert process_time() - started < 0.5
