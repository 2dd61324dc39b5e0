"""Commands for one order run one after another, and each sees the one before."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import asyncpg
from kit import invariants
from kit.system import System

from tradewind import ids

_WAITING = """
    SELECT count(*) AS number
      FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@contextmanager
def _held(system: System, order_id: str) -> Iterator[None]:
    """Keep an order locked, so that who wants it queues up."""
    stop, ready = threading.Event(), threading.Event()

    async def hold() -> None:
        connection = await asyncpg.connect(system.api.database_url)
        async with connection.transaction():
            query = "SELECT 1 FROM purchase_order WHERE id = $1 FOR UPDATE"
            await connection.execute(query, ids.ORDER.read(order_id))
            ready.set()
            await asyncio.to_thread(stop.wait)
        await connection.close()

    thread = threading.Thread(target=lambda: asyncio.run(hold()))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _wait_for(system: System, number: int) -> None:
    for _ in range(500):
        if system.api.fetch(_WAITING)[0]["number"] >= number:
            return
    raise AssertionError("nobody waits")


def test_who_waited_for_a_request_to_be_made_does_not_lose_it(system: System) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}"

    with ThreadPoolExecutor(2) as pool:
        with _held(system, order["id"]):
            requesting = pool.submit(system.call, "POST", f"{path}/payment")
            _wait_for(system, 1)
            cancelling = pool.submit(system.call, "POST", f"{path}/cancel")
            _wait_for(system, 2)
        requested, cancelled = requesting.result(), cancelling.result()

    assert (requested.status_code, cancelled.status_code) == (201, 202)
    assert cancelled.json()["payment"]["id"] == requested.json()["id"]
    invariants.check_ours(system.api, [order["id"]])
