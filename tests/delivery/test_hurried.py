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
