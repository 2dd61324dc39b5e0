"""The gate's patience: a statement that takes too long is given up, and others take its place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import asyncpg
import pytest
from starlette.types import Message

from tradewind.accounts.register import register
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.gate import Authenticator
from tradewind.auth.passwords import Passwords
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database, GateDatabase
from tradewind.web.caller import Caller
from tradewind.web.limits import Rate
from tradewind.web.request import Request

# More than the statements that run at the same time.
_REQUESTS = 5
# Shorter than the gate's patience, which is three seconds.
_LATEST_SECONDS = 1.5
_LONGEST_WAIT_SECONDS = 4.5
# When a last request comes, while those before it wait, and when the database answers again: after
# the others were turned away, and before that would happen to the last one.
_LATE_SECONDS = 1.8
_SILENT_SECONDS = 3.9


def request_with(key: str, number: int) -> Request:
    async def receive() -> Message:
        raise AssertionError("The gate reads no body.")

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/me",
        "query_string": b"",
        "headers": [(b"x-api-key", key.encode())],
        # Each from its own address: requests with the same credentials share a statement.
        "client": (f"192.0.2.{number}", 1234),
    }
    return Request(scope, receive, ())


@pytest.fixture
async def patient_db(database_url: str) -> AsyncIterator[Database]:
    """A server that gives up no statement: only the gate does."""
    settings = {"lock_timeout": "0", "statement_timeout": "0"}
    database = GateDatabase(database_url, size=4, name="test", settings=settings)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def key(db: Database, keyring: Keyring) -> str:
    passwords = Passwords()
    account = await register(db, passwords, COMMAND_LINE, email="gate@example.com")
    passwords.close()
    _, key = await issue(db, keyring, COMMAND_LINE, account.id, "gate")
    return key


@pytest.fixture
def gate(patient_db: Database, keyring: Keyring) -> Authenticator:
    return Authenticator(patient_db, keyring, {"pro": Rate(100, 100)})


@asynccontextmanager
async def silent(database_url: str) -> AsyncIterator[None]:
    """No key is found while the block runs: the statement that looks for it waits."""
    blocker = await asyncpg.connect(database_url)
    try:
        async with asyncio.timeout(15), blocker.transaction():  # asyncpg's would be twenty seconds
            await blocker.execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await blocker.close()


async def test_requests_are_answered_while_the_database_is_silent_and_admitted_after_it(
    gate: Authenticator, key: str, database_url: str
) -> None:
    answered_at = []

    async def admit(number: int) -> Caller:
        await asyncio.sleep(number / 100)  # each in another turn of the event loop
        try:
            return await gate.admit(request_with(key, number), urgent=False)
        finally:
            answered_at.append(monotonic())

    began = monotonic()
    async with silent(database_url):
        results = await asyncio.gather(
            *(admit(number) for number in range(_REQUESTS)), return_exceptions=True
        )

    assert all(isinstance(result, DatabaseAway) for result in results), results
    assert max(answered_at) - began < _LONGEST_WAIT_SECONDS
    # Who waited for another statement first does not wait longer than the others.
    assert max(answered_at) - min(answered_at) < _LATEST_SECONDS
    assert (await admit(1)).email == "gate@example.com"


async def test_a_request_is_not_turned_away_because_others_waited_longer(
    gate: Authenticator, key: str, database_url: str
) -> None:
    async def admit(number: int, after: float) -> Caller:
        await asyncio.sleep(after)
        return await gate.admit(request_with(key, number), urgent=False)

    async with silent(database_url):
        early = [asyncio.create_task(admit(number, number / 100)) for number in range(_REQUESTS)]
        late = asyncio.create_task(admit(_REQUESTS, _LATE_SECONDS))
        await asyncio.sleep(_SILENT_SECONDS)
    results = await asyncio.gather(*early, return_exceptions=True)

    assert all(isinstance(result, DatabaseAway) for result in results), results
    assert (await late).email == "gate@example.com"


async def test_a_key_that_cannot_be_marked_as_used_is_admitted(
    gate: Authenticator,
    key: str,
    db: Database,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = await asyncpg.connect(database_url)
    try:
        async with reader.transaction():
            # Keys can be read, and rows of keys cannot be changed.
            await reader.execute("LOCK TABLE api_key IN SHARE MODE")
            began = monotonic()
            for _ in range(_REQUESTS):
                caller = await gate.admit(request_with(key, 1), urgent=False)
            took = monotonic() - began
            async with asyncio.timeout(10):
                while not gate._mark_again_at:  # noqa: ASYNC110, SLF001 - the try to mark it fails
                    await asyncio.sleep(0.05)
            marked = await db.fetchval("SELECT last_used_at FROM api_key")
    finally:
        await reader.close()
    monkeypatch.setattr(gate, "_mark_again_at", 0.0)  # the pause is over
    await gate.admit(request_with(key, 1), urgent=False)

    assert (caller.email, marked) == ("gate@example.com", None)
    assert took < 1, "they wait for no try to mark the key"
    async with asyncio.timeout(10):
        while await db.fetchval("SELECT last_used_at FROM api_key") is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_request_whose_client_went_away_takes_nothing_from_the_budget(
    gate: Authenticator, key: str
) -> None:
    gone = asyncio.create_task(gate.admit(request_with(key, 1), urgent=False))
    await asyncio.sleep(0)  # it waits for the next statement
    gone.cancel()
    caller = await gate.admit(request_with(key, 2), urgent=False)

    assert caller.budget.remaining == caller.budget.rate.burst - 1


async def test_what_a_client_that_went_away_took_is_left_to_the_others(
    patient_db: Database, keyring: Keyring, key: str, database_url: str
) -> None:
    gate = Authenticator(patient_db, keyring, {"pro": Rate(60, 1)})
    async with silent(database_url):
        gone = asyncio.create_task(gate.admit(request_with(key, 1), urgent=False))
        other = asyncio.create_task(gate.admit(request_with(key, 1), urgent=False))
        await asyncio.sleep(0.1)  # the statement for both has been sent
        gone.cancel()

    assert (await other).email == "gate@example.com"
