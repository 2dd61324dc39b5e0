"""A change waits for the synchronous standby; while it is away, changes fail at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from kit.missing_standby import MissingStandby, missing_standby
from kit.postgres import Postgres

from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

Change = Callable[[Database, int], Coroutine[Any, Any, None]]
_DETAIL = "The database acknowledges no changes right now, and reading works; try again."


@pytest.fixture
def standby(postgres: Postgres, database_url: str) -> Iterator[MissingStandby]:
    with missing_standby(postgres, database_url) as standby:
        yield standby


@pytest.fixture
async def notes(database_url: str) -> AsyncIterator[Database]:
    settings = {"synchronous_commit": "on"}
    database = Database(database_url, size=4, name="test", settings=settings)
    await database.open()
    await database.execute("CREATE TABLE note (id integer PRIMARY KEY)")
    yield database
    await database.close()


async def write(db: Database, number: int) -> None:
    async with transaction(db) as tx:
        await tx.execute("INSERT INTO note VALUES ($1)", number)


async def execute(db: Database, number: int) -> None:
    await db.execute("INSERT INTO note VALUES ($1)", number)


async def kept(db: Database) -> list[int]:
    return [row["id"] for row in await db.fetch("SELECT id FROM note ORDER BY id")]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await condition():  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("change", [write, execute])
async def test_a_change_fails_while_the_standby_is_away_and_is_not_seen(
    notes: Database, standby: MissingStandby, change: Change
) -> None:
    standby.leave()

    with pytest.raises(DatabaseAway) as caught:
        await change(notes, 1)

    assert caught.value.detail == _DETAIL
    assert caught.value.facts == {"retry_after": 2}
    assert await kept(notes) == []  # reading works


async def test_the_next_changes_fail_at_once(notes: Database, standby: MissingStandby) -> None:
    standby.leave()
    with pytest.raises(DatabaseAway):
        await write(notes, 1)
    waiting = standby.count_waiting()

    for number in range(2, 100):
        for change in (write, execute):
            with pytest.raises(DatabaseAway, match="acknowledges no changes"):
                await change(notes, number)

    assert standby.count_waiting() == waiting


async def test_changes_are_acknowledged_again_when_the_standby_is_back(
    notes: Database, standby: MissingStandby
) -> None:
    standby.leave()
    with pytest.raises(DatabaseAway):
        await write(notes, 1)
    assert not await notes.writes.are_acknowledged()

    standby.come_back()

    await until(notes.writes.are_acknowledged)
    await write(notes, 2)
    assert await kept(notes) == [1, 2]  # what was not acknowledged had its effect after all


@pytest.mark.parametrize("change", [write, execute])
async def test_a_cancelled_task_does_not_cancel_its_commit_in_the_server(
    notes: Database, standby: MissingStandby, change: Change
) -> None:
    async def is_waiting() -> bool:
        return standby.count_waiting() == 1

    standby.leave()
    task = asyncio.create_task(change(notes, 1))
    await until(is_waiting)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await kept(notes)  # time for a request to cancel to reach the server
    assert standby.count_waiting() == 1
    assert await kept(notes) == []
    standby.come_back()

    async def is_kept() -> bool:
        return await kept(notes) == [1]

    await until(is_kept)


async def test_many_who_ask_share_the_trial(notes: Database, standby: MissingStandby) -> None:
    standby.leave()

    answers = await asyncio.gather(*(notes.writes.are_acknowledged() for _ in range(50)))

    assert answers == [False] * 50
    assert standby.count_waiting() == 1


async def test_a_slow_change_is_not_ended_while_others_are_acknowledged(notes: Database) -> None:
    await notes.execute("INSERT INTO note SELECT 1 FROM pg_sleep(1.5)")

    assert await kept(notes) == [1]
    await write(notes, 2)


async def test_a_server_that_is_gone_acknowledges_nothing(tmp_path: Path) -> None:
    gone = Database(f"postgresql://nobody@/none?host={tmp_path}/none", size=1, name="gone")
    await gone.open()

    assert not await gone.writes.are_acknowledged()

    await gone.close()
