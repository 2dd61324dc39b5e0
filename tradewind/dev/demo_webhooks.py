"""Demo webhooks for `tradewind dev`: an endpoint that accepts every event, and one that fails."""

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
from tradewind.webhooks.model import SubscriptionChanges
from tradewind.webhooks.subscribe import UrlPolicy, change, subscribe
from tradewind.webhooks.wire import BOTH

_DEMO = Actor("tradewind dev")
_SECONDS = 10
# The path, the webhook's description, and what the endpoint answers.
ENDPOINTS = (
    ("/shop", "Demo: a shop that takes every event", "200 OK", "taken"),
    ("/broken", "Demo: an endpoint that is broken", "503 Service Unavailable", "out of order"),
)
_LENGTH = re.compile(rb"(?i)\ncontent-length: *(\d+)")


async def _respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read one request and respond by its path; each connection has one request."""
    try:
        async with asyncio.timeout(_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            path = head.split(b" ", 2)[1].decode("latin-1")
            status, text = next(
                (endpoint[2:] for endpoint in ENDPOINTS if endpoint[0] == path),
                ("404 Not Found", "not found"),
            )
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
                f"Content-Length: {len(text)}\r\n\r\n{text}".encode()
            )
            await writer.drain()
    except (OSError, ValueError, IndexError, EOFError, asyncio.LimitOverrunError):
        pass  # The client went away, or sent no HTTP.
    finally:
        writer.close()


@asynccontextmanager
async def receiving(
    db: Database, keyring: Keyring, chosen: Settings, account_id: UUID
) -> AsyncIterator[None]:
    """Listen on loopback for as long as this lasts, and have the demo webhooks lead there."""
    try:
        # Two above the API's, so that it is the same every time; another if it is taken.
        server = await asyncio.start_server(_respond, "127.0.0.1", chosen.port + 2)
    except (OSError, OverflowError):
        server = await asyncio.start_server(_respond, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    resolver = Resolver(chosen.dns_servers)
    try:
        url_policy = UrlPolicy(wiring.policy_of(chosen), resolver, chosen.max_subscriptions)
        await _point_webhooks_at(db, keyring, url_policy, account_id, f"http://127.0.0.1:{port}")
        yield
    finally:
        await resolver.close()
        server.close()


async def _point_webhooks_at(
    db: Database, keyring: Keyring, url_policy: UrlPolicy, account_id: UUID, origin: str
) -> None:
    """Create the demo webhooks for an account that has none; update their URLs if they exist."""
    existing = await sql.list_subscriptions(db, account_id, below=None, limit=url_policy.most)
    for path, description, *_ in ENDPOINTS:
        url = origin + path
        if not existing:
            changes = SubscriptionChanges(url, list(BOTH), description=description)
            await subscribe(db, keyring, url_policy, _DEMO, account_id, changes)
        for webhook in existing:
            if webhook.description == description and webhook.url != url:
                await change(
                    db,
                    keyring,
                    url_policy,
                    _DEMO,
                    account_id,
                    webhook.id,
                    SubscriptionChanges(url=url),
                )
