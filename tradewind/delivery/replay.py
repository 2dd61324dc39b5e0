"""Recovers what a subscription missed: durable jobs, spaced so that live traffic never waits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.delivery import sql_replays
from tradewind.events.journal import DELIVERIES
from tradewind.observability.logs import log
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_LEASE = timedelta(seconds=30)
# A job feeds so many at a time, so far apart, and no more before most of them are over.
_BATCH = 100
_SPACING = timedelta(milliseconds=10)
_OUTSTANDING = 50
# Events that one statement looks at to find those that were missed.
_EXAMINED_AT_ONCE = 1000
# Where a count of what was missed stops: at so many, or after so many events, missed or not.
_COUNTED = 10_000
_EXAMINED = 50_000
_REST = timedelta(seconds=1)
_LONG_REST = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Span:
    """Which events to deliver again."""

    since: datetime
    until: datetime
    order_id: UUID | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Total:
    """How many events a recovery delivers; if that is not exact, at least so many."""

    count: int
    is_exact: bool


async def count(db: Database, account_id: UUID, subscription_id: UUID, span: Span) -> Total:
    """Count what a recovery would deliver, within limits: a journal may hold millions of events.

    It stops at 10,000, and after it has looked at 50,000 events of the span, delivered or not.
    """
    missed, examined = await sql_replays.count_missed(
        db,
        account_id,
        subscription_id,
        since=span.since,
        until=span.until,
        order_id=span.order_id,
        everything=span.everything,
        limit=_COUNTED + 1,
        examine=_EXAMINED,
    )
    return Total(min(missed, _COUNTED), missed <= _COUNTED and examined < _EXAMINED)


async def begin(
    db: Database, account_id: UUID, subscription_id: UUID, span: Span, *, trigger: str = "request"
) -> tuple[UUID, Total] | None:
    """Begin a job: its id, and how many events it will deliver. None: one does that already.

    One that begins by itself is not counted: whoever begins it has other things to do. While one
    that was asked for runs, it waits for its end.
    """
    total = Total(0, is_exact=True)
    if trigger == "request":
        total = await count(db, account_id, subscription_id, span)
    async with transaction(db) as tx:
        job_id = await sql_replays.insert_job(
            tx,
            ids.new(),
            account_id,
            subscription_id,
            trigger=trigger,
            since=span.since,
            until=span.until,
            order_id=span.order_id,
            everything=span.everything,
            total=total.count,
            total_is_exact=total.is_exact,
        )
    if job_id is None:
        return None
    log.info("recover.begun", job=ids.JOB.show(job_id), total=total.count, trigger=trigger)
    return job_id, total


async def feed_jobs(db: Database) -> bool:
    """Feed one job that is due; whether there was one."""
    job = await sql_replays.take_job(db, lease=_LEASE)
    if job is None:
        return False
    try:
        await _feed(db, job)
    except Exception as error:  # noqa: BLE001 - one job that cannot be fed holds up no other
        log.warning("recover.not_fed", job=ids.JOB.show(job["id"]), error=str(error))
        await sql_replays.rest_job(db, job["id"], rest=_LONG_REST)
    return True


async def _feed(db: Database, job: asyncpg.Record) -> None:
    """Queue the next events of a job. One whose subscription was switched off has ended."""
    if not job["is_wanted"]:
        async with transaction(db) as tx:
            await sql_replays.cancel_job(tx, job["account_id"], job["subscription_id"], job["id"])
        return
    if job["at_time"] is None and job["trigger"] == "catch_up":
        span = Span(job["since"], job["until"])
        total = await count(db, job["account_id"], job["subscription_id"], span)
        await sql_replays.set_total(db, job["id"], total.count, is_exact=total.is_exact)
    if await sql_replays.outstanding(db, job["id"]) > _OUTSTANDING:
        await sql_replays.rest_job(db, job["id"], rest=_REST)
        return
    async with transaction(db) as tx:
        queued, over = await sql_replays.feed(
            tx, job, limit=_BATCH, examine=_EXAMINED_AT_ONCE, spacing=_SPACING
        )
        tx.wake(DELIVERIES)
    log.info("recover.fed", job=ids.JOB.show(job["id"]), queued=queued, over=over)
