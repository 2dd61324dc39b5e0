"""A real PostgreSQL in virtual time: one statement at a time, at the moment that the loop says."""

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

import asyncpg

from kit.virtual import Process, State, VirtualLoop
from tradewind.storage.pool import Database, DatabaseAway
from tradewind.storage.wakeups import Wakeups

T = TypeVar("T")

# Chance and the clock are the test's: ids count up, in the order of time as real ones do.
PREPARE = """
    CREATE SEQUENCE test_ids;
    CREATE OR REPLACE FUNCTION tradewind_now() RETURNS timestamptz
        LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT current_setting('test.now')::timestamptz $$;
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
    END $$;
"""
_NEXT = """
    SELECT coalesce((SELECT min(greatest(due_at, lease_until)) FROM delivery_queue),
                    '9000-01-01Z') AS delivery,
           coalesce((SELECT min(greatest(due_at, lease_until)) FROM delivery_queue
                      WHERE greatest(due_at, lease_until) > tradewind_now()),
                    '9000-01-01Z') AS more,
           coalesce((SELECT min(greatest(next_at, lease_until)) FROM recover_job
                      WHERE status = 'running'), '9000-01-01Z') AS job
"""
# What engines and feeders ask again and again, mostly to hear what they have heard before.
_WHO_IS_DUE = "WITH RECURSIVE waiting"
_WHICH_JOB = "UPDATE recover_job\n           SET lease_"
_ONLY_READ = ("SELECT", _WHO_IS_DUE)
# After a change: until everything that follows from it is written, health too. After a failure:
# until whoever failed has tried again.
_SETTLED_SECONDS = 0.7
_LONGEST_PAUSE = 6.0


class Server:
    """One connection for all, so that nothing but the seed decides who comes first."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._connection: asyncpg.Connection = self._wait(asyncpg.connect(url))
        self._wait(self._connection.execute("SET timezone = 'UTC'; SET jit = off;"))
        self._wait(self._connection.execute("SET plan_cache_mode = force_generic_plan"))
        self._set_at: datetime | None = None
        self._virtual = VirtualLoop()  # only until a story brings its own
        self._virtual.close()
        self.began = datetime.now(UTC).replace(hour=0, minute=10, second=0, microsecond=0)
        self.jumped = timedelta(0)
        self.changes = 0
        self.changed_at = 0.0
        self.statements = 0
        self._looked = -1
        self._next: dict[str, datetime] = {}
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

    def now(self) -> datetime:
        return self.began + timedelta(seconds=self._virtual.time()) + self.jumped

    def jump(self, by: timedelta) -> None:
        """Let the server's clock leap, and nobody else's."""
        self.jumped += by
        self.changed()

    def changed(self, *, settles_after: float = 0.0) -> None:
        self.changes += 1
        self.changed_at = max(self.changed_at, self._virtual.time() + settles_after)

    def do(self, method: str, query: str, *args: Any) -> Any:
        """Run a statement now; it takes no time."""
        now = self.now()
        self.statements += 1
        if now != self._set_at:
            moment = now.isoformat()
            self._wait(self._connection.execute(f"SET test.now = '{moment}'"))
            self._set_at = now
        if not query.lstrip().startswith(_ONLY_READ):
            self.changed()
        return self._wait(getattr(self._connection, method)(query, *args))

    def next(self, what: str) -> datetime:
        """When the next delivery or job is due; `more` is the next delivery that is not yet."""
        if self._looked != self.changes or self._next["more"] <= self.now():
            self._next = dict(self.do("fetchrow", _NEXT))
            self._looked = self.changes
        return self._next[what]

    def next_due(self) -> float:
        """When polls will find something that they do not find now, as the loop counts."""
        moment = min(self.next("more"), self.next("job"))
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

    async def fetch(self, query: str, *args: Any) -> Any:
        return self._server.do("fetch", query, *args)

    async def fetchrow(self, query: str, *args: Any) -> Any:
        return self._server.do("fetchrow", query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        return self._server.do("fetchval", query, *args)

    async def execute(self, query: str, *args: Any) -> Any:
        return self._server.do("execute", query, *args)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        self._server.do("execute", "BEGIN")
        try:
            yield
        except BaseException:
            self._server.do("execute", "ROLLBACK")
            raise
        self._server.do("execute", "COMMIT")


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
        self.events: list[tuple[Process, asyncio.Event]] = []

    def announce(self, topic: str) -> None:  # noqa: ARG002 - all wait for the same
        for process, event in self.events:
            if process.state is not State.DEAD and self._chance.random() >= self._lost:
                asyncio.get_running_loop().call_later(self._chance.uniform(0, 0.03), event.set)


class Line(Database):
    """A process's way to the server: each statement takes its time, and it may never be heard of.

    A process that dies on the way there has asked for nothing; on the way back, it was done.
    """

    def __init__(self, server: Server, weather: Weather, chance: random.Random, bell: Bell) -> None:
        self._server = server
        self._weather = weather
        self._chance = chance
        self.wakeups = bell
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
        if not query.lstrip().startswith(_WHO_IS_DUE) or not self._is_open:
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
        poll = query.lstrip().startswith(_WHICH_JOB) and self._is_open
        if poll and self._server.next("job") > self._server.now():
            return None
        return await super().fetchrow(query, *args)

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
        if self.cut or (lost and self._chance.random() < lost):
            self._server.changed(settles_after=_LONGEST_PAUSE)
            raise DatabaseAway


def prepare(url: str) -> None:
    """Make a fresh database one whose clock and ids are the test's."""

    async def work() -> None:
        connection = cast("asyncpg.Connection", await asyncpg.connect(url))
        await connection.execute(PREPARE)
        await connection.close()

    asyncio.run(work())
