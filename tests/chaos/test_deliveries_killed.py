"""Workers are killed or stopped while events flow: nothing is lost, and little is sent twice."""

import asyncio
import hashlib
import hmac
import json
import os
import secrets as chance
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from kit import scorecard
from kit.chaos import WorkerPool, seeded_random
from kit.server import MigratedDatabase, ServerLauncher

from tradewind import ids
from tradewind.delivery.lanes import EngineLimits
from tradewind.webhooks import secret as secrets

# A soak kills more often; each kill comes with a thousand events.
KILLS = int(os.environ.get("SOAK_KILLS", "5"))
EVENTS = 1000 * KILLS
_PATIENCE_SECONDS = 120.0
_STOPS = KILLS
_LONGEST_STOP = 15.0
_ANSWER_SECONDS = 0.5

pytestmark = pytest.mark.xdist_group("killed deliveries")


class Sink:
    """An endpoint that counts events by their id, and checks every signature.

    It answers at once, or when `answers` is set to true again.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self.answers = True
        self.seen: Counter[str] = Counter()
        self.forged = 0
        self.port = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
                body = await reader.readexactly(int(fields["content-length"]))
                signed = fields["x-service-timestamp"].encode() + b"." + body
                expected = hmac.digest(self._secret, signed, hashlib.sha256).hex()
                self.forged += fields["x-service-signature"] != f"sha256={expected}"
                self.seen[json.loads(body)["id"]] += 1
                while not self.answers:  # noqa: ASYNC110 - it is set by another thread
                    await asyncio.sleep(0.005)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def sinking(secret: str) -> Iterator[Sink]:
    sink = Sink(secret)
    ready = threading.Event()
    ends: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def live() -> None:
        end = asyncio.Event()
        ends.append((asyncio.get_running_loop(), end))
        async with await asyncio.start_server(sink.take, "127.0.0.1", 0) as server:
            sink.port = server.sockets[0].getsockname()[1]
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    ready.wait(10)
    try:
        yield sink
    finally:
        loop, end = ends[0]
        loop.call_soon_threadsafe(end.set)
        thread.join(10)


_SUBSCRIBE = """
    INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret, created_at,
                                      updated_at)
    VALUES ($1, $2, $3, '{order.updated,payment.updated}', true, $4, now(), now())
"""
_FLOOD = """
    WITH given AS (
        SELECT gen_random_uuid() AS id, n, $2::text || n AS name
          FROM generate_series(1, $3::integer) AS n
    ),
    head AS (
        INSERT INTO journal_head AS head (account_id, last_number, last_event_id)
        SELECT $1, n, id FROM given WHERE n = $3
        ON CONFLICT (account_id) DO UPDATE
           SET last_number = head.last_number + excluded.last_number,
               last_event_id = excluded.last_event_id
        RETURNING last_number
    ),
    made AS (
        INSERT INTO event (id, account_id, number, purchase_order_id, type, body, created_at)
        SELECT id, $1, last_number - $3 + n, id, 'order.updated',
               convert_to('{"id":"' || name || '"}', 'UTF8'), tradewind_now()
          FROM given, head
        RETURNING id, created_at
    )
    INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at, due_at,
                                event, purchase_order_id)
    SELECT $1, $4, 1, id, created_at, created_at, 'order.updated', id FROM made
"""


def left(database: MigratedDatabase) -> int:
    return int(database.fetch("SELECT count(*) FROM delivery_queue")[0][0])


def drain(database: MigratedDatabase) -> None:
    """Wait until nothing is queued; time flies, so that leases of the dead end soon."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while left(database):
        assert time.monotonic() < deadline, f"{left(database)} deliveries are left"
        time.sleep(0.5)
        database.move_clock(timedelta(seconds=5))


def until_received(sink: Sink, count: int) -> None:
    """Wait until the endpoint has seen so many different events."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while len(sink.seen) < count:
        assert time.monotonic() < deadline, f"{len(sink.seen)} events were received"
        time.sleep(0.005)


def outcomes(database: MigratedDatabase) -> dict[str, int]:
    rows = database.fetch("SELECT outcome, count(*) FROM delivery_attempt GROUP BY outcome")
    return {row["outcome"]: row["count"] for row in rows}


def subscribe(
    database: MigratedDatabase, launcher: ServerLauncher, port: int, secret: str
) -> tuple[UUID, UUID]:
    account, subscription = database.person().uuid, ids.new()
    sealed = secrets.sealed(launcher.keyring(), account, subscription, secret)
    database.fetch(_SUBSCRIBE, subscription, account, f"http://127.0.0.1:{port}/hook", sealed)
    return account, subscription


def test_no_event_is_lost_when_workers_are_killed_again_and_again(
    database: MigratedDatabase, launcher: ServerLauncher
) -> None:
    seed = seeded_random()
    secret = f"whsec_{chance.token_urlsafe(32)}"
    recovery: list[float] = []
    killed_at: float | None = None
    problems: list[str] = []
    sent = 0
    with sinking(secret) as sink:
        account, subscription = subscribe(database, launcher, sink.port, secret)
        workers = WorkerPool(launcher, database.database_url, {}, 2)
        try:
            with scorecard.kept_for_later(problems):
                for number in range(KILLS):
                    share = EVENTS // KILLS
                    before = len(sink.seen)
                    database.fetch(_FLOOD, account, f"evt_{number}_", share, subscription)
                    sent += share
                    until_received(sink, before + 1)
                    if killed_at is not None:
                        recovery.append(time.monotonic() - killed_at)
                    time.sleep(seed.uniform(0, 0.1))
                    killed_at = time.monotonic()
                    workers.kill_oldest()
                drain(database)
        finally:
            workers.stop()

        lost = sent - len(sink.seen)
        duplicates = sum(sink.seen.values()) - len(sink.seen)
        scorecard.record(
            1,
            sent,
            kills=workers.kills,
            lost=lost,
            duplicates=duplicates,
            violations=sink.forged,
            recovery=recovery,
        )
        assert problems == []
        assert sink.forged == 0
        assert lost == 0
        # Only what was in flight, or answered a moment ago and not recorded yet, is sent again.
        assert duplicates <= workers.kills * EngineLimits().host
        ended = outcomes(database)
        assert set(ended) == {"delivered", "unknown"}, "and the kills hit something"
        assert ended["delivered"] == EVENTS


def test_no_event_is_sent_twice_when_workers_are_told_to_stop_under_load(
    database: MigratedDatabase, launcher: ServerLauncher
) -> None:
    """A rolling restart: each worker is told to stop while the endpoint has yet to answer it.

    It waits for the answers, records them, and gives back the rest of what it has claimed.
    """
    secret = f"whsec_{chance.token_urlsafe(32)}"
    share = 200
    stops: list[float] = []
    problems: list[str] = []
    sent = 0
    with sinking(secret) as sink:
        account, subscription = subscribe(database, launcher, sink.port, secret)
        workers = WorkerPool(launcher, database.database_url, {}, 1)
        try:
            with scorecard.kept_for_later(problems):
                for number in range(_STOPS):
                    sink.answers = False
                    database.fetch(_FLOOD, account, f"evt_{number}_", share, subscription)
                    sent += share
                    until_received(sink, number * share + 10)
                    assert len(sink.seen) < sent
                    oldest = workers.tell_oldest_to_stop()
                    told_at = time.monotonic()
                    workers.add()
                    # The endpoint answers so late that a worker which does not wait has ended.
                    time.sleep(_ANSWER_SECONDS)
                    sink.answers = True
                    assert oldest.wait(_LONGEST_STOP) == 0
                    stops.append(time.monotonic() - told_at)
                    until_received(sink, sent)
        finally:
            sink.answers = True
            workers.stop()

        scorecard.record(
            18,
            sent,
            kills=len(stops),
            lost=sent - len(sink.seen),
            duplicates=sum(sink.seen.values()) - len(sink.seen),
            longest_stop_seconds=max(stops, default=0.0),
        )
        assert problems == []
        assert left(database) == 0
        assert sink.forged == 0
        assert set(sink.seen.values()) == {1}, "no event reached the endpoint twice"
        assert outcomes(database) == {"delivered": _STOPS * share}


def test_a_worker_that_froze_past_its_lease_overwrites_nothing(
    database: MigratedDatabase, launcher: ServerLauncher
) -> None:
    secret = f"whsec_{chance.token_urlsafe(32)}"
    problems: list[str] = []
    with sinking(secret) as sink:
        account, subscription = subscribe(database, launcher, sink.port, secret)
        frozen = launcher.worker(database.database_url)
        try:
            database.fetch(_FLOOD, account, "evt_", 3000, subscription)
            until_received(sink, 1)
            frozen.send_signal(signal.SIGSTOP)
            database.move_clock(timedelta(minutes=1))
            with launcher.working(database.database_url):
                with scorecard.kept_for_later(problems):
                    drain(database)
                frozen.send_signal(signal.SIGCONT)
                time.sleep(2)
        finally:
            frozen.send_signal(signal.SIGCONT)
            frozen.send_signal(signal.SIGTERM)
            frozen.wait(20)

        logged = database.fetch(
            "SELECT count(*) FROM delivery_attempt WHERE outcome = 'delivered' AND final"
        )
        stale = abs(logged[0][0] - 3000)
        scorecard.record(4, 3000, kills=1, lost=3000 - len(sink.seen), violations=stale)
        assert problems == []
        assert left(database) == 0
        assert len(sink.seen) == 3000
        assert stale == 0, "each delivery has one result that counts"
