"""The goods of a line: texts, picture, variant, seller, and the price of one piece."""

from collections.abc import Sequence

import pytest

from tradewind.platforms.goods import (
    fill_from_items,
    goods_of,
    ordered_goods,
    unit_price,
    with_goods,
)
from tradewind.platforms.model import Goods, Item, Line, Offer, PriceRange, Product, Sku

_RANGES = (PriceRange(10, 800), PriceRange(2, 900))


def a_product(
    *, skus: Sequence[Sku] = (), price_ranges: Sequence[PriceRange] = (), title: str = "裙"
) -> Product:
    offer = Offer(
        id="1",
        title=title,
        title_translated="Dress",
        image_url="https://pictures.example/1.jpg",
        price_fen=1000,
        seller_id="b2b-1",
        seller_name="晨曦服饰厂",
    )
    return Product(offer, (), None, skus, price_ranges, None, {})


def a_sku(price_fen: int | None = 1100, image_url: str | None = None) -> Sku:
    return Sku("red", {"颜色": "红色", "": "?", "尺码": " "}, price_fen, None, image_url)


def test_a_variant_has_its_own_picture_price_and_attributes() -> None:
    product = a_product(skus=[a_sku(image_url="https://pictures.example/red.jpg")])

    assert goods_of(product, "red", 3) == Goods(
        title="裙",
        title_translated="Dress",
        image_url="https://pictures.example/red.jpg",
        attributes={"颜色": "红色"},
        unit_price_fen=1100,
        seller_id="b2b-1",
        seller_name="晨曦服饰厂",
    )


def test_a_variant_without_a_picture_has_that_of_its_product() -> None:
    product = a_product(skus=[a_sku()])

    assert goods_of(product, "red", 1).image_url == "https://pictures.example/1.jpg"


def test_a_product_without_variants_has_no_attributes_and_an_unknown_variant_unknown_ones() -> None:
    assert goods_of(a_product(), None, 1).attributes == {}
    assert goods_of(a_product(skus=[a_sku()]), "blue", 1).attributes is None


@pytest.mark.parametrize(
    ("quantity", "price_fen"), [(1, 900), (2, 900), (9, 900), (10, 800), (99, 800)]
)
def test_a_product_priced_by_quantity_costs_what_its_range_says(
    quantity: int, price_fen: int
) -> None:
    product = a_product(skus=[a_sku(price_fen=None)], price_ranges=_RANGES)

    assert unit_price(product, "red", quantity) == price_fen


def test_the_price_of_a_variant_comes_before_ranges_and_that_of_the_product_last() -> None:
    assert unit_price(a_product(skus=[a_sku()], price_ranges=_RANGES), "red", 10) == 1100
    assert unit_price(a_product(), None, 10) == 1000


def test_all_variants_of_a_product_count_for_its_price_ranges() -> None:
    product = a_product(skus=[a_sku(price_fen=None)], price_ranges=_RANGES)
    lines = [Line("1", "red", 4), Line("1", "blue", 6), Line("2", None, 90)]

    line = with_goods(lines[0], product, lines)

    assert line.goods is not None
    assert line.goods.unit_price_fen == 800
    assert line == lines[0]  # goods take no part in comparisons


def test_endless_texts_are_cut_and_endless_urls_left_out() -> None:
    sku = Sku("red", {"n" * 900: "v" * 900}, 1, None, "https://pictures.example/" + "x" * 3000)
    goods = goods_of(a_product(skus=[sku], title=" " + "裙" * 900), "red", 1)

    assert goods.title == "裙" * 500
    assert goods.attributes == {"n" * 500: "v" * 500}
    assert goods.image_url == "https://pictures.example/1.jpg"


def an_item(product_id: str, sku_id: str | None, title: str | None) -> Item:
    goods = None if title is None else Goods(title=title)
    return Item(f"{product_id}-{sku_id}", product_id, sku_id, 1, 100, False, goods)


@pytest.mark.parametrize(
    ("lines", "items", "titles"),
    [
        ([("1", "a"), ("1", "b")], [("1", "b", "B"), ("1", "a", "A")], ["A", "B"]),
        ([("1", None), ("2", None)], [("1", "a", "A"), ("2", None, "C")], ["A", "C"]),
        # Of two variants, nobody knows which one a line without a variant is.
        ([("1", None), ("2", None)], [("1", "a", "A"), ("1", "b", "B")], [None, None]),
        ([("1", "c"), ("2", None)], [("1", "a", "A"), ("2", None, "C")], [None, "C"]),
        # One line is the other, although the ids in orders differ from those of the search.
        ([("1", "a")], [("mp-1", "mp-a", "A")], ["A"]),
        ([("1", "a")], [("1", "a", None)], [None]),
        ([("1", "a")], [], [None]),
    ],
)
def test_lines_without_goods_get_those_of_the_order_on_the_marketplace(
    lines: Sequence[tuple[str, str | None]],
    items: Sequence[tuple[str, str | None, str | None]],
    titles: Sequence[str | None],
) -> None:
    ours = [Line(product_id, sku_id, 1) for product_id, sku_id in lines]

    filled = fill_from_items(ours, [an_item(*item) for item in items])

    assert [line.goods and line.goods.title for line in filled] == titles
    assert (filled is ours) == (not any(titles))
    assert filled == ours


def test_goods_that_were_seen_when_it_was_ordered_stay() -> None:
    lines = [Line("1", "a", 1, Goods(title="seen")), Line("2", None, 1)]

    filled = fill_from_items(lines, [an_item("1", "a", "renamed"), an_item("2", None, "new")])

    assert [line.goods and line.goods.title for line in filled] == ["seen", "new"]
    assert fill_from_items(filled, [an_item("2", None, "newer")]) is filled


def test_what_an_order_says_of_its_goods_is_bounded() -> None:
    goods = ordered_goods(
        title=" " + "x" * 9000,
        image_url="https://pictures.example/" + "x" * 9000,
        attributes={str(number): "y" * 9000 for number in range(99)},
        unit_price_fen=100,
        seller_name="  ",
    )

    assert goods is not None
    assert (goods.title, goods.image_url, goods.seller_name) == ("x" * 500, None, None)
    assert goods.attributes == {str(number): "y" * 500 for number in range(20)}
    assert (
        ordered_goods(
            title=" ", image_url=None, attributes={}, unit_price_fen=1, seller_name="晨曦"
        )
        is None
    )
