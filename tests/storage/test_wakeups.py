"""Wake-ups: every process gets them soon after a commit, and never after a rollback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest

from tradewind.storage import sql
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    """Another process, as far as the database can tell."""
    opened = Database(database_url, size=2, name="other")
    await opened.open()
    yield opened
    await opened.close()


@asynccontextmanager
async def waiting(db: Database, topic: str) -> AsyncIterator[asyncio.Event]:
    """Wait for a topic, from the moment on when the database knows that we listen."""
    with db.wakeups.waiting(topic) as event:
        await rung(event)  # whoever begins to listen is woken once: it may have missed something
        yield event


async def rung(event: asyncio.Event, within: float = 5.0) -> None:
    await asyncio.wait_for(event.wait(), within)
    event.clear()


async def wake_and_fail(db: Database, topic: str) -> None:
    async with transaction(db) as tx:
        tx.wake(topic)
        raise ZeroDivisionError


async def listeners(db: Database) -> list[int]:
    rows = await db.fetch(
        """
        SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND query ILIKE 'LISTEN%'
        """
    )
    return [row["pid"] for row in rows]


async def test_a_commit_wakes_another_process_within_a_second(
    db: Database, other: Database
) -> None:
    async with waiting(other, "orders") as event:
        async with transaction(db) as tx:
            tx.wake("orders")
            await asyncio.sleep(0.1)
            assert not event.is_set()

        await rung(event, within=1)


async def test_a_waiter_of_the_same_process_is_woken_at_once(db: Database) -> None:
    async with waiting(db, "orders") as event:
        async with transaction(db) as tx:
            tx.wake("orders")

        assert event.is_set()


async def test_only_those_who_wait_for_the_topic_are_woken(db: Database, other: Database) -> None:
    async with waiting(other, "orders") as orders:
        with other.wakeups.waiting("payments") as payments:
            db.wakeups.announce("payments")

            await rung(payments, within=1)

        assert not orders.is_set()


async def test_another_process_gets_the_subjects_until_it_clears_them(
    db: Database, other: Database
) -> None:
    with other.wakeups.waiting("deliveries") as wakeup, other.wakeups.waiting("over") as over:
        await rung(over)
        async with transaction(db) as tx:
            tx.wake("deliveries", "an account")
            tx.wake("deliveries", "another")
            tx.wake("deliveries")
        db.wakeups.announce("over")
        await rung(over, within=1)

        assert wakeup.subjects == {"an account", "another"}
        wakeup.clear()
        assert wakeup.subjects == set()


async def test_a_rollback_wakes_nobody(db: Database, other: Database) -> None:
    async with waiting(other, "orders") as orders:
        with other.wakeups.waiting("afterwards") as afterwards:
            with pytest.raises(ZeroDivisionError):
                await wake_and_fail(db, "orders")

            # What is announced later is heard later: once this is heard, nothing else will be.
            db.wakeups.announce("afterwards")
            await rung(afterwards, within=1)

        assert not orders.is_set()


async def test_a_lost_connection_is_made_again_and_what_was_missed_is_made_good(
    db: Database, other: Database
) -> None:
    async with waiting(other, "orders") as event:
        [pid] = await listeners(db)

        await db.fetchval("SELECT pg_terminate_backend($1)", pid)

        await rung(event)  # at the loss,
        await rung(event)  # and when it listens again
        assert await listeners(db) != [pid]
        db.wakeups.announce("orders")
        await rung(event, within=1)


@asynccontextmanager
async def heard_by_another(db: Database) -> AsyncIterator[list[str]]:
    """The topics that another connection hears; complete when the block has ended."""
    heard: list[str] = []
    last = asyncio.Event()
    connection = await db.connect()

    def hear(*arguments: object) -> None:
        heard.append(str(arguments[-1]))
        if arguments[-1] == "over":
            last.set()

    try:
        await connection.add_listener(sql.CHANNEL, hear)
        yield heard
        db.wakeups.announce("over")
        await asyncio.wait_for(last.wait(), 5)
    finally:
        await connection.close()


async def test_many_announcements_are_sent_as_few(db: Database) -> None:
    async with heard_by_another(db) as heard:
        started = monotonic()
        while (took := monotonic() - started) < 0.4:
            db.wakeups.announce("orders")
            await asyncio.sleep(0)

    assert heard.count("over") == 1
    assert 1 <= heard.count("orders") <= took / 0.02 + 3


async def test_too_many_subjects_are_not_named(db: Database) -> None:
    async with heard_by_another(db) as heard:
        for number in range(100):
            db.wakeups.announce("few", f"{number:036}")
        for number in range(101):
            db.wakeups.announce("many", f"{number:036}")

    assert len(heard[0].split(",")) == 100
    assert heard[1:] == ["many", "over"]


async def test_rare_announcements_are_not_gathered(db: Database) -> None:
    """Gathered for 20 ms, each would be heard some 14 ms after it was announced."""
    took: list[float] = []
    async with heard_by_another(db) as heard:
        for number in range(20):
            announced = monotonic()
            db.wakeups.announce("orders")
            async with asyncio.timeout(5):
                while len(heard) <= number:  # noqa: ASYNC110 - a connection fills the list
                    await asyncio.sleep(0.0005)
            took.append(monotonic() - announced)
            await asyncio.sleep(0.006)

    assert min(took[1:]) < 0.007


async def test_announcements_that_become_rare_again_are_not_gathered(db: Database) -> None:
    """Once two had come within 2 ms, all that came within 20 ms of another were gathered."""
    async with heard_by_another(db) as heard:
        for _ in range(100):
            db.wakeups.announce("orders")
        started = monotonic()
        for _ in range(60):
            db.wakeups.announce("orders")
            await asyncio.sleep(0.005)
        took = monotonic() - started

    assert heard.count("orders") > took / 0.02 + 5


async def test_an_announcement_that_cannot_be_sent_is_let_pass(tmp_path: Path) -> None:
    away = Database(f"postgresql://nobody@/none?host={tmp_path}", size=1, name="away")
    await away.open()

    with away.wakeups.waiting("orders") as event:
        away.wakeups.announce("orders")

        assert event.is_set()
        await asyncio.sleep(0.1)
    await away.close()


async def test_closing_ends_the_listening(db: Database, database_url: str) -> None:
    closing = Database(database_url, size=1, name="closing")
    await closing.open()
    async with waiting(closing, "orders"):
        assert len(await listeners(db)) == 1

        await closing.close()

    deadline = monotonic() + 5
    while await listeners(db):
        assert monotonic() < deadline, "the connection is still there"
        await asyncio.sleep(0.01)
