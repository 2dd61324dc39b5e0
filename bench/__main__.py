"""Runs every benchmark on an embedded PostgreSQL, and fails if a required ratio is not met."""

import asyncio
import sys
import tempfile
from pathlib import Path

import uvloop

from bench import deliveries, journal, marketplaces, me, orders
from tradewind.storage import embedded


async def main() -> bool:
    with tempfile.TemporaryDirectory(prefix="tradewind-bench-") as folder:
        async with embedded.running(Path(folder)) as server:
            key, token = await me.prepare(server.url())
            held = await asyncio.to_thread(me.run, server.url(), key, token)
            await asyncio.to_thread(marketplaces.run, server.url(), key)
            await asyncio.to_thread(orders.run, server.url(), key)
            await asyncio.to_thread(uvloop.run, journal.run(server.url()))
            delivered = await asyncio.to_thread(uvloop.run, deliveries.run(server.url()))
            return held and delivered


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main()) else 1)
