"""The stream of events: every event once and in order, for one account, while its key lives."""

import asyncio
import json
import os
import random
import signal
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest
from kit.event_stream import OpenStream, StreamedEvent, refusal, streaming
from kit.server import Person, Server, ServerLauncher
from kit.system import System
from kit.webhook_system import emit

from tradewind import ids
from tradewind.auth.errors import InvalidCredentials
from tradewind.auth.model import Role
from tradewind.events import journal, sql
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED, Event
from tradewind.events.read import Cursor
from tradewind.events.stream import EventStreams
from tradewind.events.stream_slots import STREAMS_PER_ACCOUNT, StreamSlots, TooManyStreams
from tradewind.observability import logs
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

pytestmark = pytest.mark.xdist_group("system")

_SECOND = 1.0


def shown(events: list[StreamedEvent]) -> list[tuple[int, str]]:
    return [(int(event.id), json.loads(event.data)["id"]) for event in events]


async def write(db: Database, account_id: UUID, count: int) -> None:
    at = await db.fetchval("SELECT tradewind_now()")
    async with transaction(db) as tx:
        for _ in range(count):
            journal.append(tx, [Event(ids.new(), account_id, ids.new(), ORDER_UPDATED, at, b"{}")])


def test_a_stream_begins_with_what_is_new_and_has_the_exact_bodies(system: System) -> None:
    """Also of events that a real order causes, in another process."""
    api, buyer = system.api, system.buyer
    old = emit(api.database_url, buyer.uuid, 2)

    with streaming(api, buyer) as stream:
        assert stream.last_id == "2", "so it resumes, though it got no event"
        order = system.order()
        (event,) = stream.take(1)

    page = api.call("GET", "/v1/events", by=buyer)
    body = page.json()["items"][-1]
    assert (event.id, event.event) == ("3", "order.updated") == (event.id, body["event"])
    assert event.data.encode() in page.content
    assert json.loads(event.data) == body
    assert body["data"]["order"]["id"] == order["id"]
    assert body["id"] not in old
    assert stream.answer.headers["cache-control"] == "no-store"
    assert {"ratelimit", "x-request-id"} <= set(stream.answer.headers)


def test_where_a_stream_resumes_and_what_it_filters(api: Server) -> None:
    buyer, stranger, order = api.person(), api.person(), ids.new()
    url = api.database_url
    made = emit(url, buyer.uuid, 3)
    cursor = api.call("GET", "/v1/events?limit=1", by=buyer).json()["next_cursor"]
    made += emit(url, buyer.uuid, 1, PAYMENT_UPDATED, order_id=order)
    made += emit(url, buyer.uuid, 1, order_id=order)
    emit(url, stranger.uuid, 2)
    numbered = list(enumerate(made, start=1))

    def first(count: int, *, after: object | None = None, query: str = "") -> list[tuple[int, str]]:
        with streaming(api, buyer, after=after, query=query) as stream:
            return shown(stream.take(count))

    assert first(5, after=0) == numbered
    assert first(2, after=3) == numbered[3:]
    assert first(4, query=f"?after={cursor}") == numbered[1:]
    assert first(1, after=4, query=f"?after={cursor}") == numbered[4:], "the header outranks it"
    assert first(1, after="", query=f"?after={cursor}") == numbered[1:2], "as a browser sends it"
    assert first(1, after=0, query="?event=payment.updated") == numbered[3:4]
    shown_order = ids.ORDER.show(order)
    assert first(2, after=0, query=f"?order={shown_order}") == numbered[3:]
    assert first(1, after=0, query=f"?order={shown_order}&event=order.updated") == numbered[4:]
    for wrong in ("x", "-1", "1.5", "1 2", "9" * 19, "²"):
        assert refusal(api, buyer, after=wrong.encode()) == (400, "malformed_event_number")
    assert refusal(api, buyer, query="?after=x") == (400, "malformed_cursor")
    assert refusal(api, buyer, query="?event=x&order=y&limit=3") == (422, "validation_failed")
    assert refusal(api, buyer, after=6) == (410, "events_rewound")
    assert refusal(api, api.operator()) == (403, "insufficient_permissions")
    assert api.call("HEAD", "/v1/events/stream", by=buyer).status_code == 200
    assert api.call("GET", "/v1/events/stream").status_code == 401


def test_a_number_whose_events_were_dropped_is_expired(api: Server) -> None:
    buyer = api.person()
    emit(api.database_url, buyer.uuid, 3)
    api.fetch(
        "INSERT INTO journal_retention (account_id, dropped_through) VALUES ($1, 2)", buyer.uuid
    )

    assert refusal(api, buyer, after=1) == (410, "events_expired")
    with streaming(api, buyer, after=2) as stream:
        assert [event.id for event in stream.take(1)] == ["3"]


def test_cut_streams_resume_under_load_with_every_event_once_in_order(api: Server) -> None:
    """Six readers, cut off at random, while two accounts write; nobody sees another's events."""
    chance = random.Random(7)  # noqa: S311 - only so that it differs
    buyers = [api.person(), api.person()]
    batches, size = 8, 25
    written: dict[UUID, list[str]] = {buyer.uuid: [] for buyer in buyers}

    def write() -> None:
        for _ in range(batches):
            for buyer in buyers:
                written[buyer.uuid] += emit(api.database_url, buyer.uuid, size)

    results: dict[tuple[UUID, int], list[tuple[int, str]]] = {}

    def follow(buyer: Person, reader: int) -> None:
        events: list[StreamedEvent] = []
        last: object = 0
        while len(events) < batches * size:
            cut = chance.randrange(1, 60)
            with streaming(api, buyer, after=last) as stream:
                events += stream.take(min(cut, batches * size - len(events)))
                last = stream.last_id
        results[buyer.uuid, reader] = shown(events)

    threads = [
        threading.Thread(target=write),
        *(threading.Thread(target=follow, args=(b, r)) for b in buyers for r in range(3)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(results) == 6
    for (account_id, _), events in results.items():
        assert events == list(enumerate(written[account_id], start=1))


def test_a_stream_ends_within_a_second_of_its_credential(api: Server) -> None:
    """On whichever of the two processes it is, though other streams of the account go on."""
    buyer, operator = api.person(), api.operator()
    keys = [
        api.call("POST", "/v1/api-keys", by=buyer, json={"name": f"{n}"}).json() for n in range(3)
    ]
    api.launcher.secrets |= {key["key"] for key in keys}
    token = api.login(buyer)["access_token"]

    def holder(key: str) -> Person:
        return Person(buyer.id, buyer.uuid, buyer.email, buyer.password, key)

    def ends(*, revoke: tuple[str, str], **caller: object) -> None:
        method, path = revoke
        with ExitStack() as stack:
            streams = [stack.enter_context(streaming(api, **caller)) for _ in range(2)]  # type: ignore[arg-type]
            by = {"token": token} if caller.get("token") else {"by": buyer}
            body = {"json": {"reason": "test"}} if path.endswith("/lock") else {}
            if path.startswith("/v1/admin"):
                by = {"by": operator}
            answer = api.call(method, path, **by, **body)  # type: ignore[arg-type]
            assert answer.status_code < 300, answer.text
            at = time.monotonic()
            emit(api.database_url, buyer.uuid, 1)
            for stream in streams:
                late = [event for event in stream.events() if time.monotonic() - at > _SECOND]
                assert late == []
                assert stream.comments == ["the credential ended"]
            assert time.monotonic() - at < _SECOND + 0.5

    with streaming(api, holder(keys[0]["key"])) as other:
        ends(revoke=("DELETE", f"/v1/api-keys/{keys[1]['id']}"), by=holder(keys[1]["key"]))
        ends(revoke=("POST", "/v1/auth/logout"), token=token)
        assert len(other.take(2)) == 2, "it goes on"
    ends(revoke=("POST", f"/v1/admin/accounts/{buyer.id}/lock"), by=buyer)
    assert refusal(api, buyer) == (403, "account_locked")


def test_an_account_has_eight_streams_over_all_processes(api: Server) -> None:
    buyer, stranger = api.person(), api.person()

    def opened(_: int) -> OpenStream | None:
        try:
            return stack.enter_context(streaming(api, buyer))
        except AssertionError as error:
            if "too_many_streams" not in str(error):
                raise
            return None

    with ExitStack() as stack:
        with ThreadPoolExecutor(16) as pool:  # all at once, on either process
            streams = [stream for stream in pool.map(opened, range(16)) if stream]
        assert len(streams) == 8
        assert refusal(api, buyer) == (429, "too_many_streams")
        assert api.call("HEAD", "/v1/events/stream", by=buyer).status_code == 429
        with streaming(api, stranger):
            emit(api.database_url, buyer.uuid, 1)
            assert [stream.take(1)[0].id for stream in streams] == ["1"] * 8
    deadline = time.monotonic() + 10
    with ExitStack() as stack:
        while True:  # the server notices closed connections by itself
            try:
                stack.enter_context(streaming(api, buyer))
                break
            except AssertionError:
                assert time.monotonic() < deadline


async def test_a_heartbeat_moves_on_past_what_a_filter_left_out(db: Database) -> None:
    """In this process, with shorter times."""
    streams = EventStreams(db, kept=timedelta(days=30), heartbeat_seconds=0.3)
    account_id, checks = ids.new(), 0

    async def recheck() -> None:
        nonlocal checks
        checks += 1
        if checks > 3:
            raise InvalidCredentials.unknown_key()

    async with streams.open(
        account_id, None, order_id=None, kinds=[PAYMENT_UPDATED], recheck=recheck
    ) as stream:
        chunks = streams.chunks(stream)
        assert await anext(chunks) == b"retry: 1000\nid: 0\n\n"
        assert await anext(chunks) == b": heartbeat\n\n"
        await write(db, account_id, 2)
        heartbeats = [chunk async for chunk in chunks]
    await streams.release()

    assert b": heartbeat\n\nid: 2\n\n" in heartbeats
    assert heartbeats[-1] == b": the credential ended\n\n"


async def test_a_stream_ends_when_what_it_is_to_send_next_was_dropped(db: Database) -> None:
    streams = EventStreams(db, kept=timedelta(days=30))
    account_id = ids.new()
    await write(db, account_id, 1)
    async with streams.open(
        account_id, Cursor(0, None), order_id=None, kinds=None, recheck=fine
    ) as stream:
        chunks = streams.chunks(stream)
        assert await anext(chunks) == b"retry: 1000\nid: 0\n\n"
        assert await anext(chunks) == b"id: 1\nevent: order.updated\ndata: {}\n\n"
        await db.execute("INSERT INTO journal_retention VALUES ($1, 2)", account_id)
        await write(db, account_id, 2)
        rest = [chunk async for chunk in chunks]
    await streams.release()

    assert len(rest) == 1
    assert rest[0].startswith(b": The cursor stands after event number 1, and the events up to")


async def test_a_slot_that_another_process_took_while_the_connection_was_lost_is_lost(
    db: Database,
) -> None:
    account_id = ids.new()
    ours, others = StreamSlots(db), StreamSlots(db)
    slots = {await ours.take(account_id) for _ in range(STREAMS_PER_ACCOUNT)}
    with pytest.raises(TooManyStreams):
        await others.take(account_id)

    # Its locks are free before its socket is closed: wait until the process has ended.
    await db.execute(
        """
        SELECT pg_terminate_backend(pid, 10000)
          FROM pg_stat_activity JOIN pg_locks USING (pid)
         WHERE locktype = 'advisory' AND datname = current_database()
        """
    )
    taken = await others.take(account_id)

    assert await ours.lost() == {taken}
    assert len(slots) == STREAMS_PER_ACCOUNT
    with pytest.raises(TooManyStreams):
        await ours.take(account_id)
    await others.release(taken)
    assert await ours.take(account_id) == taken
    await ours.close()
    await others.close()


async def test_a_database_that_hangs_does_not_hold_the_slots(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "_SLOT_SECONDS", 0.1)
    account_id, slots = ids.new(), StreamSlots(db)
    taken = await slots.take(account_id)
    hanging: int = await db.fetchval(
        "SELECT pid FROM pg_stat_activity JOIN pg_locks USING (pid)"
        " WHERE locktype = 'advisory' AND datname = current_database()"
    )
    os.kill(hanging, signal.SIGSTOP)
    try:
        with pytest.raises(DatabaseAway):
            await asyncio.wait_for(slots.take(account_id), 10)
    finally:
        os.kill(hanging, signal.SIGCONT)

    await slots.release(taken)
    await slots.close()


@pytest.fixture
async def watcher(database_url: str) -> AsyncIterator[Database]:
    """Connections of the test itself: to lock the journal, and to see who waits."""
    database = Database(database_url, size=2, name="watcher")
    await database.open()
    yield database
    await database.close()


@asynccontextmanager
async def locked_journal(db: Database) -> AsyncIterator[None]:
    """While it lasts, every read of the journal waits."""
    async with transaction(db) as tx:
        await tx.execute("LOCK TABLE journal_head IN ACCESS EXCLUSIVE MODE")
        yield


async def waiting_reads(db: Database, *, at_least: int = 1) -> bool:
    """Whether so many reads of the journal wait for its lock."""
    count: int = await db.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND datname = current_database() AND query LIKE '%FROM journal_head AS head%'"
    )
    return count >= at_least


async def fine() -> None:
    """The credential never ends."""


async def test_what_the_loops_log_belongs_to_no_request(db: Database) -> None:
    streams = EventStreams(db, kept=timedelta(days=30))
    line, checked = logs.begin(), asyncio.Event()

    async def recheck() -> None:
        logs.note(account="of the request that opened the first stream")
        checked.set()

    async with streams.open(ids.new(), None, order_id=None, kinds=None, recheck=recheck):
        await asyncio.wait_for(checked.wait(), 10)
    await streams.release()

    assert line == {}


async def test_a_stream_counts_as_checked_when_it_was_admitted(
    db: Database, watcher: Database
) -> None:
    """Not when it was opened: a database that is slow then would lengthen an ended credential."""
    streams, loop = EventStreams(db, kept=timedelta(days=30)), asyncio.get_running_loop()

    async def opened() -> float:
        async with streams.open(ids.new(), None, order_id=None, kinds=None, recheck=fine) as stream:
            return stream.checked_at

    async with locked_journal(watcher):
        opening = asyncio.create_task(opened())
        await until_true(lambda: waiting_reads(watcher))
        waited_until = loop.time()
    checked_at = await opening
    await streams.release()

    assert checked_at < waited_until


async def test_an_account_reads_the_journal_once_at_a_time(db: Database, watcher: Database) -> None:
    """However many streams it has, so that those of other accounts get their turn."""
    streams = EventStreams(db, kept=timedelta(days=30))
    mine, other = ids.new(), ids.new()
    async with AsyncExitStack() as stack:
        iterators = []
        for account_id in (*[mine] * 6, other):
            stream = await stack.enter_async_context(
                streams.open(account_id, None, order_id=None, kinds=None, recheck=fine)
            )
            iterators.append(streams.chunks(stream))
            await anext(iterators[-1])
        async with locked_journal(watcher):
            reading = [asyncio.create_task(anext(each)) for each in iterators]
            await until_true(lambda: waiting_reads(watcher, at_least=2))
            # A third would have come by then.
            has_third = [await waiting_reads(watcher, at_least=3) for _ in range(30)]
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    await streams.release()

    assert not any(has_third)


async def until_true(look: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(10):
        while not await look():
            pass


def test_expiry_a_lost_role_and_a_stopping_server_end_streams_and_free_their_slots(
    launcher: ServerLauncher,
) -> None:
    with launcher.serving(workers=1) as api, ExitStack() as stack:
        buyer = api.person()
        with streaming(api, buyer) as stream:
            for number in ("1", "2", "3"):
                api.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                emit(api.database_url, buyer.uuid, 1)
                assert stream.take(1)[0].id == number, "it outlives connections to the database"
        token = api.login(buyer)["access_token"]
        with streaming(api, token=token) as stream:
            api.move_clock(timedelta(days=91))
            assert list(stream.events()) == [], "the token expired"
        soon = datetime.now(UTC) + timedelta(days=92)
        limited = {"name": "limited", "expires_at": soon.isoformat()}
        key = api.call("POST", "/v1/api-keys", by=buyer, json=limited).json()["key"]
        api.launcher.secrets.add(key)
        with streaming(api, replace(buyer, key=key)) as stream:
            api.move_clock(timedelta(days=2))
            assert list(stream.events()) == [], "the key expired"
        with streaming(api, buyer) as stream:
            roles = "UPDATE account SET roles = $2 WHERE id = $1"
            api.fetch(roles, buyer.uuid, [Role.APPROVER])
            assert list(stream.events()) == [], "the role is gone"
            api.fetch(roles, buyer.uuid, [Role.BUYER])
        streams = [stack.enter_context(streaming(api, buyer)) for _ in range(8)]
        with launcher.serving_on(api.database_url, workers=1) as other:
            assert refusal(other, buyer) == (429, "too_many_streams")
            began = time.monotonic()
            api.process.send_signal(signal.SIGTERM)
            for stream in streams:
                with suppress(httpx.RemoteProtocolError):  # it may close before it says so
                    assert list(stream.events()) == []
            api.process.wait(20)
            assert time.monotonic() - began < 5
            with streaming(other, buyer) as stream:
                emit(api.database_url, buyer.uuid, 1)
                assert [event.id for event in stream.take(1)] == ["4"]
