"""The goods of an order in words: its title, its sellers, and lines of which nothing is known."""

from collections.abc import Sequence

import pytest
from kit.orders import an_order
from msgspec.structs import replace

from tradewind.dashboard.orders.goods import OrderGoods, line_title
from tradewind.platforms.model import Goods, Line

DRESS = Line("7", None, 1, Goods(title="裙", title_translated="Denim dress", seller_name="晨曦"))
TOTE = Line("8", None, 2, Goods(title="手提袋", seller_id="b2b-2"))
UNKNOWN = Line("900000000001", "x", 1)


@pytest.mark.parametrize(
    ("lines", "title", "sellers"),
    [
        ([DRESS], "Denim dress", "晨曦"),
        ([DRESS, DRESS, TOTE], "Denim dress and 2 more", "晨曦, b2b-2"),
        ([TOTE, UNKNOWN], "手提袋 and 1 more", "b2b-2"),
        ([UNKNOWN], "Product 900000000001", ""),
    ],
)
def test_an_order_is_called_by_its_goods(lines: Sequence[Line], title: str, sellers: str) -> None:
    order = replace(an_order(), lines=lines)

    assert (OrderGoods.title(order), OrderGoods.sellers(order)) == (title, sellers)


@pytest.mark.parametrize(
    ("long", "title"),
    [
        ("word, " * 80, "word, word, word, word, word, word, word, word, word, word…"),
        ("裙" * 80, "裙" * 60 + "…"),
    ],
)
def test_a_long_title_is_cut_between_words(long: str, title: str) -> None:
    line = Line("7", None, 1, Goods(title=long.strip()))

    assert OrderGoods.title(replace(an_order(), lines=[line])) == title
    assert line_title(line) == long.strip()
