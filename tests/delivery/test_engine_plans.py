"""The engine's prepared plans: those made for an empty queue also serve a long one."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from delivery.events import journalled

from tradewind import ids
from tradewind.delivery import sql
from tradewind.delivery.engine import ENGINE_SESSION_SETTINGS
from tradewind.delivery.model import ClaimedDelivery
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.events import sql as events
from tradewind.events.catalogue import Event
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_BY_TIME = """
    SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'delivery_queue_soonest'
"""
_READ_WHOLE = """
    SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'delivery_queue'
"""

_HEALTH_READ = """
    SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
      FROM pg_stat_user_tables
     WHERE relname = 'subscription_health'
"""


def delivered(claim: ClaimedDelivery) -> tuple[ClaimedDelivery, AttemptResult]:
    claim.started, claim.duration_ms = claim.due, 3
    return claim, AttemptResult(Outcome.DELIVERED)


@pytest.fixture
async def engine_db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url, size=1, name="test", settings=ENGINE_SESSION_SETTINGS)
    await database.open()
    yield database
    await database.close()


async def test_the_engine_never_reads_the_whole_queue(db: Database, engine_db: Database) -> None:
    hook = ids.new()
    await journalled(db, ids.new(), hook, 3)
    await engine_db.execute("SELECT pg_stat_force_next_flush()")
    before = await engine_db.fetchval(_READ_WHOLE)

    await sql.due_subscriptions(engine_db)
    claims = await sql.claim(engine_db, {hook: 3}, lease=timedelta(seconds=20))
    ended = [delivered(claim) for claim in claims]
    await sql.give_back(engine_db, claims[:1])
    assert len(await sql.record(engine_db, ended[1:], RetryPolicy())) == 0
    await engine_db.execute("SELECT pg_stat_force_next_flush()")

    assert len(claims) == 3
    assert await engine_db.fetchval(_READ_WHOLE) == before


async def test_only_subscriptions_that_are_due_are_looked_up(
    db: Database, engine_db: Database
) -> None:
    hooks = [ids.new() for _ in range(3)]
    for hook in hooks:
        await journalled(db, ids.new(), hook, 3)
    await db.execute(
        """
        INSERT INTO subscription_health (subscription_id, failing_since, updated_at)
        SELECT tradewind_uuid7(), now(), now() FROM generate_series(1, 2000)
        """
    )
    await db.execute(
        """
        INSERT INTO subscription_health (subscription_id, failing_since, updated_at)
        VALUES ($1, now(), now())
        """,
        hooks[1],
    )
    await db.execute("ANALYZE subscription_health, delivery_queue")
    await db.execute("SELECT pg_stat_force_next_flush()")
    before = await db.fetchval(_HEALTH_READ)

    due = await sql.due_subscriptions(engine_db)
    loaded = await sql.load_due_subscriptions(engine_db, due)
    await engine_db.execute("SELECT pg_stat_force_next_flush()")

    assert due == hooks
    assert [(row.id, row.failing) for row in loaded] == [
        (hooks[0], False),
        (hooks[1], True),
        (hooks[2], False),
    ]
    assert all(row.url and row.account_id for row in loaded)
    assert await db.fetchval(_HEALTH_READ) - before == 1


async def test_a_subscription_that_was_deleted_has_no_account(db: Database) -> None:
    deleted = ids.new()

    [row] = await sql.load_due_subscriptions(db, [deleted])

    assert (row.id, row.account_id, row.url, row.failing) == (deleted, None, "", False)


async def test_each_subscription_is_claimed_for_by_its_own_part_of_the_index(
    db: Database, engine_db: Database
) -> None:
    hooks = [ids.new() for _ in range(3)]
    for hook in hooks:
        await journalled(db, ids.new(), hook, 300)
    await db.execute("ANALYZE delivery_queue")  # few have very much: to read it all seems cheap
    before = await engine_db.fetchval(_BY_TIME)

    claims = await sql.claim(engine_db, dict.fromkeys(hooks, 5), lease=timedelta(seconds=20))
    await engine_db.execute("SELECT pg_stat_force_next_flush()")

    assert len(claims) == 15
    assert await engine_db.fetchval(_BY_TIME) == before


_PLANNED = """
    CREATE FUNCTION planned(statement text) RETURNS json LANGUAGE plpgsql AS $$
    DECLARE plan json;
    BEGIN
        EXECUTE 'EXPLAIN (GENERIC_PLAN, FORMAT JSON) ' || statement INTO plan;
        RETURN plan;
    END $$
"""


class Overheard(Database):
    """Has its statements planned by the engine's connections, as they are for all arguments."""

    def __init__(self, engine_db: Database) -> None:
        self._hurried = engine_db
        self.plans: list[dict[str, Any]] = []

    async def fetch(self, query: str, *_args: object) -> Sequence[asyncpg.Record]:
        self.plans += json.loads(await self._hurried.fetchval("SELECT planned($1)", query))
        return []

    async def execute(self, query: str, *args: object) -> str:
        await self.fetch(query, *args)
        return ""


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


async def test_what_is_recorded_is_found_by_its_id_whatever_is_believed_of_the_queue(
    db: Database, engine_db: Database
) -> None:
    """Statistics made while much was being queued: many pages, and nobody in them."""
    await db.execute(_PLANNED)
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook)
    async with transaction(db) as tx:
        now = await tx.fetchval("SELECT tradewind_now()")
        await events.append(
            tx,
            [
                Event(ids.new(), account, ids.new(), "order.updated", now, b"{}")
                for _ in range(3000)
            ],
        )
        await db.execute("ANALYZE delivery_queue")
    believed = "SELECT reltuples < relpages FROM pg_class WHERE relname = 'delivery_queue'"
    assert await db.fetchval(believed)

    claims = await sql.claim(db, {hook: 2}, lease=timedelta(seconds=20))
    heard = Overheard(engine_db)
    ended = [delivered(claim) for claim in claims]
    await sql.record(heard, ended, RetryPolicy())
    await sql.give_back(heard, claims)

    nodes = [node for plan in heard.plans for node in _nodes(plan["Plan"])]
    changes = [node for node in nodes if node["Node Type"] == "ModifyTable"]
    result = {node["Operation"]: node for node in changes if node["Alias"] == "q"}
    assert set(result) == {"Delete", "Update"}
    assert [node["Node Type"] for node in _nodes(result["Delete"]) if "Join" in str(node)] == []
    assert all("= ANY" in str(node) for node in result.values())


@pytest.mark.parametrize("leased", [0, 1, 30, 300])
async def test_a_claim_does_not_compare_each_row_with_each_other_whatever_is_believed(
    db: Database, engine_db: Database, leased: int
) -> None:
    """Statistics made while none, few or many deliveries were leased."""
    await db.execute(_PLANNED)
    hook = ids.new()
    await journalled(db, ids.new(), hook, 3000)
    await sql.claim(db, {hook: leased}, lease=timedelta(seconds=20))
    await db.execute("ANALYZE delivery_queue")

    heard = Overheard(engine_db)
    await sql.claim(heard, {hook: 1000}, lease=timedelta(seconds=20))

    nodes = [node for plan in heard.plans for node in _nodes(plan["Plan"])]
    loops = [node for node in nodes if node["Node Type"] == "Nested Loop"]
    read = [part for loop in loops for part in loop["Plans"]]
    repeated = {part["Node Type"] for part in read if part["Parent Relationship"] == "Inner"}
    assert repeated
    assert "CTE Scan" not in repeated


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
    db: Database, engine_db: Database
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

    claims = await sql.claim(engine_db, {hook: 1}, lease=timedelta(seconds=20))
    ended = [delivered(claim) for claim in claims]
    await sql.record(engine_db, ended, RetryPolicy())

    said = {(row["what"], row["setting"]) for row in await db.fetch("SELECT * FROM waited")}
    assert ("UPDATE", "off") in said
    assert ("DELETE", "local") in said
    assert await engine_db.fetchval("SHOW synchronous_commit") == "off"
