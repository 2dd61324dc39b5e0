"""Deliveries through real processes: an appender, a worker, PostgreSQL and an endpoint."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from bench import servers, workers
from bench.endpoints import reported_by
from bench.servers import THIS_PROGRAM, Program

_LOOK_SECONDS = 0.05
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Spent:
    """What deliveries took: their rate, and the CPU of every process of ours for a thousand."""

    rate: float
    appender: float
    worker: float
    database: float

    @property
    def cpu(self) -> float:
        return self.appender + self.worker + self.database

    @property
    def parts(self) -> str:
        """The CPU of each, as people read it."""
        return (
            f"{self.appender:.3f} appender, {self.worker:.3f} worker, "
            f"{self.database:.3f} PostgreSQL"
        )


@dataclass(frozen=True)
class System:
    """The running processes."""

    appender: subprocess.Popen[str]
    workers: Sequence[workers.Worker]
    postmaster: int
    endpoint: str

    def append(self, command: str, *numbers: int) -> Mapping[str, float]:
        """Have events appended; when each had committed, by its id."""
        if self.appender.stdin is None or self.appender.stdout is None:
            raise RuntimeError("The appender has no pipes.")
        self.appender.stdin.write(" ".join(map(str, [command, *numbers])) + "\n")
        self.appender.stdin.flush()
        return dict(json.loads(self.appender.stdout.readline()))

    def burst(self, events: int, subscriptions: int) -> Spent:
        """Append events as fast as it goes, until the last attempt is recorded."""
        before, recorded, number = self._cpu(), self._delivered(), events * subscriptions
        committed = self.append("burst", events)
        arrived = self.arrivals(number)
        self._wait(lambda: self._delivered() >= recorded + number)
        seconds = max(at for _, at in arrived) - min(committed.values())
        return self._spent(before, number, seconds)

    def only_append(self, events: int) -> Spent:
        """Append events as fast as it goes; without workers they stay in the queue."""
        before = self._cpu()
        committed = self.append("burst", events).values()
        return self._spent(before, events, max(committed) - min(committed))

    def latencies(self, rate: int, seconds: int, subscriptions: int) -> Sequence[float]:
        """Seconds from a commit to the arrival, at a steady rate of events."""
        committed = self.append("flow", rate, seconds)
        arrived = self.arrivals(rate * seconds * subscriptions)
        return [at - committed[event_id] for event_id, at in arrived]

    def arrivals(self, number: int) -> Sequence[tuple[str, float]]:
        """Wait for `number` deliveries; the event of each, and when it arrived."""
        self._wait(lambda: reported_by(self.endpoint, "count") >= number)
        arrived: Sequence[tuple[str, float]] = reported_by(self.endpoint, "arrivals")
        return arrived

    def _wait(self, is_done: Callable[[], bool]) -> None:
        until = time.perf_counter() + _PATIENCE_SECONDS
        while not is_done():
            if time.perf_counter() > until:
                raise RuntimeError("The deliveries did not end in time.")
            time.sleep(_LOOK_SECONDS)

    def _delivered(self) -> int:
        return sum(worker.delivered() for worker in self.workers)

    def _spent(self, before: Sequence[float], number: int, seconds: float) -> Spent:
        used = [after - start for after, start in zip(self._cpu(), before, strict=True)]
        return Spent(number / seconds, *(1000 * cpu / number for cpu in used))

    def _cpu(self) -> Sequence[float]:
        """Seconds of CPU of the appender, the workers and PostgreSQL."""
        cpu = servers.tree_cpu_seconds
        in_workers = sum(cpu(worker.process_id) for worker in self.workers)
        return [cpu(self.appender.pid), in_workers, cpu(self.postmaster)]


@contextmanager
def running(
    database_url: str,
    account_ids: Sequence[UUID],
    postmaster: int,
    endpoint: str,
    *,
    number: int = 1,
    program: Program = THIS_PROGRAM,
) -> Iterator[System]:
    """An appender for these accounts and `number` workers, while the block lasts."""
    command = [sys.executable, "-m", "bench.appender", database_url, *map(str, account_ids)]
    pipe = subprocess.PIPE
    with (
        workers.working(database_url, number, program=program) as running_workers,
        subprocess.Popen(
            command,
            cwd=program.folder,
            env=program.environ({}),
            stdin=pipe,
            stdout=pipe,
            text=True,
        ) as appender,
    ):
        system = System(appender, running_workers, postmaster, endpoint)
        try:
            if appender.stdout is None or appender.stdout.readline() != "ready\n":
                raise RuntimeError("The appender did not start.")
            yield system
        finally:
            appender.terminate()
