"""The way to a marketplace: a call whose time is over before it began is not sent."""

import asyncio

import pytest

from tradewind.egress.client import Client
from tradewind.platforms.failures import Unavailable
from tradewind.platforms.paced_client import PacedClient


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
