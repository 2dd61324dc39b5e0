"""Event numbers: without gaps for each account, and visible in order."""

import asyncio
import itertools
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import pytest
from kit.invariants import number_problems

from tradewind import ids
from tradewind.events import journal, sql
from tradewind.events.catalogue import Event
from tradewind.events.read import Cursor, JournalPage, read
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction

KEPT = timedelta(days=30)


async def page_after(
    db: Database, account_id: UUID, cursor: Cursor | None, limit: int = 100
) -> JournalPage:
    return await read(db, account_id, cursor, order_id=None, kinds=None, limit=limit, kept=KEPT)


def an_event(account_id: UUID, at: datetime, name: str = "") -> Event:
    return Event(ids.new(), account_id, ids.new(), "order.updated", at, name.encode())


async def append(tx: Tx, *accounts: UUID, name: str = "") -> None:
    now = await tx.fetchval("SELECT tradewind_now()")
    journal.append(tx, [an_event(account_id, now, name) for account_id in accounts])


async def numbered(db: Database, account_id: UUID) -> list[tuple[int, bytes]]:
    rows = await db.fetch(
        "SELECT number, body FROM event WHERE account_id = $1 ORDER BY number", account_id
    )
    return [(row["number"], row["body"]) for row in rows]


async def test_the_events_of_a_transaction_are_numbered_in_their_order_for_each_account(
    db: Database,
) -> None:
    ann, ben = ids.new(), ids.new()
    async with transaction(db) as tx:
        await append(tx, ann, name="one")
        await append(tx, ben, name="one")
        await append(tx, ann, ann, name="two")
    async with transaction(db) as tx:
        await append(tx, ben, name="two")

    assert await numbered(db, ann) == [(1, b"one"), (2, b"two"), (3, b"two")]
    assert await numbered(db, ben) == [(1, b"one"), (2, b"two")]


async def test_numbers_are_locked_only_by_the_last_act_and_until_the_commit(db: Database) -> None:
    """A long transaction holds up nobody until it ends, and its events come after theirs."""
    account_id = ids.new()
    async with transaction(db) as slow:
        await append(slow, account_id, name="begun first")
        async with transaction(db) as quick:
            await append(quick, account_id, name="ended first")
        seen = await page_after(db, account_id, None)
        await slow.write_deferred()
        waiting = asyncio.create_task(_append_in_a_transaction(db, account_id, "waited"))
        await _wait_for_a_lock(db)
        before_the_commit = await page_after(db, account_id, seen.end)
    await waiting

    after = await page_after(db, account_id, seen.end)
    assert (seen.bodies, seen.first_number, seen.last_number) == ([b"ended first"], 1, 1)
    assert (before_the_commit.bodies, before_the_commit.end) == ([], seen.end)
    assert (after.bodies, after.first_number, after.last_number) == (
        [b"begun first", b"waited"],
        2,
        3,
    )


async def _append_in_a_transaction(db: Database, account_id: UUID, name: str) -> None:
    async with transaction(db) as tx:
        await append(tx, account_id, name=name)


class _UndoneError(Exception):
    """A transaction is to be rolled back."""


async def _append_and_undo(db: Database, *accounts: UUID) -> None:
    """Take numbers, and give them back."""
    async with transaction(db) as tx:
        await append(tx, *accounts, name="never")
        await tx.write_deferred()
        await asyncio.sleep(0.003)
        raise _UndoneError


async def _wait_for_a_lock(db: Database) -> None:
    """Wait until somebody waits for a row that another has locked."""
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND database IS NULL"
    async with asyncio.timeout(20):
        while not await db.fetchval(query):  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.005)


async def test_what_is_undone_leaves_no_gap(db: Database) -> None:
    account_id = ids.new()
    await _append_in_a_transaction(db, account_id, "one")
    with pytest.raises(_UndoneError):
        await _append_and_undo(db, account_id)
    await _append_in_a_transaction(db, account_id, "two")

    assert await numbered(db, account_id) == [(1, b"one"), (2, b"two")]


async def test_a_number_is_given_to_one_event_only(db: Database) -> None:
    account_id = ids.new()
    await _append_in_a_transaction(db, account_id, "one")

    again = """
        INSERT INTO event (id, account_id, number, purchase_order_id, type, body, created_at)
        SELECT gen_random_uuid(), account_id, number, purchase_order_id, type, body, created_at
          FROM event WHERE account_id = $1
    """
    with pytest.raises(asyncpg.UniqueViolationError):
        await db.execute(again, account_id)


async def test_batches_over_the_same_accounts_in_any_order_never_wait_in_a_circle(
    db: Database, database_url: str
) -> None:
    """Accounts new and known, in the opposite order: a circle would end with a deadlock."""
    chance = random.Random(11)  # noqa: S311 - a test's
    accounts = [ids.new() for _ in range(8)]
    writers = Database(database_url, size=8, name="writers")
    await writers.open()

    async def write(turn: int) -> None:
        for _ in range(25):
            order = [*accounts] if turn % 2 else [*reversed(accounts)]
            if turn > 3:
                chance.shuffle(order)
            async with transaction(writers) as tx:
                await append(tx, *order[: chance.randint(2, len(order))])

    try:
        await asyncio.gather(*map(write, range(8)))  # a deadlock would raise DatabaseAway
    finally:
        await writers.close()

    assert await number_problems(db) == []
    assert await db.fetchval("SELECT count(*) FROM journal_head") == len(accounts)


async def _write_with_delays(
    db: Database, chance: random.Random, busy: UUID, others: Sequence[UUID], name: str
) -> bool:
    """Append to the busy account and to some others, slowly or in vain; whether it committed."""
    accounts = [busy, *chance.sample(others, chance.randint(0, len(others)))]
    chance.shuffle(accounts)
    if chance.random() < 0.2:
        with suppress(_UndoneError):
            await _append_and_undo(db, *accounts)
        return False
    async with transaction(db) as tx:
        await append(tx, *accounts, name=name)
        if chance.random() < 0.2:
            await asyncio.sleep(chance.random() / 100)
        if chance.random() < 0.3:
            await tx.write_deferred()  # held open with its numbers
            await asyncio.sleep(chance.random() / 100)
    return True


async def _follow(
    db: Database, account_id: UUID, done: asyncio.Event
) -> tuple[list[int], list[bytes]]:
    """Read on from the cursor until everybody has written; all numbers and bodies."""
    numbers: list[int] = []
    bodies: list[bytes] = []
    cursor: Cursor | None = None
    while True:
        last_look = done.is_set()
        page = await page_after(db, account_id, cursor, limit=7)
        cursor = page.end
        if page.first_number is not None and page.last_number is not None:
            numbers += range(page.first_number, page.last_number + 1)
            bodies += page.bodies
        assert len(numbers) == len(bodies), "a page has a gap"
        if last_look and not page.has_more:
            return numbers, bodies


async def test_readers_see_every_number_once_and_in_order_while_many_write(
    db: Database, database_url: str
) -> None:
    """Some transactions are held open, some are undone, some have several accounts."""
    chance = random.Random(8)  # noqa: S311 - a test's
    busy, others = ids.new(), [ids.new() for _ in range(3)]
    writers = Database(database_url, size=10, name="writers")
    await writers.open()
    committed: list[bytes] = []
    done = asyncio.Event()

    async def write(writer: int) -> None:
        for turn in range(20):
            name = f"{writer}-{turn}"
            if await _write_with_delays(writers, chance, busy, others, name):
                committed.append(name.encode())

    readers = [
        asyncio.create_task(_follow(db, account_id, done)) for account_id in (busy, busy, *others)
    ]
    try:
        await asyncio.gather(*map(write, range(10)))
    finally:
        done.set()
        await writers.close()
    (numbers, bodies), (again, _), *_ = await asyncio.gather(*readers)

    assert numbers == again == [*range(1, len(committed) + 1)]
    assert sorted(bodies) == sorted(committed)
    assert await number_problems(db) == []


async def test_a_page_is_complete_though_times_do_not_follow_the_numbers(db: Database) -> None:
    """As after a clock was set back by days, or when a transaction took long.

    A new reader begins at number 1, though others are older, and the day of the cursor only makes
    reading quick.
    """
    account_id = ids.new()
    now = await db.fetchval("SELECT tradewind_now()")
    ages = [0, 1, 20, 0, 9, 9, 0]
    for age in {*ages}:
        await db.execute("SELECT make_partition('event', $1)", (now - timedelta(days=age)).date())
    for age in ages:
        async with transaction(db) as tx:
            journal.append(tx, [an_event(account_id, now - timedelta(days=age))])

    cursor: Cursor | None = None
    numbers = []
    for size in itertools.cycle([1, 2]):
        page = await page_after(db, account_id, cursor, size)
        cursor = page.end
        numbers += [page.first_number, page.last_number]
        if not page.has_more:
            break

    assert numbers == [1, 1, 2, 3, 4, 4, 5, 6, 7, 7]


async def test_a_reader_at_the_end_reads_no_event_and_one_behind_only_recent_days(
    db: Database, database_url: str
) -> None:
    account_id = ids.new()
    now = await db.fetchval("SELECT tradewind_now()")
    await db.execute(
        "SELECT make_partition('event', day::date) FROM generate_series($1::timestamptz"
        " - interval '40 days', $1, interval '1 day') AS day",
        now,
    )
    for age in (40, 20, 1, 0):
        async with transaction(db) as tx:
            journal.append(tx, [an_event(account_id, now - timedelta(days=age))])
    head = await sql.find_head(db, account_id, 3)
    assert head is not None
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("SET plan_cache_mode = force_custom_plan")
        statements: list[tuple[str, tuple[object, ...]]] = []

        class Overheard(Database):
            def __init__(self) -> None:
                pass

            async def fetch(self, query: str, *args: object) -> Sequence[asyncpg.Record]:
                statements.append((query, args))
                return await db.fetch(query, *args)

            async def fetchrow(self, query: str, *args: object) -> asyncpg.Record | None:
                statements.append((query, args))
                return await db.fetchrow(query, *args)

        overheard = Overheard()
        end = await page_after(db, account_id, None)
        await page_after(overheard, account_id, end.end)
        quiet = len(statements)
        statements.clear()
        await page_after(overheard, account_id, Cursor(3, head.cursor_event_id))
        query, args = statements[-1]
        plan = await connection.fetch(f"EXPLAIN {_with(query, args)}")
    finally:
        await connection.close()

    scans = [row[0] for row in plan if "Scan" in row[0]]
    assert quiet == 1
    assert len(statements) == 2
    assert 1 <= len(scans) <= 5, scans


def _with(query: str, args: Sequence[object]) -> str:
    """A statement with its arguments written out."""
    for place, value in reversed([*enumerate(args, 1)]):
        query = query.replace(f"${place}", "NULL" if value is None else f"'{value}'")
    return query
