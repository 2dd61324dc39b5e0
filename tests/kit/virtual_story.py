"""A random scenario from a seed: events, changed subscriptions, crashes and moved clocks."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from kit.virtual import Process, State
from kit.virtual_world import KEYRING, Hook, Look, Temper, Trouble, Worker, World
from tradewind.delivery import replay, sql_replays
from tradewind.delivery.lanes import EngineLimits
from tradewind.delivery.model import Window
from tradewind.events import journal
from tradewind.events.catalogue import Event
from tradewind.events.journal import DELIVERIES
from tradewind.storage.transaction import transaction
from tradewind.webhooks import secret as secrets
from tradewind.webhooks import sql
from tradewind.webhooks.model import SubscriptionChanges
from tradewind.webhooks.subscribe import CANCELLATIONS

KINDS = ("order.updated", "payment.updated")
TEMPERS = ("fast", "fast", "fast", "slow", "hangs", "drops", "500", "429", "410")
# Everything is over within three attempts, a few deaths' leases, and a rest of what was parked.
_PATIENCE_SECONDS = 7200.0
_ACCOUNT = """
    INSERT INTO account (id, email, roles, plan, created_at, updated_at)
    SELECT id, id || '@example.com', '{buyer}', 'pro', tradewind_now(), tradewind_now()
      FROM unnest($1::uuid[]) AS id
"""
_LEFT = """
    SELECT (SELECT count(*) FROM delivery_queue)
           + (SELECT count(*) FROM replay WHERE status = 'running')
           + (SELECT count(*) FROM cancellation)
"""


@dataclass(eq=False)
class Happened:
    """An event, when it was journalled, and whom it was queued for, with which generation."""

    event: Event
    at: float
    queued: dict[int, int]


@dataclass
class Story:
    """What was done in a world, as far as it must show later."""

    world: World
    bounds: EngineLimits
    calm: bool
    events: list[Happened] = field(default_factory=list)
    redelivered: list[tuple[Hook, UUID, int, float]] = field(default_factory=list)
    jobs: list[tuple[Hook, UUID]] = field(default_factory=list)
    most_stopping: float = 0.0
    drained: bool = True

    async def run(self) -> None:
        """Tell it from its beginning until nothing is left to deliver."""
        world, chance = self.world, self.world.chance
        await self._prepare()
        for _ in range(1 if chance.random() < 0.4 else chance.randint(2, 3)):
            world.hire(self.bounds)
        await self.happen()
        steps = self._steps()
        for _ in range(chance.randint(3, 9)):
            await world.sleep(chance.choice([0.01, 0.3, 2.0, 8.0, 25.0, 60.0]) * chance.random())
            await chance.choice(steps)()
        await self._end_well()

    def _steps(self) -> Sequence[Callable[[], Coroutine[Any, Any, None]]]:
        plain = [self.happen] * 5 + [self.temper] * 2 + [self.redeliver, self.recover]
        plain += [self.switch, self.switch, self.rotate, self.move, self.narrow, self.delete]
        plain += [self.cancel_recovery]
        rough = [self.kill, self.kill, self.freeze, self.storm, self.storm, self.jump, self.retire]
        return plain if self.calm else plain + rough

    async def _prepare(self) -> None:
        world, chance = self.world, self.world.chance
        accounts = [UUID(int=chance.getrandbits(128)) for _ in range(chance.randint(1, 2))]
        await world.api.execute(_ACCOUNT, accounts)
        hosts = [f"h{number}.example.com" for number in range(chance.randint(1, 3))]
        for host in [*hosts, "moved.example.com"]:
            world.tempers[host] = _temper(world)
        world.server.do("fetchval", "SELECT setval('test_ids', $1)", chance.getrandbits(62) + 1)
        async with transaction(world.api) as tx:
            for number in range(chance.randint(1, 4)):
                hook = Hook(UUID(int=chance.getrandbits(128)), chance.choice(accounts), number)
                look = Look(
                    world.time,
                    f"https://{chance.choice(hosts)}/{number}/0",
                    f"whsec_{chance.getrandbits(64):x}",
                    frozenset(KINDS if chance.random() < 0.7 else KINDS[:1]),
                    is_active=True,
                    generation=1,
                )
                hook.looks.append(look)
                world.hooks.append(hook)
                world.tell(f"hook {number} is {hook.id} at {look.url}")
                await sql.insert_subscription(
                    tx,
                    hook.id,
                    hook.account_id,
                    SubscriptionChanges(
                        look.url, sorted(look.events), catch_up=chance.random() < 0.3
                    ),
                    secret=secrets.sealed(KEYRING, hook.account_id, hook.id, look.secret),
                    headers=None,
                )

    async def happen(self) -> None:
        """Journal a few events, or many."""
        world, chance = self.world, self.world.chance
        number = chance.choice([1, 1, 1, 2, 2, 3, 4, 9])
        account = chance.choice(world.hooks).account_id
        made = []
        for _ in range(number):
            event_id = UUID(int=chance.getrandbits(128))
            kind = chance.choice(KINDS)
            body = f'{{"id":"{event_id}"}}'.encode()
            made.append(Event(event_id, account, event_id, kind, world.server.now(), body))
        async with transaction(world.api) as tx:
            journal.append(tx, made)
        world.tell(f"{number} events")
        for event in made:
            queued = {
                hook.number: hook.now.generation
                for hook in world.hooks
                if hook.account_id == account
                and hook.now.is_active
                and not hook.now.is_deleted
                and event.kind in hook.now.events
            }
            self.events.append(Happened(event, world.time, queued))

    async def temper(self) -> None:
        """A receiver becomes another."""
        host = self.world.chance.choice(list(self.world.tempers))
        self.world.tempers[host] = _temper(self.world)
        self.world.tell(f"{host} is {self.world.tempers[host]}")

    async def switch(self) -> None:
        """Switch a subscription off and, mostly, on again."""
        hook = self._any_hook()
        if hook is None:
            return
        await self._change(hook, is_active=not hook.now.is_active)
        if not hook.now.is_active and self.world.chance.random() < 0.7:
            await self.world.sleep(self.world.chance.choice([0.0, 0.0, 0.5, 20.0]))
            if not hook.now.is_deleted:
                await self._change(hook, is_active=True)

    async def move(self) -> None:
        hook = self._any_hook()
        if hook is not None:
            host = self.world.chance.choice(list(self.world.tempers))
            await self._change(hook, url=f"https://{host}/{hook.number}/{len(hook.looks)}")

    async def narrow(self) -> None:
        hook = self._any_hook()
        if hook is not None:
            await self._change(hook, events=frozenset([self.world.chance.choice(KINDS)]))

    async def rotate(self) -> None:
        hook = self._any_hook()
        if hook is None:
            return
        secret = f"whsec_{self.world.chance.getrandbits(64):x}"
        async with transaction(self.world.api) as tx:
            value = secrets.sealed(KEYRING, hook.account_id, hook.id, secret)
            assert await sql.replace_secret(tx, hook.account_id, hook.id, value)
        self._looks(hook, secret=secret)

    async def delete(self) -> None:
        hook = self._any_hook()
        if hook is None or self.world.chance.random() < 0.5:
            return
        async with transaction(self.world.api) as tx:
            assert await sql.delete_subscription(tx, hook.account_id, hook.id)
            tx.wake(CANCELLATIONS)
        self._looks(hook, is_deleted=True, is_active=False)

    async def redeliver(self) -> None:
        hook = self._any_hook()
        mine = [
            event for event in self.events if hook and event.event.account_id == hook.account_id
        ]
        if hook is None or not mine or not hook.now.is_active:
            return
        event_id = self.world.chance.choice(mine).event.id
        async with transaction(self.world.api) as tx:
            assert await sql_replays.queue_event(tx, hook.account_id, hook.id, event_id)
            tx.wake(DELIVERIES)
        self.redelivered.append((hook, event_id, hook.now.generation, self.world.time))
        self.world.tell(f"redeliver {event_id} to hook {hook.number}")

    async def recover(self) -> None:
        hook = self._any_hook()
        if hook is None or not hook.now.is_active:
            return
        now = self.world.server.now()
        everything = self.world.chance.random() < 0.5
        span = Window(now - timedelta(minutes=5), now, everything=everything)
        made = await replay.begin(self.world.api, hook.account_id, hook.id, span)
        self.world.tell(f"recover hook {hook.number}: {made}")
        if made is not None:
            self.jobs.append((hook, made[0]))

    async def cancel_recovery(self) -> None:
        if self.jobs:
            hook, job_id = self.world.chance.choice(self.jobs)
            async with transaction(self.world.api) as tx:
                await sql_replays.cancel_replay(tx, hook.account_id, hook.id, job_id)
            self.world.tell(f"cancel {job_id}")

    async def kill(self) -> None:
        """A worker dies in the middle of whatever it does; another takes its place, mostly."""
        worker = self._any_worker()
        if worker is None:
            return
        worker.kill()
        self._trouble("killed", 0.0, worker.process)
        if self.world.chance.random() < 0.7:
            self.world.hire(self.bounds)

    async def freeze(self) -> None:
        """A worker freezes past its leases, and goes on as if nothing had been."""
        worker = self._any_worker()
        if worker is None:
            return
        seconds = self.world.chance.choice([3.0, 12.0, 22.0, 40.0, 90.0])
        self.world.loop.freeze(worker.process)
        self._trouble("frozen", seconds, worker.process)
        self.world.loop.call_later(seconds, self._thaw, worker)

    def _thaw(self, worker: Worker) -> None:
        if worker.process.state is State.FROZEN:
            self.world.server.changed()
            self.world.loop.thaw(worker.process)

    async def retire(self) -> None:
        """A worker is told to stop, and finishes what is at hand; another comes."""
        worker = self._any_worker()
        if worker is None or not self.world.weather.is_fair:
            return
        self.world.hire(self.bounds)
        self.most_stopping = max(self.most_stopping, await worker.leave())

    async def storm(self) -> None:
        """The database cannot be reached, or its answers are lost, or it is very slow."""
        world, weather = self.world, self.world.weather
        if world.chance.random() < 0.5:  # while something is on its way
            await self.happen()
            await world.sleep(world.chance.uniform(0, 0.1))
        seconds = world.chance.choice([0.2, 1.0, 4.0, 12.0, 25.0])
        worst = world.chance.choice([(1.0, 0.0, 0.003), (0.5, 0.0, 0.1), (0.0, 0.5, 0.01)])
        worst = world.chance.choice([worst, (0.2, 0.3, 0.5), (0.0, 0.0, 4.0)])
        weather.lost_calls, weather.lost_answers, weather.slowest = worst
        self._trouble(f"storm {worst}", seconds + 2 * worst[2])
        await world.sleep(seconds)
        weather.lost_calls, weather.lost_answers, weather.slowest = 0.0, 0.0, 0.003
        world.server.changed(settles_after=6.0)

    async def jump(self) -> None:
        """The database's clock leaps ahead."""
        seconds = self.world.chance.choice([5.0, 30.0, 61.0, 600.0])
        self.world.server.jump(timedelta(seconds=seconds))
        self._trouble(f"jump {seconds}", 0.0)

    async def _is_something_left(self) -> bool:
        """Whether anything is, a second later too: with its health, a receiver may catch up."""
        if not self.world.server.do("fetchval", _LEFT):
            await self.world.sleep(1.0)
        return bool(self.world.server.do("fetchval", _LEFT))

    async def _end_well(self) -> None:
        """End every fault, and let time run until nothing is left; then everybody goes home."""
        world = self.world
        for worker in list(world.workers):
            self._thaw(worker)
        if not world.workers:
            world.hire(self.bounds)
        world.tell("all is well")
        until = world.time + _PATIENCE_SECONDS
        while await self._is_something_left():
            if world.time > until:
                self.drained = False
                break
            due = world.server.next_due() - world.time
            await world.sleep(2.0 + (due if 0 < due < 1000 else 0.0))
        for worker in list(world.workers):
            self.most_stopping = max(self.most_stopping, await worker.leave())

    def _trouble(self, kind: str, seconds: float, process: Process | None = None) -> None:
        world = self.world
        world.troubles.append(Trouble(kind, world.time, world.time + seconds, process))
        world.tell(f"{kind} for {seconds}: {process.name if process else 'all'}")
        world.server.changed()

    def _any_hook(self) -> Hook | None:
        there = [hook for hook in self.world.hooks if not hook.now.is_deleted]
        return self.world.chance.choice(there) if there else None

    def _any_worker(self) -> Worker | None:
        up = [worker for worker in self.world.workers if worker.process.state is State.RUNNING]
        return self.world.chance.choice(up) if up else None

    async def _change(self, hook: Hook, **wish: Any) -> None:
        plain: dict[str, Any] = {"url": None, "events": None, "is_active": None}
        value = plain | wish
        async with transaction(self.world.api) as tx:
            assert await sql.update_subscription(
                tx,
                hook.account_id,
                hook.id,
                SubscriptionChanges(
                    url=value["url"],
                    events=value["events"] and sorted(value["events"]),
                    is_active=value["is_active"],
                ),
            )
            tx.wake(CANCELLATIONS)
        if value["is_active"] is False and hook.now.is_active:
            wish["generation"] = hook.now.generation + 1
        self._looks(hook, **wish)

    def _looks(self, hook: Hook, **new: Any) -> None:
        hook.looks.append(replace(hook.now, at=self.world.time, **new))
        self.world.tell(f"hook {hook.number}: {new}")


def _temper(world: World) -> Temper:
    chance = world.chance
    return Temper(chance.choice(TEMPERS), chance.choice([1.0, 1.0, 0.5]))


async def tell(world: World) -> Story:
    """Tell the story of a world from its beginning to its end."""
    chance = world.chance
    small = EngineLimits(chance.choice([2, 8]), chance.choice([1, 4]), chance.choice([2, 6]), 2)
    bounds = small if chance.random() < 0.5 else EngineLimits()
    story = Story(world, bounds, calm=chance.random() < 0.3)
    world.tell(f"{bounds}, {'calm' if story.calm else 'rough'}")
    await story.run()
    for worker in world.everyone:
        worker.line.cut = True
        await world.loop.bury(worker.process)
    await asyncio.sleep(0)
    return story
