"""Pages about many subscriptions: as many statements as for one."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import asyncpg
import pytest
from delivery.events import journalled
from delivery.samples import a_subscription

from tradewind import ids
from tradewind.delivery import sql
from tradewind.delivery.engine import LEASE
from tradewind.delivery.explain import explain_event
from tradewind.delivery.health import health_of
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.errors import ResourceNotFound
from tradewind.storage.pool import Database


class Counted:
    """A database that counts its statements."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.statements = 0

    async def fetch(self, query: str, *args: Any) -> Sequence[asyncpg.Record]:
        self.statements += 1
        return await self._db.fetch(query, *args)

    async def fetchrow(self, query: str, *args: Any) -> asyncpg.Record | None:
        self.statements += 1
        return await self._db.fetchrow(query, *args)


async def test_the_health_of_many_is_one_statement_and_keeps_their_order(db: Database) -> None:
    hooks = [ids.new() for _ in range(3)]
    await journalled(db, ids.new(), hooks[1], 2)
    counted = Counted(db)

    health = await health_of(cast("Database", counted), [a_subscription(id=hook) for hook in hooks])

    assert [state.pending for state in health] == [0, 2, 0]
    assert counted.statements == 1
    assert await health_of(db, []) == []


async def test_an_event_is_explained_for_all_subscriptions_in_three_statements(
    db: Database,
) -> None:
    account, hooks = ids.new(), [ids.new() for _ in range(3)]
    await journalled(db, account, hooks[0])
    event_id: UUID = await db.fetchval("SELECT id FROM event")
    await journalled(db, account, hooks[1])
    await db.execute(
        "UPDATE delivery_queue SET event_id = $1 WHERE subscription_id = $2", event_id, hooks[1]
    )
    (claimed,) = await sql.claim(db, {hooks[1]: 1}, lease=LEASE)
    claimed.started = claimed.due
    await sql.record(db, [(claimed, AttemptResult(Outcome.DELIVERED, 200))], RetryPolicy())
    counted = Counted(db)

    result = await explain_event(
        cast("Database", counted),
        account,
        [a_subscription(id=hook, account_id=account) for hook in hooks],
        event_id,
    )

    verdicts = [item.verdict for item in result]
    assert verdicts[:2] == ["waiting", "delivered"]
    assert verdicts[2] in ("created_later", "not_queued", "filtered")
    assert [len(item.attempts) for item in result] == [0, 1, 0]
    assert counted.statements == 3


@pytest.mark.parametrize("event_id", [None, UUID(int=1)])
async def test_an_event_that_the_account_does_not_have_is_not_found(
    db: Database, event_id: UUID | None
) -> None:
    with pytest.raises(ResourceNotFound):
        await explain_event(db, ids.new(), [], event_id)
