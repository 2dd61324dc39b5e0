"""Grouping of cart lines: by marketplace, by seller where it must be, and by size."""

from datetime import UTC, datetime
from uuid import UUID

from tradewind.cart.groups import group_lines
from tradewind.cart.model import CartLine
from tradewind.platforms.contract import Traits
from tradewind.platforms.model import Goods

_NOW = datetime(2026, 11, 15, 1, 2, 3, tzinfo=UTC)


def traits_of(platform: str) -> Traits:
    """A marketplace `one…` takes one seller an order; both take three lines."""
    return Traits(platform, platform, frozenset(), 3, platform.startswith("one"), 20)


def a_line(number: int, platform: str, seller: str | None, product: str = "") -> CartLine:
    goods = Goods(seller_id=seller, seller_name=seller and f"{seller} Ltd")
    product_id = product or f"p{number}"
    return CartLine(UUID(int=number), platform, product_id, None, 1, goods, _NOW, _NOW)


def numbers(*lines: CartLine) -> list[list[int]]:
    return [[line.id.int for line in group.lines] for group in group_lines(lines, traits_of)]


def test_one_seller_per_order_where_the_marketplace_requires_it() -> None:
    lines = [a_line(1, "one", "a"), a_line(2, "one", "b"), a_line(3, "one", "a")]

    assert numbers(*lines) == [[1, 3], [2]]


def test_sellers_share_an_order_elsewhere() -> None:
    lines = [a_line(1, "any", "a"), a_line(2, "one", "a"), a_line(3, "any", "b")]

    groups = group_lines(lines, traits_of)

    assert numbers(*lines) == [[1, 3], [2]]
    assert [(group.platform, group.seller_id) for group in groups] == [("any", None), ("one", "a")]
    assert [group.seller_name for group in groups] == [None, "a Ltd"]


def test_a_product_without_a_seller_has_its_own_order() -> None:
    lines = [
        a_line(1, "one", None, "x"),
        a_line(2, "one", None, "y"),
        a_line(3, "one", None, "x"),
    ]

    assert numbers(*lines) == [[1, 3], [2]]


def test_a_large_group_is_several_orders() -> None:
    lines = [a_line(number, "any", "a") for number in range(1, 8)]

    assert numbers(*lines) == [[1, 2, 3], [4, 5, 6], [7]]


def test_no_lines_have_no_groups() -> None:
    assert numbers() == []
