"""Imports as values: the file, its orders and rows, and how far they have come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec


class ImportStatus(StrEnum):
    """How far an import has come."""

    CHECKING = "checking"
    READY = "ready"
    ORDERING = "ordering"
    DONE = "done"


class ImportOrderStatus(StrEnum):
    """How far an order of an import has come."""

    WAITING = "waiting"
    CHECKED = "checked"
    FAILED = "failed"
    PLACED = "placed"


class RowError(msgspec.Struct, frozen=True):
    """What is wrong with a row; `column` is the name in the file, None for the whole row."""

    column: str | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class NewImportRow:
    """A row of a file that was checked: its cells by field, and the order that it belongs to."""

    number: int
    order_number: int
    cells: Mapping[str, str]
    errors: Sequence[RowError]


@dataclass(frozen=True, slots=True)
class NewImportOrder:
    """An order of a file; `wanted` is its JSON, None if a row of it has an error."""

    number: int
    reference: str | None
    wanted: bytes | None


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How many rows and orders an import has, and what became of them."""

    rows: int
    rows_failed: int
    orders: int
    orders_waiting: int
    orders_checked: int
    orders_failed: int
    orders_placed: int


@dataclass(frozen=True, slots=True)
class ImportAmounts:
    """What the orders cost that can be placed, or were."""

    goods_fen: int
    freight_fen: int
    discount_fen: int
    total_fen: int


@dataclass(frozen=True, slots=True)
class Import:
    """A file with many orders."""

    id: UUID
    account_id: UUID
    file_name: str
    columns: Mapping[str, str]
    unused_columns: Sequence[str]
    status: ImportStatus
    confirmed_fen: int | None
    created_at: datetime
    confirmed_at: datetime | None
    ended_at: datetime | None
    counts: ImportCounts
    amounts: ImportAmounts


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row with what became of it: its own errors, then that of its order."""

    number: int
    reference: str | None
    cells: Mapping[str, str]
    status: ImportOrderStatus
    order_id: UUID | None
    total_fen: int | None
    errors: Sequence[RowError]


@dataclass(frozen=True, slots=True)
class RunningImport:
    """An import that a worker has leased."""

    id: UUID
    account_id: UUID
    status: ImportStatus
    confirmed_by: str | None


@dataclass(frozen=True, slots=True)
class PendingOrder:
    """An order that is to be checked, or to be placed at the price that was checked."""

    number: int
    wanted: bytes
    total_fen: int | None
    attempts: int
