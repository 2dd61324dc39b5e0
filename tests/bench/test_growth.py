"""`make growth` measures every series, and writes figures, plot and page."""

import asyncio
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
from kit.postgres import Postgres

from bench.growth import capacity, cells, plot, report, sql_fill, wal
from bench.growth.accounts import LIST, PAY
from bench.growth.commits import COMMIT
from bench.growth.control import CONTROL
from bench.growth.deliveries import DELIVER
from bench.growth.meter import GrowthMeter, Round, Spent, median_round
from bench.growth.model import Figure, Growth, percentiles
from bench.growth.open_orders import SYNC_BATCH
from bench.growth.series import (
    ACCOUNTS,
    CONNECTIONS,
    JOURNAL_ROWS,
    OPEN_ORDERS,
    SMALL_SIZES,
    SUBSCRIPTIONS,
)
from bench.journal import make_orders
from bench.statement_log import log_of
from tools.machine import Machine
from tradewind import ids
from tradewind.dashboard.performance.published import published_figures
from tradewind.orders import sql_leases
from tradewind.orders.model import PlatformJob
from tradewind.storage.pool import Database

ROOT = Path(__file__).parents[2]
MACHINE = Machine(2, "Some CPU", 23.6, "Linux 6", "3.11", "18.4", "abc1234", "2026-11-16")


@pytest.fixture
def growth() -> Growth:
    """A run with round numbers."""
    return Growth(
        MACHINE,
        "make growth",
        600.0,
        {"shared_buffers": "1GB"},
        (
            Figure(
                CONNECTIONS, 32, COMMIT, 9, 1.0, {"database": 0.04}, 100, 1.0, 1.0, 2.0, 20_000.0
            ),
            Figure(ACCOUNTS, 1, PAY, 20, 50.0, {"database": 1, "api": 1, "worker": 1}, 1, 9, 9, 9),
            Figure(
                ACCOUNTS,
                10_000,
                PAY,
                20,
                50.0,
                {"database": 30.0, "api": 15.0, "worker": 20.0},
                100_000.0,
                18.0,
                90.0,
                99.0,
            ),
            Figure(
                ACCOUNTS, 10_000, LIST, 300, 2.0, {"database": 0.5, "api": 1.5}, 0.0, 1.0, 2.0, 3.0
            ),
            Figure(
                JOURNAL_ROWS,
                10_000_000,
                DELIVER,
                2_000,
                4.0,
                {"database": 1.0, "appender": 0.4, "worker": 0.3},
                2_500.0,
                1.5,
                3.0,
                5.0,
            ),
            Figure(
                OPEN_ORDERS,
                100_000,
                SYNC_BATCH,
                20,
                8.0,
                {"database": 8.0, "caller": 16.0},
                80_000.0,
                2.0,
                50.0,
                60.0,
            ),
        ),
    )


def test_the_small_run_measures_every_series_and_writes_its_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.growth", "--sizes", "small", "--folder", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )

    assert done.returncode == 0, done.stderr
    file = tmp_path / "explanation/performance.json"
    run = report.read_growth(file.read_text())
    assert run.command == "make growth SIZES=small"
    assert {item.dimension: item.size for item in run.figures} == {
        dimension: sizes[0] for dimension, sizes in SMALL_SIZES.items()
    }
    assert {item.dimension for item in run.figures} > {SUBSCRIPTIONS, OPEN_ORDERS}
    controls = [item.dimension for item in run.figures if item.work == CONTROL]
    assert controls == list(SMALL_SIZES)
    for figure in run.figures:
        assert figure.database_ms > 0, figure
        assert figure.statements > 0, figure
        assert figure.logged_commits is not None, figure
    page = (tmp_path / "explanation/performance.md").read_text()
    assert "No run is saved yet." not in page.partition("<!-- begin bench")[0]
    assert "| deliver an event | 10,000 |" in page
    assert "The control took " in page
    assert ET.parse(tmp_path / "images" / report.PLOT).getroot().tag.endswith("svg")  # noqa: S314 - ours
    published = published_figures(file)
    assert published is not None
    assert published.journal_rows == 10_000


async def test_no_order_that_is_filled_in_is_due_during_a_run(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    [order_id] = await make_orders(db, 1, accounts=1)
    connection = await asyncpg.connect(database_url)
    await sql_fill.prepare(connection)
    await sql_fill.copy_orders(connection, order_id, 50, "t.account_id")
    await sql_fill.settle(connection, "purchase_order", "platform_order", "event")
    await connection.close()

    async def due() -> int:
        sync, held = [PlatformJob.SYNC], timedelta(seconds=1)
        orders = await sql_leases.claim_due(
            db, "sandbox", sync, lease=ids.new(), held=held, limit=100
        )
        return len(orders)

    postgres.move_clock(database_url, timedelta(hours=12))
    assert await due() == 0
    postgres.move_clock(database_url, timedelta(hours=12.5))
    assert 0 < await due() < 51
    postgres.move_clock(database_url, timedelta(hours=1.5))
    assert await due() == 51


def test_the_commands_of_the_makefile_are_those_of_the_page() -> None:
    make = ["make", "-n", "-o", "setup", "growth", "SIZES=small"]
    planned = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "-m bench.growth --sizes small" in planned.stdout
    make = ["make", "-n", "-o", "setup", "bench", "JSON=docs/explanation/bench.json"]
    planned = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "-m bench --json docs/explanation/bench.json" in planned.stdout


def test_a_run_is_read_as_it_was_saved(growth: Growth) -> None:
    assert report.read_growth(report.to_json(growth)) == growth
    assert json.loads(report.to_json(growth))["machine"]["commit"] == "abc1234"


def test_the_cost_of_an_order_is_the_sum_of_its_parts(growth: Growth) -> None:
    parts = capacity.parts_of_order(growth)
    cost = capacity.order_cost(parts)

    assert [part.number for part in parts] == [1, 8, 10, 20]
    assert cost.api_ms == pytest.approx(15 + 10 * 1.5)
    # The appender's work is part of the order; the caller of a sync is a worker.
    assert cost.worker_ms == pytest.approx(20 + 8 * 0.3 + 20 * 16 / 80)
    assert cost.database_ms == pytest.approx(30 + 8 * 1.0 + 10 * 0.5 + 20 * 8 / 80)
    assert cost.wal_bytes == pytest.approx(100_000 + 8 * 2_500 + 20 * 1_000)
    assert cost.commits == pytest.approx(18 + 8 * 1.5 + 10 * 1 + 20 * 2 / 80)


def test_cores_grow_with_orders_and_are_busy_to_the_target_at_the_peak(growth: Growth) -> None:
    cost = capacity.order_cost(capacity.parts_of_order(growth))

    need = capacity.capacity(cost, 864_000)
    assert need.orders_a_second == 40.0
    assert need.database_cores == pytest.approx(40 * 0.045 / 0.6)
    assert need.api_cores == pytest.approx(40 * 0.030 / 0.6)
    assert need.wal_mib_a_second == pytest.approx(40 * 140_000 / 2**20)
    assert capacity.capacity(cost, 8_640_000).worker_cores == pytest.approx(10 * need.worker_cores)


def test_one_postgresql_ends_at_its_scarcest_resource(growth: Growth) -> None:
    cost = capacity.order_cost(capacity.parts_of_order(growth))

    limits = capacity.limits(growth, cost)
    assert [limit.resource for limit in limits] == ["logged commits", "CPU", "WAL"]
    assert limits[0].orders_a_day == pytest.approx(20_000 * 0.6 / 40.5 * 86_400 / 4)
    assert limits[1].orders_a_day == pytest.approx(32 * 0.6 / 0.045 * 86_400 / 4)
    slow_disk = replace(capacity.MODEL, server_wal_mib=1.0)
    assert capacity.limits(growth, cost, slow_disk)[0].resource == "WAL"


def commits_at(growth: Growth, rates: dict[int, float]) -> Growth:
    """The run with these rates of commits by connections, in place of its own."""
    figure = growth.figure(CONNECTIONS, COMMIT)
    rest = [item for item in growth.figures if item is not figure]
    measured = [replace(figure, size=size, rate=rate) for size, rate in rates.items()]
    return replace(growth, figures=(*rest, *measured))


def test_the_rate_of_commits_is_the_highest_that_was_measured(growth: Growth) -> None:
    cost = capacity.order_cost(capacity.parts_of_order(growth))
    rising = commits_at(growth, {1: 900.0, 32: 3_000.0, 8: 2_000.0})
    fallen = commits_at(growth, {1: 900.0, 32: 8_000.0, 128: 7_500.0})

    [limit, *_] = capacity.limits(rising, cost)
    assert limit.server == "3,000 a second at 60%"
    assert limit.basis == (
        "both measured here, the rate with 32 connections, while 0.1 of 2 cores were busy with it; "
        "it still rose by 50% from 8 connections"
    )
    [limit, *_] = capacity.limits(fallen, cost)
    assert limit.server == "8,000 a second at 60%"
    assert limit.basis.endswith("; it rose no further with up to 128 connections")


def test_commits_that_wait_for_no_disk_do_not_count_for_the_limit(growth: Growth) -> None:
    counted = {PAY: 9.0, LIST: 0.0, DELIVER: 1.25, SYNC_BATCH: 1.0}
    figures = [replace(item, logged_commits=counted.get(item.work)) for item in growth.figures]
    logged = replace(growth, figures=figures)

    cost = capacity.order_cost(capacity.parts_of_order(logged))
    assert cost.commits == pytest.approx(40.5)
    assert cost.logged_commits == pytest.approx(9 + 8 * 1.25 + 20 / 80)
    assert capacity.capacity(cost, 864_000).logged_commits_a_second == pytest.approx(40 * 19.25)
    by_resource = {limit.resource: limit for limit in capacity.limits(logged, cost)}
    assert by_resource["logged commits"].orders_a_day == pytest.approx(
        20_000 * 0.6 / 19.25 * 86_400 / 4
    )
    # A run that did not count them has all commits as an upper bound.
    assert capacity.order_cost(capacity.parts_of_order(growth)).logged_commits == cost.commits


@pytest.mark.parametrize("orders", cells.CELLS_ORDERS_A_DAY)
def test_as_many_servers_are_needed_as_cells_that_are_full(growth: Growth, orders: int) -> None:
    limits = capacity.limits(growth, capacity.order_cost(capacity.parts_of_order(growth)))

    servers = capacity.servers_needed(orders, limits)
    assert servers == -(-orders // int(limits[0].orders_a_day))
    assert servers <= cells.plan(orders, limits[0].orders_a_day).cells <= servers + 1
    assert capacity.servers_needed(1, limits) == 1


async def test_only_commits_to_logged_tables_are_counted(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    directory = Path(await connection.fetchval("SHOW data_directory"))
    postmaster = int((directory / "postmaster.pid").read_text().split()[0])
    await connection.execute("CREATE TABLE kept (n integer)")
    await connection.execute("CREATE UNLOGGED TABLE forgotten (n integer PRIMARY KEY)")
    meter = GrowthMeter(connection, postmaster, await log_of(database_url))

    async def measured(statement: str) -> Figure:
        async def work() -> None:
            await connection.execute(statement)

        return await meter.measure(CONNECTIONS, 1, "a statement", work, times=50)

    to_kept = await measured("INSERT INTO kept VALUES (1)")
    to_forgotten = await measured("INSERT INTO forgotten SELECT count(*) FROM forgotten")
    reading = await measured("SELECT FROM kept")
    await connection.close()

    # Rounded, because PostgreSQL's own processes write as well.
    assert round(to_kept.commits) == round(to_kept.logged_commits or 0.0) == 1
    assert (round(to_forgotten.commits), round(to_forgotten.logged_commits or 0.0)) == (1, 0)
    assert (round(reading.commits), round(reading.logged_commits or 0.0)) == (0, 0)


def test_commits_outside_the_measured_parts_of_the_wal_do_not_count() -> None:
    change = (
        "rmgr: Heap        len (rec/tot):     59/    59, tx:        754, lsn: 1/00000010, "
        "prev 1/00000000, desc: INSERT off: 1, flags: 0x00, blkref #0: rel 1663/5/16385 blk 0"
    )
    commits = [
        f"rmgr: Transaction len (rec/tot):     34/    34, tx:        {tx}, lsn: {lsn}, "
        "prev 1/00000010, desc: COMMIT 2026-11-19 01:17:16.469769 UTC"
        for tx, lsn in ((754, "1/00000050"), (755, "1/00000080"))
    ]
    start = 1 << 32

    records = "\n".join([change, *commits])
    assert wal.count_commits(records, [(start, start + 0x100)]) == 1
    assert wal.count_commits(records, [(start, start + 0x50), (start + 0x80, start + 0x100)]) == 0


def test_a_figure_that_was_not_measured_is_named(growth: Growth) -> None:
    with pytest.raises(ValueError, match="no figure for 'deliver an event' by journal rows"):
        capacity.parts_of_order(replace(growth, figures=growth.figures[:3]))


def test_the_page_has_the_tables_of_a_run(growth: Growth) -> None:
    page = (ROOT / "docs/explanation/performance.md").read_text()

    shown = report.with_growth(page, growth)
    assert "`make growth` at commit `abc1234` on 2026-11-16: 2 cores (Some CPU)" in shown
    assert "| 1 to 10,000 accounts | 50.0 → 50.0 | 1 → 30 ms | 2 → 35 ms | 9 → 90 ms |" in shown
    assert "| commit one row (20,000 a second) | 32 |" in shown
    assert "| **an order** |  |  | 30 ms | 26.4 ms | 45 ms | 40.5 | 40.5 | 136.7 KiB |" in shown
    assert "| 10,000,000 | 463.0 a second | 23.1 | 20.4 | 34.7 | 2 | 18,750 a second |" in shown
    assert "the scarcest resource first: logged commits." in shown
    assert report.with_growth(shown, growth) == shown


def test_an_account_that_fits_no_cell_is_a_row_with_its_size(growth: Growth) -> None:
    page = (ROOT / "docs/explanation/performance.md").read_text()

    shown = report.with_growth(page, commits_at(growth, {32: 4_000.0}))
    assert (
        "| 100,000,000 | 100,000 | 2.2% of all orders | the largest account does not fit: it is "
        "171% of a cell, and needs one of 2,194,787 orders a day | - | - | - |"
    ) in shown


def test_the_page_says_how_much_the_same_work_differs(growth: Growth) -> None:
    page = (ROOT / "docs/explanation/performance.md").read_text()
    controls = [
        Figure(dimension, 1, CONTROL, 300, 1.0, {"database": ms, "caller": 0.1}, 0.0)
        for dimension, ms in ((ACCOUNTS, 0.2), (OPEN_ORDERS, 0.5), (JOURNAL_ROWS, 0.4))
    ]

    shown = report.with_growth(page, replace(growth, figures=(*growth.figures, *controls)))
    assert "The control took 0.3 to 0.6 ms of CPU: 2.0 times as much at one size" in shown
    assert "The control took" not in report.with_growth(page, growth)


def test_the_plot_has_a_line_for_each_work_of_several_sizes(growth: Growth) -> None:
    picture = plot.draw(growth.figures, report.DIMENSIONS)

    root = ET.fromstring(picture)  # noqa: S314 - ours
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert PAY in texts
    assert DELIVER not in texts  # it has one size only
    assert {"accounts", "ms of CPU", "1", "10k"} <= set(texts)
    assert JOURNAL_ROWS not in texts
    assert "prefers-color-scheme:dark" in picture


def test_a_logarithmic_axis_gives_each_power_of_ten_the_same_room() -> None:
    axis = plot.LogAxis.over([10, 900], 100.0, 300.0)

    assert axis.ticks == [10.0, 100.0, 1000.0]
    assert [axis.at(tick) for tick in axis.ticks] == pytest.approx([100.0, 200.0, 300.0])


@pytest.mark.parametrize(
    ("seconds", "kept"),
    [([9.0, 1.0, 5.0], 5.0), ([9.0, 1.0], 1.0), ([4.0, 9.0, 2.0, 8.0], 4.0), ([3.0], 3.0)],
)
async def test_the_round_with_the_median_cpu_is_kept(seconds: list[float], kept: float) -> None:
    # Twice the works take twice the CPU.
    rounds = iter([Round(Spent({"database": cpu * n}), n) for n, cpu in enumerate(seconds, 1)])

    async def measure() -> Round:
        return next(rounds)

    assert (await median_round(measure, len(seconds), at_most=60.0)).cpu_each == kept
    assert next(rounds, None) is None


async def test_no_round_begins_after_the_time_is_up() -> None:
    measured = []

    async def measure() -> Round:
        measured.append(Round(Spent({"database": 1.0}), 1))
        await asyncio.sleep(0.06)
        return measured[-1]

    await median_round(measure, 5, at_most=0.1)
    assert len(measured) == 2
    await median_round(measure, 5, at_most=0.0)
    assert len(measured) == 3


def test_percentiles_of_few_calls() -> None:
    assert percentiles([]) == (None, None)
    assert percentiles([0.002]) == (2.0, 2.0)
    assert percentiles([0.001, 0.003]) == pytest.approx((2.0, 2.98))
