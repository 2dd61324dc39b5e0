"""Rows of a CSV file (RFC 4180), with text that no spreadsheet takes for a formula. Pure."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from tradewind import clock

# What a cell can hold. Text is escaped; numbers, times and truth values stay what they are.
Cell = str | int | Decimal | datetime | None

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
END_OF_ROW = "\r\n"
# A spreadsheet runs text that begins with one of these. The wide forms are those of East Asia.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NEEDS_QUOTES = frozenset(',"\r\n')


def write_row(cells: Sequence[Cell]) -> str:
    """A row with its line end."""
    return ",".join(_quoted(show_cell(cell)) for cell in cells) + END_OF_ROW


def show_cell(cell: Cell) -> str:
    """The text of a cell, before quotes; nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
    if isinstance(cell, datetime):
        return clock.show(cell)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return format(cell, "f") if isinstance(cell, Decimal) else str(cell)


def cny(fen: int | None) -> Decimal | None:
    """An amount with two decimals, as a number."""
    return None if fen is None else Decimal(fen).scaleb(-2)


def _quoted(text: str) -> str:
    if _NEEDS_QUOTES.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'
