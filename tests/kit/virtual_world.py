"""A world in virtual time: workers with a real engine each, and misbehaving endpoints."""

import asyncio
import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from kit.virtual import Process, State, VirtualLoop
from kit.virtual_database import Bell, Line, Server, Weather
from tradewind import ids
from tradewind.background.loop import repeat
from tradewind.delivery.cancel import cancel_unwanted
from tradewind.delivery.engine import Engine
from tradewind.delivery.lanes import EngineLimits
from tradewind.delivery.queue_monitor import watch
from tradewind.delivery.replay import feed_replays
from tradewind.egress.result import AttemptResult, Outcome, Problem
from tradewind.storage.keyring import Keyring
from tradewind.storage.wakeups import Wakeup

KEYRING = Keyring([bytes(range(32))])
_STEP = 1e-6
_NEVER = 1e9


@dataclass(frozen=True)
class Look:
    """A subscription as it was from a moment on, until the next look at it."""

    at: float
    url: str
    secret: str
    events: frozenset[str]
    is_active: bool
    generation: int
    is_deleted: bool = False


@dataclass(eq=False)
class Hook:
    """A subscription, and all that it ever was."""

    id: UUID
    account_id: UUID
    number: int
    looks: list[Look] = field(default_factory=list)

    @property
    def now(self) -> Look:
        return self.looks[-1]

    def between(self, since: float, until: float) -> list[Look]:
        """What it was at some moment of this time."""
        ends = [look.at for look in self.looks[1:]] + [float("inf")]
        return [
            look
            for look, end in zip(self.looks, ends, strict=True)
            if look.at <= until and end >= since
        ]


@dataclass(eq=False)
class Sent:
    """A POST as the network saw it. `ended` is when it was answered, if that could be heard."""

    at: float
    moment: datetime
    process: Process
    hook: Hook
    url: str
    body: bytes
    event_id: UUID
    delivery_id: UUID
    signed: tuple[str, str]
    ended: float
    ended_moment: datetime | None = None
    result: AttemptResult | None = None
    arrived: bool = True

    @property
    def host(self) -> str:
        return self.url.split("/")[2]


@dataclass
class Temper:
    """How a receiver is: what it answers, how fast, and how often it is in a bad mood."""

    kind: str
    bad: float = 1.0


@dataclass(frozen=True)
class Trouble:
    """Something that may explain what should else not be. No process: it concerns all."""

    kind: str
    since: float
    until: float
    process: Process | None = None


class World:
    """Everything of one seed."""

    def __init__(self, loop: VirtualLoop, server: Server, seed: int) -> None:
        self.loop = loop
        self.server = server
        self.chance = random.Random(seed)  # noqa: S311 - a seed is the point
        self.weather = Weather()
        self.bell = Bell(self.chance, self.chance.choice([0.0, 0.0, 0.3, 1.0]))
        self.tempers: dict[str, Temper] = {}
        self.hooks: list[Hook] = []
        self.workers: list[Worker] = []
        self.everyone: list[Worker] = []
        self.sent: list[Sent] = []
        self.troubles: list[Trouble] = []
        self.story: list[str] = []
        self.api = Line(server, Weather(slowest=0.0), self.chance, self.bell)
        self._agenda: list[float] = []
        loop.lull = self.lull

    @property
    def time(self) -> float:
        return self.loop.time()

    def tell(self, line: str) -> None:
        self.story.append(f"{self.time:9.3f} {line}")

    async def sleep(self, seconds: float) -> None:
        """Sleep, in a way that nobody leaps over."""
        self.expect(self.time + seconds)
        await asyncio.sleep(seconds)

    def expect(self, moment: float) -> None:
        """Something happens then: nobody leaps over it."""
        heapq.heappush(self._agenda, moment)

    def lull(self) -> float:
        """Until when there is nothing but polls in vain: then time may leap there."""
        server = self.server
        if not server.is_settled():
            return 0.0
        for worker in self.workers:
            if worker.process.state is State.RUNNING and not worker.line.is_quiet:
                return 0.0
        while self._agenda and self._agenda[0] <= self.time:
            heapq.heappop(self._agenda)
        moment = min([server.next_due() + _STEP, *self._agenda[:1]])
        return moment if moment < _NEVER else 0.0

    def hire(self, bounds: EngineLimits) -> "Worker":
        worker = Worker(self, f"worker {len(self.everyone)}", bounds)
        self.workers.append(worker)
        self.everyone.append(worker)
        return worker


class Network:
    """What a worker sends through: the receivers are all over there."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process

    def begin(
        self,
        url: str,
        body: bytes,
        headers: Sequence[str],
        done: Callable[[AttemptResult], None],
        *,
        seconds: float,
        fresh: bool,  # noqa: ARG002 - there are no connections here
    ) -> None:
        world = self._world
        reported = dict(line.split(": ", 1) for line in headers)
        number = int(url.split("/")[3])
        delivery_id = ids.DELIVERY.read(reported["X-Service-Delivery"])
        event_id = UUID(body.decode().split('"')[3])
        assert delivery_id is not None
        took, result, arrived = self._answer(url, seconds)
        sent = Sent(
            world.time,
            world.server.now(),
            self._process,
            world.hooks[number],
            url,
            body,
            event_id,
            delivery_id,
            (reported["X-Service-Timestamp"], reported["X-Service-Signature"]),
            world.time + took,
            arrived=arrived,
        )
        world.sent.append(sent)
        world.expect(sent.ended)

        def end() -> None:
            sent.ended, sent.ended_moment, sent.result = world.time, world.server.now(), result
            world.server.changed()  # it is recorded a moment later
            done(result)

        world.loop.call_later(took, end)

    def _answer(self, url: str, seconds: float) -> tuple[float, AttemptResult, bool]:
        """How long it takes, what is answered, and whether the receiver got it at all."""
        chance = self._world.chance
        temper = self._world.tempers[url.split("/")[2]]
        kind = temper.kind if chance.random() < temper.bad else "fast"
        if kind == "fast":
            return chance.uniform(0.001, 0.08), AttemptResult(Outcome.DELIVERED, 200), True
        if kind == "slow":
            return chance.uniform(0.5, 9.9), AttemptResult(Outcome.DELIVERED, 202), True
        if kind == "hangs":
            problem = Problem("timeout", "No answer in time.")
            return seconds, AttemptResult(Outcome.TIMEOUT, None, problem), True
        if kind == "drops":
            problem = Problem("connect_failed", "Nobody is there.")
            arrived = chance.random() < 0.5
            took = chance.uniform(0.001, 2.0)
            return took, AttemptResult(Outcome.CONNECT_FAILED, None, problem), arrived
        status = int(kind)
        problem = Problem("http_error", "It did not want it.")
        return chance.uniform(0.001, 1.0), AttemptResult(Outcome.HTTP_ERROR, status, problem), True


class Worker:
    """A worker process: the loops of `tradewind worker` that have to do with deliveries."""

    def __init__(self, world: World, name: str, bounds: EngineLimits) -> None:
        self.world = world
        self.bounds = bounds
        self.hired_at = world.time
        self.left_at = float("inf")
        self.process = Process(name)
        self.line = Line(world.server, world.weather, world.chance, world.bell)
        self.stop = asyncio.Event()
        wake, unwanted = Wakeup(), Wakeup()
        world.bell.events += [(self.process, wake), (self.process, unwanted)]
        network = Network(world, self.process)
        self.engine = Engine(self.line, KEYRING, network, limits=bounds, monotonic=world.loop.time)
        self.running = self.process.start(self._work(wake, unwanted))

    async def _work(self, wake: Wakeup, unwanted: Wakeup) -> None:
        loops: list[Any] = [self.engine.run(self.stop, wake)]
        for name, step, woken, idle in (
            ("cancel", cancel_unwanted, unwanted, 1.0),
            ("recover", feed_replays, asyncio.Event(), 1.0),
            ("figures", watch, asyncio.Event(), 15.0),
        ):
            loops.append(
                repeat(
                    name,
                    lambda step=step: step(self.line),  # type: ignore[misc]
                    stop=self.stop,
                    wake=woken,
                    idle=idle,
                )
            )
        await asyncio.gather(*loops)

    def kill(self) -> None:
        self.left_at = self.world.time
        self.world.loop.kill(self.process)
        self.world.workers.remove(self)

    async def leave(self) -> float:
        """Tell it to stop, and wait until it has; how long that took."""
        began = self.left_at = self.world.time
        self.stop.set()
        self.world.server.changed()
        await asyncio.wait([self.running], timeout=60)
        if self in self.world.workers:
            self.world.workers.remove(self)
        if self.running.done():
            self.running.result()
        return self.world.time - began
