"""Single values: every form they come in, and what is not guessed."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.taobao import values


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (5, 5),
        ("5", 5),
        (" 5 ", 5),
        ("-20", -20),
        (0, 0),
        (9223372036854775807, 9223372036854775807),
        (Decimal("5.5"), None),
        ("5.00", None),  # a fen is never written like this: it would be yuan, or nothing
        ("1e3", None),
        ("", None),
        ("null", None),
        (None, None),
        (True, None),
        ([5], None),
        ("\u0665", None),
    ],
)
def test_whole_numbers(raw: Any, read: int | None) -> None:
    assert values.whole(raw) == read


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (" x ", "x"),
        (7, "7"),
        (2200778678370001234, "2200778678370001234"),
        (Decimal("1.50"), "1.50"),
        ("null", None),
        ("  ", None),
        (False, None),
        ({}, None),
    ],
)
def test_texts(raw: Any, read: str | None) -> None:
    assert values.text(raw) == read


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("39.90", 3990),
        ("39.9", 3990),
        ("0.07", 7),
        (12, 1200),
        (Decimal("1.15"), 115),
        ("1234567.89", 123456789),
        ("9.999", None),
        ("¥5", None),
        ("NaN", None),
        ("Infinity", None),
        ("sNaN", None),
        ("1e999999", None),
        ("1e99999999999999999999", None),
        ("", None),
        (None, None),
    ],
)
def test_yuan(raw: Any, read: int | None) -> None:
    assert values.fen_of_yuan(raw) == read


@given(st.integers(min_value=0, max_value=10**15))
def test_no_amount_of_yuan_loses_a_fen_on_its_way_through_json(fen: int) -> None:
    number = f"{fen // 100}.{fen % 100:02d}"

    assert values.fen_of_yuan(values.record(f'{{"p":{number}}}')["p"]) == fen
    assert values.fen_of_yuan(values.record(f'{{"p":"{number}"}}')["p"]) == fen


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (1763164800000, datetime(2025, 11, 15, tzinfo=UTC)),
        ("1763164800123", datetime(2025, 11, 15, microsecond=123000, tzinfo=UTC)),
        (1763164800, datetime(2025, 11, 15, tzinfo=UTC)),
        ("2025-11-15 08:00:00", datetime(2025, 11, 15, tzinfo=UTC)),
        ("2025-11-15T00:00:00+00:00", datetime(2025, 11, 15, tzinfo=UTC)),
        (0, None),
        ("0", None),
        ("", None),
        ("soon", None),
        (10**18, None),
        (None, None),
    ],
)
def test_moments(raw: Any, read: datetime | None) -> None:
    assert values.moment(raw) == read


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ([{"a": 1}, 2, {"b": 3}], [{"a": 1}, {"b": 3}]),
        ({"a": 1}, [{"a": 1}]),
        ('[{"a": 1}]', [{"a": 1}]),
        ("[broken", []),
        ("words", []),
        (None, []),
    ],
)
def test_records(raw: Any, read: list[Any]) -> None:
    assert values.records(raw) == read


HOSTILE = [
    b'{"a":1e99999999999999999999}',
    b'{"a":' * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
]


@pytest.mark.parametrize("body", HOSTILE, ids=["exponent", "objects", "lists"])
def test_hostile_json_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        values.decode(body)


@pytest.mark.parametrize("body", HOSTILE, ids=["exponent", "objects", "lists"])
def test_hostile_json_inside_a_string_is_nothing(body: bytes) -> None:
    assert (values.record(body.decode()), values.records(body.decode())) == ({}, [])


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a":1}{"a":1}', b"\xff\xfe", b'{"a":'])
def test_what_is_not_json_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        values.decode(body)
