"""Demo webhooks for `tradewind dev`: one whose receiver takes everything, and one that fails."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from tradewind.audit.model import Actor
from tradewind.egress.resolver import Resolver
from tradewind.runtime import wiring
from tradewind.settings.settings import Settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.webhooks import sql
from tradewind.webhooks.subscribe import UrlPolicy, Wish, change, subscribe
from tradewind.webhooks.wire import BOTH

_DEMO = Actor("tradewind dev")
_SECONDS = 10
# The path, the webhook's description, and what the receiver answers.
RECEIVERS = (
    ("/shop", "Demo: a shop that takes every event", "200 OK", "taken"),
    ("/broken", "Demo: a receiver that is broken", "503 Service Unavailable", "closed for repairs"),
)
_LENGTH = re.compile(rb"(?i)\ncontent-length: *(\d+)")


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read one request, and answer as its path asks; another comes by another connection."""
    try:
        async with asyncio.timeout(_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            path = head.split(b" ", 2)[1].decode("latin-1")
            status, said = next(
                ((one[2], one[3]) for one in RECEIVERS if one[0] == path),
                ("404 Not Found", "nobody here"),
            )
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
                f"Content-Length: {len(said)}\r\n\r\n{said}".encode()
            )
            await writer.drain()
    except (
        OSError,
        ValueError,
        IndexError,
        asyncio.IncompleteReadError,
        asyncio.LimitOverrunError,
    ):
        pass  # Whoever called went away, or spoke no HTTP: a receiver for show owes them nothing.
    finally:
        writer.close()


@asynccontextmanager
async def receiving(
    db: Database, keyring: Keyring, chosen: Settings, account_id: UUID
) -> AsyncIterator[None]:
    """Listen on loopback for as long as this lasts, and have the demo webhooks lead there."""
    try:
        # Two above the API's, so that it is the same every time; another if it is taken.
        server = await asyncio.start_server(_answer, "127.0.0.1", chosen.port + 2)
    except (OSError, OverflowError):
        server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    resolver = Resolver(chosen.dns_servers)
    try:
        door = UrlPolicy(wiring.policy_of(chosen), resolver, chosen.max_subscriptions)
        await _lead(db, keyring, door, account_id, f"http://127.0.0.1:{port}")
        yield
    finally:
        await resolver.close()
        server.close()


async def _lead(
    db: Database, keyring: Keyring, door: UrlPolicy, account_id: UUID, origin: str
) -> None:
    """Make the demo webhooks for an account that has none; those it has follow the receiver."""
    there = await sql.list_subscriptions(db, account_id, below=None, limit=door.most)
    for path, description, *_ in RECEIVERS:
        url = origin + path
        if not there:
            wish = Wish(url, list(BOTH), description=description)
            await subscribe(db, keyring, door, _DEMO, account_id, wish)
        for one in there:
            if one.description == description and one.url != url:
                await change(db, door, _DEMO, account_id, one.id, Wish(url=url))
