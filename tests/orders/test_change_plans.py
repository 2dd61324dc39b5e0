"""The prepared plans of changes of orders: each is made once, and not for every change."""

from collections.abc import AsyncIterator

import pytest
from kit.orders import a_part
from kit.platform import approved

from tradewind.storage.pool import Database

_TIMES = 12
# PostgreSQL makes a plan for the given values this often before it considers a generic one.
_CUSTOM = 5
_PLANS = """
    SELECT generic_plans, custom_plans
      FROM pg_prepared_statements
     WHERE statement LIKE '%UPDATE ' || 'purchase_order%'  -- not this statement
"""


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Database]:
    """A pool of one connection, whose prepared statements can be looked at."""
    database = Database(database_url, size=1, name="test")
    await database.open()
    yield database
    await database.close()


async def test_every_change_of_an_order_is_planned_once(connection: Database) -> None:
    for number in range(_TIMES):
        await approved(connection, a_part(f"P{number}"))

    plans = {tuple(row) for row in await connection.fetch(_PLANS)}

    assert plans == {(_TIMES - _CUSTOM, _CUSTOM), (2 * _TIMES - _CUSTOM, _CUSTOM)}
