"""Measures every series, each size on a database of its own, and prints figures as they come."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import uvloop

from bench import servers
from bench.endpoints import Endpoints
from bench.growth import accounts, commits, control, journal, open_orders, subscriptions
from bench.growth.model import Figure
from bench.growth.series import (
    ACCOUNTS,
    CONNECTIONS,
    JOURNAL_ROWS,
    OPEN_ORDERS,
    SUBSCRIPTIONS,
    Effort,
    Series,
)
from bench.growth.stage import Stage
from tradewind.observability import logs
from tradewind.storage import embedded

# The settings of PostgreSQL that differ from those of `tradewind dev`: more memory and connections,
# and no checkpoint by time or by the WAL of what is filled in.
POSTGRESQL_SETTINGS: Mapping[str, str] = {
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "max_connections": "300",
}
SERIES: Mapping[str, Series] = {
    CONNECTIONS: commits.measure,
    JOURNAL_ROWS: journal.measure,
    SUBSCRIPTIONS: subscriptions.measure,
    ACCOUNTS: accounts.measure,
    OPEN_ORDERS: open_orders.measure,
}


async def run(
    sizes: Mapping[str, Sequence[int]], effort: Effort, tell: Callable[[Figure], None]
) -> Sequence[Figure]:
    """Every figure of these sizes; `tell` is called with each as soon as it is measured."""
    logs.configure("json", "error")
    figures: list[Figure] = []
    with (
        tempfile.TemporaryDirectory(prefix="tradewind-growth-") as folder,
        ExitStack() as stack,
    ):
        simulator = stack.enter_context(servers.simulator())
        endpoints = stack.enter_context(Endpoints())
        async with embedded.running(Path(folder), options=POSTGRESQL_SETTINGS) as server:
            stage = Stage(server, simulator, endpoints)
            await stage.prepare()
            for dimension, measure in SERIES.items():
                for size in sizes.get(dimension, ()):
                    async with stage.site() as site:
                        async for figure in measure(site, size, effort):
                            figures.append(figure)
                            tell(figure)
                        figures.append(await control.measure(site, dimension, size, effort))
                        tell(figures[-1])
    return figures


def timed_run(
    sizes: Mapping[str, Sequence[int]], effort: Effort, tell: Callable[[Figure], None]
) -> tuple[Sequence[Figure], float]:
    """The figures, and how many seconds they took."""
    started = time.perf_counter()
    figures = uvloop.run(run(sizes, effort, tell))
    return figures, time.perf_counter() - started
