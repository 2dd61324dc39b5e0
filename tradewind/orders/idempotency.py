"""The port by which a use case stores its result for repeats of the same request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

import asyncpg

from tradewind.storage.pool import Database
from tradewind.storage.statements import Part
from tradewind.storage.transaction import Tx

Result_contra = TypeVar("Result_contra", contravariant=True)

# How long a stored result waits for the one that replaces it; a process that died replaces none.
PENDING = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement that begins with `WITH`, and its arguments."""

    sql: str
    args: Sequence[object]


class Idempotency(Protocol[Result_contra]):
    """Makes a request that is sent twice have one effect. Without a key it does nothing.

    `check`, `claim` and `store_with` raise what ends the repeat of a request.
    """

    async def check(self, db: Database) -> datetime:
        """Go on only if the request is new; return the database's time."""
        ...

    async def claim(self, tx: Tx) -> None:
        """Go on only if the request is new. Call it first in the transaction of the effect."""
        ...

    def store(self, tx: Tx, result: Result_contra, *, pending: timedelta | None = None) -> None:
        """Store the result with the effect: a repeat gets it even if we die before we respond.

        A `pending` one is about to be replaced: until then, or for that long, a repeat gets
        an error that says so. It is written with the last statement of the transaction, and what
        ends a repeat is raised at the end of it.
        """
        ...

    async def store_with(
        self, db: Database, result: Result_contra, effect: Statement, *, pending: timedelta
    ) -> None:
        """Store a pending result and have the effect in one statement: both happen, or neither."""
        ...

    async def replace(self, db: Database, result: Result_contra) -> bool:
        """Replace a pending result by the final one; False: it was replaced before."""
        ...

    def replacement(self, result: Result_contra) -> Part | None:
        """What replaces a pending result, unless it was replaced before, with the effect."""
        ...

    async def release(self, tx: Tx) -> None:
        """Forget the request: it had no effect after all, and may be sent again."""
        ...


class CommandIdempotency(Protocol[Result_contra]):
    """The same for a command that is one transaction on an order that exists.

    `check` and `check_with` raise what ends the repeat of a request.
    """

    async def check(self, db: Database | Tx) -> datetime:
        """Go on only if the request is new; return the database's time."""
        ...

    async def check_with(
        self, db: Database, query: str, args: Sequence[object]
    ) -> asyncpg.Record | None:
        """Go on only if the request is new; return the row of a query that has an `id`."""
        ...

    def store(self, tx: Tx, result: Result_contra) -> None:
        """Store the result with the effect, as `Idempotency.store` does."""
        ...
