"""Measures what a work costs: CPU of every process, WAL, statements and latency."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from bench import servers
from bench.growth.model import CALLER, DATABASE, Figure, percentiles
from bench.growth.wal import Range, logged_commits
from bench.statement_log import statements_in

_NANOSECONDS = 1e9
_RELOAD_SECONDS = 0.1
_COUNTED = 10
_COUNTED_WITH_PREPARE = 2
_WARM_UP = 10
Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Reading:
    """What was spent up to a moment. `position` is the end of the WAL."""

    cpu: Mapping[str, float]
    position: int
    commits: int

    def since(self, before: "Reading") -> "Spent":
        cpu = {name: seconds - before.cpu[name] for name, seconds in self.cpu.items()}
        written = (before.position, self.position)
        return Spent(cpu, (written,), self.commits - before.commits)


@dataclass(frozen=True)
class Spent:
    """What was spent between readings, and the parts of the WAL that were written."""

    cpu: Mapping[str, float]
    written: Sequence[Range] = ()
    commits: int = 0

    def plus(self, later: "Spent") -> "Spent":
        cpu = {name: seconds + self.cpu.get(name, 0.0) for name, seconds in later.cpu.items()}
        return Spent(cpu, (*self.written, *later.written), self.commits + later.commits)

    @property
    def wal_bytes(self) -> int:
        return sum(end - start for start, end in self.written)


@dataclass(frozen=True)
class Round:
    """What was spent on a work that was done some times, and what each time took."""

    spent: Spent
    times: int
    seconds: Sequence[float] = ()

    @property
    def cpu_each(self) -> float:
        return sum(self.spent.cpu.values()) / self.times


async def median_round(
    measure: Callable[[], Awaitable[Round]], rounds: int, at_most: float
) -> Round:
    """Measure up to `rounds` rounds, of which none begins after `at_most` seconds; keep one.

    It is the one with the median CPU; of an even number, the lower of the two in the middle.
    """
    measured: list[Round] = []
    begun = time.perf_counter()
    while len(measured) < rounds and (not measured or time.perf_counter() - begun < at_most):
        measured.append(await measure())
    return sorted(measured, key=lambda item: item.cpu_each)[(len(measured) - 1) // 2]


class GrowthMeter:
    """Measures works on one database. `processes` are ours, by name and process id."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        postmaster: int,
        log: Path,
        processes: Mapping[str, int] | None = None,
    ) -> None:
        self._connection = connection
        self._postmaster = postmaster
        self._log = log
        self._processes = dict(processes or {})
        # The CPU of this process that went into readings.
        self._reading_seconds = 0.0

    def beside(self, processes: Mapping[str, int]) -> "GrowthMeter":
        """A meter that counts these processes, and not this one."""
        return GrowthMeter(self._connection, self._postmaster, self._log, processes)

    async def measure(
        self,
        dimension: str,
        size: int,
        work: str,
        do: Work,
        *,
        times: int,
        at_most: float = 5.0,
        rounds: int = 1,
        prepare: Work | None = None,
    ) -> Figure:
        """Do a work many times, or as often as fits into `at_most` seconds.

        This is one of up to `rounds` rounds; none begins after `at_most` seconds. The figure is
        that of the median round. `prepare` is called before each time, and is not counted. A first
        few times are not counted either. Statements are counted in further times, because logging
        costs CPU.
        """
        begun = time.perf_counter()
        for _ in range(min(_WARM_UP, max(1, times // 5))):
            await _done(do, prepare)
            if time.perf_counter() - begun > at_most:
                break
        kept = await median_round(lambda: self._round(do, times, at_most, prepare), rounds, at_most)
        counted = min(_COUNTED if prepare is None else _COUNTED_WITH_PREPARE, kept.times)
        statements = await self.statements(do, counted, prepare)
        return await self.figure(
            dimension, size, work, kept.spent, kept.times, statements, kept.seconds
        )

    async def _round(self, do: Work, times: int, at_most: float, prepare: Work | None) -> "Round":
        seconds: list[float] = []
        spent = Spent({})
        before = await self.read()
        begun = time.perf_counter()
        while len(seconds) < times and (not seconds or time.perf_counter() - begun < at_most):
            if prepare is not None:
                await prepare()
                before = await self.read()
            started = time.perf_counter()
            await do()
            seconds.append(time.perf_counter() - started)
            if prepare is not None:
                spent = spent.plus((await self.read()).since(before))
        if prepare is None:
            spent = (await self.read()).since(before)
        return Round(spent, len(seconds), seconds)

    async def measure_idle(self, dimension: str, size: int, work: str, seconds: float) -> Figure:
        """Wait, and count what is spent in a second meanwhile."""
        before = await self.read()
        started = time.perf_counter()
        await asyncio.sleep(seconds)
        took = time.perf_counter() - started
        spent = (await self.read()).since(before)

        statements = await self.statements(lambda: asyncio.sleep(seconds), 1) / seconds
        figure = await self.figure(dimension, size, work, spent, took, statements, ())
        return replace(figure, times=1)

    async def figure(
        self,
        dimension: str,
        size: int,
        work: str,
        spent: Spent,
        times: float,
        statements: float,
        seconds: Sequence[float],
        rate: float | None = None,
    ) -> Figure:
        """What was spent on `times` works, for one of them."""
        cpu_ms = {name: max(0.0, cpu) * 1000 / times for name, cpu in spent.cpu.items()}
        p50, p99 = percentiles(seconds)
        wal, commits = spent.wal_bytes / times, spent.commits / times
        logged = await self._logged_commits(spent) / times
        return Figure(
            dimension,
            size,
            work,
            int(times),
            statements,
            cpu_ms,
            wal,
            commits,
            p50,
            p99,
            rate,
            logged,
        )

    async def read(self) -> Reading:
        """What was spent until now, but for what this process spent on readings."""
        began = time.process_time()
        # A transaction gets an id when it first writes.
        [row] = await self._connection.fetch(
            """
            SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS position,
                   pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS transactions
            """
        )
        cpu = {DATABASE: exact_cpu_seconds(self._postmaster)}
        for name, process_id in self._processes.items():
            cpu[name] = exact_cpu_seconds(process_id)
        if not self._processes:
            cpu[CALLER] = began - self._reading_seconds
        self._reading_seconds += time.process_time() - began
        return Reading(cpu, row["position"], row["transactions"])

    async def _logged_commits(self, spent: Spent) -> int:
        """Count the commits in what was written, once all of it is on disk."""
        await self._connection.execute("SELECT pg_logical_emit_message(false, '', '', true)")
        return logged_commits(Path(f"/proc/{self._postmaster}/cwd/pg_wal"), spent.written)

    async def statements(self, do: Work, times: int, prepare: Work | None = None) -> float:
        """How many statements one work makes, in all processes together."""
        total = 0
        if prepare is None:
            await self._log_statements("all")
        for _ in range(times):
            if prepare is not None:
                await prepare()
                await self._log_statements("all")
            start = self._log.stat().st_size
            await do()
            total += len(statements_in(self._log, start, self._log.stat().st_size))
            if prepare is not None:
                await self._log_statements("none")
        if prepare is None:
            await self._log_statements("none")
        return total / times

    async def _log_statements(self, which: str) -> None:
        """Have every connection log its statements, or none; it takes effect within moments."""
        await self._connection.execute(f"ALTER SYSTEM SET log_statement = '{which}'")
        await self._connection.execute("SELECT pg_reload_conf()")
        await asyncio.sleep(_RELOAD_SECONDS)


async def _done(do: Work, prepare: Work | None) -> None:
    if prepare is not None:
        await prepare()
    await do()


def exact_cpu_seconds(process_id: int) -> float:
    """The CPU that a process and its descendants have used, to the microsecond for those alive."""
    total = 0.0
    parents = _parents()
    tree = {process_id}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in tree} - tree
        tree |= more
        grown = bool(more)
    for pid in tree:
        with suppress(OSError):  # it has ended
            for thread in Path(f"/proc/{pid}/task").iterdir():
                total += int((thread / "schedstat").read_text().split()[0]) / _NANOSECONDS
            total += servers.ended_children_cpu_seconds(pid)
    return total


def _parents() -> Mapping[int, int]:
    """The parent of every process."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(folder.name)] = servers.parent_of(int(folder.name))
    return parents
