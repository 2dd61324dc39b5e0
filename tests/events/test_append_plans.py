"""The prepared plan of an append: made once, and it reads the subscriptions of one account only."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from tradewind import ids
from tradewind.events import sql
from tradewind.events.catalogue import Event
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_TIMES = 12
# PostgreSQL makes a plan for the given values this often before it considers a generic one.
_CUSTOM = 5
_PLANS = """
    SELECT generic_plans, custom_plans
      FROM pg_prepared_statements
     WHERE statement LIKE '%INSERT INTO ' || 'journal_head%'  -- not this statement
"""
_READ_WHOLE = """
    SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'webhook_subscription'
"""


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Database]:
    """A pool of one connection, whose prepared statements can be looked at."""
    database = Database(database_url, size=1, name="test")
    await database.open()
    yield database
    await database.close()


async def _subscribe(db: Database, accounts: int, each: int) -> UUID:
    """Make accounts with webhooks each; return one of the accounts."""
    await db.execute(
        """
        INSERT INTO account (id, email, roles, plan, created_at, updated_at)
        SELECT tradewind_uuid7(), g || '@test.example', '{buyer}', 'pro', now(), now()
          FROM generate_series(1, $1::integer) AS g
        """,
        accounts,
    )
    await db.execute(
        """
        INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,
                                          created_at, updated_at)
        SELECT tradewind_uuid7(), account.id, 'https://test.example/' || g, '{order.updated}',
               true, '', now(), now()
          FROM account, generate_series(1, $1::integer) AS g
        """,
        each,
    )
    await db.execute("ANALYZE webhook_subscription")
    account_id: UUID = await db.fetchval("SELECT id FROM account ORDER BY id LIMIT 1")
    return account_id


async def test_an_append_is_planned_once_however_many_webhooks_others_have(
    connection: Database,
) -> None:
    db = connection
    account_id = await _subscribe(db, 200, 10)
    await db.execute("SELECT pg_stat_force_next_flush()")
    before = await db.fetchval(_READ_WHOLE)

    queued = []
    for _ in range(_TIMES):
        async with transaction(db) as tx:
            now = await tx.fetchval("SELECT tradewind_now()")
            event = Event(ids.new(), account_id, ids.new(), "order.updated", now, b"{}")
            queued.append(await sql.append(tx, [event]))
    [plans] = await db.fetch(_PLANS)
    await db.execute("SELECT pg_stat_force_next_flush()")

    assert queued == [10] * _TIMES
    assert (plans["generic_plans"], plans["custom_plans"]) == (_TIMES - _CUSTOM, _CUSTOM)
    assert await db.fetchval(_READ_WHOLE) == before
