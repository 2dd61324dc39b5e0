"""The recorder keeps going whatever fails, and one bad row does not block the others."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest
from delivery.events import journalled
from msgspec.structs import replace

from tradewind import ids
from tradewind.delivery import recorder, sql
from tradewind.delivery.model import COUNTED, ClaimedDelivery
from tradewind.delivery.recorder import Recorder
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress import descriptors
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.storage.pool import Database

Attempt = tuple[ClaimedDelivery, AttemptResult]


async def claimed(db: Database, number: int) -> tuple[Sequence[ClaimedDelivery], Sequence[Attempt]]:
    """Deliveries that are ours, and the attempts by which they were delivered."""
    hook = ids.new()
    await journalled(db, ids.new(), hook, number)
    claims = await sql.claim(db, {hook: number}, lease=timedelta(seconds=20))
    return claims, [
        (replace(claim, started=claim.due, duration_ms=3), AttemptResult(Outcome.DELIVERED))
        for claim in claims
    ]


async def record(db: Database, ended: Sequence[Attempt]) -> None:
    made = Recorder(db, db, {}, RetryPolicy())
    for item in ended:
        made.add(*item)
    made.close()
    await asyncio.wait_for(made.run(), 20)


async def logged(db: Database) -> set[object]:
    return {row["id"] for row in await db.fetch("SELECT id FROM delivery_attempt")}


async def test_one_that_cannot_be_recorded_keeps_none_of_the_others_from_it(db: Database) -> None:
    claims, ended = await claimed(db, 8)
    no_such_day = ended[5][0].started - timedelta(days=100).total_seconds()
    attempts = list(ended)
    attempts[5] = (replace(ended[5][0], started=no_such_day), ended[5][1])

    await record(db, attempts)

    others = {claim.delivery_id for claim in claims} - {claims[5].delivery_id}
    assert await logged(db) == others
    left = await db.fetch("SELECT id FROM delivery_queue")
    assert [row["id"] for row in left] == [claims[5].id]


async def test_what_follows_a_record_cannot_bring_it_back(db: Database) -> None:
    claims, ended = await claimed(db, 4)
    of_a_job = [(replace(delivery, replay_id=ids.new()), result) for delivery, result in ended]
    await db.execute("DROP TABLE replay")
    await db.execute("DROP TABLE subscription_hour")

    await record(db, of_a_job)

    rows = await db.fetch("SELECT id FROM delivery_attempt")
    assert sorted(row["id"] for row in rows) == sorted(claim.delivery_id for claim in claims)
    assert await db.fetchval("SELECT count(*) FROM delivery_queue") == 0


async def _claimed_again(db: Database, hook: UUID) -> Sequence[ClaimedDelivery]:
    """The same deliveries, after the leases on them have ended."""
    await db.execute("UPDATE delivery_queue SET lease_until = 'epoch'")
    return await sql.claim(db, {hook: 10}, lease=timedelta(seconds=20))


async def _log(db: Database) -> list[tuple[object, ...]]:
    rows = await db.fetch(
        "SELECT id, outcome, final, late, status_code, error_code, response_body, trigger"
        "  FROM delivery_attempt ORDER BY id"
    )
    return [tuple(row) for row in rows]


async def test_who_comes_too_late_tells_the_log_and_changes_nothing_else(db: Database) -> None:
    (claim,), (ended,) = await claimed(db, 1)
    (again,) = await _claimed_again(db, claim.subscription_id)
    assert await _log(db) == [
        (claim.delivery_id, "unknown", False, False, None, "worker_died", None, "event")
    ]
    before = await db.fetch("SELECT * FROM delivery_queue")

    await record(db, [(ended[0], replace(ended[1], status=200, body=b"ok"))])

    assert await _log(db) == [
        (claim.delivery_id, "delivered", False, True, 200, None, b"ok", "event")
    ]
    assert await db.fetch("SELECT * FROM delivery_queue") == before
    assert again.delivery_id != claim.delivery_id
    assert await db.fetchval("SELECT count(*) FROM subscription_health") == 0
    assert await db.fetchval("SELECT count(*) FROM subscription_hour") == 0


async def test_an_attempt_and_the_one_in_its_place_are_told_apart_in_one_batch(
    db: Database,
) -> None:
    (claim,), (ended,) = await claimed(db, 1)
    (again,) = await _claimed_again(db, claim.subscription_id)
    failed = (replace(again, started=again.due), AttemptResult(Outcome.TIMEOUT))

    await record(db, [ended, failed])

    assert await _log(db) == [
        (claim.delivery_id, "delivered", False, True, None, None, None, "event"),
        (again.delivery_id, "timeout", False, False, None, None, None, "event"),
    ]
    assert await db.fetchval("SELECT attempt FROM delivery_queue") == 2
    counted = await db.fetchrow("SELECT delivered, failed FROM subscription_hour")
    assert tuple(counted or ()) == (0, 1)


async def test_what_is_recorded_twice_since_the_first_answer_was_lost_is_not_late(
    db: Database,
) -> None:
    _, ended = await claimed(db, 2)
    await record(db, ended)
    before = await _log(db)

    await record(db, ended)

    assert [row[1:4] for row in before] == [("delivered", True, False)] * 2
    assert await _log(db) == before


async def test_a_late_attempt_that_nobody_logged_is_added(db: Database) -> None:
    (claim,), (ended,) = await claimed(db, 1)
    await db.execute("DELETE FROM delivery_queue")
    of_a_job = replace(ended[0], replay_id=ids.new())

    await record(db, [(of_a_job, ended[1])])

    assert await _log(db) == [
        (claim.delivery_id, "delivered", False, True, None, None, None, "recover")
    ]


async def test_what_was_not_sent_for_want_of_a_descriptor_is_no_attempt(db: Database) -> None:
    """It is given back, for a moment later; the others of its batch are recorded."""
    claims, ended = await claimed(db, 3)
    attempts = list(ended)
    attempts[1] = (
        ended[1][0],
        AttemptResult(Outcome.CONNECT_FAILED, problem=descriptors.NONE_LEFT),
    )

    await record(db, attempts)

    assert await logged(db) == {claims[0].delivery_id, claims[2].delivery_id}
    (left,) = await db.fetch(
        "SELECT id, attempt, lost, delivery_id, due_at <= tradewind_now() AS is_due,"
        " lease_until - tradewind_now() AS rest FROM delivery_queue"
    )
    assert tuple(left)[:5] == (claims[1].id, 1, 0, None, True)
    assert timedelta(0) < left["rest"] <= timedelta(seconds=1)
    counted = await db.fetchrow("SELECT delivered, failed FROM subscription_hour")
    assert tuple(counted or ()) == (2, 0)


async def test_it_is_behind_when_what_is_over_waits_too_long(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ended = await claimed(db, 1)
    made = Recorder(db, db, {}, RetryPolicy())
    assert not made.is_behind

    made.add(*ended[0])
    assert not made.is_behind
    monkeypatch.setattr(recorder, "_BEHIND_SECONDS", -1.0)

    assert made.is_behind


async def test_it_is_behind_when_too_much_is_over(db: Database) -> None:
    """However fast it records: what comes last must be recorded before its lease ends."""
    _, (ended,) = await claimed(db, 1)
    made = Recorder(db, db, {}, RetryPolicy())
    for _ in range(2000):
        made.add(*ended)
    assert not made.is_behind

    made.add(*ended)

    assert made.is_behind


async def test_attempts_are_counted_by_outcome_and_hour(db: Database) -> None:
    _, ended = await claimed(db, 5)
    hook = ended[0][0].subscription_id
    outcomes = [Outcome.DELIVERED, Outcome.TIMEOUT, Outcome.TIMEOUT, Outcome.HTTP_ERROR]
    reported = [
        (item[0], AttemptResult(outcome)) for item, outcome in zip(ended, outcomes, strict=False)
    ]

    await record(db, reported)
    # As a version that knew fewer outcomes left it.
    await db.execute("UPDATE subscription_hour SET outcomes = outcomes[1:2]")
    await record(db, [(ended[4][0], AttemptResult(Outcome.TIMEOUT))])

    rows = await db.fetch("SELECT * FROM subscription_hour WHERE subscription_id = $1", hook)
    counted = [dict(zip(COUNTED, row["outcomes"], strict=True)) for row in rows]
    assert sum(item[Outcome.DELIVERED] for item in counted) == 1
    assert sum(item[Outcome.HTTP_ERROR] for item in counted) == 1
    assert sum(item[Outcome.TIMEOUT] for item in counted) == 1
    assert sum(sum(row["buckets"]) for row in rows) == 5


def test_every_outcome_of_an_attempt_is_counted() -> None:
    assert set(COUNTED) == set(Outcome) - {Outcome.CANCELLED}


async def test_who_lost_a_lease_gives_nothing_back(db: Database) -> None:
    (claim,), _ = await claimed(db, 1)
    await _claimed_again(db, claim.subscription_id)
    before = await db.fetch("SELECT * FROM delivery_queue")

    await sql.give_back(db, [claim])

    assert await db.fetch("SELECT * FROM delivery_queue") == before
