"""Workers die in the middle of an import: another goes on, and no row is ordered twice."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from imports.test_imports import HEADER, confirmed, look, row, sent
from kit.chaos import WorkerPool, worker_pool
from kit.server import ServerLauncher
from kit.spreadsheets import csv_file
from kit.system import System, running_system, simulated

pytestmark = pytest.mark.xdist_group("killed imports")

# A soak imports more.
ORDERS = 40 if "SOAK_KILLS" in os.environ else 20
# All workers die whenever so many more orders are through.
ORDERS_PER_KILL = 10


def test_workers_are_killed_again_and_again(launcher: ServerLauncher, tmp_path: Path) -> None:
    with (
        running_system(launcher, tmp_path, workers=0, api_processes=1) as system,
        worker_pool(launcher, system.api.database_url, simulated(system.market)) as pool,
    ):
        # Slow enough that an import is seen, and its workers are killed, in the middle of it.
        system.market.fault("preview", "slow", seconds=0.1)
        system.market.fault("create", "slow", seconds=0.1)
        content = csv_file([HEADER, *(row(system, number % 3 + 1) for number in range(ORDERS))])
        import_id = sent(system, content).json()["id"]

        checked = kill_until(system, pool, import_id, "ready")
        assert checked["counts"]["orders_ready"] == ORDERS
        answer = confirmed(system, import_id, checked["total_amount_cny"])
        assert answer.status_code == 202, answer.text
        placed = kill_until(system, pool, import_id, "done")

        assert placed["counts"]["orders_placed"] == ORDERS
        stored = system.api.fetch(
            "SELECT count(*) AS orders, count(DISTINCT p.number) AS numbers"
            "  FROM purchase_order AS o LEFT JOIN import_placement AS p"
            "    ON p.purchase_order_id = o.id"
        )[0]
        assert (stored["orders"], stored["numbers"]) == (ORDERS, ORDERS)


def kill_until(system: System, pool: WorkerPool, import_id: str, status: str) -> Any:
    """Kill all workers now and then until the import has this status."""
    counted = "orders_ready" if status == "ready" else "orders_placed"
    kills_before, next_kill = pool.kills, 1
    deadline = time.monotonic() + 90
    while (shown := look(system, import_id))["status"] != status:
        assert time.monotonic() < deadline, shown["counts"]
        if shown["counts"][counted] >= next_kill:
            next_kill = shown["counts"][counted] + ORDERS_PER_KILL
            pool.kill_all()
        # A lease of a dead worker ends after a minute.
        system.api.fetch("UPDATE import SET lease_until = 'epoch'")
        time.sleep(0.05)
    assert pool.kills > kills_before
    return shown
