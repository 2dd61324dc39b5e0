"""The state in memory, and the only function through which an order changes."""

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from tradewind_simulator import catalogue, magic, vocabulary
from tradewind_simulator.basket import Shop
from tradewind_simulator.clock import Clock
from tradewind_simulator.ids import Ids
from tradewind_simulator.model import App, Entry, Order, Parcel, Status
from tradewind_simulator.orders import Change, Event
from tradewind_simulator.search import Index


class News(Struct, frozen=True):
    """A change of an order that its buyer is notified of."""

    order: Order
    event: Event
    at: float


class Meta(Struct, frozen=True, tag="meta"):
    """What is stored besides orders, ledger and tokens."""

    last_id: int
    real: float
    world: float
    speed: float


class World:
    """The state in memory. Nothing here awaits, so each change is atomic."""

    def __init__(
        self,
        *,
        apps: Sequence[App],
        seed: int,
        products: int,
        pay_seconds: int,
        clock: Clock,
    ) -> None:
        self.apps = {app.name: app for app in apps}
        self.app_of_key = {app.key: app for app in apps}
        self.pay_seconds = pay_seconds
        self.clock = clock
        self.ids = Ids()
        self.chance = random.Random(seed)  # noqa: S311 - faults and shuffles
        sellers, generated = catalogue.make(seed, products)
        self.sellers = {s.id: s for s in (magic.SELLER, magic.OTHER_SELLER, *sellers)}
        self.products = {p.id: p for p in (*magic.products(), *generated)}
        self.index = Index(list(self.products.values()))
        self.on_news: Callable[[News], None] = lambda _: None
        self.on_change: Callable[[Order | Entry], None] = lambda _: None
        self.clear()

    def clear(self) -> None:
        """Delete orders and ledger; ids continue."""
        self.orders: dict[int, Order] = {}
        self.ledger: list[Entry] = []
        self.counters: Counter[str] = Counter()
        self.taken: dict[int, int] = defaultdict(int)
        self._by_app: dict[str, dict[int, None]] = {name: {} for name in self.apps}
        self._by_reference: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._operations: dict[tuple[str, str], Entry] = {}
        self._due: list[tuple[float, int, str, int]] = []

    def shop(self) -> Shop:
        return Shop(self.sellers, self.products, self.taken)

    def magic_words(self, order: Order) -> list[str]:
        """Return the magic of an order's products."""
        return [self.products[line.product].magic for line in order.lines]

    def put(self, change: Change) -> Order:
        """Store a changed order, and notify its buyer. Orders change only through here."""
        order = change.order
        before = self.orders.get(order.id)
        self.load_order(order, before)
        self.on_change(order)
        if change.event is not None:
            self.on_news(News(order, change.event, order.changed_at))
        return order

    def load_order(self, order: Order, before: Order | None = None) -> None:
        self.orders[order.id] = order
        if before is None and order.reference:
            self._by_reference[order.app, order.reference].append(order.id)
        mine = self._by_app.setdefault(order.app, {})
        mine.pop(order.id, None)  # the latest change comes last
        mine[order.id] = None
        for sku, pieces in _held(before):
            self.taken[sku] -= pieces
        for sku, pieces in _held(order):
            self.taken[sku] += pieces
        scheduled = before.due if before is not None else ()
        for due in order.due:
            if due not in scheduled:
                heapq.heappush(self._due, (due.at, order.id, due.what, due.which))

    def book(self, entry: Entry) -> None:
        self.load_entry(entry)
        self.on_change(entry)

    def load_entry(self, entry: Entry) -> None:
        self.ledger.append(entry)
        if entry.operation:
            self._operations[entry.app, entry.operation] = entry

    def operation(self, app: str, operation: str) -> Entry | None:
        """Return the debit with this operation id."""
        return self._operations.get((app, operation))

    def of_app(self, app: str, order_id: int) -> Order | None:
        """Return a buyer's order; None for another buyer's."""
        order = self.orders.get(order_id)
        return order if order is not None and order.app == app else None

    def referenced(self, app: str, reference: str) -> list[Order]:
        """Return a buyer's orders of a reference, the oldest first."""
        order_ids = self._by_reference.get((app, reference), ())
        return [self.orders[order_id] for order_id in sorted(order_ids)]

    def latest_changed(self, app: str) -> Iterator[Order]:
        """Return a buyer's orders, the most recently changed first."""
        return (self.orders[order_id] for order_id in reversed(self._by_app.get(app, {})))

    def next_due(self, until: float) -> tuple[float, int, str, int] | None:
        """Return the next step that is due by `until`; each is returned once."""
        while self._due and self._due[0][0] <= until:
            at, order_id, what, which = heapq.heappop(self._due)
            order = self.orders.get(order_id)
            if order is None:
                continue
            # A later change may have cancelled the step.
            if any((due.at, due.what, due.which) == (at, what, which) for due in order.due):
                return at, order_id, what, which
        return None

    def new_parcel(self, at: float) -> Parcel:
        number = self.ids.next()
        name, code, prefix = vocabulary.CARRIERS[number % len(vocabulary.CARRIERS)]
        return Parcel(number, name, code, f"{prefix}{number % 10**13:013d}", at, ())


def _held(order: Order | None) -> list[tuple[int, int]]:
    """Return the stock that an order reserves: none once it is closed."""
    if order is None or order.status in (Status.CANCELLED, Status.TERMINATED):
        return []
    return [(line.sku, line.quantity) for line in order.open_lines]
