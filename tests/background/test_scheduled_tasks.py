"""Scheduled tasks: each runs when it is due, by one of several processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from kit.postgres import Postgres

from tradewind.background.scheduled_tasks import ScheduledTask, run_due_tasks
from tradewind.runtime.worker import housekeeping
from tradewind.settings import settings
from tradewind.storage.pool import Database

HOUR = timedelta(hours=1)


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[list[Database]]:
    async with AsyncExitStack() as stack:
        made = [Database(database_url, size=1, name=f"node {number}") for number in range(8)]
        for node in made:
            await node.open()
            stack.push_async_callback(node.close)
        yield made


def writing(name: str, book: list[str]) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        book.append(name)

    return work


async def test_a_task_that_is_due_is_done_by_one_of_several_nodes(nodes: list[Database]) -> None:
    book: list[str] = []
    tasks = [ScheduledTask(name, HOUR, writing(name, book)) for name in ("sweep", "dust")]

    result = await asyncio.gather(*(run_due_tasks(node, tasks) for node in nodes))

    assert sorted(book) == ["dust", "sweep"]
    assert 1 <= result.count(True) <= 2


async def test_a_task_is_due_again_when_its_time_has_passed(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    book: list[str] = []
    tasks = [
        ScheduledTask("hourly", HOUR, writing("hourly", book)),
        ScheduledTask("daily", 24 * HOUR, writing("daily", book)),
    ]

    assert await run_due_tasks(db, tasks) is True
    assert await run_due_tasks(db, tasks) is False
    assert book == ["hourly", "daily"]

    postgres.move_clock(database_url, HOUR - timedelta(seconds=30))
    assert await run_due_tasks(db, tasks) is False

    postgres.move_clock(database_url, timedelta(seconds=31))
    assert await run_due_tasks(db, tasks) is True
    assert book == ["hourly", "daily", "hourly"]


async def test_a_task_that_was_missed_for_days_is_done_once(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    book: list[str] = []
    tasks = [ScheduledTask("hourly", HOUR, writing("hourly", book))]
    await run_due_tasks(db, tasks)

    postgres.move_clock(database_url, timedelta(days=3))

    assert [await run_due_tasks(db, tasks), await run_due_tasks(db, tasks)] == [True, False]
    assert book == ["hourly", "hourly"]


async def test_a_task_that_fails_does_not_keep_the_others_from_their_turn(db: Database) -> None:
    book: list[str] = []

    async def fail() -> None:
        raise ZeroDivisionError

    tasks = [
        ScheduledTask("broken", HOUR, fail),
        ScheduledTask("sweep", HOUR, writing("sweep", book)),
    ]

    with pytest.raises(ZeroDivisionError):
        await run_due_tasks(db, tasks)
    assert book == []

    assert await run_due_tasks(db, tasks) is True
    assert book == ["sweep"]


async def test_the_tasks_of_the_worker_can_all_be_done(db: Database, database_url: str) -> None:
    tasks = housekeeping(settings.load({"TRADEWIND_DATABASE_URL": database_url}), db)

    assert await run_due_tasks(db, tasks) is True

    names = [row["name"] for row in await db.fetch("SELECT name FROM scheduled_task")]
    assert sorted(names) == sorted(task.name for task in tasks)
    assert len(set(names)) == len(tasks)
