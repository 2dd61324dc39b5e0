"""The catalogue and its search, in Chinese and in English, in both dialects."""

import pytest
from simulator.sandbox_kit import PLAIN, Market, spec
from tradewind_simulator import catalogue, magic
from tradewind_simulator.model import Quote
from tradewind_simulator.search import Index, Sort


@pytest.fixture(scope="module")
def index() -> Index:
    return Index([*catalogue.make(1688, 3_000)[1], *magic.products()])


def test_the_same_seed_makes_the_same_catalogue() -> None:
    assert catalogue.make(7, 300) == catalogue.make(7, 300)
    assert catalogue.make(7, 300) != catalogue.make(8, 300)


def test_the_catalogue_is_believable() -> None:
    sellers, products = catalogue.make(1688, 3_000)
    skus = [sku for product in products for sku in product.skus]

    assert len(products) >= 3_000
    assert len({p.id for p in products}) == len(products)
    assert len({s.id for s in skus}) == len(skus)
    assert len({p.category for p in products}) == 12
    assert {p.quote for p in products} == set(Quote)
    assert {p.seller for p in products} <= {s.id for s in sellers}
    assert all(p.lowest_fen >= 50 and p.minimum >= 1 for p in products)
    assert all(
        [s.price_fen for s in p.steps] == sorted((s.price_fen for s in p.steps), reverse=True)
        for p in products
    )


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("连衣裙", "连衣裙"),
        ("dress", "连衣裙"),
        ("dresses", "连衣裙"),
        ("手机壳", "手机壳"),
        ("phone case", "手机壳"),
        ("Phone Cases", "手机壳"),
        ("保温杯", "保温杯"),
        ("thermos cup", "保温杯"),
        ("猫爬架", "猫爬架"),
        ("bluetooth earphones", "蓝牙耳机"),
        ("蓝牙耳机", "蓝牙耳机"),
        ("yoga mat", "瑜伽垫"),
        ("shirt", "衬衫"),
        ("T-shirt", "T恤"),
    ],
)
def test_what_it_is_comes_first(index: Index, query: str, kind: str) -> None:
    result = index.find(query)

    assert [product.kind for product in result[:10]] == [kind] * 10


@pytest.mark.parametrize("query", ["cat", "猫"])
def test_a_thing_for_cats_comes_after_a_cat_thing(index: Index, query: str) -> None:
    result = [
        query in product.kind_en.split() or query in product.kind for product in index.find(query)
    ]

    assert result == sorted(result, reverse=True)
    assert set(result) == {True, False}


def test_a_title_says_more_than_a_colour(index: Index) -> None:
    result = [
        "transparent" in p.title_en or "clear" in p.title_en for p in index.find("clear case")
    ]

    assert result[:3] == [True] * 3


def test_a_second_word_narrows_what_comes_first(index: Index) -> None:
    english = index.find("women silk dress")[:1]
    chinese = index.find("女士真丝连衣裙")[:1]

    assert english == chinese
    assert "silk" in english[0].title_en
    assert english[0].category == "女装"


def test_a_colour_finds_what_comes_in_it(index: Index) -> None:
    find = index.find("purple backpack")[:3]

    for product in find:
        assert product.kind_en == "backpack"
        assert any(o.value_en == "purple" for sku in product.skus for o in sku.options)


def test_equals_are_ordered_by_sales(index: Index) -> None:
    same = [p.sold for p in index.find("帐篷")]

    assert same == sorted(same, reverse=True)


def test_nonsense_finds_nothing(index: Index) -> None:
    assert index.find("qwertyzzz") == []
    assert index.find("龘龘") == []


def test_sorting_and_bounds(index: Index) -> None:
    cheap = index.find("bag", Sort.PRICE_ASC, 2_000, 5_000)
    dear = index.find("bag", Sort.PRICE_DESC, 2_000, 5_000)
    sold = index.find("bag", Sort.SALES_DESC)

    prices = [product.lowest_fen for product in cheap]
    assert prices == sorted(prices)
    assert {2_000 <= price <= 5_000 for price in prices} == {True}
    assert [p.lowest_fen for p in dear] == prices[::-1]
    assert [p.sold for p in sold] == sorted((p.sold for p in sold), reverse=True)


def test_search_in_the_1688_dialect(market: Market) -> None:
    query = {"keyword": "dress", "beginPage": 2, "pageSize": 5, "country": "en"}
    wanted = query | {"sort": '{"price":"asc"}', "priceStart": "40", "priceEnd": "90.5"}

    answer = market.call("product.search.keywordQuery", offerQueryParam=wanted)["result"]

    page = answer["result"]
    assert answer["success"] is True
    assert (page["currentPage"], page["pageSize"], len(page["data"])) == (2, 5, 5)
    assert page["totalPage"] == -(-page["totalRecords"] // 5)
    first = page["data"][0]
    assert isinstance(first["offerId"], int)
    assert isinstance(first["priceInfo"]["price"], str)
    assert 40 <= float(first["priceInfo"]["price"]) <= 90.5
    assert first["repurchaseRate"].endswith("%")
    assert {"subject", "subjectTrans", "imageUrl", "monthSold", "minOrderQuantity"} <= set(first)
    assert market.client.get(first["imageUrl"]).text.startswith("<svg")


def test_a_search_needs_a_language(market: Market) -> None:
    answer = market.call("product.search.keywordQuery", offerQueryParam={"keyword": "dress"})

    assert answer["error_code"] == "gw.ParamMissing"


def test_detail_in_the_1688_dialect(market: Market) -> None:
    wanted = {"offerId": PLAIN, "country": "en"}

    shown = market.call("product.search.queryProductDetail", offerDetailParam=wanted)

    product = shown["result"]["result"]
    assert product["offerId"] == PLAIN
    assert product["productSaleInfo"]["quoteType"] == 1
    assert product["productSaleInfo"]["priceRangeList"] == [{"startQuantity": 1, "price": "10.00"}]
    assert [sku["specId"] for sku in product["productSkuInfos"]] == [spec(PLAIN), spec(PLAIN, 1)]
    assert [sku["skuAttributes"][0]["valueTrans"] for sku in product["productSkuInfos"]] == [
        "red",
        "blue",
    ]
    assert product["status"] == "published"


def test_a_product_that_does_not_exist(market: Market) -> None:
    wanted = {"offerId": 1, "country": "en"}

    by_1688 = market.call("product.search.queryProductDetail", offerDetailParam=wanted)
    by_taobao = market.rest("/traffic/item/get", item_resource="taobao", item_id="1")

    assert by_1688["result"]["success"] is False
    assert by_taobao["biz_error_code"] == "ITEM_NOT_FOUND"


def test_search_in_the_taobao_dialect(market: Market) -> None:
    answer = market.rest(
        "/traffic/item/search", keyword="手机壳", page_no=1, page_size=50, sort="PRICE_ASC",
        language="en", filters=["min_price:500", "max_price:2000"],
    )  # fmt: skip

    page = answer["data"]
    prices = [float(item["price"]) for item in page["data"]]
    assert answer["code"] == "0"
    assert page["page_size"] == 20
    assert prices == sorted(prices)
    assert all(5 <= price <= 20 for price in prices)
    assert "phone case" in page["data"][0]["multi_language_info"]["title"]


def test_details_in_the_taobao_dialect(market: Market) -> None:
    item = market.rest("/traffic/item/get", item_resource="taobao", item_id=PLAIN)["data"]
    product = market.rest("/product/get", item_id=PLAIN)["data"]

    assert (item["price"], item["sku_list"][0]["price"]) == (1_000, 1_000)
    assert item["sku_list"][1]["sku_id"] == product["sku_list"][1]["mp_skuId"] == PLAIN * 100 + 1
    assert product["begin_amount"] == 1


def test_pages_for_people(market: Market) -> None:
    assert "3040 products" in market.client.get("/").text
    assert "沙盒测试商品" in market.client.get(f"/offer/{PLAIN}.html").text
    assert market.client.get("/offer/1.html").status_code == 404
    assert market.client.get("/nothing").status_code == 404
