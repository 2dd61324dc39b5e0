"""Amounts in messages: in CNY, always with two decimals."""

import pytest

from tradewind import money


@pytest.mark.parametrize(
    ("fen", "text"),
    [(0, "CNY 0.00"), (5, "CNY 0.05"), (1250, "CNY 12.50"), (100_000_000_001, "CNY 1000000000.01")],
)
def test_an_amount_is_written_in_cny_with_two_decimals(fen: int, text: str) -> None:
    assert money.text(fen) == text
