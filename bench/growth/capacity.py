"""Computes what cores a number of orders a day needs, and where one PostgreSQL ends. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from bench.growth.accounts import LIST, PAY
from bench.growth.commits import COMMIT
from bench.growth.deliveries import DELIVER
from bench.growth.model import API, WORKER, Figure, Growth
from bench.growth.open_orders import SYNC_BATCH
from bench.growth.series import ACCOUNTS, CONNECTIONS, JOURNAL_ROWS, OPEN_ORDERS
from bench.growth.stage import ORDERS as SYNCED_ORDERS

ORDERS_A_DAY = (10_000, 100_000, 1_000_000, 10_000_000)
_DAY_SECONDS = 86_400
_MEBIBYTE = 2**20


@dataclass(frozen=True)
class LoadModel:
    """What is assumed about the use of the service, and about one server for PostgreSQL."""

    deliveries_per_order: float = 8.0
    reads_per_order: float = 10.0
    syncs_per_order: float = 20.0
    # The busiest second against the mean of the day.
    peak_factor: float = 4.0
    # How busy cores are at the peak.
    utilisation: float = 0.6
    server_cores: int = 32
    server_wal_mib: float = 200.0


MODEL = LoadModel()


@dataclass(frozen=True)
class OrderCost:
    """What one order costs with everything that follows from it: CPU, WAL and commits.

    `logged_commits` are those that write to a logged table. Only these can wait for a disk.
    """

    api_ms: float
    worker_ms: float
    database_ms: float
    wal_bytes: float
    commits: float
    logged_commits: float

    def __add__(self, other: "OrderCost") -> "OrderCost":
        return OrderCost(
            self.api_ms + other.api_ms,
            self.worker_ms + other.worker_ms,
            self.database_ms + other.database_ms,
            self.wal_bytes + other.wal_bytes,
            self.commits + other.commits,
            self.logged_commits + other.logged_commits,
        )

    def times(self, number: float) -> "OrderCost":
        return OrderCost(
            self.api_ms * number,
            self.worker_ms * number,
            self.database_ms * number,
            self.wal_bytes * number,
            self.commits * number,
            self.logged_commits * number,
        )


@dataclass(frozen=True)
class Part:
    """A part of the cost of an order: what it is, how often, and what one time costs."""

    name: str
    number: float
    once: OrderCost
    source: Figure


@dataclass(frozen=True)
class Capacity:
    """What a number of orders a day needs at its busiest second."""

    orders_a_day: int
    orders_a_second: float
    api_cores: float
    worker_cores: float
    database_cores: float
    logged_commits_a_second: float
    wal_mib_a_second: float
    wal_gib_a_day: float


@dataclass(frozen=True)
class Limit:
    """How many orders a day one resource of one server carries."""

    resource: str
    per_order: str
    server: str
    basis: str
    orders_a_day: float


def parts_of_order(growth: Growth, model: LoadModel = MODEL) -> Sequence[Part]:
    """The parts of the cost of an order, each at the largest size that was measured.

    A delivery's append to the journal counts for PostgreSQL twice: with the order and with the
    delivery. So the sum is rather too high than too low.
    """
    order = growth.figure(ACCOUNTS, PAY)
    delivery = growth.figure(JOURNAL_ROWS, DELIVER)
    listing = growth.figure(ACCOUNTS, LIST)
    batch = growth.figure(OPEN_ORDERS, SYNC_BATCH)
    return [
        Part("created, approved and paid", 1.0, _cost(order), order),
        Part("webhook deliveries", model.deliveries_per_order, _cost(delivery), delivery),
        Part("reads over the API", model.reads_per_order, _cost(listing), listing),
        Part("syncs without a change", model.syncs_per_order, _cost(batch, SYNCED_ORDERS), batch),
    ]


def order_cost(parts: Sequence[Part]) -> OrderCost:
    total = OrderCost(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for part in parts:
        total += part.once.times(part.number)
    return total


def capacity(cost: OrderCost, orders_a_day: int, model: LoadModel = MODEL) -> Capacity:
    """The cores that are busy to the target at the peak."""
    rate = orders_a_day / _DAY_SECONDS * model.peak_factor

    def cores(milliseconds: float) -> float:
        return rate * milliseconds / 1000 / model.utilisation

    return Capacity(
        orders_a_day,
        rate,
        cores(cost.api_ms),
        cores(cost.worker_ms),
        cores(cost.database_ms),
        rate * cost.logged_commits,
        rate * cost.wal_bytes / _MEBIBYTE,
        orders_a_day * cost.wal_bytes / 2**30,
    )


def limits(growth: Growth, cost: OrderCost, model: LoadModel = MODEL) -> Sequence[Limit]:
    """What one server carries by each resource, the smallest first."""
    commits = max(figure.rate or 0.0 for figure in growth.by_size(CONNECTIONS, COMMIT))
    per_day = _DAY_SECONDS / model.peak_factor
    return sorted(
        [
            Limit(
                "CPU",
                f"{cost.database_ms:.1f} ms",
                f"{model.server_cores} cores at {model.utilisation:.0%}",
                "cost measured, cores assumed",
                model.server_cores * model.utilisation * 1000 / cost.database_ms * per_day,
            ),
            Limit(
                "logged commits",
                f"{cost.logged_commits:.0f}",
                f"{commits:,.0f} a second at {model.utilisation:.0%}",
                commits_basis(growth),
                commits * model.utilisation / cost.logged_commits * per_day,
            ),
            Limit(
                "WAL",
                f"{cost.wal_bytes / 1024:.0f} KiB",
                f"{model.server_wal_mib:.0f} MiB a second",
                "bytes measured, disk assumed",
                model.server_wal_mib * _MEBIBYTE / cost.wal_bytes * per_day,
            ),
        ],
        key=lambda limit: limit.orders_a_day,
    )


def commits_basis(growth: Growth) -> str:
    """How the highest rate of commits was found, and whether more connections would raise it."""
    figures = growth.by_size(CONNECTIONS, COMMIT)
    best = max(figures, key=lambda figure: figure.rate or 0.0)
    busy = (best.rate or 0.0) * (best.database_ms + best.process_ms) / 1000
    measured = (
        f"both measured here, the rate with {best.size:,} connections, while {busy:.1f} of "
        f"{growth.machine.cores} cores were busy with it"
    )
    if best is not figures[-1]:
        return f"{measured}; it rose no further with up to {figures[-1].size:,} connections"
    if best is figures[0]:
        return f"{measured}; other numbers of connections were not measured"
    before = figures[-2]
    rise = (best.rate or 0.0) / (before.rate or 1.0) - 1
    return f"{measured}; it still rose by {rise:.0%} from {before.size:,} connections"


def servers_needed(orders_a_day: int, limits_of_server: Sequence[Limit]) -> int:
    """How many servers for PostgreSQL carry so many orders, by the scarcest resource."""
    return max(1, ceil(orders_a_day / limits_of_server[0].orders_a_day))


def _cost(figure: Figure, works: int = 1) -> OrderCost:
    """The cost of one of the works of a figure; a program that calls use cases is a worker."""
    others = figure.process_ms - figure.cpu_ms.get(API, 0.0)
    worker = figure.cpu_ms.get(WORKER, others)
    return OrderCost(
        figure.cpu_ms.get(API, 0.0),
        worker,
        figure.database_ms,
        figure.wal_bytes,
        figure.commits,
        figure.commits if figure.logged_commits is None else figure.logged_commits,
    ).times(1 / works)
