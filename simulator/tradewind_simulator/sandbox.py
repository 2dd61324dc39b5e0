"""One simulated marketplace: the world, its tokens, notices, faults and state file."""

import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tradewind_simulator import steps
from tradewind_simulator.alibaba import notices as alibaba_notices
from tradewind_simulator.clock import Clock
from tradewind_simulator.faults import Faults
from tradewind_simulator.limits import Limits
from tradewind_simulator.model import App, Dialect, Entry, Order, Token
from tradewind_simulator.notices import Notices, Target
from tradewind_simulator.persist import Keeper, Record
from tradewind_simulator.taobao import notices as taobao_notices
from tradewind_simulator.tokens import Tokens
from tradewind_simulator.world import Meta, World


class Options(Struct, frozen=True):
    """The options. `notify_url` may hold `{app}`; without a state file, a stop loses everything."""

    apps: tuple[App, ...]
    seed: int = 1688
    speed: float = 1.0
    products: int = 3_000
    pay_seconds: int = 43_200
    state: Path | None = None
    notify_url: str = ""


class Sandbox:
    """A simulated marketplace; `real` is the real time, the world has its own."""

    def __init__(self, options: Options) -> None:
        real = time.time()
        self.options = options
        self.world = World(
            apps=options.apps,
            seed=options.seed,
            products=options.products,
            pay_seconds=options.pay_seconds,
            clock=Clock(real, real, options.speed),
        )
        self.tokens = Tokens(options.apps)
        self.faults = Faults(self.world.chance)
        self.limits = Limits()
        self.notices = Notices(
            self.world.apps,
            self.world.sellers,
            self.world.ids,
            self.world.chance,
            self.faults,
            {
                Dialect.ALIBABA: alibaba_notices.compose,
                Dialect.TAOBAO: taobao_notices.compose,
            },
        )
        self._aim()
        self.keeper = Keeper(options.state) if options.state is not None else None
        if self.keeper is not None:
            self.keeper.claim()
            self._restore(self.keeper.load())
            self.keeper.replace(self._records())
        self.world.on_change = self._keep
        self.tokens.on_change = self._keep
        self.world.on_news = lambda news: self.notices.tell(news, time.time())

    def now(self) -> float:
        return self.world.clock.now(time.time())

    def settle(self) -> float:
        """Take the steps that are due, and return the simulated time."""
        now = self.now()
        steps.settle(self.world, now)
        return now

    def advance(self, seconds: float) -> None:
        self.world.clock.advance(seconds, time.time())
        self.settle()
        self.keep_meta()

    def run_at(self, speed: float) -> None:
        self.settle()
        self.world.clock.run_at(speed, time.time())
        self.keep_meta()

    def reset(self) -> None:
        """Reset everything except the ids and the tokens that were issued."""
        real = time.time()
        self.world.clear()
        self.world.clock = Clock(real, real, self.options.speed)
        self.faults.clear()
        self.limits.set(None)
        self.notices.clear()
        self._aim()
        self.tokens.revive()
        if self.keeper is not None:
            self.keeper.replace(self._records())

    def aim(self, target: Target) -> None:
        self.notices.targets[target.app] = target
        self._keep(target)

    def keep_meta(self) -> None:
        self._keep(self._meta())

    def close(self) -> None:
        if self.keeper is not None:
            self.keeper.replace(self._records())
            self.keeper.close()

    def _aim(self) -> None:
        """Send notices where the options say, each application's to its own URL."""
        self.notices.targets.clear()
        if self.options.notify_url:
            for app in self.options.apps:
                url = self.options.notify_url.replace("{app}", app.name)
                self.notices.targets[app.name] = Target(app.name, url)

    def _keep(self, record: Record) -> None:
        if self.keeper is not None:
            self.keeper.append(record)

    def _meta(self) -> Meta:
        clock = self.world.clock
        return Meta(self.world.ids.last, clock.real, clock.world, clock.speed)

    def _records(self) -> Iterator[Record]:
        yield self._meta()
        yield from self.tokens.by_access.values()
        yield from self.notices.targets.values()
        yield from self.world.ledger
        yield from self.world.orders.values()

    def _restore(self, records: list[Record]) -> None:
        latest: dict[int, Order] = {}
        world = self.world
        for record in records:
            match record:
                case Meta():
                    world.ids.last = max(world.ids.last, record.last_id)
                    world.clock = Clock(record.real, record.world, record.speed)
                case Order():
                    latest[record.id] = record
                case Entry():
                    world.load_entry(record)
                case Token():
                    self.tokens.load(record)
                case Target():
                    if record.app in world.apps and not self.options.notify_url:
                        self.notices.targets[record.app] = record
        for order in sorted(latest.values(), key=lambda each: each.changed_at):
            if order.app in world.apps:
                world.load_order(order)
            world.ids.last = max(world.ids.last, order.id, *(line.id for line in order.lines))
        world.clock.run_at(self.options.speed, time.time())
        self.tokens.revive()
