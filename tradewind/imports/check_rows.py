"""Checks the rows of a file: groups them to orders, and finds every error of every row. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from tradewind.errors import Invalid, ValidationFailed
from tradewind.imports.address_book import AddressBook
from tradewind.imports.columns import ADDRESS, MatchedColumns
from tradewind.imports.model import NewImportOrder, NewImportRow, RowError
from tradewind.imports.table import ROUNDED, Table, TableRow
from tradewind.orders.inputs import OrderIn
from tradewind.web.inputs import read_values

_LINE = ("product_id", "sku_id", "quantity")
# What all rows of an order share: the first row that says it counts, the others may be empty.
_SHARED = ("platform", "external_id", "remark", "address", *ADDRESS)
_REFERENCE = "order_ref"
_LONGEST_REFERENCE = 100
_ROUNDED = "The spreadsheet rounded this number: format the column as text, and enter it again."
_STAND_IN = dict.fromkeys(ADDRESS, "1" * 11)
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
    book: AddressBook,
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
        wanted = _order_of(group, columns, platform, platform_of, metadata, reference, book)
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
    book: AddressBook,
) -> bytes | None:
    """The order of a group of rows as JSON; None if one of them has an error."""
    shared = _shared_cells(group, columns)
    values = {name: text for name, (text, _) in shared.items()}
    if platform is not None:
        values.setdefault("platform", platform)
    typed = {name: values.pop(name) for name in ADDRESS if name in values}
    try:
        address = _address_of(values.pop("address", None), typed, columns, book, group)
    except ValidationFailed as failed:
        row, _ = _where("/address", group, shared)
        row.errors.append(RowError(columns.name_of("address"), "invalid", failed.errors[0].message))
        address = _STAND_IN  # so that the other fields are checked, too
    try:
        wanted = read_values(
            OrderIn,
            items=[{name: row.cells[name] for name in _LINE if name in row.cells} for row in group],
            address=address,
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


def _address_of(
    saved: str | None,
    typed: Mapping[str, str],
    columns: MatchedColumns,
    book: AddressBook,
    group: Sequence[_Row],
) -> Mapping[str, str]:
    """Where an order is shipped to, or ValidationFailed.

    It is the saved address that the rows name, else the address in their own cells. Where the file
    has no columns for that, it is the default address, and the first row shows so.
    """
    if saved is not None and typed:
        message = f"Must be empty, or {', '.join(columns.name_of(name) for name in typed)} must be."
        raise ValidationFailed("/address", message)
    if saved is None and columns.have_addresses:
        return typed
    if saved is not None:
        chosen = book.find(saved)
    elif book.default is not None:
        chosen = book.default
        group[0].cells["address"] = f"{chosen.label or chosen.address.name} (default)"
    else:
        message = "Must name an address of the address book: there is no default address."
        raise ValidationFailed("/address", message)
    fields = asdict(chosen.address)
    return {name: text for name, text in fields.items() if text is not None}


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
