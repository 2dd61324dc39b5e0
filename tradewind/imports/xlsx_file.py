"""Reads the first sheet of an XLSX file, within limits on everything that it unpacks. Pure."""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import NoReturn
from xml.parsers import expat

from tradewind.imports.errors import FileUnreadable
from tradewind.imports.table import MOST_COLUMNS, MOST_ROWS, ROUNDED, Table, TableRow, make_table

SIGNATURE = b"PK\x03\x04"

_MOST_UNPACKED = 20 * 1024 * 1024
_MOST_FILES = 1000
# 5,000 rows of 60 columns. Each takes time, however small it is packed.
_MOST_ELEMENTS = 1_000_000
_CHUNK = 64 * 1024
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_WORKBOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedStrings.xml"
_CELL = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
# A spreadsheet program keeps 15 digits of a number.
_EXACT_DIGITS = 15
# Rows that are looked at, empty ones included.
_MOST_ROWS_READ = 20 * MOST_ROWS
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError)

Attributes = Mapping[str, str]


def read_xlsx(content: bytes) -> Table:
    """The table of the first sheet, or FileUnreadable.

    Sizes that the file states of itself are not trusted: what is unpacked is counted. A document
    type, with which entities could be declared, is rejected.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _Workbook(archive).read()
    except FileUnreadable:
        raise
    except expat.ExpatError as error:
        raise FileUnreadable(f"its XML is malformed ({error}).") from None
    except _BROKEN:
        raise FileUnreadable("it is not a whole XLSX file.") from None


class _Workbook:
    """A file while it is read."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = {info.filename: info for info in archive.infolist()}
        self._unpacked = 0
        self._elements = 0
        if len(self._names) > _MOST_FILES:
            raise FileUnreadable("it holds too many files.")

    def read(self) -> Table:
        sheet = self._first_sheet()
        strings = self._shared_strings()
        reader = _SheetReader(strings)
        self._parse(sheet, reader)
        return make_table(reader.rows)

    def _first_sheet(self) -> str:
        """The path of the first sheet in the archive."""
        sheets = _Elements("sheet")
        self._parse(_WORKBOOK, sheets)
        relations = _Elements("Relationship")
        self._parse(_RELATIONS, relations)
        targets = {link.get("Id"): link.get("Target", "") for link in relations.attributes}
        for sheet in sheets.attributes:
            name = next((name for name in sheet if _local(name) == "id"), "")
            target = targets.get(sheet.get(name))
            if target:
                return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
        raise FileUnreadable("it has no sheet.")

    def _shared_strings(self) -> list[str]:
        strings = _StringsReader()
        if _STRINGS in self._names:
            self._parse(_STRINGS, strings)
        return strings.strings

    def _parse(self, name: str, reader: "_Reader") -> None:
        """Unpack a file of the archive piece by piece into a reader."""
        info = self._names.get(name)
        if info is None:
            raise FileUnreadable("it is not an XLSX file.")
        if info.compress_type not in _METHODS:
            raise FileUnreadable("it is packed in an unusual way.")
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _reject_doctype
        parser.StartElementHandler = lambda tag, attributes: self._start(reader, tag, attributes)
        parser.EndElementHandler = lambda tag: reader.end(_local(tag))
        parser.CharacterDataHandler = reader.text
        with self._archive.open(info) as unpacked:
            while chunk := unpacked.read(_CHUNK):
                self._unpacked += len(chunk)
                if self._unpacked > _MOST_UNPACKED:
                    raise FileUnreadable("it unpacks to more than 20 MiB.")
                parser.Parse(chunk, False)
        parser.Parse(b"", True)

    def _start(self, reader: "_Reader", tag: str, attributes: Attributes) -> None:
        self._elements += 1
        if self._elements > _MOST_ELEMENTS:
            raise FileUnreadable("it has too many cells.")
        reader.start(_local(tag), attributes)


def _reject_doctype(*_: object) -> NoReturn:
    raise FileUnreadable("its XML has a document type.")


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition(" ")[2]


class _Reader:
    """Takes the pieces of an XML document; this one ignores them."""

    def start(self, tag: str, attributes: Attributes) -> None:
        pass

    def end(self, tag: str) -> None:
        pass

    def text(self, text: str) -> None:
        pass


class _Elements(_Reader):
    """The attributes of each element of one name."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self.attributes: list[Attributes] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == self._tag:
            self.attributes.append(attributes)


class _StringsReader(_Reader):
    """The shared strings: the text of each `si`, without its phonetic hints."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._pieces: list[str] = []
        self._in_text = False
        self._hints = 0

    def start(self, tag: str, attributes: Attributes) -> None:  # noqa: ARG002 - as the others
        if tag == "si":
            self._pieces = []
        self._hints += tag == "rPh"
        self._in_text = tag == "t" and not self._hints

    def end(self, tag: str) -> None:
        if tag == "si":
            self.strings.append("".join(self._pieces))
        self._hints -= tag == "rPh"
        self._in_text = False

    def text(self, text: str) -> None:
        if self._in_text:
            self._pieces.append(text)


class _SheetReader(_Reader):
    """The rows of a sheet."""

    def __init__(self, strings: list[str]) -> None:
        self._strings = strings
        self._numbers: dict[int, list[str]] = {}
        self._row = 0
        self._column = -1
        self._kind = ""
        self._pieces: list[str] = []
        self._in_value = False

    @property
    def rows(self) -> Iterator[TableRow]:
        return (TableRow(number, cells) for number, cells in self._numbers.items())

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "row":
            self._start_row(attributes.get("r"))
        elif tag == "c":
            match = _CELL.fullmatch(attributes.get("r", ""))
            self._column = _column_of(match[1]) if match else self._column + 1
            self._kind = attributes.get("t", "n")
            self._pieces = []
        self._in_value = tag in {"v", "t"}

    def end(self, tag: str) -> None:
        if tag == "c":
            self._put("".join(self._pieces))
        self._in_value = False

    def text(self, text: str) -> None:
        if self._in_value:
            self._pieces.append(text)

    def _start_row(self, stated: str | None) -> None:
        is_number = stated is not None and stated.isascii() and stated.isdigit()
        number = int(stated[:9]) if stated and is_number else self._row + 1
        if number <= self._row:
            raise FileUnreadable("its rows are not in order.")
        if len(self._numbers) >= _MOST_ROWS_READ:
            raise FileUnreadable(f"it has more than {MOST_ROWS:,} rows.")
        self._row, self._column = number, -1
        self._numbers[number] = []

    def _put(self, value: str) -> None:
        if not value or not self._row:
            return
        if self._column >= MOST_COLUMNS:
            raise FileUnreadable(f"row {self._row} has more than {MOST_COLUMNS} columns.")
        cells = self._numbers[self._row]
        cells.extend([""] * (self._column + 1 - len(cells)))
        cells[self._column] = self._shown(value)

    def _shown(self, value: str) -> str:
        match self._kind:
            case "s":
                return self._shared(value)
            case "n":
                return _number(value)
            case "b":
                return "TRUE" if value == "1" else "FALSE"
            case _:
                return value

    def _shared(self, index: str) -> str:
        if not index.isascii() or not index.isdigit() or int(index[:9]) >= len(self._strings):
            raise FileUnreadable("it refers to text that it does not have.")
        return self._strings[int(index)]


def _column_of(letters: str) -> int:
    """The index of a column: A is 0."""
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1


def _number(text: str) -> str:
    """A number as people write it; marked if it has more digits than the file can hold."""
    if text.isascii() and text.isdigit() and len(text) <= _EXACT_DIGITS:
        return text
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return text
    if not number.is_finite():
        return text
    if number.adjusted() >= _EXACT_DIGITS:
        return ROUNDED + text
    if number == number.to_integral_value():
        return str(int(number))
    return text
