"""Retention of attempts by day, re-encrypted secrets, and a lost race."""

import asyncio
import json
import os
import secrets
import subprocess
import sys
import time
from datetime import timedelta
from uuid import UUID

import pytest
from delivery.events import journalled
from delivery.samples import NOW, a_subscription
from kit.postgres import Postgres
from kit.server import SECRET_KEY, Server, ServerLauncher
from kit.system import System
from kit.webhook_endpoint import WebhookEndpoint, assert_genuine
from kit.webhook_system import WebhookSystem
from structlog.testing import capture_logs

from tradewind import ids
from tradewind.delivery import replay, sql, sql_log, sql_replays
from tradewind.delivery.engine import LEASE
from tradewind.delivery.explain import explain
from tradewind.delivery.model import ClaimedDelivery, Replay, Total, Window
from tradewind.delivery.queue_monitor import watch
from tradewind.storage.partitions import drop_old, make_ahead
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_KEPT = timedelta(days=30)
_ATTEMPT = """
    INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event, attempt,
                                  trigger, outcome, final, started_at)
    VALUES ($1, $1, $1, $1, 'order.updated', 1, 'event', 'delivered', true, tradewind_now())
"""


async def test_attempts_are_dropped_by_the_day_after_thirty_days(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    await db.execute(_ATTEMPT, ids.new())

    async def left() -> int:
        await make_ahead(db)
        await drop_old(db, "delivery_attempt", _KEPT)
        count: int = await db.fetchval("SELECT count(*) FROM delivery_attempt")
        return count

    for _ in range(3):
        postgres.move_clock(database_url, timedelta(days=10))
        assert await left() == 1
    postgres.move_clock(database_url, timedelta(days=2))
    await db.execute(_ATTEMPT, ids.new())

    assert await left() == 1
    days = await db.fetchval(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'delivery_attempt'::regclass"
    )
    assert 30 + 14 <= days <= 30 + 14 + 3


async def test_counts_are_deleted_with_time_and_health_with_its_subscription(db: Database) -> None:
    kept, gone = ids.new(), ids.new()
    await journalled(db, ids.new(), kept)
    for hook in (kept, gone):
        await db.execute(
            "INSERT INTO subscription_health VALUES ($1, NULL, 0, NULL, NULL, 1, now())", hook
        )
        for age in (timedelta(0), timedelta(days=29), timedelta(days=31)):
            await db.execute(
                "INSERT INTO subscription_hour"
                " VALUES ($1, tradewind_now() - $2::interval, 1, 0, '{1}')",
                hook,
                age,
            )

    await sql_log.delete_old_hours(db, kept=_KEPT)

    health = await db.fetch("SELECT subscription_id FROM subscription_health")
    hours = await db.fetch("SELECT subscription_id FROM subscription_hour")
    assert [row["subscription_id"] for row in health] == [kept]
    assert sorted(row["subscription_id"] for row in hours) == sorted([kept, kept, gone, gone])


async def test_a_recovery_that_is_cancelled_while_it_is_fed_queues_nothing(db: Database) -> None:
    account, hook, job = ids.new(), ids.new(), ids.new()
    await _a_job(db, account, hook, job)
    row = await sql_replays.take_replay(db, lease=timedelta(seconds=30))
    assert row is not None
    assert row.id == job

    async def feed() -> tuple[int, bool]:
        async with transaction(db) as tx:
            return await sql_replays.feed(tx, row, limit=100, examine=1000, spacing=timedelta(0))

    async with transaction(db) as tx:
        assert await sql_replays.cancel_replay(tx, account, hook, job)
        feeding = asyncio.create_task(feed())
        await _until_somebody_waits(db)
    queued, _ = await feeding

    assert queued == 0
    assert await db.fetchval("SELECT count(*) FROM delivery_queue WHERE replay_id = $1", job) == 0
    ended = await sql_replays.find_replay(db, account, hook, job)
    assert ended is not None
    assert (ended.status, ended.queued) == ("cancelled", 0)


async def test_who_slept_while_others_fed_a_recovery_queues_nothing(db: Database) -> None:
    """Its lease ended, another queued the same events and more: none of them is queued twice."""
    account, hook, job = ids.new(), ids.new(), ids.new()
    await _a_job(db, account, hook, job, everything=True, events=5)
    slept = await sql_replays.take_replay(db, lease=timedelta(seconds=30))
    await db.execute("UPDATE test_clock SET shift = shift + interval '31 seconds'")
    awake = await sql_replays.take_replay(db, lease=timedelta(seconds=30))

    async def feed(row: Replay | None) -> tuple[int, bool]:
        assert row is not None
        async with transaction(db) as tx:
            return await sql_replays.feed(tx, row, limit=3, examine=1000, spacing=timedelta(0))

    assert await feed(awake) == (3, False)
    assert (await feed(slept))[0] == 0
    await db.execute("UPDATE replay SET next_at = tradewind_now()")
    again = await sql_replays.take_replay(db, lease=timedelta(seconds=30))
    both = await asyncio.gather(feed(again), feed(again))

    assert sorted(queued for queued, _ in both) == [0, 2]
    events = await db.fetch("SELECT event_id FROM delivery_queue")
    assert len({row["event_id"] for row in events}) == len(events) == 5
    ended = await sql_replays.find_replay(db, account, hook, job)
    assert ended is not None
    assert (ended.status, ended.queued) == ("done", 5)


async def _until_somebody_waits(db: Database) -> None:
    deadline = time.monotonic() + 10
    while not await db.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
        assert time.monotonic() < deadline


async def _a_job(
    db: Database,
    account: UUID,
    hook: UUID,
    job: UUID,
    *,
    everything: bool = False,
    events: int = 1,
) -> None:
    now = await journalled(db, account, hook, events)
    await db.execute("DELETE FROM delivery_queue")
    async with transaction(db) as tx:
        hour = timedelta(hours=1)
        window = Window(now - hour, now + hour, everything=everything)
        total = Total(events, is_exact=True)
        await sql_replays.insert_replay(tx, job, account, hook, window, total, trigger="request")


async def test_one_time_of_failure_is_caught_up_with_once(db: Database) -> None:
    """Who answers again is heard of by several flushes, and by several workers."""
    account, hook = ids.new(), ids.new()
    now = await journalled(db, account, hook)
    await db.execute("DELETE FROM delivery_queue")
    failing = Window(now - timedelta(hours=1), now + timedelta(seconds=1))

    async def begin(span: Window, trigger: str = "catch_up") -> int | None:
        begun = await replay.begin(db, account, hook, span, trigger=trigger)
        await db.execute("UPDATE replay SET status = 'done'")
        # Only what somebody asked for is counted before it begins.
        return begun and (begun[1].count or 1)

    later = Window(failing.since, failing.until + timedelta(seconds=1))
    assert [await begin(failing), await begin(failing), await begin(later)] == [1, None, None]
    assert await begin(Window(now - timedelta(minutes=1), later.until)) == 1
    assert [await begin(failing, "request"), await begin(failing, "request")] == [1, 1]


async def test_a_delivery_that_nobody_comes_back_from_is_put_aside(db: Database) -> None:
    past, future = timedelta(seconds=-1), timedelta(minutes=1)
    for lost, lease in ((4, past), (5, past), (5, future)):
        hook = ids.new()
        await journalled(db, ids.new(), hook)
        await db.execute(
            "UPDATE delivery_queue SET lost = $2, lease_until = tradewind_now() + $3::interval"
            " WHERE subscription_id = $1",
            hook,
            lost,
            lease,
        )

    await watch(db)

    rows = await db.fetch(
        "SELECT lost, due_at > tradewind_now() + interval '14 minutes' AS later,"
        " lease_until > tradewind_now() AS held FROM delivery_queue ORDER BY lost, held"
    )
    assert [tuple(row) for row in rows] == [
        (0, True, False),
        (4, False, False),
        (5, False, True),
    ]


async def test_what_was_put_aside_three_times_and_is_lost_again_has_failed(db: Database) -> None:
    """It is ended and reported once, under the id of its last send; explain and its job tell it."""
    account, hook, job = ids.new(), ids.new(), ids.new()
    await _a_job(db, account, hook, job)
    fed = await sql_replays.take_replay(db, lease=timedelta(seconds=30))
    assert fed is not None
    async with transaction(db) as tx:
        assert (await sql_replays.feed(tx, fed, limit=100, examine=1000, spacing=timedelta(0)))[
            0
        ] == 1
    sent: list[UUID] = []
    parked: list[int | None] = []
    with capture_logs() as lines:
        while (claim := await _claimed_and_lost(db, hook)) and len(sent) < 30:
            sent.append(claim.delivery_id)
            await asyncio.gather(watch(db), watch(db))
            parked.append(await db.fetchval("SELECT parked FROM delivery_queue"))

    # A claim counts as lost when the next one is made.
    assert parked == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5 + [None]
    reported = [line["event"] for line in lines if line["log_level"] == "error"]
    assert reported == ["delivery.parked"] * 3 + ["delivery.given_up"]
    last, *before = await sql_log.list_attempts_of_event(
        db, account, [hook], (await _events(db))[0]
    )
    assert (last.id, last.outcome, last.final) == (sent[-1], "unknown", True)
    assert last.error_code == "given_up"
    assert f"{len(sent)} times" in str(last.error_message)
    assert [item.id for item in reversed(before)] == sent[:-1]
    assert {(item.outcome, item.final) for item in before} == {("unknown", False)}
    result = explain(a_subscription(), "order.updated", NOW, b"{}", None, [last, *before])
    assert (result.verdict, str(last.error_message) in result.sentence) == ("failed", True)
    ended = await sql_replays.find_replay(db, account, hook, job)
    assert ended is not None
    assert (ended.queued, ended.delivered, ended.failed) == (1, 0, 1)


async def _claimed_and_lost(db: Database, hook: UUID) -> ClaimedDelivery | None:
    """Somebody claims it, when its time has come, and dies; None: there is nothing any more."""
    await db.execute("UPDATE delivery_queue SET due_at = tradewind_now()")
    claims = await sql.claim(db, {hook: 1}, lease=LEASE)
    await db.execute("UPDATE test_clock SET shift = shift + $1", LEASE)
    return claims[0] if claims else None


async def _events(db: Database) -> list[UUID]:
    return [row["id"] for row in await db.fetch("SELECT id FROM event")]


@pytest.mark.xdist_group("webhooks")
def test_secrets_are_sealed_anew_and_deliveries_go_on(
    launcher: ServerLauncher, webhook_system: System, endpoint: WebhookEndpoint
) -> None:
    """With the old master secret gone: what is delivered then was sealed with the new one."""
    new = secrets.token_hex(32)
    launcher.secrets.add(new)
    with launcher.serving(workers=1) as api:
        market, approver = webhook_system.market, webhook_system.approver
        webhooks = WebhookSystem(api, market, api.person(), approver)
        hook = webhooks.hook(endpoint.url(), headers={"X-Kept": "kept"})
        other = webhooks.hook(endpoint.url("/other"))
        both = {"TRADEWIND_SECRET_KEY": f"{new},{SECRET_KEY}"}

        first = _rotate(api, both)
        again = _rotate(api, both)
        with launcher.working(api.database_url, settings={"TRADEWIND_SECRET_KEY": new}):
            webhooks.emit(2)
            endpoint.until(lambda got: len(got) == 4)

    assert (first["resealed"], again["resealed"]) == (3, 0)
    assert {item.headers["x-kept"] for item in endpoint.at("/hook")} == {"kept"}
    for path, secret in (("/hook", hook.secret), ("/other", other.secret)):
        for item in endpoint.at(path):
            assert_genuine(item, secret)


def _rotate(api: Server, settings: dict[str, str]) -> dict[str, int]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    ended = subprocess.run(
        [sys.executable, "-m", "tradewind", "secrets", "rotate", "--json"],
        env={**inherited, "TRADEWIND_DATABASE_URL": api.database_url, **settings},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    reported: dict[str, int] = json.loads(ended.stdout)
    return reported
