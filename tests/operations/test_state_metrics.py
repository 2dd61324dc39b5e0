"""The state of the system is measured: what waits, what is overdue, what expires."""

from datetime import timedelta
from math import inf
from typing import Any

import pytest
from kit.accounts import insert_account
from kit.system import System
from prometheus_client import REGISTRY

from tradewind import ids
from tradewind.background.scheduled_tasks import ScheduledTask, run_due_tasks
from tradewind.operations import sql
from tradewind.operations.metrics import JOBS, StateMetrics
from tradewind.operations.model import TaskDelay, WorkerCounts
from tradewind.storage.pool import Database

PLATFORMS = ["sandbox", "alibaba", "taobao"]
_ORDERS_READ = """
    SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
      FROM pg_stat_user_tables
     WHERE relname = 'purchase_order'
"""


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"tradewind_{name}", labels)


async def measured(system: System) -> None:
    db = Database(system.api.database_url, size=1, name="test")
    await db.open()
    try:
        await StateMetrics(db, PLATFORMS, ["sync"]).measure()
    finally:
        await db.close()


def at(seconds: float) -> Any:
    return pytest.approx(seconds, abs=30)


@pytest.mark.xdist_group("system")
async def test_orders_and_payments_that_wait_are_measured(system: System) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])
    payment_id, order_id = ids.PAYMENT.read(payment["id"]), ids.ORDER.read(order["id"])
    system.api.fetch(
        "UPDATE payment_request SET updated_at = tradewind_now() - interval '1 hour' WHERE id = $1",
        payment_id,
    )
    system.api.fetch(
        "UPDATE purchase_order SET pay_before = tradewind_now() + interval '90 minutes',"
        " next_sync_at = tradewind_now() + interval '1 hour' WHERE id = $1",
        order_id,
    )

    await measured(system)

    assert (value("payment_requests", status="pending_approval", mode="auto") or 0) >= 1
    oldest = value("payment_request_oldest_seconds", status="pending_approval", mode="auto")
    assert oldest == at(3600)
    assert (value("payments_expiring") or 0) >= 1
    assert value("order_job_oldest_seconds", platform="sandbox", work="create") is not None
    system.ok("DELETE", f"/v1/orders/{order['id']}/payment")


async def test_an_empty_system_has_every_value(db: Database) -> None:
    await StateMetrics(db, PLATFORMS, ["sync"]).measure()

    for platform in PLATFORMS:
        for job in JOBS:
            for name in ("order_jobs", "order_job_oldest_seconds", "order_job_overdue_seconds"):
                assert value(name, platform=platform, work=job) == 0
    for status in ("pending_approval", "approved", "processing"):
        for mode in ("auto", "link"):
            assert value("payment_requests", status=status, mode=mode) == 0
            assert value("payment_request_oldest_seconds", status=status, mode=mode) == 0
    assert value("payments_expiring") == value("workers") == value("workers_silent") == 0
    for check in ("writable", "writes", "migrations", "partitions"):
        assert value("database_ready", check=check) == 1


async def test_open_orders_that_are_not_due_are_not_read(db: Database) -> None:
    """Every open order has a sync: a system has thousands of them, and a few are due."""
    account_id = await insert_account(db)
    await db.execute(
        """
        INSERT INTO purchase_order (id, account_id, platform, items, address, metadata, previewed,
                                    status, payment_status, platform_payment_status, order_ids,
                                    paid_fen, refunded_fen, parts, refunds, created_at, updated_at,
                                    work, next_sync_at)
        SELECT tradewind_uuid7(), $1, 'sandbox', '[]', '{}', '{}', true, 'pending_payment',
               'unpaid', 'unpaid', ARRAY[n::text], 0, 0, '[]', '[]', now(), now(),
               CASE WHEN n <= 3 THEN 'create' ELSE 'sync' END,
               tradewind_now() + (n - 5) * interval '1 hour'
          FROM generate_series(1, 2000) AS n
        """,
        account_id,
    )
    await db.execute("ANALYZE purchase_order")
    await db.execute("SELECT pg_stat_force_next_flush()")
    before = await db.fetchval(_ORDERS_READ)

    jobs = {
        (backlog.platform, backlog.job): (backlog.orders, backlog.overdue_seconds)
        for backlog in await sql.measure_jobs(db, PLATFORMS, JOBS)
    }
    await db.execute("SELECT pg_stat_force_next_flush()")

    assert jobs["sandbox", "create"] == (3, at(4 * 3600))
    assert jobs["sandbox", "sync"] == (2, at(3600))
    assert await db.fetchval(_ORDERS_READ) - before < 20


async def test_an_authorisation_is_shown_while_there_is_one(db: Database) -> None:
    state = StateMetrics(db, PLATFORMS, [])
    insert = """
        INSERT INTO platform_connection (platform, app_key, source, app_secret, access_token,
            refresh_token, access_expires_at, refresh_expires_at, rejected_at, failure, updated_at)
        VALUES ($1, 'key', 'operator', '', '', $2, tradewind_now() + interval '1 day',
                tradewind_now() + $3::interval, CASE WHEN $4 THEN tradewind_now() END,
                CASE WHEN $4 THEN 'rejected' END, tradewind_now())
        """
    await db.execute(insert, "sandbox", None, None, False)
    await db.execute(insert, "alibaba", b"", timedelta(days=30), True)
    await db.execute(insert, "taobao", b"", None, False)

    await state.measure()

    shown = {
        platform: (
            value("platform_authorised", platform=platform),
            value("platform_refresh_failing", platform=platform),
            value("platform_authorisation_expires_seconds", platform=platform),
        )
        for platform in PLATFORMS
    }
    assert shown == {
        "sandbox": (1, 0, at(86_400)),
        "alibaba": (0, 1, at(30 * 86_400)),
        "taobao": (1, 0, inf),
    }
    await db.execute("UPDATE platform_connection SET disconnected = true")
    await state.measure()
    assert value("platform_authorised", platform="alibaba") is None


async def test_workers_that_stopped_reporting_are_counted_for_a_while(db: Database) -> None:
    for seconds in (5, 39, 60, 800, 1000):
        await db.execute(
            "INSERT INTO worker_process (id, host, pid, started_at, reported_at, cpu_share,"
            " attempts_per_second) VALUES ($1, 'host', 1, tradewind_now(),"
            " tradewind_now() - $2::interval, 0, 0)",
            ids.new(),
            timedelta(seconds=seconds),
        )

    assert await sql.count_workers(db) == WorkerCounts(reporting=2, silent=2)


async def test_a_task_that_is_not_run_is_overdue_and_a_failure_is_counted(db: Database) -> None:
    async def fail() -> None:
        raise OSError("no")

    tasks = [ScheduledTask("broken", timedelta(minutes=1), fail)]
    before = value("scheduled_task_failures_total", task="broken") or 0
    with pytest.raises(OSError, match="no"):
        await run_due_tasks(db, tasks)
    await db.execute("UPDATE scheduled_task SET due_at = tradewind_now() - interval '1 hour'")

    delays = await sql.list_task_delays(db, ["broken", "unknown"])

    assert delays == [TaskDelay("broken", at(3600))]
    assert value("scheduled_task_failures_total", task="broken") == before + 1


async def test_the_load_of_the_server_is_measured(db: Database) -> None:
    async with db.connection() as connection, connection.transaction():
        await connection.execute("SELECT pg_sleep(1.1)")
        state = await sql.measure_database(db)

    assert 1 <= state.connections <= state.connections_max
    assert state.oldest_transaction_seconds > 1
    assert state.replication_slot_bytes == 0
    assert state.size_bytes > 1_000_000
    assert state.is_writable
