"""Reads a CSV file: UTF-8, with commas, semicolons or tabs. Pure."""

import csv
import io
from collections.abc import Iterator

from tradewind.imports.errors import FileUnreadable
from tradewind.imports.table import Table, TableRow, make_table

_SEPARATORS = ",;\t"
# In one line of the file. Quoted text may hold some, and no row has as many columns.
_MOST_SEPARATORS = 5000
_SAVE_AS = 'In a spreadsheet program, choose "CSV UTF-8".'


def read_csv(content: bytes) -> Table:
    """The table of a CSV file, or FileUnreadable."""
    if b"\0" in content:
        raise FileUnreadable(f"it is not a text file in UTF-8. {_SAVE_AS}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileUnreadable(f"it is not UTF-8 at byte {error.start + 1}. {_SAVE_AS}") from None
    return make_table(_rows(text))


def _rows(text: str) -> Iterator[TableRow]:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    if any(line.count(separator) > _MOST_SEPARATORS for line in lines):
        raise FileUnreadable("a row has too many columns.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, 1):
            yield TableRow(number, cells)
    except csv.Error as error:
        raise FileUnreadable(f"row {number + 1}: {error}.") from None
