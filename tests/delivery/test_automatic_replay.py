"""Automatic replay: it misses no event, waits for another replay, and is extended."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from delivery.events import journalled

from tradewind import ids
from tradewind.delivery import replay, sql, sql_replays
from tradewind.delivery.model import Replay, Window
from tradewind.delivery.recorder import Recorder
from tradewind.delivery.replay import feed_replays
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_HOUR = timedelta(hours=1)
_LEASE = timedelta(seconds=30)
_NOTHING = timedelta(0)


class Missed:
    """A subscription that has missed events, of an account of its own."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.account, self.hook = ids.new(), ids.new()

    async def events(self, count: int) -> datetime:
        """So many events that were not delivered, and what time it is after them."""
        now = await journalled(self.db, self.account, self.hook, count)
        await self.db.execute("DELETE FROM delivery_queue")
        return now + timedelta(milliseconds=1)

    async def begin(self, since: datetime, until: datetime, trigger: str) -> UUID | None:
        span = Window(since, until)
        begun = await replay.begin(self.db, self.account, self.hook, span, trigger=trigger)
        return begun and begun[0]

    async def job(self, job_id: UUID | None) -> Replay:
        assert job_id is not None
        result = await sql_replays.find_replay(self.db, self.account, self.hook, job_id)
        assert result is not None
        return result

    async def feed_all(self) -> None:
        """Feed until no job has anything left, whatever time that takes."""
        while await feed_replays(self.db):
            await self.db.execute("DELETE FROM delivery_queue")
            await self.db.execute("UPDATE test_clock SET shift = shift + interval '1 second'")


@pytest.fixture
def missed(db: Database) -> Missed:
    return Missed(db)


async def test_it_waits_for_the_end_of_a_recovery_that_was_asked_for(missed: Missed) -> None:
    now = await missed.events(3)
    asked = await missed.begin(now - _HOUR, now - _HOUR / 2, "request")
    by_itself = await missed.begin(now - _HOUR, now, "catch_up")

    first = await sql_replays.take_replay(missed.db, lease=_LEASE)
    assert first is not None
    assert first.id == asked
    assert await sql_replays.take_replay(missed.db, lease=_LEASE) is None
    async with transaction(missed.db) as tx:
        assert await sql_replays.feed(tx, first, limit=10, examine=1000, spacing=_NOTHING) == (
            0,
            True,
        )
    await missed.feed_all()

    result = await missed.job(by_itself)
    assert (result.status, result.queued, result.total) == ("done", 3, 3)


async def test_one_that_is_not_over_is_extended_and_goes_back(missed: Missed) -> None:
    """The first two events were pending when it passed them, and have failed for good since."""
    await missed.events(1)
    await missed.db.execute("UPDATE test_clock SET shift = shift + interval '1 second'")
    middle = await missed.events(1)
    job_id = await missed.begin(middle - _HOUR, middle, "catch_up")
    taken = await sql_replays.take_replay(missed.db, lease=_LEASE)
    assert taken is not None
    async with transaction(missed.db) as tx:
        assert await sql_replays.feed(tx, taken, limit=2, examine=1000, spacing=_NOTHING) == (
            2,
            False,
        )
    await missed.db.execute("UPDATE test_clock SET shift = shift + interval '2 seconds'")
    slept = await sql_replays.take_replay(missed.db, lease=_LEASE)
    end = await missed.events(3)

    again = await missed.begin(middle - _HOUR / 2, end, "catch_up")
    assert await missed.begin(middle - _HOUR / 2, end + _HOUR, "catch_up") is None, "heard twice"
    assert slept is not None
    async with transaction(missed.db) as tx:
        assert (await sql_replays.feed(tx, slept, limit=10, examine=1000, spacing=_NOTHING))[0] == 0

    assert again == job_id
    assert (await missed.job(job_id)).until == end
    assert (await missed.job(job_id)).status == "running"
    await missed.feed_all()
    result = await missed.job(job_id)
    assert (result.status, result.queued) == ("done", 2 + 2 + 3)


async def test_nobody_can_ask_for_a_recovery_while_it_runs(missed: Missed) -> None:
    now = await missed.events(1)
    job_id = await missed.begin(now - _HOUR, now, "catch_up")

    assert await missed.begin(now - _HOUR, now, "request") is None
    await missed.feed_all()

    assert (await missed.job(job_id)).status == "done"
    assert await missed.begin(now - _HOUR, now, "request") is not None


async def _heard(db: Database, hook: UUID, *outcomes: Outcome) -> None:
    """A worker hears of the last attempt of so many deliveries, and writes it down at once."""
    claims = await sql.claim(db, {hook: len(outcomes)}, lease=_LEASE)
    recorder = Recorder(db, db, {}, RetryPolicy())
    for claim, outcome in zip(claims, outcomes, strict=True):
        claim.attempt, claim.started, claim.duration_ms, claim.catch_up = 3, claim.due, 3, True
        recorder.add(claim, AttemptResult(outcome))
    recorder.close()
    await asyncio.wait_for(recorder.run(), 20)


async def _begun(db: Database) -> list[tuple[str, datetime]]:
    rows = await db.fetch("SELECT trigger, since FROM replay")
    return [(row["trigger"], row["since"]) for row in rows]


@pytest.mark.parametrize("workers", [1, 2])
async def test_it_begins_with_the_first_success_whoever_heard_of_the_failures(
    missed: Missed, workers: int
) -> None:
    now = await journalled(missed.db, missed.account, missed.hook, 3)
    await missed.db.execute("UPDATE webhook_subscription SET catch_up = true")

    if workers == 1:
        outcomes = (Outcome.TIMEOUT, Outcome.TIMEOUT, Outcome.DELIVERED)
        await _heard(missed.db, missed.hook, *outcomes)
    else:
        await _heard(missed.db, missed.hook, Outcome.TIMEOUT, Outcome.TIMEOUT)
        assert await _begun(missed.db) == []
        await _heard(missed.db, missed.hook, Outcome.DELIVERED)

    ((trigger, since),) = await _begun(missed.db)
    assert trigger == "catch_up"
    assert abs(since - (now - timedelta(minutes=10))) < timedelta(minutes=1)


async def test_who_answers_the_others_has_nothing_to_catch_up_with(missed: Missed) -> None:
    await journalled(missed.db, missed.account, missed.hook, 3)
    await missed.db.execute("UPDATE webhook_subscription SET catch_up = true")

    outcomes = (Outcome.DELIVERED, Outcome.HTTP_ERROR, Outcome.DELIVERED)
    await _heard(missed.db, missed.hook, *outcomes)

    assert await _begun(missed.db) == []


async def test_who_no_longer_wants_to_catch_up_does_not(missed: Missed) -> None:
    await journalled(missed.db, missed.account, missed.hook, 2)

    await _heard(missed.db, missed.hook, Outcome.TIMEOUT, Outcome.DELIVERED)

    assert await _begun(missed.db) == []
