"""The engine's own connections: what they planned for an empty queue serves a long one."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from delivery.events import journalled

from tradewind import ids
from tradewind.delivery import judge, sql
from tradewind.delivery.engine import HURRIED
from tradewind.delivery.model import Ended, Outcome
from tradewind.storage.pool import Database

_BY_TIME = """
    SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'delivery_queue_soonest'
"""
_READ_WHOLE = """
    SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'delivery_queue'
"""


@pytest.fixture
async def hurried(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url, size=1, name="test", settings=HURRIED)
    await database.open()
    yield database
    await database.close()


async def test_the_engine_never_reads_the_whole_queue(db: Database, hurried: Database) -> None:
    hook = ids.new()
    await journalled(db, ids.new(), hook, 3)
    await hurried.execute("SELECT pg_stat_force_next_flush()")
    before = await hurried.fetchval(_READ_WHOLE)

    await sql.due_subscriptions(hurried)
    claims = await sql.claim(hurried, {hook: 3}, lease=timedelta(seconds=20))
    ended = [Ended(claim, Outcome.DELIVERED, claim.due, 3) for claim in claims]
    await sql.give_back(hurried, claims[:1])
    assert len(await sql.record(hurried, ended[1:], judge.DELAYS)) == 0
    await hurried.execute("SELECT pg_stat_force_next_flush()")

    assert len(claims) == 3
    assert await hurried.fetchval(_READ_WHOLE) == before


async def test_each_subscription_is_claimed_for_by_its_own_part_of_the_index(
    db: Database, hurried: Database
) -> None:
    hooks = [ids.new() for _ in range(3)]
    for hook in hooks:
        await journalled(db, ids.new(), hook, 300)
    await db.execute("ANALYZE delivery_queue")  # few have very much: to read it all seems cheap
    before = await hurried.fetchval(_BY_TIME)

    claims = await sql.claim(hurried, dict.fromkeys(hooks, 5), lease=timedelta(seconds=20))
    await hurried.execute("SELECT pg_stat_force_next_flush()")

    assert len(claims) == 15
    assert await hurried.fetchval(_BY_TIME) == before


async def test_a_claim_goes_on_where_the_last_one_ended(db: Database) -> None:
    hook = ids.new()
    await journalled(db, ids.new(), hook, 6)
    first = await sql.claim(db, {hook: 2}, lease=timedelta(seconds=20))
    mark = max((claim.due, claim.id) for claim in first)
    await sql.give_back(db, first)

    then = await sql.claim(db, {hook: 9}, lease=timedelta(seconds=20), after={hook: mark})
    again = await sql.claim(db, {hook: 9}, lease=timedelta(seconds=20))

    assert len(then) == 4
    assert {claim.id for claim in again} == {claim.id for claim in first}


async def test_a_record_waits_for_the_disk_and_a_claim_does_not(
    db: Database, hurried: Database
) -> None:
    await db.execute(
        """
        CREATE TABLE waited (what text, setting text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO waited VALUES (TG_OP, current_setting('synchronous_commit'));
            RETURN NULL;
        END $$;
        CREATE TRIGGER note AFTER UPDATE OR DELETE ON delivery_queue
            FOR EACH STATEMENT EXECUTE FUNCTION note();
        """
    )
    hook = ids.new()
    await journalled(db, ids.new(), hook, 1)

    claims = await sql.claim(hurried, {hook: 1}, lease=timedelta(seconds=20))
    ended = [Ended(claim, Outcome.DELIVERED, claim.due, 3) for claim in claims]
    await sql.record(hurried, ended, judge.DELAYS)

    said = {(row["what"], row["setting"]) for row in await db.fetch("SELECT * FROM waited")}
    assert ("UPDATE", "off") in said
    assert ("DELETE", "local") in said
    assert await hurried.fetchval("SHOW synchronous_commit") == "off"
