"""The page about performance: percentiles and costs from samples that workers share."""

import asyncio
import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.growth.deliveries import FLOW_RATE
from tradewind import ids
from tradewind.dashboard.performance import queries, views
from tradewind.dashboard.performance.published import PublishedFigures, published_figures
from tradewind.dashboard.performance.queries import DatabaseUse, MinuteCounts
from tradewind.dashboard.performance.reader import Performance, PerformanceReader
from tradewind.delivery import metrics, sql_performance
from tradewind.delivery.metrics import LATENCY_BOUNDS
from tradewind.delivery.model import COUNTED, ClaimedDelivery, DeliveryTotals
from tradewind.delivery.worker_report import WorkerReport
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.storage.pool import Database

NOTHING = DeliveryTotals([0] * len(COUNTED), 0, *([[0] * (len(LATENCY_BOUNDS) + 1)] * 3))


def counted(*seconds: float) -> list[int]:
    """The latencies as a sample has them."""
    buckets = [0] * (len(LATENCY_BOUNDS) + 1)
    for value in seconds:
        buckets[sum(bound < value for bound in LATENCY_BOUNDS)] += 1
    return buckets


def outcomes(**counts: int) -> list[int]:
    return [counts.get(outcome, 0) for outcome in COUNTED]


def attempt(
    outcome: Outcome,
    *,
    number: int = 1,
    wait: float = 0.0,
    took_ms: int | None,
    replay: bool = False,
) -> tuple[ClaimedDelivery, AttemptResult]:
    made = ids.new()
    delivery = ClaimedDelivery(
        0.0, made, made, made, 1, made, "order.updated", b"", number, made,
        made if replay else None, due=1000.0, started=1000.0 + wait, duration_ms=took_ms,
    )  # fmt: skip
    return delivery, AttemptResult(outcome)


def test_a_percentile_is_close_to_the_real_one() -> None:
    chance = random.Random(15)  # noqa: S311 - it decides nothing
    times = sorted(chance.lognormvariate(-4.5, 1.2) for _ in range(20_000))

    for share in (0.5, 0.95, 0.99):
        real = times[int(share * len(times))]
        assert views.percentile(counted(*times), share) == pytest.approx(real, rel=0.06)
    assert views.percentile(counted(), 0.5) is None
    assert views.percentile([], 0.5) is None
    assert views.percentile(counted(0.004), 0.99) == pytest.approx(0.004, rel=0.01)
    assert views.percentile(counted(1e6), 0.5) == LATENCY_BOUNDS[-1]
    assert 0 < (views.percentile(counted(0.0), 0.5) or 0) <= LATENCY_BOUNDS[0]


def test_figures_are_readable() -> None:
    assert [views.latency(seconds) for seconds in (None, 0.0026, 0.0136, 1.31, 90)] == [
        "—", "2.6 ms", "14 ms", "1.3 s", "1 min",
    ]  # fmt: skip
    rates = (None, 0, 0.0312, 0.141, 1.5, 15.55, 1204.4, 12_345.6)
    assert [views.rate(rate) for rate in rates] == [
        "—", "0", "0.031", "0.14", "1.50", "15.6", "1,204", "12,346",
    ]  # fmt: skip
    assert [views.size(count) for count in (0, 640.4, 2130, 3_400_000)] == [
        "0 bytes", "640 bytes", "2.13 kB", "3.40 MB",
    ]  # fmt: skip


def test_first_attempts_and_retries_and_replays_are_told_apart() -> None:
    before = metrics.totals()

    metrics.attempted([
        attempt(Outcome.DELIVERED, wait=0.002, took_ms=1),
        attempt(Outcome.DELIVERED, wait=-0.001, took_ms=0),  # clocks differ by a little
        attempt(Outcome.TIMEOUT, wait=0.0045, took_ms=9900),
        attempt(Outcome.DELIVERED, number=2, wait=0.5, took_ms=7),
        attempt(Outcome.DELIVERED, wait=400, took_ms=7, replay=True),
        attempt(Outcome.CANCELLED, took_ms=None),
    ])  # fmt: skip

    done = metrics.totals().since(before)
    assert done.outcomes == outcomes(delivered=4, timeout=1)
    assert (done.attempts, done.delivered, done.retries) == (5, 4, 1)
    assert done.waits == counted(0.0, 0.002, 0.0045)
    assert done.latencies == counted(0.0, 0.003)
    assert done.durations == counted(0.001, 0.0, 9.9, 0.007, 0.007)
    assert metrics.totals().since(metrics.totals()) == NOTHING


async def test_workers_share_samples_and_the_page_sums_them(db: Database) -> None:
    done = replace(
        NOTHING,
        outcomes=outcomes(delivered=90, http_error=10),
        retries=5,
        waits=counted(*[0.002] * 95),
        latencies=counted(*[0.008] * 90),
        durations=counted(*[0.006] * 100),
    )
    await asyncio.gather(*(sql_performance.add_to_sample(db, done, cpu_seconds=0.1) for _ in "123"))
    await db.execute("UPDATE delivery_sample SET begins = begins - interval '20 seconds'")
    await sql_performance.add_to_sample(db, NOTHING, cpu_seconds=0.3)
    await db.execute(
        """
        INSERT INTO delivery_sample
        SELECT DISTINCT ON (ago) begins - ago, 3000, 3000, 0, 0.9, outcomes, waits, latencies,
               durations
          FROM delivery_sample, unnest(ARRAY[interval '2 hours', interval '30 hours']) AS ago
         WHERE attempts > 0
        """
    )
    for minutes, counter in ((20, 1_000_000), (10, 700), (0, 1_000)):  # reset after the first
        await db.execute(
            "INSERT INTO database_sample VALUES"
            " (tradewind_now() - make_interval(mins => $1), $2, $2::bigint, $2::bigint)",
            minutes,
            counter,
        )

    reader = PerformanceReader(db)
    first, second = await asyncio.gather(reader.read(), reader.read())

    assert first is second is await reader.read()
    view = views.performance_view(first)
    assert view.last_minute == 270 / 60
    assert view.last_hour == 270 / 3600
    assert view.success_share == 0.9
    assert view.retry_share == 0.05
    assert view.outcomes == [(Outcome.DELIVERED, 270), (Outcome.HTTP_ERROR, 30)]
    assert view.cpu_per_thousand == pytest.approx(0.6 / 0.27)
    assert view.peak is not None
    assert view.peak.per_second == 50
    assert view.peak.cpu_per_thousand == pytest.approx(0.3)
    assert [line.count for line in view.latencies] == [270, 285, 300]
    for line, seconds in zip(view.latencies, (0.008, 0.002, 0.006), strict=True):
        assert line.p99 == pytest.approx(seconds, rel=0.25)
    assert first.database is not None
    assert first.database.seconds == pytest.approx(600, abs=5)
    assert replace(first.database, seconds=600) == DatabaseUse(600, 300, 300, 300, 270)
    assert view.database is not None
    assert view.database.transactions == pytest.approx(300 / 270)
    assert first.queue == (0, None)
    assert first.payments.count == 0

    await sql_performance.sample_database(db)
    await sql_performance.delete_old_samples(db)
    ages = await db.fetch("SELECT tradewind_now() - begins AS age FROM delivery_sample")
    assert sorted(row["age"] > timedelta(hours=1) for row in ages) == [False, False, True]


async def test_a_report_is_due_once_in_a_sample_and_loses_nothing(db: Database) -> None:
    now = 1_000_000_000.0
    report = WorkerReport(db, clock=lambda: now)
    for now in (1_000_000_004.9, 1_000_000_005.1, 1_000_000_014.9, 1_000_000_016.0):
        metrics.attempted([attempt(Outcome.DELIVERED, took_ms=1)])
        assert await report.report_if_due() is False
        [row] = await db.fetch("SELECT coalesce(sum(attempts), 0)::int AS n FROM delivery_sample")
        assert row["n"] == {4.9: 1, 5.1: 2, 14.9: 2, 16.0: 4}[round(now - 1e9, 1)]
    [worker] = await queries.list_workers(db, limit=5)
    assert worker.attempts_per_second == pytest.approx(2 / 10.9, rel=0.01)
    assert not worker.is_silent

    metrics.attempted([attempt(Outcome.TIMEOUT, took_ms=1)])
    await report.close()

    assert (await queries.sum_hour(db)).attempts == 5
    assert await queries.list_workers(db, limit=5) == []


async def test_a_lost_database_does_not_keep_a_worker_from_stopping() -> None:
    away = Database("postgresql://127.0.0.1:1/none", size=1, name="test")
    await away.open()

    await WorkerReport(away).close()

    await away.close()


async def test_an_installation_without_workers_has_no_figures(db: Database) -> None:
    read = await PerformanceReader(db).read()

    view = views.performance_view(read)

    assert (view.last_minute, view.last_hour, view.peak) == (0, 0, None)
    assert (view.success_share, view.retry_share, view.cpu_per_thousand) == (None, None, None)
    assert (view.database, view.outcomes, read.workers) == (None, [], [])
    assert [line.p99 for line in view.latencies] == [None, None, None]


async def test_the_chart_has_every_minute_of_the_last_hour(empty_performance: Performance) -> None:
    now = datetime(2026, 11, 16, 18, 30, 20, tzinfo=UTC)
    minutes = [
        MinuteCounts(now.replace(minute=minute, second=0), 660, 600, 1.0) for minute in (1, 29, 30)
    ]
    hour = replace(empty_performance.hour, now=now)

    view = views.performance_view(replace(empty_performance, minutes=minutes, hour=hour))

    starts = [start for start, _, _ in view.chart.rows]
    assert (starts[0], starts[-1], len(starts)) == (
        now.replace(hour=17, minute=30, second=0),
        now.replace(minute=29, second=0),
        60,
    )
    assert [row[1:] for row in view.chart.rows if row[1]] == [(10.0, 1.0)] * 2


def test_published_figures_are_those_of_the_longest_journal(tmp_path: Path) -> None:
    file = tmp_path / "growth.json"
    machine = {
        "cores": 2,
        "processor": "Some CPU",
        "memory_gib": 23.6,
        "commit": "abc",
        "date": "2026-11-16",
    }
    shared = {"work": "deliver an event", "statements": 1, "dimension": "journal rows"}
    elsewhere = {"dimension": "subscriptions", "size": 999, "cpu_ms": {}, "wal_bytes": 1}
    file.write_text(
        json.dumps(
            {
                "machine": machine,
                "command": "make growth",
                "figures": [
                    {**shared, "size": 10, "cpu_ms": {"worker": 9}, "wal_bytes": 9},
                    {
                        **shared,
                        "size": 99,
                        "cpu_ms": {"worker": 0.14, "database": 1},
                        "wal_bytes": 800,
                        "p50_ms": 2.5,
                        "p99_ms": 5,
                    },
                    {**shared, "size": 999, "cpu_ms": {}, "wal_bytes": 1, "work": "append"},
                    {**shared, **elsewhere},
                ],
            }
        )
    )

    assert published_figures(file) == PublishedFigures(
        "abc", "2 cores (Some CPU), 24 GiB", "2026-11-16", 99, 0.0025, 0.005, 0.14, 800
    )
    for name, text in (("empty.json", '{"machine": {}}'), ("none.json", ""), ("text.json", "x")):
        (tmp_path / name).write_text(text)
        assert published_figures(tmp_path / name) is None
    assert published_figures(tmp_path / "missing.json") is None


def test_the_published_latency_has_the_name_and_the_conditions_of_what_was_measured() -> None:
    name, meaning = views.PUBLISHED_LATENCY

    assert "arrival" in name
    assert "answer" not in name
    assert f"one webhook, {FLOW_RATE} events a second" in meaning


@pytest.fixture
async def empty_performance(db: Database) -> Performance:
    return await PerformanceReader(db).read()
