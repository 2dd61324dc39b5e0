"""A table as a file has it: the names of its columns, and rows of text. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tradewind.imports.errors import FileUnreadable

MOST_BYTES = 5 * 1024 * 1024
MOST_ROWS = 5000
MOST_COLUMNS = 200
# A packed file can repeat one long text in every cell.
_MOST_TEXT = 10 * 1024 * 1024

# Begins a cell with a number of more than 15 digits: the spreadsheet program has rounded it.
ROUNDED = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row; `number` is that of a spreadsheet, where the header is usually row 1."""

    number: int
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """The names of the columns, and the rows that are not empty."""

    header: Sequence[str]
    rows: Sequence[TableRow]


def make_table(rows: Iterable[TableRow]) -> Table:
    """The table whose first row that is not empty names the columns; within the limits."""
    header: Sequence[str] | None = None
    kept: list[TableRow] = []
    size = 0
    for row in rows:
        size += sum(map(len, row.cells))
        if size > _MOST_TEXT:
            raise FileUnreadable("it holds too much text.")
        cells = [cell.strip() for cell in row.cells]
        if not any(cells):
            continue
        while len(cells) > MOST_COLUMNS and not cells[-1]:
            cells.pop()
        if len(cells) > MOST_COLUMNS:
            raise FileUnreadable(f"row {row.number} has more than {MOST_COLUMNS} columns.")
        if header is None:
            header = cells
        elif len(kept) == MOST_ROWS:
            raise FileUnreadable(f"it has more than {MOST_ROWS:,} rows.")
        else:
            kept.append(TableRow(row.number, cells))
    if header is None:
        raise FileUnreadable("it is empty.")
    if not kept:
        raise FileUnreadable("it has a header, and no rows.")
    return Table(header, kept)
