"""An account that reads without pause does not slow down another account's orders."""

import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from kit.server import Person, ServerLauncher
from kit.system import System, running_system

# The marketplace bears ten calls a second, with a burst of sixty; a create takes about four.
PACE = {"TRADEWIND_PLATFORM_SANDBOX_RATE": "600"}
READERS = 12
CREATES = 9
MOST_SECONDS = 60


@pytest.fixture
def paced(launcher: ServerLauncher, tmp_path: Path) -> Iterator[System]:
    with running_system(launcher, tmp_path, settings=PACE, notices=False) as system:
        yield system


@dataclass(frozen=True)
class Read:
    """An answer to a reader."""

    stale: bool
    seconds: float


def test_reads_of_one_account_do_not_hold_up_the_creates_of_another(paced: System) -> None:
    reader, writer = paced.buyer, paced.api.person()
    paced.sku()
    alone = [create(paced, reader) for _ in range(READERS)]

    with reading(paced, reader, [order_id for order_id, _, _ in alone]) as reads:
        deadline = time.monotonic() + MOST_SECONDS
        while not any(read.stale for read in reads):
            assert time.monotonic() < deadline, "the readers never used up their budget"
            time.sleep(0.05)
        beside = [create(paced, writer) for _ in range(CREATES)]

    assert [status for _, status, _ in beside] == ["pending_payment"] * CREATES
    slower = median(seconds for *_, seconds in beside) - median(seconds for *_, seconds in alone)
    assert slower < 1.0, beside
    # A reader for whom there is no room is not kept waiting: it gets what is stored.
    assert median(read.seconds for read in reads if read.stale) < 1.0


def create(system: System, by: Person) -> tuple[str, str, float]:
    """Place an order: its id, its status in the answer, and the seconds that it took."""
    began = time.monotonic()
    order = system.place(system.order_body(), by=by).json()
    return order["id"], order["status"], time.monotonic() - began


def median(seconds: Iterator[float]) -> float:
    return statistics.median(seconds)


@contextmanager
def reading(system: System, by: Person, order_ids: list[str]) -> Iterator[list[Read]]:
    """Readers that each look at one order again and again, until the block ends."""
    reads: list[Read] = []
    stop = threading.Event()

    def read(order_id: str) -> None:
        with httpx.Client(base_url=system.api.url, headers=by.headers, timeout=10) as client:
            while not stop.wait(0.05):
                began = time.monotonic()
                order = client.get(f"/v1/orders/{order_id}").json()
                reads.append(Read(order["stale"], time.monotonic() - began))

    with ThreadPoolExecutor(len(order_ids)) as pool:
        readers = [pool.submit(read, order_id) for order_id in order_ids]
        try:
            yield reads
        finally:
            stop.set()
        for reader in readers:
            reader.result()
