"""Chaos for tests: workers killed again and again, a moving clock, random faults."""

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from simulator.sandbox_kit import Market

from kit import invariants
from kit.forks import Process
from kit.server import Server, ServerLauncher

_TICK_SECONDS = 0.5
_CRASHES = ('"level":"error"', '"level":"critical"', "Traceback")


def seeded_random() -> random.Random:
    """Others in each run; CHAOS_SEED brings those of a run back whose output names it."""
    chosen = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(1 << 32))
    sys.stdout.write(f"CHAOS_SEED={chosen}\n")
    return random.Random(chosen)  # noqa: S311 - it is not for secrets


@contextmanager
def no_errors_logged(launcher: ServerLauncher) -> Iterator[None]:
    """Whatever fails is expected: no process that starts in the block logs an error of its own."""
    before = set(launcher.folder.glob("*.log"))
    yield
    lines = [
        line[:2000]
        for log in set(launcher.folder.glob("*.log")) - before
        for line in log.read_text(errors="replace").splitlines()
        if any(sign in line for sign in _CRASHES) and '"error_code":' not in line
    ]
    assert not lines, "\n".join([f"{len(lines)} errors", *lines[:10]])


def set_faults(market: Market, rates: Mapping[str, Mapping[str, float]], **more: float) -> None:
    """Have operations go wrong in several ways, each as often as its rate says.

    `http500 after` does what it was asked before it says that it failed, `http500` does not. A
    call is struck by the first of its rates that hits: those that come later are a little rarer.
    `more` is how many seconds the slow and the late ones take.
    """
    for operation, modes in rates.items():
        for mode, rate in modes.items():
            word, _, after = mode.partition(" ")
            details = {"seconds": more[word]} if word in more else {}
            market.fault(operation, word, rate=rate, after=after == "after", **details)


def clear_faults(market: Market) -> None:
    market.client.delete("/_control/faults").raise_for_status()


class WorkerPool:
    """Workers, of which one dies now and then and is replaced."""

    def __init__(
        self, launcher: ServerLauncher, database_url: str, settings: Mapping[str, str], number: int
    ) -> None:
        self._launcher = launcher
        self._database_url = database_url
        self._settings = settings
        self.workers = [self._start_worker() for _ in range(number)]
        self.kills = 0

    def _start_worker(self) -> Process:
        return self._launcher.worker(self._database_url, settings=self._settings)

    def kill_one(self, chance: random.Random) -> None:
        which = chance.randrange(len(self.workers))
        self._kill(self.workers[which])
        self.workers[which] = self._start_worker()

    def kill_oldest(self) -> None:
        """Let the worker die that has been at work the longest; a new one takes its place."""
        self._kill(self.workers.pop(0))
        self.workers.append(self._start_worker())

    def tell_oldest_to_stop(self) -> Process:
        """Tell the oldest worker to stop; whoever calls waits for its end."""
        oldest = self.workers.pop(0)
        oldest.send_signal(signal.SIGTERM)
        return oldest

    def add(self) -> None:
        self.workers.append(self._start_worker())

    def kill_all(self) -> None:
        """Let all of them die, and begin with as many new ones."""
        for worker in self.workers:
            self._kill(worker)
        self.workers = [self._start_worker() for _ in self.workers]

    def _kill(self, worker: Process) -> None:
        worker.kill()
        worker.wait(10)
        self.kills += 1

    def stop(self) -> None:
        """Have them finish what is at hand, and end."""
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            worker.wait(20)
        self.workers = []


@contextmanager
def worker_pool(
    launcher: ServerLauncher, database_url: str, settings: Mapping[str, str], number: int = 2
) -> Iterator[WorkerPool]:
    pool = WorkerPool(launcher, database_url, settings, number)
    try:
        yield pool
    finally:
        for worker in pool.workers:
            worker.kill()
            worker.wait(10)


@contextmanager
def killing_workers(
    pool: WorkerPool, chance: random.Random, least: float, most: float
) -> Iterator[None]:
    """Kill a worker every now and then, until the block ends."""
    stop = threading.Event()

    def kill() -> None:
        while not stop.wait(chance.uniform(least, most)):
            pool.kill_one(chance)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def accelerated_clock(api: Server, market: Market, speed: int) -> Iterator[None]:
    """Let time pass faster, on the platform and for us: leases and settling times end sooner.

    What is in the air in the middle of a step of the clock has taken a little longer than it
    has: `speed` must be small enough that a call never seems to take the minutes in which a
    create that was not answered may still come true.
    """
    stop = threading.Event()
    extra = timedelta(seconds=_TICK_SECONDS * (speed - 1))

    def move() -> None:
        while not stop.wait(_TICK_SECONDS):
            api.move_clock(extra)

    market.clock(speed=speed)
    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        market.clock(speed=1)


def wait_until_performed(market: Market, operation: str, seconds: float) -> None:
    """Wait until the platform has performed all calls that it performs late."""
    until = time.monotonic() + seconds
    while left := market.state()["counters"].get(f"{operation}.waiting", 0):
        assert time.monotonic() < until, f"{left} calls of {operation} are not performed"
        time.sleep(0.25)


def wait_until_decided(api: Server, seconds: float, *, but: int = 0) -> float:
    """Wait until no order is undecided, `but` for some, so long at the most; how long it took."""
    began = time.monotonic()
    while len(left := invariants.undecided(api)) > but:
        if time.monotonic() - began > seconds:
            shown = "\n".join(str(dict(item)) for item in left[:10])
            raise AssertionError(f"{len(left)} orders are undecided:\n{shown}")
        time.sleep(0.25)
    return time.monotonic() - began
