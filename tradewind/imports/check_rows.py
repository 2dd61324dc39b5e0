"""Checks the rows of a file: groups them to orders, and finds every error of every row. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tradewind.errors import Invalid, ValidationFailed
from tradewind.imports.columns import ADDRESS, MatchedColumns
from tradewind.imports.model import NewImportOrder, NewImportRow, RowError
from tradewind.imports.table import ROUNDED, Table, TableRow
from tradewind.orders.inputs import OrderIn
from tradewind.web.inputs import read_values

_LINE = ("product_id", "sku_id", "quantity")
# What all rows of an order share: the first row that says it counts, the others may be empty.
_SHARED = ("platform", "external_id", "remark", *ADDRESS)
_REFERENCE = "order_ref"
_LONGEST_REFERENCE = 100
_ROUNDED = "The spreadsheet rounded this number: format the column as text, and enter it again."
_ANOTHER_ROW = RowError(None, "order_incomplete", "Another row of this order has an error.")


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The orders and rows of a file."""

    orders: Sequence[NewImportOrder]
    rows: Sequence[NewImportRow]


@dataclass(slots=True)
class _Row:
    number: int
    cells: dict[str, str]
    errors: list[RowError] = field(default_factory=list)


def check_rows(
    table: Table,
    columns: MatchedColumns,
    platform: str | None,
    platform_of: Callable[[str], str],
    metadata: dict[str, str],
) -> CheckedFile:
    """The orders of a table: rows with the same `order_ref` are one, any other row is one.

    `platform` is that of rows without one, `platform_of` returns the platform behind an alias.
    """
    groups: dict[str | int, list[_Row]] = {}
    for row in table.rows:
        cells = columns.cells_of(row.cells)
        key = cells.get(_REFERENCE) or row.number
        groups.setdefault(key, []).append(_checked_row(row, cells, columns))
    orders, rows = [], []
    for number, (key, group) in enumerate(groups.items(), 1):
        reference = key[:_LONGEST_REFERENCE] if isinstance(key, str) else None
        wanted = _order_of(group, columns, platform, platform_of, metadata, reference)
        orders.append(NewImportOrder(number, reference, wanted))
        rows += [NewImportRow(row.number, number, row.cells, row.errors) for row in group]
    return CheckedFile(orders, sorted(rows, key=lambda row: row.number))


def _checked_row(row: TableRow, cells: dict[str, str], columns: MatchedColumns) -> _Row:
    """A row, with the errors that its text alone shows."""
    errors = [
        RowError(columns.name_of(name), "rounded", _ROUNDED)
        for name, text in cells.items()
        if text.startswith(ROUNDED)
    ]
    if len(cells.get(_REFERENCE, "")) > _LONGEST_REFERENCE:
        message = f"Must have at most {_LONGEST_REFERENCE} characters."
        errors.append(RowError(columns.name_of(_REFERENCE), "invalid", message))
    return _Row(row.number, cells, errors)


def _order_of(
    group: Sequence[_Row],
    columns: MatchedColumns,
    platform: str | None,
    platform_of: Callable[[str], str],
    metadata: dict[str, str],
    reference: str | None,
) -> bytes | None:
    """The order of a group of rows as JSON; None if one of them has an error."""
    shared = _shared_cells(group, columns)
    values = {name: text for name, (text, _) in shared.items()}
    if platform is not None:
        values.setdefault("platform", platform)
    try:
        wanted = read_values(
            OrderIn,
            items=[{name: row.cells[name] for name in _LINE if name in row.cells} for row in group],
            address={name: values.pop(name) for name in ADDRESS if name in values},
            metadata={**metadata, **({_REFERENCE: reference} if reference else {})},
            **values,
        )
        wanted.platform = platform_of(wanted.platform)
    except ValidationFailed as failed:
        for error in failed.errors:
            row, name = _where(error.pointer, group, shared)
            column = columns.name_of(name) if name else None
            if not any(known.column == column and column for known in row.errors):
                row.errors.append(RowError(column, error.code, error.message))
    except Invalid as unknown:  # a platform that there is not
        row, _ = _where("/platform", group, shared)
        row.errors.append(RowError(columns.name_of("platform"), unknown.code, unknown.detail))
    if any(row.errors for row in group):
        for row in group:
            row.errors = row.errors or [_ANOTHER_ROW]
        return None
    return msgspec.json.encode(wanted)


def _shared_cells(group: Sequence[_Row], columns: MatchedColumns) -> dict[str, tuple[str, _Row]]:
    """The cells that all rows of an order share, each with the row that it is from."""
    shared: dict[str, tuple[str, _Row]] = {}
    for row in group:
        for name in _SHARED:
            text = row.cells.get(name)
            if text is None:
                continue
            first, source = shared.setdefault(name, (text, row))
            if first != text:
                message = f"Must be the same as in row {source.number}, or empty: one order has it."
                row.errors.append(RowError(columns.name_of(name), "invalid", message))
    return shared


def _where(
    pointer: str, group: Sequence[_Row], shared: dict[str, tuple[str, _Row]]
) -> tuple[_Row, str | None]:
    """The row and the field that a pointer into the order means."""
    steps: list[Any] = pointer.split("/")[1:]
    match steps:
        case ["items", index, *rest]:
            return group[int(index)], rest[0] if rest else None
        case ["address", name, *_] | [name, *_] if name != "items":
            return shared[name][1] if name in shared else group[0], name
    return group[0], None
