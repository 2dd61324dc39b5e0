"""The engine gives back what it does not send, and works no more often than it has to."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from delivery.events import journalled
from kit.egress import sending
from kit.webhook_endpoint import Received, WebhookEndpoint

from tradewind import ids
from tradewind.audit.model import COMMAND_LINE
from tradewind.delivery import engine, hold, lanes, sql
from tradewind.delivery.claim_buffer import ClaimBuffer
from tradewind.delivery.engine import Engine
from tradewind.delivery.lanes import FAILURES_BEFORE_REST, FIRST, EngineLimits
from tradewind.events.journal import DELIVERIES
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.wakeups import Wakeup
from tradewind.webhooks import secret

_PATIENCE_SECONDS = 10.0
_EVENTS = 3


@asynccontextmanager
async def running(
    db: Database, keyring: Keyring, limits: EngineLimits | None = None
) -> AsyncIterator[Wakeup]:
    """An engine that delivers to loopback, until it is told to stop; the event wakes it."""
    stop, wake = asyncio.Event(), Wakeup()
    async with sending() as sender:
        task = asyncio.create_task(Engine(db, keyring, sender, limits=limits).run(stop, wake))
        try:
            yield wake
        finally:
            stop.set()
            wake.set()
            await asyncio.wait_for(task, 20)


async def queued_for(db: Database, keyring: Keyring, url: str, events: int = _EVENTS) -> UUID:
    """A subscription for which something is due."""
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook, events)
    await db.execute(
        "UPDATE webhook_subscription SET url = $2, secret = $3 WHERE id = $1",
        hook,
        url,
        secret.sealed(keyring, account, hook, secret.make()),
    )
    return hook


async def until(good: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not await good():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


_COUNT_CLAIMS = """
    CREATE TABLE claimed (id uuid);
    CREATE FUNCTION count_claim() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO claimed VALUES (NEW.id); RETURN NEW; END';
    CREATE TRIGGER count_claim BEFORE UPDATE ON delivery_queue FOR EACH ROW
        WHEN (OLD.delivery_id IS NULL AND NEW.delivery_id IS NOT NULL)
        EXECUTE FUNCTION count_claim();
"""


async def assert_given_back(db: Database) -> None:
    """Every delivery was claimed at least twice, and is as if it had not been."""
    twice = "SELECT count(*) FROM (SELECT id FROM claimed GROUP BY id HAVING count(*) >= 2) AS c"

    async def claimed() -> bool:
        return bool(await db.fetchval(twice) == _EVENTS)

    await until(claimed)
    rows = await db.fetch("SELECT DISTINCT attempt, lost FROM delivery_queue")
    assert [tuple(row) for row in rows] == [(1, 0)]
    assert await db.fetchval("SELECT count(*) FROM delivery_attempt") == 0


async def assert_delivered_once(db: Database, endpoint: WebhookEndpoint) -> None:
    async def empty() -> bool:
        return not await db.fetchval("SELECT count(*) FROM delivery_queue")

    await until(empty)
    rows = await db.fetch("SELECT attempt, outcome FROM delivery_attempt")
    assert [tuple(row) for row in rows] == [(1, "delivered")] * _EVENTS
    assert len(endpoint.received) == _EVENTS


async def test_claims_are_given_back_when_nobody_can_say_whom_they_go_to(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint
) -> None:
    await queued_for(db, keyring, endpoint.url())
    await db.execute(_COUNT_CLAIMS)
    hide = "ALTER TABLE webhook_subscription RENAME COLUMN {} TO {}"
    await db.execute(hide.format("catch_up", "hidden"))

    async with running(db, keyring):
        await assert_given_back(db)
        assert endpoint.received == []
        await db.execute(hide.format("hidden", "catch_up"))
        await assert_delivered_once(db, endpoint)


async def test_what_was_claimed_too_long_ago_is_given_back_unsent(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease might end before a whole attempt does: somebody else would send it as well."""
    await queued_for(db, keyring, endpoint.url())
    await db.execute(_COUNT_CLAIMS)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_LATE_SECONDS", -1.0)
        async with running(db, keyring):
            await assert_given_back(db)
    assert endpoint.received == []

    async with running(db, keyring):
        await assert_delivered_once(db, endpoint)


async def test_beside_an_endpoint_that_fails_at_once_a_turn_is_taken_only_for_a_reason(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a rest starts one turn, however many turns there were during the rest."""
    turns = looks = 0
    take, load = ClaimBuffer.take, sql.load_changed_destinations

    def counted_take(buffer: ClaimBuffer, *args: Any) -> Any:
        nonlocal turns
        turns += 1
        return take(buffer, *args)

    async def counted_load(*args: Any) -> Any:
        nonlocal looks
        looks += 1
        return await load(*args)

    monkeypatch.setattr(ClaimBuffer, "take", counted_take)
    monkeypatch.setattr(sql, "load_changed_destinations", counted_load)
    failing = await queued_for(db, keyring, "http://127.0.0.1:9/", 200)
    attempts = "SELECT count(*) FROM delivery_attempt WHERE subscription_id = $1"

    async with running(db, keyring):
        for _ in range(20):
            healthy = await queued_for(db, keyring, endpoint.url(), 1)

            async def delivered(hook: UUID = healthy) -> bool:
                return bool(await db.fetchval(attempts, hook))

            await until(delivered)
        failed = await db.fetchval(attempts, failing)

    assert failed >= FAILURES_BEFORE_REST
    # A turn for every claim, for every attempt that ends, and for every end of a rest.
    assert turns <= 2 * 20 + 2 * failed
    # One for every group of failures, and one for every subscription that is new.
    assert looks <= 20 + failed // 2


async def test_results_of_others_make_no_room_for_an_endpoint_that_holds_all_it_may(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody asks after each of their results whether more can be claimed."""
    asked = 0
    answers = {"/held": threading.Semaphore(0), "/healthy": threading.Semaphore(0)}

    def counted_share_out(*args: Any) -> Any:
        nonlocal asked
        asked += 1
        return lanes.share_out(*args)

    monkeypatch.setattr(engine, "share_out", counted_share_out)
    endpoint.answer = lambda got: 200 if answers[got.path].acquire(timeout=20) else 500
    await queued_for(db, keyring, endpoint.url("/held"), 2 * int(FIRST))
    healthy = await queued_for(db, keyring, endpoint.url("/healthy"), 5)
    attempts = "SELECT count(*) FROM delivery_attempt WHERE subscription_id = $1"

    try:
        async with statements_of(monkeypatch) as statements, running(db, keyring):
            await asyncio.to_thread(endpoint.until, lambda got: len(got) == FIRST + 5)
            await idle(statements, "claim")
            assert asked > 0
            asked = 0
            for number in range(1, 6):
                answers["/healthy"].release()

                async def recorded(number: int = number) -> bool:
                    return bool(await db.fetchval(attempts, healthy) == number)

                await until(recorded)
            assert asked == 0
            answers["/held"].release(100)
    finally:
        for each in answers.values():
            each.release(100)


async def test_results_of_others_make_room_where_they_have_all_that_there_is(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = held_back(endpoint, but="/new")
    limits = EngineLimits(total=1)
    await queued_for(db, keyring, endpoint.url("/held"), limits.claimed.total)

    try:
        async with statements_of(monkeypatch) as statements, running(db, keyring, limits) as wake:
            await asyncio.to_thread(endpoint.until, lambda got: len(got) == 1)
            await queued_for(db, keyring, endpoint.url("/new"), 1)
            wake.set()
            await idle(statements)
            answers.release(100)
            await asyncio.to_thread(
                endpoint.until, lambda got: any(request.path == "/new" for request in got)
            )
    finally:
        answers.release(100)


def held_back(endpoint: WebhookEndpoint, *, but: str) -> threading.Semaphore:
    """Hold back the answers to all paths but one; each release lets one of them go."""
    answers = threading.Semaphore(0)

    def answer(request: Received) -> int:
        assert request.path == but or answers.acquire(timeout=2 * _PATIENCE_SECONDS)
        return 200

    endpoint.answer = answer
    return answers


async def test_a_wait_for_more_room_delays_nothing_that_has_room(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine waits for ever, after the first answer of two endpoints that hold back theirs."""
    monkeypatch.setattr(lanes, "GATHER_SECONDS", 3600.0)
    answers = held_back(endpoint, but="/new")
    busy = [await queued_for(db, keyring, endpoint.url(f"/{name}"), 40) for name in "ab"]
    attempts = "SELECT count(*) FROM delivery_attempt WHERE subscription_id = ANY ($1)"

    async def attempted(*hooks: UUID) -> bool:
        return bool(await db.fetchval(attempts, hooks))

    try:
        async with running(db, keyring) as wake:
            await asyncio.to_thread(endpoint.until, lambda got: len(got) == 2 * FIRST)
            answers.release()
            await until(lambda: attempted(*busy))
            new = await queued_for(db, keyring, endpoint.url("/new"), 1)
            wake.set()
            await until(lambda: attempted(new))
            answers.release(100)
    finally:
        answers.release(100)


async def test_attempts_at_failing_endpoints_do_not_make_others_wait_for_more_results(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While many are in flight, the engine waits before it begins others; here for ever."""
    monkeypatch.setattr(engine, "_MANY", 2)
    monkeypatch.setattr(engine, "_TURN_SECONDS", 3600.0)
    answers = held_back(endpoint, but="/healthy")
    failing = [await queued_for(db, keyring, endpoint.url(f"/{name}"), 1) for name in "abc"]
    await db.execute(
        "INSERT INTO subscription_health (subscription_id, failing_since, updated_at)"
        " SELECT id, now(), now() FROM unnest($1::uuid[]) AS failing (id)",
        failing,
    )

    try:
        async with running(db, keyring) as wake:
            await asyncio.to_thread(endpoint.until, lambda got: len(got) == 3)
            await queued_for(db, keyring, endpoint.url("/healthy"), 1)
            wake.set()
            await asyncio.to_thread(endpoint.until, lambda got: got[-1].path == "/healthy")
            answers.release(100)
    finally:
        answers.release(100)


async def test_an_endpoint_that_fails_at_once_is_tried_again_after_its_rest(
    db: Database, keyring: Keyring
) -> None:
    """Nothing else happens that would start another turn."""
    # Its limit falls from FIRST to one in the first half of these; the others are tried one by one.
    number = 4 * int(FIRST)
    await queued_for(db, keyring, "http://127.0.0.1:9/", number)

    async def attempted() -> bool:
        return bool(await db.fetchval("SELECT count(*) = $1 FROM delivery_attempt", number))

    async with running(db, keyring):
        await until(attempted)


@asynccontextmanager
async def statements_of(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[str]]:
    """Whether the engine polled or claimed, in this order. It polls only when it is woken."""
    statements: list[str] = []

    def noted(name: str, statement: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def note(*args: Any, **options: Any) -> Any:
            result = await statement(*args, **options)
            statements.append(name)
            return result

        return note

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_POLL_SECONDS", 3600.0)
        patch.setattr(engine, "_MAX_POLL_SECONDS", 3600.0)
        patch.setattr(sql, "due_subscriptions", noted("poll", sql.due_subscriptions))
        patch.setattr(sql, "claim", noted("claim", sql.claim))
        yield statements


async def idle(statements: list[str], last: str = "poll") -> None:
    """Wait until the engine has polled or claimed, and had nothing to do for a moment."""
    number = -1
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while statements[-1:] != [last] or len(statements) != number:
            number = len(statements)
            await asyncio.sleep(0.2)


async def account_of(db: Database, hook: UUID) -> UUID:
    account: UUID = await db.fetchval(
        "SELECT account_id FROM webhook_subscription WHERE id = $1", hook
    )
    return account


async def test_the_next_event_of_an_account_is_claimed_before_a_poll(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A poll would take as long as the claim. It follows, for subscriptions that are new."""
    hook = await queued_for(db, keyring, endpoint.url("/known"), 1)
    account, new = await account_of(db, hook), ids.new()

    async with statements_of(monkeypatch) as statements, running(db, keyring) as wake:
        await idle(statements)
        await db.execute(
            """
            INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,
                                              created_at, updated_at)
            SELECT $1, account_id, $2, events, true, $3, now(), now()
              FROM webhook_subscription WHERE id = $4
            """,
            new,
            endpoint.url("/new"),
            secret.sealed(keyring, account, new, secret.make()),
            hook,
        )
        statements.clear()
        await journalled(db, account, hook, 1)
        wake.subjects.add(str(account))
        wake.set()
        await asyncio.to_thread(endpoint.until, lambda got: len(got) == 3)

    assert [request.path for request in endpoint.received] == ["/known", "/known", "/new"]
    assert statements[:3] == ["claim", "poll", "claim"]


async def test_what_is_held_is_not_claimed_when_its_account_is_announced(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = await queued_for(db, keyring, endpoint.url(), 1)
    account = await account_of(db, hook)

    async with statements_of(monkeypatch) as statements, running(db, keyring) as wake:
        await idle(statements)
        await hold.hold(db, COMMAND_LINE, "a restore")
        statements.clear()
        await journalled(db, account, hook, 1)
        wake.subjects.add(str(account))
        wake.set()
        await idle(statements)
        assert (statements, len(endpoint.received)) == (["claim", "poll"], 1)
        await hold.release(db, COMMAND_LINE)
        wake.set()
        await asyncio.to_thread(endpoint.until, lambda got: len(got) == 2)


async def test_who_got_nothing_when_its_account_was_announced_is_left_to_the_poll(
    db: Database, keyring: Keyring, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise each event would be claimed for everybody who once got one."""
    hook = await queued_for(db, keyring, endpoint.url(), 1)
    account = await account_of(db, hook)

    async with statements_of(monkeypatch) as statements, running(db, keyring) as wake:
        await idle(statements)
        for expected in (["claim", "poll"], ["poll"]):
            statements.clear()
            wake.subjects.add(str(account))
            wake.set()
            await idle(statements)
            assert statements == expected


async def test_whose_secret_cannot_be_read_is_not_claimed_for_when_it_is_announced(
    db: Database, keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook, 1)  # its secret is empty

    async with statements_of(monkeypatch) as statements, running(db, keyring) as wake:
        await idle(statements)
        statements.clear()
        wake.subjects.add(str(account))
        wake.set()
        await idle(statements)

    assert statements == ["poll"]


async def test_an_event_announces_its_account(db: Database) -> None:
    account = ids.new()
    with db.wakeups.waiting(DELIVERIES) as wakeup:
        await journalled(db, account, ids.new(), 2)

        assert wakeup.subjects == {str(account)}
