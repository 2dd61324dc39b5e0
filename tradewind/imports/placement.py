"""The placement of an order of an import: it is accepted once, however often it is tried."""

# ruff: noqa: ARG002 - the port has more arguments than a row of a table needs

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.errors import TradewindError
from tradewind.imports import sql
from tradewind.orders.idempotency import Statement
from tradewind.orders.model import Order
from tradewind.storage.pool import Database
from tradewind.storage.statements import Part, joined
from tradewind.storage.transaction import Tx


class AlreadyPlaced(TradewindError):
    """The order of the import was accepted before: by another worker, or before this one died."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What `place_order` stores its result in: the row that links an order to its import.

    The row is written in the statement that accepts the order. Unlike an idempotency key it does
    not expire.
    """

    account_id: UUID
    import_id: UUID
    number: int

    async def check(self, db: Database) -> datetime:
        """Raise AlreadyPlaced, or return the database's time."""
        known = await sql.find_placement(db, self.import_id, self.number)
        if known.order_id is not None:
            raise AlreadyPlaced
        return known.now

    async def claim(self, tx: Tx) -> None:
        """Nothing to do: if there is a placement, the transaction fails at its end."""

    def store(self, tx: Tx, result: Order, *, pending: timedelta | None = None) -> None:
        tx.write_last(self._insert(result), conflicts={sql.PLACEMENT_KEY: AlreadyPlaced()})

    async def store_with(
        self, db: Database, result: Order, effect: Statement, *, pending: timedelta
    ) -> None:
        """Accept the order and link it, or raise AlreadyPlaced and accept nothing."""
        statement, args = joined([self._insert(result)], effect.sql, effect.args)
        try:
            await db.execute(statement, *args)
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name != sql.PLACEMENT_KEY:
                raise
            raise AlreadyPlaced from None

    async def replace(self, db: Database, result: Order) -> bool:
        """Nothing to replace: the link is final."""
        return True

    def replacement(self, result: Order) -> None:
        """Likewise."""

    async def release(self, tx: Tx) -> None:
        await sql.delete_placement(tx, self.import_id, self.number)

    def _insert(self, order: Order) -> Part:
        return sql.insert_placement(self.import_id, self.number, self.account_id, order.id)
