"""Recorded products, and what a search asks for."""

import json
from typing import Any

import pytest
from platforms.taobao.scripted import data_of

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Offer, Product, ProductAttribute, Query, Sku, Sort
from tradewind.platforms.taobao import products
from tradewind.platforms.taobao.products import Hits, ItemListing, ListedSku

PAGE = "https://items.example/?id="


def offer(**known: Any) -> Offer:
    nothing: dict[str, Any] = dict.fromkeys(Offer.__slots__)
    return Offer(**{**nothing, "title": "", **known})


def test_a_page_of_hits() -> None:
    result = products.hits(data_of("search"), PAGE)

    bag = offer(
        id="641592387397",
        title="帆布包",
        title_translated="Canvas bag",
        url=f"{PAGE}641592387397",
        image_url="https://img.alicdn.com/a.jpg",
        price_fen=3990,
        price_max_fen=3990,
        seller_name="沙盒测试店",
    )
    cup = offer(
        id="755475833284",
        title="水杯",
        url=f"{PAGE}755475833284",
        image_url="https://img.alicdn.com/b.jpg",
        price_fen=1200,
        price_max_fen=1200,
    )
    mystery = offer(id="806339192392", title="神秘", url=f"{PAGE}806339192392")
    assert result == Hits((bag, cup, None, mystery), None)


@pytest.mark.parametrize("data", [None, {}, {"data": []}, {"data": None}])
def test_no_hits(data: Any) -> None:
    assert products.hits(data, PAGE) == Hits((), None)


@pytest.mark.parametrize("data", [[], "x", {"data": "x"}, {"data": {}}])
def test_what_is_no_page_of_hits(data: Any) -> None:
    with pytest.raises(UnreadableResponse):
        products.hits(data, PAGE)


def test_a_whole_product() -> None:
    result = products.product(data_of("item"), "641592387397", PAGE)

    assert result == Product(
        offer=offer(
            id="641592387397",
            title="帆布包",
            title_translated="Canvas bag",
            url=f"{PAGE}641592387397",
            image_url="https://img.alicdn.com/a.jpg",
            price_fen=3990,
            price_max_fen=4700,
            seller_id="71955116",
            seller_name="沙盒测试店",
        ),
        images=("https://img.alicdn.com/a.jpg", "https://img.alicdn.com/b.jpg"),
        description="<p>包</p>",
        skus=(
            Sku("5159117406243", {"Colour": "red"}, 3990, 70, "https://img.alicdn.com/red.jpg"),
            Sku("5159117406244", {"颜色": "蓝色"}, 4700, 50, None),
        ),
        price_ranges=(),
        stock=120,
        shipping={},
    )


def test_how_a_product_is_ordered() -> None:
    assert products.listing(data_of("product"), "641592387397") == ItemListing(
        order_id="4096709792297020",
        skus={
            "5159117406243": ListedSku("32248575036476", 3990),
            "5159117406244": ListedSku("32248575036477", 4700),
        },
        min_order_quantity=2,
    )


def test_ids_serve_both_ways_where_there_are_no_others() -> None:
    data = {"item_id": 7, "sku_list": [{"sku_id": "8", "price": "100"}]}

    assert products.listing(data, "7") == ItemListing("7", {"8": ListedSku("8", 100)}, None)


@pytest.mark.parametrize(
    ("query", "params"),
    [
        (Query("bag", lang="zh"), {}),
        (Query("bag", lang="en"), {"language": "en"}),
        (Query("bag", lang="en-GB"), {"language": "en"}),
        (Query("bag", lang="fr"), {}),
        (Query("bag", lang="ja", sort=Sort.PRICE_ASC), {"language": "ja", "sort": "PRICE_ASC"}),
        (Query("bag", lang="", sort=Sort.PRICE_DESC), {"sort": "PRICE_DESC"}),
        (Query("bag", lang="", sort=Sort.SALES_DESC), {"sort": "SALE_QTY_DESC"}),
    ],
)
def test_what_a_search_asks_for(query: Query, params: dict[str, str]) -> None:
    always = {"keyword": "bag", "page_no": "3", "page_size": "20"}

    assert products.search_params(query, 3, 20) == {**always, **params}


@pytest.mark.parametrize(
    ("least", "most", "filters"),
    [
        (2000, None, ["min_price:2000"]),
        (None, 9001, ["max_price:9001"]),
        (0, 9000, ["min_price:0", "max_price:9000"]),
    ],
)
def test_price_limits_are_in_fen(least: int | None, most: int | None, filters: list[str]) -> None:
    query = Query("bag", min_price_fen=least, max_price_fen=most)

    assert json.loads(products.search_params(query, 1, 20)["filters"]) == filters


def test_the_facts_of_a_product_are_translated_where_they_can_be() -> None:
    properties = [{"prop_name": "材质", "value_name": "棉"}, {"prop_name": "空", "value_name": ""}]
    translated = {"properties": [{"prop_name": "Material", "value_name": "cotton"}]}

    plain = products.product({"item_id": 7, "properties": properties}, "7", PAGE)
    english = products.product(
        {"item_id": 7, "properties": properties, "multi_language_info": translated}, "7", PAGE
    )

    assert plain.attributes == (ProductAttribute("材质", "棉"),)
    assert english.attributes == (ProductAttribute("Material", "cotton"),)


def similar(*prices: str) -> products.Hits:
    data = [{"item_id": at, "title": "包", "price": price} for at, price in enumerate(prices, 1)]
    return products.similar_hits([*data, {"title": "no id"}], PAGE)


@pytest.mark.parametrize(
    ("query", "ids", "total"),
    [
        (Query("", image_id="5"), ["1", "2", "3", "4"], 4),
        (Query("", page=2, size=3, image_id="5"), ["4"], 4),
        (Query("", page=9, size=3, image_id="5"), [], 4),
        (Query("", sort=Sort.PRICE_ASC, image_id="5"), ["4", "2", "3", "1"], 4),
        (Query("", sort=Sort.PRICE_DESC, image_id="5"), ["1", "3", "2", "4"], 4),
        (Query("", sort=Sort.SALES_DESC, image_id="5"), ["1", "2", "3", "4"], 4),
        (Query("", min_price_fen=200, max_price_fen=300, image_id="5"), ["2", "3"], 2),
        (Query("", min_price_fen=0, image_id="5"), ["1", "2", "3"], 3),
    ],
)
def test_pages_of_what_looks_like_a_picture(query: Query, ids: list[str], total: int) -> None:
    page = products.image_search_page(similar("4.00", "2.00", "3.00", ""), query)

    assert [offer.id for offer in page.offers] == ids
    assert (page.total, page.page, page.size) == (total, query.page, query.size)


def test_a_picture_is_uploaded_and_searched_by() -> None:
    assert products.upload_params(b"\xff\xd8\xff") == {"image_base64": "/9j/"}
    assert products.uploaded_image({"image_id": 1616108138716568543}) == "1616108138716568543"
    query = Query("", lang="ja", image_id="5")
    assert products.image_search_params(query) == {"image_id": "5", "language": "ja"}


@pytest.mark.parametrize("data", [None, {}, {"image_id": "0"}, []])
def test_a_picture_without_an_id_is_unreadable(data: object) -> None:
    with pytest.raises(UnreadableResponse):
        products.uploaded_image(data)
