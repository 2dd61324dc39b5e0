"""A real PostgreSQL in virtual time: one statement at a time, when the loop says so."""

import asyncio
import os
import random
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import asyncpg
import uvloop
from asyncpg.pool import PoolConnectionProxy

from kit.virtual import Process, State, VirtualLoop
from tradewind.delivery import sql, sql_cancel, sql_expired_leases, sql_replays
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.local_queues import LocalQueues
from tradewind.storage.pool import Database
from tradewind.storage.wakeups import Wakeup, Wakeups
from tradewind.storage.writes import Writes

T = TypeVar("T")

# Chance and the clock are the test's: ids count up, in the order of time as real ones do.
PREPARE = """
    CREATE SEQUENCE test_ids;
    CREATE OR REPLACE FUNCTION tradewind_now() RETURNS timestamptz
        LANGUAGE plpgsql STABLE PARALLEL SAFE
        AS $$ BEGIN RETURN pg_read_file('CLOCK'); END $$;
    CREATE OR REPLACE FUNCTION tradewind_uuid7() RETURNS uuid
        LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
        SELECT encode(substring(int8send((extract(epoch FROM tradewind_now()) * 1000)::bigint)
                                FROM 3)
                      || '\\x7000'::bytea || int8send(nextval('test_ids')), 'hex')::uuid
    $$;
    DO $$
    DECLARE one regclass;
    BEGIN
        FOR one IN SELECT inhrelid::regclass FROM pg_inherits
                    WHERE inhparent IN ('event'::regclass, 'delivery_attempt'::regclass)
        LOOP
            IF right(one::text, 8) NOT IN (to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD'),
                                 to_char(now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYYMMDD'))
            THEN
                EXECUTE 'DROP TABLE ' || one;
            END IF;
        END LOOP;
        -- Without ORDER BY rows come as they lie, and after a vacuum new ones lie elsewhere.
        FOR one IN SELECT oid FROM pg_class
                    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        LOOP
            EXECUTE 'ALTER TABLE ' || one || ' SET (autovacuum_enabled = false)';
        END LOOP;
    END $$;
"""
_NEXT = """
    SELECT coalesce((SELECT min(greatest(due_at, lease_until)) FROM delivery_queue),
                    '9000-01-01Z') AS delivery,
           coalesce((SELECT min(greatest(due_at, lease_until)) FROM delivery_queue
                      WHERE greatest(due_at, lease_until) > tradewind_now()),
                    '9000-01-01Z') AS more,
           coalesce((SELECT min(greatest(next_at, lease_until)) FROM replay
                      WHERE status = 'running'), '9000-01-01Z') AS job,
           coalesce((SELECT min(next_at) FROM cancellation), '9000-01-01Z') AS cancellation,
           EXISTS (SELECT 1 FROM delivery_queue WHERE lost >= 5) AS lost
"""


class _Heard(Exception):
    """What somebody asked."""


class _Listener:
    """A database that only hears what it is asked."""

    async def fetch(self, query: str, *_: Any) -> Any:
        raise _Heard(query)

    fetchrow = fetch
    fetchval = fetch


def _heard(ask: Callable[[Any], Coroutine[Any, Any, Any]]) -> str:
    """The statement that a function asks first."""
    try:
        ask(_Listener()).send(None)
    except _Heard as heard:
        return str(heard)
    raise AssertionError(f"{ask} asks nothing")


# What engines and others ask again and again, mostly to hear what they have heard before.
_WHO_IS_DUE = _heard(sql.due_subscriptions)
_CLAIM = _heard(lambda db: sql.claim(db, {}, lease=timedelta(0)))
_WHICH_JOB = _heard(lambda db: sql_replays.take_replay(db, lease=timedelta(0)))
_IS_CANCELLATION_DUE = _heard(sql_cancel.is_cancellation_due)
_PARK = _heard(lambda db: sql_expired_leases.park(db, lost=0, most=0, rest=timedelta(0)))
_GIVE_UP = _heard(
    lambda db: sql_expired_leases.give_up(db, lost=0, parked=0, lease=timedelta(0), why="")
)
# Those that change nothing if they return nothing.
_TAKE_SOME = {_CLAIM, _WHICH_JOB, _PARK, _GIVE_UP}
_ONLY_READ = re.compile(r"\s*SELECT ")
_WHAT_IS_POLLED = ("delivery_queue", "replay", "cancellation")
# After a change: until everything that follows from it is written, health too. After a failure:
# until whoever failed has tried again.
_SETTLED_SECONDS = 0.7
_LONGEST_PAUSE = 6.0


class Server:
    """One connection for all, so that nothing but the seed decides who comes first."""

    def __init__(self, url: str) -> None:
        self._loop = uvloop.new_event_loop()
        self._connection: asyncpg.Connection = self._wait(asyncpg.connect(url))
        # The server reads the time from a file: setting it would be a statement before each other.
        self._clock = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed with the server
        self._wait(self._connection.execute(PREPARE.replace("CLOCK", self._clock.name)))
        self._wait(self._connection.execute("SET timezone = 'UTC'; SET jit = off;"))
        self._wait(self._connection.execute("SET plan_cache_mode = force_generic_plan"))
        self._set_at: datetime | None = None
        self._virtual = VirtualLoop()  # only until a story brings its own
        self._virtual.close()
        self.began = datetime.now(UTC).replace(hour=0, minute=10, second=0, microsecond=0)
        self.jumped = timedelta(0)
        # How often anything changed that is polled, and when anything changed at all.
        self.changes = 0
        self.changed_at = 0.0
        self.statements = 0
        self._looked = -1
        self._next: dict[str, Any] = {}
        self.heard: tuple[int, datetime, Sequence[asyncpg.Record]] = (-1, self.began, [])

    def begin(self, loop: VirtualLoop) -> None:
        """Tell the time by this loop from now on."""
        self._virtual = loop
        self.jumped = timedelta(0)
        self.changed_at = 0.0
        self._set_at = None
        self.changes += 1

    def close(self) -> None:
        self._wait(self._connection.close())
        self._loop.close()
        self._clock.close()

    def now(self) -> datetime:
        return self.began + timedelta(seconds=self._virtual.time()) + self.jumped

    def jump(self, by: timedelta) -> None:
        """Let the server's clock leap, and nobody else's."""
        self.jumped += by
        self.changes += 1
        self.changed()

    def changed(self, *, settles_after: float = 0.0) -> None:
        """Something happened from which more will follow in a moment."""
        self.changed_at = max(self.changed_at, self._virtual.time() + settles_after)

    def do(self, method: str, query: str, *args: Any) -> Any:
        """Run a statement now; it takes no time."""
        now = self.now()
        self.statements += 1
        if now != self._set_at:
            os.pwrite(self._clock.fileno(), now.isoformat(timespec="microseconds").encode(), 0)
            self._set_at = now
        result = self._wait(getattr(self._connection, method)(query, *args))
        if query == _WHO_IS_DUE or _ONLY_READ.match(query):
            return result
        if result or query not in _TAKE_SOME:
            self.changed()
            self.changes += any(name in query for name in _WHAT_IS_POLLED)
        return result

    def next(self, what: str) -> Any:
        """When the next delivery, job or cancellation is due; `more`: a delivery not due yet."""
        if self._looked != self.changes or self._next["more"] <= self.now():
            self._next = dict(self.do("fetchrow", _NEXT))
            self._looked = self.changes
        return self._next[what]

    def next_due(self) -> float:
        """When polls will find something that they do not find now, as the loop counts."""
        moment: datetime = min(map(self.next, ("more", "job", "cancellation")))
        return (moment - self.began - self.jumped).total_seconds()

    def is_settled(self) -> bool:
        return self._virtual.time() - self.changed_at > _SETTLED_SECONDS

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the real socket; for the virtual loop this is one step."""
        running = asyncio._get_running_loop()  # noqa: SLF001 - one loop waits within another
        asyncio._set_running_loop(None)  # noqa: SLF001
        try:
            return self._loop.run_until_complete(work)
        finally:
            asyncio._set_running_loop(running)  # noqa: SLF001


class Session:
    """What a process borrows of a pool. A transaction in it is over within one step."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def fetch(self, query: str, *args: Any, timeout: float = 0.0) -> Any:  # noqa: ARG002, ASYNC109
        return self._server.do("fetch", query, *args)

    async def fetchrow(self, query: str, *args: Any) -> Any:
        return self._server.do("fetchrow", query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        return self._server.do("fetchval", query, *args)

    async def execute(self, query: str, *args: Any, timeout: float = 0.0) -> Any:  # noqa: ARG002, ASYNC109
        return self._server.do("execute", query, *args)

    def transaction(self) -> "Session":
        return self

    async def start(self) -> None:
        self._server.do("execute", "BEGIN")

    async def commit(self) -> None:
        self._server.do("execute", "COMMIT")

    async def rollback(self) -> None:
        self._server.do("execute", "ROLLBACK")


class NoStandby(Writes):
    """The server has no standby: a change is acknowledged within its step."""

    def __init__(self) -> None:
        pass

    def check(self) -> None:
        pass

    async def acknowledged(
        self,
        connection: PoolConnectionProxy,  # noqa: ARG002
        change: Coroutine[Any, Any, T],
    ) -> T:
        return await change


@dataclass
class Weather:
    """How the way to the database is: how often calls and answers are lost, how long they take."""

    lost_calls: float = 0.0
    lost_answers: float = 0.0
    slowest: float = 0.003

    @property
    def is_fair(self) -> bool:
        return self == Weather()


class Bell(Wakeups):
    """Wake-ups that reach every process after a moment, or never."""

    def __init__(self, chance: random.Random, lost: float) -> None:
        self._chance = chance
        self._lost = lost
        self.events: list[tuple[Process, Wakeup]] = []

    def announce(self, topic: str, subject: str | None = None) -> None:  # noqa: ARG002 - all wait for the same
        for process, event in self.events:
            if process.state is not State.DEAD and self._chance.random() >= self._lost:
                after = self._chance.uniform(0, 0.03)
                asyncio.get_running_loop().call_later(after, self._ring, event, subject)

    @staticmethod
    def _ring(event: Wakeup, subject: str | None) -> None:
        if subject is not None:
            event.subjects.add(subject)
        event.set()


class Line(Database):
    """A process's way to the server: each statement takes its time, and it may never be heard of.

    A process that dies on the way there has asked for nothing; on the way back, it was done.
    """

    def __init__(self, server: Server, weather: Weather, chance: random.Random, bell: Bell) -> None:
        self._server = server
        self._weather = weather
        self._chance = chance
        self.wakeups = bell
        self.is_pooled = False
        self.local_queues = LocalQueues()
        self.writes = NoStandby()
        self.cut = False
        self._looked = -1
        self._looked_until = server.began
        self.waiting = 0

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        self.waiting += 1
        try:
            await self._travel(self._weather.lost_calls)
            yield Session(self._server)
            await self._travel(self._weather.lost_answers)
        finally:
            self.waiting -= 1

    async def fetch(self, query: str, *args: Any) -> Sequence[asyncpg.Record]:
        """Whoever polls what nobody has changed since hears what was heard before, at once."""
        server = self._server
        if query in (_PARK, _GIVE_UP) and self._is_open and not server.next("lost"):
            return []
        if query != _WHO_IS_DUE or not self._is_open:
            return await super().fetch(query, *args)
        rows: Sequence[asyncpg.Record] = []
        now = server.changes
        if server.next("delivery") <= server.now():
            changes, until, rows = server.heard
            if changes != now or server.now() >= until:
                until = server.next("more")
                rows = await super().fetch(query, *args)
                if now == server.changes:
                    server.heard = (now, until, rows)
        self._looked, self._looked_until = now, server.next("more")
        return rows

    async def fetchrow(self, query: str, *args: Any) -> asyncpg.Record | None:
        """As above: when there is no job to feed, nobody has to ask for one."""
        server = self._server
        if query == _WHICH_JOB and self._is_open and server.next("job") > server.now():
            return None
        return await super().fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        """As above, for what is to be cancelled."""
        server = self._server
        if query == _IS_CANCELLATION_DUE and self._is_open:
            return server.next("cancellation") <= server.now()
        return await super().fetchval(query, *args)

    @property
    def is_quiet(self) -> bool:
        """Whether whoever is here waits for nothing, and knows all that is due."""
        known = self._looked == self._server.changes and self._server.now() < self._looked_until
        return known and not self.waiting

    @property
    def _is_open(self) -> bool:
        return self._weather.is_fair and not self.cut

    async def _travel(self, lost: float) -> None:
        if self.cut:
            raise DatabaseAway
        await asyncio.sleep(self._chance.uniform(0, self._weather.slowest))
        is_lost = lost > 0 and self._chance.random() < lost
        if is_lost or self.cut:
            self._server.changed(settles_after=_LONGEST_PAUSE)
            raise DatabaseAway
