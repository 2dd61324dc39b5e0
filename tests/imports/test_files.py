"""Files of orders: separators, spreadsheets, and files that are made to do harm."""

import struct
import zipfile
from contextlib import suppress
from io import BytesIO
from itertools import pairwise
from time import monotonic, thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.spreadsheets import csv_file, packed, xlsx_file

from tradewind.imports.columns import SPELLINGS, match_columns
from tradewind.imports.csv_file import MOST_LINES, read_csv
from tradewind.imports.errors import ColumnsUnmatched, FileUnreadable
from tradewind.imports.table import MOST_BYTES, MOST_ROWS, ROUNDED
from tradewind.imports.xlsx_file import read_xlsx

ROWS = [["Product ID", "Qty"], ["900000000001", "2"], ["", ""], ['a "b", c\nd', "3"]]
NEEDED = ["product_id", "quantity", "name", "phone", "province", "city", "district", "detail"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_csv_with_any_separator_with_and_without_a_bom(separator: str, bom: bytes) -> None:
    table = read_csv(bom + csv_file(ROWS, separator))

    assert table.header == ["Product ID", "Qty"]
    assert [(row.number, row.cells) for row in table.rows] == [
        (2, ["900000000001", "2"]),
        (4, ['a "b", c\nd', "3"]),
    ]


def test_the_first_sheet_of_a_spreadsheet() -> None:
    table = read_xlsx(
        xlsx_file(
            [["Product", "Qty", "Note"], ["900000000001", 2], [9e11, 2.0, "张 & 三"], [], [1, 0.5]]
        )
    )

    assert table.header == ["Product", "Qty", "Note"]
    assert [(row.number, row.cells) for row in table.rows] == [
        (2, ["900000000001", "2"]),
        (3, ["900000000000", "2", "张 & 三"]),
        (5, ["1", "0.5"]),
    ]


def test_rich_inline_and_calculated_text() -> None:
    sheet = """<worksheet><sheetData>
      <row><c t="inlineStr"><is><r><t>Pro</t></r><r><t>duct</t></r></is></c>
           <c t="str"><f>1+1</f><v>Qty</v></c></row>
      <row><c t="s"><v>0</v></c><c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c></row>
    </sheetData></worksheet>"""
    strings = "<sst><si><r><t>ab</t></r><rPh><t>hint</t></rPh><r><t>c</t></r></si></sst>"

    table = read_xlsx(packed(sheet, strings))

    assert table.header == ["Product", "Qty"]
    assert table.rows[0].cells == ["abc", "TRUE", "#REF!"]


def test_a_number_that_the_spreadsheet_rounded_is_marked() -> None:
    table = read_xlsx(xlsx_file([["Product"], [2857193746501234567], [999999999999999], ["1e400"]]))

    assert table.rows[0].cells[0].startswith(ROUNDED)
    assert table.rows[1].cells == ["999999999999999"]


def bomb(size: int) -> bytes:
    """A sheet of a few kilobytes that unpacks to `size` bytes."""
    return packed("<worksheet><sheetData>" + " " * size + "</sheetData></worksheet>")


def entities() -> bytes:
    declared = (
        '<!ENTITY a "'
        + "x" * 1000
        + '">'
        + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in pairwise("abcdefg"))
    )
    return packed(f"<!DOCTYPE w [{declared}]><worksheet><row><c><v>&g;</v></c></row></worksheet>")


def lying_bomb() -> bytes:
    """The archive states a size of one byte."""
    content = bytearray(bomb(80 * 1024 * 1024))
    at = content.rindex(b"xl/worksheets/sheet1.xml") - 46
    assert content[at : at + 4] == b"PK\x01\x02"
    content[at + 24 : at + 28] = struct.pack("<I", 1)
    return bytes(content)


def many_files() -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(2000):
            archive.writestr(str(number), b"")
    return content.getvalue()


HOSTILE = {
    "a zip bomb": bomb(80 * 1024 * 1024),
    "a zip bomb that lies about its size": lying_bomb(),
    "entities": entities(),
    "many files": many_files(),
    "not a spreadsheet": xlsx_file(ROWS)[:200],
    "cut off": xlsx_file(ROWS)[:-30],
    "another zip": many_files()[:0] + packed("<worksheet/>", workbook="<workbook/>"),
    "broken XML": packed("<worksheet><row>"),
    "far columns": packed('<worksheet><row r="1"><c r="ZZZ1"><v>1</v></c></row></worksheet>'),
    "text that is not there": packed('<worksheet><row><c t="s"><v>99</v></c></row></worksheet>'),
    "rows in a circle": packed('<worksheet><row r="2"/><row r="1"/></worksheet>'),
    "one long text in every cell": packed(
        "<worksheet>" + '<row><c t="s"><v>0</v></c></row>' * 5000 + "</worksheet>",
        f"<sst><si><t>{'x' * 30000}</t></si></sst>",
    ),
    "many small cells": packed("<worksheet/>", f"<sst>{'<si><t/></si>' * 1_500_000}</sst>"),
    "empty": xlsx_file([]),
    "too many rows": xlsx_file([["a"]] * (MOST_ROWS + 2)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_spreadsheets_are_rejected_at_once(name: str) -> None:
    started = monotonic()

    with pytest.raises(FileUnreadable):
        read_xlsx(HOSTILE[name])

    assert monotonic() - started < 10


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\n\n , \n", "empty"),
        (b"product_id\n", "no rows"),
        (b"a,b\n1,\0", "UTF-8"),
        ("a,b\n1,é".encode("latin-1"), "at byte 7"),
        ("a,b\n1,2".encode("utf-16"), "UTF-8"),
        (b'a,b\n"1,2', "row 2"),
        (b'a,b\n"1"x,2', "row 2"),
        (b"," * 1_000_000, "too many columns"),
        (b"a" + b",a" * 300 + b"\n1", "more than 200 columns"),
        (b"a\n" + b"x" * 200_000, "row 2"),
        (b"a\n" + b"1\n" * (MOST_ROWS + 1), "more than 5,000 rows"),
    ],
)
def test_unreadable_csv_says_what_is_wrong(content: bytes, says: str) -> None:
    with pytest.raises(FileUnreadable, match=says):
        read_csv(content)


@settings(deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_rejected(content: bytes) -> None:
    for read in (read_csv, read_xlsx):
        try:
            read(content)
        except FileUnreadable:
            continue


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\r", " \n", ",\n", '""\n'])
def test_blank_lines_cost_little_and_their_number_is_limited(blank: str) -> None:
    """Compared with a file of the same size, so that a slow machine makes no difference."""
    head = b"product_id,quantity\n"
    row = b"900000000001,2," + b"x" * 1200 + b"\n"
    ordinary = head + row * ((MOST_BYTES - len(head)) // len(row))
    blanks = blank.encode() * ((MOST_BYTES - len(head)) // len(blank))
    usual = min(_seconds(ordinary) for _ in range(3))

    assert min(_seconds(head + blanks) for _ in range(3)) < 25 * usual
    few = blank.encode() * (MOST_LINES - 2)
    assert [row.number for row in read_csv(head + few + b"1,2\n").rows] == [MOST_LINES]
    with pytest.raises(FileUnreadable, match="more than 1,048,576 rows, most of them empty"):
        read_csv(head + few + blank.encode() + b"1,2\n")


def _seconds(content: bytes) -> float:
    """The time of this thread for one file, which may be rejected."""
    started = thread_time()
    with suppress(FileUnreadable):
        read_csv(content)
    return thread_time() - started


@pytest.mark.parametrize("separator", [";", "\t"])
def test_the_first_line_that_is_not_blank_decides_the_separator(separator: str) -> None:
    text = separator.join(["", "product, or item", "quantity"]) + "\n"

    assert read_csv(f"\n\r\n \n{text}{text}".encode()).header == [
        "",
        "product, or item",
        "quantity",
    ]


@pytest.mark.parametrize("field", SPELLINGS)
def test_every_spelling_is_matched(field: str) -> None:
    for name in SPELLINGS[field]:
        header = [name.upper(), *(needed for needed in NEEDED if needed != field)]
        matched = match_columns(header, {}, needs_platform=False)
        assert matched.indexes[field] == 0
        assert matched.names[field] == name.upper()


def test_columns_that_are_missing_ambiguous_or_chosen() -> None:
    with pytest.raises(ColumnsUnmatched) as missing:
        match_columns(["Produkt", "Qty", "Quantity"], {}, needs_platform=True)
    with pytest.raises(ColumnsUnmatched, match='no column "Menge"'):
        match_columns(NEEDED, {"quantity": "Menge"}, needs_platform=False)
    chosen = match_columns(
        [*NEEDED[1:], "Produkt", "sku", "Colour"],
        {"product_id": "produkt", "sku_id": "Colour"},
        needs_platform=False,
    )

    problems = missing.value.facts["problems"]
    assert '"Qty" and "Quantity" are both columns for quantity.' in problems
    missing_fields = ["product_id", *NEEDED[2:], "platform"]
    assert f"There are no columns for {', '.join(missing_fields)}." in problems
    assert chosen.names["product_id"] == "Produkt"
    assert chosen.names["sku_id"] == "Colour"
    assert list(chosen.unused) == ["sku"]


@pytest.mark.parametrize(
    ("header", "matched"),
    [
        # With a region, it is the street; with a street beside it, or without a region, it is not.
        ([*NEEDED[:-1], "Address"], "detail"),
        ([*NEEDED, "Address"], "address"),
        (["product_id", "quantity", "Address"], "address"),
        (["product_id", "quantity", "Ship to"], "address"),
    ],
)
def test_a_column_address_is_the_street_or_a_saved_address(header: list[str], matched: str) -> None:
    columns = match_columns(header, {}, needs_platform=False)

    assert columns.names[matched] == header[-1]
    assert columns.have_addresses == ("province" in header)


def test_a_file_without_addresses_needs_a_default_address() -> None:
    header = ["product_id", "quantity", "Name"]

    with pytest.raises(ColumnsUnmatched, match="there is none") as missing:
        match_columns(header, {}, needs_platform=False)
    columns = match_columns(header, {}, needs_platform=False, has_default_address=True)

    assert "name, phone, province" in missing.value.detail
    # The name of a product, not of a recipient.
    assert list(columns.unused) == ["Name"]
    with pytest.raises(ColumnsUnmatched, match="There are no columns for name, province"):
        match_columns([*header[:2], "phone"], {}, needs_platform=False, has_default_address=True)


@pytest.mark.parametrize(
    "header",
    [
        ["product_id", "qty", "收货人", "邮编", "收货地址"],
        ["product_id", "quantity", "recipient", "Strasse"],
        ["product_id", "quantity", "zip"],
        ["product_id", "quantity", "address", "consignee"],
    ],
)
def test_part_of_an_address_is_never_replaced_by_the_default_address(header: list[str]) -> None:
    with pytest.raises(ColumnsUnmatched):
        match_columns(header, {}, needs_platform=False, has_default_address=True)
