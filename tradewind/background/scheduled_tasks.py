"""The ticker: a chore that is due is done by one node, however many there are."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

from tradewind.background import sql
from tradewind.observability.logs import log
from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do every so often, that does no harm when it is done twice."""

    name: str
    every: timedelta
    work: Callable[[], Awaitable[None]]


async def tick(db: Database, chores: Sequence[Chore]) -> bool:
    """Do the chores that are due and that no other node took; whether there were any."""
    done = False
    for chore in chores:
        if await sql.take_chore(db, chore.name, every=chore.every):
            started = perf_counter()
            await chore.work()
            took_ms = round((perf_counter() - started) * 1000, 1)
            log.info("chore.done", chore=chore.name, took_ms=took_ms)
            done = True
    return done
