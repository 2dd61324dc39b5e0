"""The gate's connections: its statements are planned once, and read no table as a whole."""

from collections.abc import AsyncIterator

import pytest

from tradewind.accounts.register import register
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth import sql
from tradewind.auth.api_keys import key_format
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.passwords import Passwords
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import GATE_SESSION_SETTINGS, Database, GateDatabase

_PLANS = """
    SELECT sum(custom_plans)::integer
      FROM pg_prepared_statements
     WHERE statement LIKE '%INTO rate_budget%' OR statement LIKE '%last_used_at = %'
"""
_READ_WHOLE = """
    SELECT sum(seq_scan)::integer
      FROM pg_stat_user_tables
     WHERE relname IN ('account', 'api_key', 'session', 'rate_budget')
"""


@pytest.fixture
async def gate_db(database_url: str) -> AsyncIterator[Database]:
    database = GateDatabase(database_url, size=1, name="test", settings=GATE_SESSION_SETTINGS)
    await database.open()
    yield database
    await database.close()


async def test_an_admission_and_its_mark_are_planned_once_and_read_no_table_as_a_whole(
    db: Database, gate_db: Database, keyring: Keyring
) -> None:
    passwords = Passwords()
    account = await register(db, passwords, COMMAND_LINE, email="gate@example.com")
    passwords.close()
    _, key = await issue(db, keyring, COMMAND_LINE, account.id, "gate")
    _, hash_ = key_format.hash_now(keyring, key)
    await gate_db.execute("SELECT pg_stat_force_next_flush()")
    before = await gate_db.fetchval(_READ_WHOLE)

    for _ in range(8):
        admitted = await sql.admit(
            gate_db,
            hashes=[hash_],
            sessions=[None],
            addresses=["127.0.0.1"],
            times=[1],
            plans=["pro"],
            steps=[1],
            bursts=[1000],
        )
        assert [row.account_id for row in admitted] == [account.id]
        await sql.mark_used(gate_db, [row.key_id for row in admitted if row.key_id], [])
    await gate_db.execute("SELECT pg_stat_force_next_flush()")

    assert await gate_db.fetchval(_PLANS) == 0
    assert await gate_db.fetchval(_READ_WHOLE) == before
