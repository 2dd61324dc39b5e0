"""Measures a fixed statement at every size: what differs in it is the machine, not the size."""

from bench.growth.model import Figure
from bench.growth.series import Effort
from bench.growth.stage import Site

CONTROL = "control: a fixed statement that reads no table"
_STATEMENT = "SELECT sum(number) FROM generate_series(1, 2000) AS number"


async def measure(site: Site, dimension: str, size: int, effort: Effort) -> Figure:
    """Measure it after the other works of a size."""

    async def work() -> None:
        await site.connection.fetchval(_STATEMENT)

    return await site.meter.measure(
        dimension,
        size,
        CONTROL,
        work,
        times=effort.times,
        at_most=effort.seconds,
        rounds=effort.rounds,
    )
