"""A process that appends events to the journal, as the API does, and says when each committed."""

import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import cycle
from time import perf_counter
from uuid import UUID

import uvloop

from tradewind import ids
from tradewind.events import journal
from tradewind.events.catalogue import ORDER_UPDATED, OrderNews, compose
from tradewind.observability import logs
from tradewind.runtime.wiring import tune_garbage_collection
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_WRITERS = 16


class Appender:
    """Appends events of some accounts in turn, each in a transaction of its own."""

    def __init__(self, db: Database, account_ids: Sequence[UUID]) -> None:
        self._db = db
        self._account_ids = cycle(account_ids)

    async def append(self) -> tuple[str, float]:
        """The id of a new event, and when its transaction had committed."""
        order_id, now = ids.new(), datetime.now(UTC)
        news = OrderNews(
            id=ids.ORDER.show(order_id),
            platform="sandbox",
            order_id="1688001",
            status="paid",
            payment_status="paid",
            platform_payment_status="paid",
            total_amount_cny=128.5,
            updated_at=now.isoformat(),
        )
        event = compose(next(self._account_ids), order_id, ORDER_UPDATED, news, now)
        async with transaction(self._db) as tx:
            journal.append(tx, [event])
        return ids.EVENT.show(event.id), perf_counter()

    async def burst(self, number: int) -> list[tuple[str, float]]:
        """Append `number` events as fast as some writers at once can."""
        left = iter(range(number))

        async def write() -> list[tuple[str, float]]:
            return [await self.append() for _ in left]

        return [
            event
            for events in await asyncio.gather(*(write() for _ in range(_WRITERS)))
            for event in events
        ]

    async def flow(self, rate: int, seconds: float) -> list[tuple[str, float]]:
        """Append `rate` events a second."""
        began = perf_counter()
        events = []
        for number in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, began + number / rate - perf_counter()))
            events.append(await self.append())
        return events


async def main(database_url: str, account_ids: Sequence[UUID]) -> None:
    logs.configure("json", "error")
    tune_garbage_collection()
    db = Database(database_url, size=_WRITERS, name="bench-appender")
    await db.open()
    appender = Appender(db, account_ids)
    loop = asyncio.get_running_loop()
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command, *numbers = line.split()
        events = await getattr(appender, command)(*map(int, numbers))
        print(json.dumps(events), flush=True)
    await db.close()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], [UUID(account_id) for account_id in sys.argv[2:]]))
