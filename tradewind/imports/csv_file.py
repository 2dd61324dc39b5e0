"""Reads a CSV file: UTF-8, with commas, semicolons or tabs. Pure."""

import csv
import io
import re
from collections.abc import Iterator

from tradewind.imports.errors import FileUnreadable
from tradewind.imports.table import Table, TableRow, make_table

_SEPARATORS = ",;\t"
# In one line of the file. Quoted text may hold some, and no row has as many columns.
_MOST_SEPARATORS = 5000
_LINE_END = re.compile(r"[\r\n]")
# As many as a sheet of a spreadsheet program has. Empty ones cost time, too.
MOST_LINES = 1_048_576
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
    separator = max(_SEPARATORS, key=_first_line(text).count)
    reader = csv.reader(_lines(text, separator), delimiter=separator, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, 1):
            if number > MOST_LINES:
                raise FileUnreadable(f"it has more than {MOST_LINES:,} rows, most of them empty.")
            if "".join(cells).strip():
                yield TableRow(number, cells)
    except csv.Error as error:
        raise FileUnreadable(f"row {number + 1}: {error}.") from None


def _lines(text: str, separator: str) -> Iterator[str]:
    for line in io.StringIO(text, newline=""):
        if len(line) > _MOST_SEPARATORS and line.count(separator) > _MOST_SEPARATORS:
            raise FileUnreadable("a row has too many columns.")
        yield line


def _first_line(text: str) -> str:
    """The first line that is not blank."""
    begin = len(text) - len(text.lstrip())
    begin = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
    end = _LINE_END.search(text, begin)
    return text[begin : end.start() if end else len(text)]
