"""Rows of CSV: quotes, line ends, and text that a spreadsheet would run as a formula."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.exports.csv_rows import Cell, cny, write_row


def test_values_keep_their_kind() -> None:
    at = datetime(2026, 11, 15, 1, 2, 3, 4000, UTC)
    cells: list[Cell] = ["a", 3, -3, True, None, cny(12850), cny(-5), Decimal("1E+3"), at]

    assert write_row(cells) == "a,3,-3,true,,128.50,-0.05,1000,2026-11-15T01:02:03.004Z\r\n"


def test_commas_quotes_and_line_ends_are_quoted() -> None:
    assert write_row(['a,"b"', "c\nd", "e;f"]) == '"a,""b""","c\nd",e;f\r\n'


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+86 152", "-2", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", '=HYPERLINK("http://x","y")'],
)
def test_text_that_would_be_a_formula_begins_with_an_apostrophe(text: str) -> None:
    (row,) = csv.reader(io.StringIO(write_row([text]), newline=""))

    assert row == ["'" + text]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_any_text_is_read_back(texts: list[str]) -> None:
    rows = list(csv.reader(io.StringIO(write_row(["x", *texts]), newline="")))

    assert len(rows) == 1
    assert [cell.removeprefix("'") for cell in rows[0][1:]] == [t.removeprefix("'") for t in texts]
