"""Finding subscriptions with due deliveries: every query plan gives the same result."""

from uuid import UUID

import pytest

from tradewind.audit.model import COMMAND_LINE
from tradewind.delivery import hold, sql
from tradewind.storage.pool import Database

# Of each subscription: when its rows are due, in seconds from now, and for how long they are held.
_QUEUE = {
    1: [(60, 0), (300, 0)],
    2: [(-5, 0), (60, 0)],
    3: [(-9, 20)],
    4: [(-9, 20), (-1, -1)],
    5: [(300, 0)],
    6: [(-7, -1), (-6, 0), (-3, 0)],
    7: [(60, 0)],
    8: [(-8, 0), (-8, 0)],
}
_ROW = """
    INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at, due_at,
                                lease_until, event, purchase_order_id)
    VALUES ($1, $1, 1, gen_random_uuid(), now(), tradewind_now() + make_interval(secs => $2),
            tradewind_now() + make_interval(secs => $3), 'order.updated', gen_random_uuid())
"""


@pytest.mark.parametrize(
    ("few", "soonest"),
    [
        (500, 2000),  # few: each is looked at
        (9, 1),  # just few enough
        (8, 2000),  # as many: by what is due
        (1, 100),
        (3, 10),  # all nine that are due just fit in
        (3, 9),  # perhaps not all: the scan goes on
        (8, 8),
        (3, 2),
        (1, 1),
    ],
)
async def test_those_who_have_something_due_are_found_longest_waiting_first(
    db: Database, monkeypatch: pytest.MonkeyPatch, few: int, soonest: int
) -> None:
    monkeypatch.setattr(sql, "_FEW", few)
    monkeypatch.setattr(sql, "_SOONEST", soonest)
    for hook, rows in _QUEUE.items():
        for due, held in rows:
            await db.execute(_ROW, UUID(int=hook), float(due), float(held))

    result = await sql.due_subscriptions(db)

    assert [subscription_id.int for subscription_id in result] == [8, 6, 2, 4]


@pytest.mark.parametrize("few", [500, 3])
async def test_nothing_is_due_while_deliveries_are_held(
    db: Database, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(sql, "_FEW", few)
    for hook in range(8):
        await db.execute(_ROW, UUID(int=hook), -1.0, 0.0)
    assert len(await sql.due_subscriptions(db)) == 8

    assert await hold.hold(db, COMMAND_LINE, "a drill")
    assert not await hold.hold(db, COMMAND_LINE, "another reason")
    held = await sql.due_subscriptions(db)
    reason = await db.fetchval("SELECT reason FROM delivery_hold")
    assert await hold.release(db, COMMAND_LINE)
    assert not await hold.release(db, COMMAND_LINE)

    assert (held, reason) == ([], "a drill")
    assert len(await sql.due_subscriptions(db)) == 8
    actions = await db.fetch("SELECT action FROM audit ORDER BY id")
    assert [row["action"] for row in actions] == ["deliveries.held", "deliveries.released"]


async def test_nothing_queued_is_nothing_due(db: Database) -> None:
    assert await sql.due_subscriptions(db) == []
