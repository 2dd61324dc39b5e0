"""Amounts, ids and times survive the platform's spellings without losing anything."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.platforms.alibaba import values
from tradewind.platforms.failures import UnreadableResponse

FEN = st.integers(min_value=0, max_value=10**12)


@given(FEN)
def test_yuan_as_text_come_back_as_the_same_fen(fen: int) -> None:
    assert values.yuan(values.show_yuan(fen), "x") == fen


@given(FEN)
def test_yuan_as_a_json_number_come_back_as_the_same_fen(fen: int) -> None:
    body = json.dumps({"x": fen / 100}).encode()

    assert values.yuan(values.decode(body)["x"], "x") == fen


@given(FEN, FEN)
def test_yuan_that_somebody_added_as_doubles_are_still_exact(one: int, other: int) -> None:
    body = json.dumps({"x": (one % 10**7) / 100 + (other % 10**7) / 100}).encode()

    assert values.yuan(values.decode(body)["x"], "x") == one % 10**7 + other % 10**7


@given(FEN)
def test_fen_are_the_same_however_they_are_written(fen: int) -> None:
    for written in (fen, str(fen), Decimal(fen), f"{fen}.0"):
        assert values.fen(written, "x") == fen


@given(st.integers(min_value=1, max_value=2**63 - 1))
def test_ids_are_never_rounded(number: int) -> None:
    body = json.dumps({"number": number, "text": str(number)}).encode()

    decoded = values.decode(body)

    assert values.text(decoded["number"]) == values.text(decoded["text"]) == str(number)


@pytest.mark.parametrize("finer", ["6.155", "0.001", Decimal("1.2345")])
def test_an_amount_finer_than_a_fen_is_not_rounded_but_refused(finer: Any) -> None:
    with pytest.raises(UnreadableResponse):
        values.yuan(finer, "x")
    assert values.or_none(values.yuan, finer) is None


@pytest.mark.parametrize("wrong", ["six", True, [], {}, "1e999999999", "NaN", "Infinity", 10**40])
def test_what_is_no_amount_is_unreadable(wrong: Any) -> None:
    with pytest.raises(UnreadableResponse):
        values.yuan(wrong, "x")
    with pytest.raises(UnreadableResponse):
        values.fen(wrong, "x")


@pytest.mark.parametrize("missing", [None, ""])
def test_what_is_missing_is_none(missing: Any) -> None:
    assert values.yuan(missing, "x") is None
    assert values.fen(missing, "x") is None
    assert values.text(missing) is None


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>", b"[]", b'"text"', b"null", b'{"a": NaN}', b'{"a":1}{"a":1}', b"\xff\xfe",
        b"[" * 100_000, b'{"a": 1e99999999999999999999}', b'{"a": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_json_object_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        values.decode(body)


AT = datetime(2018, 6, 14, 2, 19, 42, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("20180614101942000+0800", AT),
        ("20180614101942123+0800", AT + timedelta(milliseconds=123)),
        ("20180614101942+0800", AT),
        ("20180614021942000+0000", AT),
        ("20180614101942000", AT),
        (20180614101942000, AT),
        ("2018-06-14 10:19:42", AT),
        (1528942782000, AT),
        ("1528942782000", AT),
        ("20281222222222+0800", datetime(2028, 12, 22, 14, 22, 22, tzinfo=UTC)),
        ("yesterday", None),
        ("20189914101942000+0800", None),
        ("2018W241101942000+0800", None),
        ("20180614101942 00+0800", None),
        ("20180614101942000+08:0", None),
        ("2018", None),
        ("", None),
        (None, None),
        (Decimal("1.5"), None),
    ],
)
def test_every_spelling_of_a_time(written: Any, expected: datetime | None) -> None:
    assert values.moment(written) == expected


@given(st.integers(min_value=946_684_800_000, max_value=4_102_444_800_000))
def test_a_time_that_we_write_is_one_that_we_read(milliseconds: int) -> None:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)

    assert values.moment(values.show_moment(at)) == at
    assert values.moment(values.show_moment(at.astimezone(timezone(timedelta(hours=-5))))) == at


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (True, True), (False, False), ("true", True), ("FALSE", False), ("false", False),
        ("yes", None), (1, None), (None, None),
    ],
)  # fmt: skip
def test_true_may_be_a_string(said: Any, expected: bool | None) -> None:
    assert values.flag(said) is expected


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1e99999999999999999999}',
        b'{"a":' * 100_000,
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' + b"9" * 10_000 + b"}",
    ],
    ids=["exponent", "objects", "lists", "digits"],
)
def test_hostile_json_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        values.decode(body)


@pytest.mark.parametrize("number", ["1e99999999999999999999", "1e999999", "sNaN", "-Infinity"])
def test_a_hostile_number_is_unreadable(number: str) -> None:
    for read in (values.whole, values.yuan):
        with pytest.raises(UnreadableResponse):
            read(number, "x")
