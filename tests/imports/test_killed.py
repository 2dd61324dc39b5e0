"""Workers die in the middle of an import: another goes on, and no row is ordered twice."""

import random
import time
from pathlib import Path

import pytest
from imports.test_imports import HEADER, confirmed, look, row, sent
from kit.chaos import killing_workers, worker_pool
from kit.server import ServerLauncher
from kit.spreadsheets import csv_file
from kit.system import running_system, simulated

pytestmark = pytest.mark.xdist_group("killed imports")

ORDERS = 60


def test_workers_are_killed_again_and_again(launcher: ServerLauncher, tmp_path: Path) -> None:
    with (
        running_system(launcher, tmp_path, workers=0) as system,
        worker_pool(launcher, system.api.database_url, simulated(system.market)) as pool,
    ):
        content = csv_file([HEADER, *(row(system, number % 3 + 1) for number in range(ORDERS))])
        import_id = sent(system, content).json()["id"]
        with killing_workers(pool, random.Random(7), 0.5, 2.0):  # noqa: S311 - for a test
            for phase in ("ready", "done"):
                deadline = time.monotonic() + 90
                while (shown := look(system, import_id))["status"] != phase:
                    assert time.monotonic() < deadline, shown["counts"]
                    time.sleep(0.2)
                    # A lease of a dead worker ends after a minute.
                    system.api.fetch("UPDATE import SET lease_until = 'epoch'")
                if phase == "ready":
                    assert shown["counts"]["orders_ready"] == ORDERS
                    answer = confirmed(system, import_id, shown["total_amount_cny"])
                    assert answer.status_code == 202, answer.text

        assert pool.kills > 1
        assert shown["counts"]["orders_placed"] == ORDERS
        stored = system.api.fetch(
            "SELECT count(*) AS orders, count(DISTINCT p.number) AS numbers"
            "  FROM purchase_order AS o LEFT JOIN import_placement AS p"
            "    ON p.purchase_order_id = o.id"
        )[0]
        assert (stored["orders"], stored["numbers"]) == (ORDERS, ORDERS)
