"""The series of `make growth`: what grows, which sizes are measured, and by what."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.growth.model import Figure
from bench.growth.stage import Site

JOURNAL_ROWS = "journal rows"
SUBSCRIPTIONS = "subscriptions"
ACCOUNTS = "accounts"
OPEN_ORDERS = "open orders"
CONNECTIONS = "connections"

_MILLION = 1_000_000
SIZES: Mapping[str, Sequence[int]] = {
    CONNECTIONS: (1, 8, 32, 64, 128, 256),
    JOURNAL_ROWS: (10_000, 100_000, _MILLION, 10 * _MILLION),
    SUBSCRIPTIONS: (1, 10, 100, 1_000, 10_000, 100_000),
    ACCOUNTS: (1, 10, 100, 1_000, 10_000),
    OPEN_ORDERS: (100, 1_000, 10_000, 100_000),
}
# What a test runs: enough for every work to be done once.
SMALL_SIZES: Mapping[str, Sequence[int]] = {
    CONNECTIONS: (1,),
    JOURNAL_ROWS: (10_000,),
    SUBSCRIPTIONS: (10,),
    ACCOUNTS: (10,),
    OPEN_ORDERS: (100,),
}


@dataclass(frozen=True)
class Effort:
    """How long and how often works are done: enough for a figure, or only once for a test.

    A work is done in up to `rounds` rounds, of which one is kept, as long as they are short.
    A worker that has nothing to do is watched for `idle_seconds`. It measures its state every 15.
    """

    times: int
    rounds: int
    seconds: float
    deliveries: int
    paid_orders: int
    flow_seconds: int
    idle_seconds: float


FULL = Effort(
    times=300,
    rounds=5,
    seconds=3.0,
    deliveries=2_000,
    paid_orders=20,
    flow_seconds=4,
    idle_seconds=15.0,
)
BRIEF = Effort(
    times=5,
    rounds=2,
    seconds=0.5,
    deliveries=20,
    paid_orders=1,
    flow_seconds=1,
    idle_seconds=0.5,
)

Series = Callable[[Site, int, Effort], AsyncIterator[Figure]]
