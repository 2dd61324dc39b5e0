"""Transactions: all or nothing, and an unreachable server differs from our own errors."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

import asyncpg
import pytest
from kit.pgbouncer import POOL_SIZE, Pooler

from tradewind.observability import logs
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database
from tradewind.storage.statements import Part
from tradewind.storage.transaction import Tx, transaction


@pytest.fixture
async def notes(db: Database) -> Database:
    await db.execute("CREATE TABLE note (id integer PRIMARY KEY)")
    return db


async def run(db: Database, *statements: str) -> None:
    async with transaction(db) as tx:
        for statement in statements:
            await tx.execute(statement)


async def kept(db: Database) -> list[int]:
    return [row["id"] for row in await db.fetch("SELECT id FROM note ORDER BY id")]


@pytest.fixture
async def away(tmp_path: Path) -> AsyncIterator[Database]:
    """A server that is not there: its socket's folder does not exist."""
    database = Database(f"postgresql://nobody@/none?host={tmp_path}/none", size=2, name="away")
    await database.open()
    yield database
    await database.close()


async def test_what_happens_in_a_transaction_is_seen_when_it_ends(notes: Database) -> None:
    async with transaction(notes) as tx:
        await tx.execute("INSERT INTO note VALUES (1)")
        assert await tx.fetchval("SELECT count(*) FROM note") == 1
        assert await kept(notes) == []

    assert await kept(notes) == [1]


async def test_an_error_undoes_everything_and_passes_as_it_is(notes: Database) -> None:
    async def work() -> None:
        async with transaction(notes) as tx:
            await tx.execute("INSERT INTO note VALUES (1)")
            raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        await work()

    assert await kept(notes) == []


async def test_an_error_of_a_statement_undoes_the_ones_before_it(notes: Database) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await run(notes, "INSERT INTO note VALUES (1)", "INSERT INTO note VALUES (1)")

    assert await kept(notes) == []


async def test_what_is_deferred_is_written_once_as_the_last_act(notes: Database) -> None:
    calls: list[list[int]] = []

    async def write(tx: Tx, numbers: Sequence[int]) -> None:
        calls.append([*numbers])
        already = await tx.fetchval("SELECT count(*) FROM note")
        await tx.execute("INSERT INTO note SELECT unnest($1::integer[])", [*numbers, already])

    async with transaction(notes) as tx:
        tx.before_commit(write, [11])
        await tx.execute("INSERT INTO note VALUES (100)")
        tx.before_commit(write, [12, 13])
        await tx.execute("INSERT INTO note VALUES (101)")
        assert calls == []

    assert calls == [[11, 12, 13]]
    assert await kept(notes) == [2, 11, 12, 13, 100, 101]


def note(number: int) -> Part:
    return lambda after, only_if: (
        f"INSERT INTO note SELECT ${after + 1}::integer WHERE {only_if}",
        [number],
    )


async def test_what_is_written_last_needs_no_statement_of_its_own(notes: Database) -> None:
    async def write(tx: Tx, numbers: Sequence[int]) -> None:
        query = "WITH now AS (SELECT count(*) AS count FROM note) SELECT count FROM now WHERE $1"
        [row] = await tx.fetch_last(query, bool(numbers))
        counts.append(row["count"])
        counts.append(await tx.fetchval("SELECT count(*) FROM note"))

    counts: list[int] = []
    async with transaction(notes) as tx:
        tx.write_last(note(1))
        tx.before_commit(write, [11])
        tx.write_last(note(2))
        await tx.execute("INSERT INTO note VALUES (3)")

    assert counts == [1, 3]
    assert await kept(notes) == [1, 2, 3]


_ADD = "WITH added AS (INSERT INTO note VALUES ($1) RETURNING id) SELECT id FROM added"
_IN_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction'
"""


async def test_a_transaction_of_one_statement_is_committed_by_it(notes: Database) -> None:
    async with transaction(notes) as tx:
        assert await tx.fetch_last(_ADD, 1)
        assert await kept(notes) == [1]
        assert await notes.fetchval(_IN_TRANSACTION) == 0


async def test_a_last_statement_that_fails_changes_nothing(notes: Database) -> None:
    await run(notes, "INSERT INTO note VALUES (1)")

    async def work() -> None:
        async with transaction(notes) as tx:
            tx.write_last(note(2), {"note_pkey": ZeroDivisionError("ours")})
            tx.write_last(note(1))

    with pytest.raises(ZeroDivisionError):
        await work()

    assert await kept(notes) == [1]


async def test_statements_may_follow_a_last_one_that_changed_nothing(notes: Database) -> None:
    async def work() -> None:
        async with transaction(notes) as tx:
            assert await tx.fetch_last("WITH no AS (SELECT) SELECT FROM no WHERE false") == []
            await tx.execute("INSERT INTO note VALUES (1)")
            assert await kept(notes) == []
            raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError):
        await work()

    assert await kept(notes) == []


async def test_parts_may_depend_on_the_query_that_they_are_written_with(notes: Database) -> None:
    for number in (1, 3):
        async with transaction(notes) as tx:
            tx.write_last(note(2))
            await tx.fetch_last(
                """
                WITH added AS (INSERT INTO note SELECT $1::integer WHERE $1 = 1 RETURNING id)
                SELECT id FROM added
                """,
                number,
                only_if="EXISTS (SELECT FROM added)",
            )

    assert await kept(notes) == [1, 2]


async def test_who_is_first_in_line_gets_a_connection(pooler: Pooler, database_url: str) -> None:
    """Those behind it must not hold every connection that the pooler has to the server."""
    url = pooler.url(database_url)
    db = Database(url, size=POOL_SIZE + 2, name="line", direct_url=database_url)
    await db.open()
    in_line, have_begun, go_on = asyncio.Semaphore(0), asyncio.Semaphore(0), asyncio.Event()

    async def be_first() -> None:
        async with transaction(db) as tx:
            await tx.wait_in_line(["lock"])
            in_line.release()
            await go_on.wait()
            await tx.fetch_last("WITH one AS (SELECT 1) SELECT FROM one")

    async def be_next() -> None:
        async with transaction(db) as tx:
            await tx.fetchval("SELECT 1")
            have_begun.release()
            await tx.wait_in_line(["lock"])

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(be_first())
            await in_line.acquire()
        for _ in range(POOL_SIZE):
            group.create_task(be_next())
        with suppress(TimeoutError):  # as many as get a connection
            async with asyncio.timeout(0.3):
                for _ in range(POOL_SIZE):
                    await have_begun.acquire()
        go_on.set()
    await db.close()


@pytest.mark.parametrize("number", [1, 2, 10, 11, 35])
async def test_what_is_written_last_is_written_without_another_statement(
    notes: Database, number: int
) -> None:
    async with transaction(notes) as tx:
        for each in range(number):
            tx.write_last(note(each))

    assert await kept(notes) == [*range(number)]


async def test_a_conflict_of_what_is_written_last_is_the_error_that_it_names(
    notes: Database,
) -> None:
    async def work(conflicts: dict[str, Exception]) -> None:
        async with transaction(notes) as tx:
            await tx.execute("INSERT INTO note VALUES (1)")
            tx.write_last(note(1), conflicts)

    with pytest.raises(ZeroDivisionError):
        await work({"note_pkey": ZeroDivisionError("ours")})
    with pytest.raises(asyncpg.UniqueViolationError):
        await work({"another": ZeroDivisionError("ours")})

    assert await kept(notes) == []


async def test_what_is_deferred_is_not_written_after_an_error(notes: Database) -> None:
    async def write(tx: Tx, numbers: Sequence[int]) -> None:
        pytest.fail(f"{tx} is over, and {numbers} must not be written")

    async def work() -> None:
        async with transaction(notes) as tx:
            tx.before_commit(write, [1])
            raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError):
        await work()


async def test_an_error_in_what_is_deferred_undoes_everything(notes: Database) -> None:
    async def write(tx: Tx, numbers: Sequence[int]) -> None:
        for number in numbers:
            await tx.execute("INSERT INTO note VALUES ($1)", number)

    async def work() -> None:
        async with transaction(notes) as tx:
            await tx.execute("INSERT INTO note VALUES (1)")
            tx.before_commit(write, [2, 1])

    with pytest.raises(asyncpg.UniqueViolationError):
        await work()

    assert await kept(notes) == []


async def test_a_cancelled_transaction_is_undone_and_gives_its_connection_back(
    notes: Database,
) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        async with transaction(notes) as tx:
            await tx.execute("INSERT INTO note VALUES (1)")
            begun.set()
            await asyncio.sleep(60)

    for _ in range(10):  # twice as often as there are connections
        begun.clear()
        task = asyncio.create_task(work())
        await asyncio.wait_for(begun.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert await kept(notes) == []


async def test_a_server_that_is_not_there_is_away(away: Database) -> None:
    line = logs.begin()

    with pytest.raises(DatabaseAway) as caught:
        async with transaction(away):
            pytest.fail("there is nothing to begin a transaction on")

    assert caught.value.detail == "The database cannot be reached right now; try again."
    assert caught.value.facts == {"retry_after": 2}
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert line == {"database_error": "FileNotFoundError: [Errno 2] No such file or directory"}


async def test_everything_that_needs_a_connection_says_so(away: Database) -> None:
    for act in (away.fetch, away.fetchrow, away.fetchval, away.execute):
        with pytest.raises(DatabaseAway):
            await act("SELECT 1")
    with pytest.raises(DatabaseAway):
        await away.connect()


async def test_a_database_that_does_not_exist_is_away(db: Database, database_url: str) -> None:
    name = await db.fetchval("SELECT current_database()")
    missing = Database(database_url.replace(name, "missing"), size=1, name="missing")
    await missing.open()

    with pytest.raises(DatabaseAway) as caught:
        await missing.fetchval("SELECT 1")
    await missing.close()

    assert str(caught.value.__cause__) == 'database "missing" does not exist'


async def test_a_connection_that_is_ended_in_the_middle_is_away_and_replaced(
    notes: Database,
) -> None:
    async def work() -> None:
        async with transaction(notes) as tx:
            await tx.execute("INSERT INTO note VALUES (1)")
            pid = await tx.fetchval("SELECT pg_backend_pid()")
            await notes.fetchval("SELECT pg_terminate_backend($1)", pid)
            await tx.execute("INSERT INTO note VALUES (2)")

    with pytest.raises(DatabaseAway):
        await work()

    assert await kept(notes) == []


async def test_a_statement_that_takes_too_long_is_ended(notes: Database) -> None:
    with pytest.raises(DatabaseAway) as caught:
        await run(
            notes,
            "INSERT INTO note VALUES (1)",
            "SET LOCAL statement_timeout = '50ms'",
            "SELECT pg_sleep(5)",
        )

    assert isinstance(caught.value.__cause__, asyncpg.QueryCanceledError)
    assert await kept(notes) == []


async def test_an_error_inside_the_server_is_away(notes: Database) -> None:
    """A server with a full disk says so when it cannot write a file of its own."""
    fails = "DO $$ BEGIN RAISE 'could not write init file' USING ERRCODE = 'XX000'; END $$"

    with pytest.raises(DatabaseAway) as caught:
        await run(notes, fails)

    assert isinstance(caught.value.__cause__, asyncpg.InternalServerError)


@pytest.mark.parametrize("value", ["one", 2**40, b"1"])
async def test_an_argument_that_cannot_be_encoded_is_our_mistake(
    notes: Database, value: object
) -> None:
    async def work() -> None:
        async with transaction(notes) as tx:
            await tx.execute("INSERT INTO note VALUES (1)")
            await tx.execute("INSERT INTO note VALUES ($1)", value)

    with pytest.raises(asyncpg.DataError):
        await notes.execute("INSERT INTO note VALUES ($1)", value)
    with pytest.raises(asyncpg.DataError):
        await work()

    assert await kept(notes) == []


# Four transactions are open while a fifth connection looks: more than the pooler of the tests has.
@pytest.mark.parametrize("db", ["direct"], indirect=True)
async def test_few_transactions_of_a_process_wait_for_one_lock_in_the_database(
    notes: Database,
) -> None:
    """The others wait in this process, where waiting costs nothing."""
    await run(notes, "INSERT INTO note VALUES (0)")
    locked = asyncio.Event()
    followed: set[int] = set()
    most = 0

    async def hold() -> None:
        async with transaction(notes) as tx:
            await tx.wait_in_line(["note 0"])
            await tx.execute("SELECT FROM note WHERE id = 0 FOR UPDATE")
            locked.set()
            await asyncio.sleep(0.3)

    async def follow(number: int) -> None:
        async with transaction(notes) as tx:
            await tx.wait_in_line(["note 0"])
            await tx.execute("SELECT FROM note WHERE id = 0 FOR UPDATE")
            followed.add(number)

    holder = asyncio.create_task(hold())
    await asyncio.wait_for(locked.wait(), 5)
    followers = [asyncio.create_task(follow(number)) for number in range(3)]
    while not holder.done():
        waiting = await notes.fetchval(
            """
            SELECT count(*)
              FROM pg_stat_activity
             WHERE wait_event_type = 'Lock' AND datname = current_database()
            """
        )
        most = max(most, waiting)
        await asyncio.sleep(0.01)
    await asyncio.gather(*followers)

    assert most == 1
    assert followed == {0, 1, 2}


async def test_a_transaction_that_ends_in_line_lets_the_next_one_pass(notes: Database) -> None:
    async def work(error: Exception | None) -> None:
        async with transaction(notes) as tx:
            await tx.wait_in_line(["a", "b"])
            if error is not None:
                raise error

    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            await work(ZeroDivisionError())
    held = asyncio.Semaphore(0)
    release = asyncio.Event()

    async def hold() -> None:
        async with transaction(notes) as tx:
            await tx.wait_in_line(["b"])
            held.release()
            await release.wait()

    holders = [asyncio.create_task(hold()) for _ in range(2)]
    for _ in holders:
        await asyncio.wait_for(held.acquire(), 5)
    cancelled = asyncio.create_task(work(None))
    await asyncio.sleep(0.05)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    release.set()
    await asyncio.gather(*holders)

    await asyncio.wait_for(work(None), 5)
    assert cancelled.cancelled()
