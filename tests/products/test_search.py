"""Product search over HTTP: results, the cache, and clear errors."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from products.conftest import Shop

pytestmark = pytest.mark.xdist_group("shop")

ITEM = {
    "id",
    "platform",
    "title",
    "title_translated",
    "url",
    "image_url",
    "price_cny",
    "price_max_cny",
    "min_order_quantity",
    "sold",
    "repurchase_rate",
    "seller",
}


@pytest.mark.parametrize("platform", ["sandbox", "alibaba", "taobao"])
@pytest.mark.parametrize("q", ["dress", "连衣裙"])
def test_a_new_user_finds_believable_products(shop: Shop, platform: str, q: str) -> None:
    answer = shop.search(q=q, platform=platform)

    assert answer.status_code == 200
    result = answer.json()
    assert set(result) == {"items", "paginate"}
    assert result["paginate"]["current"] == 1
    assert result["paginate"]["size"] == 20
    assert result["paginate"]["total"] >= len(result["items"]) == 20
    for item in result["items"]:
        assert set(item) == ITEM
        assert item["platform"] == platform
        assert isinstance(item["id"], str)
        assert "裙" in item["title"]
        assert "dress" in item["title_translated"].lower()
        assert 0 < item["price_cny"] < 10_000
        assert set(item["seller"]) == {"id", "name"}


def test_an_alias_is_emitted_by_its_proper_name(shop: Shop) -> None:
    items = shop.search(platform="1688").json()["items"]

    assert {item["platform"] for item in items} == {"alibaba"}


@pytest.mark.parametrize("platform", ["sandbox", "alibaba", "taobao"])
def test_the_page_of_a_product_can_be_opened(shop: Shop, platform: str) -> None:
    item = shop.search(platform=platform).json()["items"][0]

    assert shop.market.client.get(item["url"]).status_code == 200
    assert shop.market.client.get(item["image_url"]).status_code == 200


def test_pages_sorts_and_prices(shop: Shop) -> None:
    both = shop.search(size=10).json()["items"]
    pages = [shop.search(size=5, page=page).json() for page in (1, 2)]
    assert [i["id"] for page in pages for i in page["items"]] == [i["id"] for i in both]
    assert pages[1]["paginate"]["current"] == 2

    cheap = [i["price_cny"] for i in shop.search(sort="price_asc").json()["items"]]
    assert cheap == sorted(cheap)
    within = shop.search(min_price_cny=50, max_price_cny=60.5).json()["items"]
    assert within
    assert all(50 <= item["price_cny"] <= 60.5 for item in within)


def test_nothing_found_is_an_empty_page(shop: Shop) -> None:
    result = shop.search(q="zzzzqqqq").json()

    assert result == {"items": [], "paginate": {"total": 0, "current": 1, "size": 20}}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"q": ""}, "/q"),
        ({"q": "   "}, "/q"),
        ({"q": "x" * 201}, "/q"),
        ({"page": 0}, "/page"),
        ({"size": 51}, "/size"),
        ({"sort": "cheapest"}, "/sort"),
        ({"min_price_cny": -1}, "/min_price_cny"),
        ({"min_price_cny": 1.005}, "/min_price_cny"),
        ({"min_price_cny": 9, "max_price_cny": 8}, "/max_price_cny"),
        ({"lang": "english"}, "/lang"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_a_wrong_field_is_named(shop: Shop, body: dict[str, object], pointer: str) -> None:
    answer = shop.search(**body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_an_unknown_marketplace(shop: Shop) -> None:
    answer = shop.search(platform="amazon")

    assert answer.status_code == 422
    assert answer.json()["code"] == "unsupported_platform"


def test_the_same_search_is_answered_from_memory_on_every_process(shop: Shop) -> None:
    before = shop.calls("search")
    first = shop.search(q="teapot")
    others = [shop.search(q="teapot") for _ in range(12)]

    assert shop.calls("search") == before + 1
    assert first.headers["age"] == "0"
    assert all(other.content == first.content for other in others)
    assert all(0 <= int(other.headers["age"]) <= 5 for other in others)
    assert shop.search(q="  teapot ").content == first.content
    assert shop.calls("search") == before + 1


def test_a_search_that_many_ask_for_at_once_is_asked_once_per_process(shop: Shop) -> None:
    shop.market.control("faults", operation="search", mode="slow", seconds=0.5)
    before = shop.calls("search")

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: shop.search(q="umbrella"), range(16)))

    assert {answer.status_code for answer in answers} == {200}
    assert shop.calls("search") - before <= 2, "two processes, one question each at the most"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ({"mode": "http500"}, 502, "platform_failed"),
        ({"mode": "garbage"}, 502, "platform_failed"),
        ({"mode": "error", "code": "gw.QosAppFrequencyLimit"}, 503, "platform_busy"),
        ({"mode": "error", "code": "gw.APIACLDecline"}, 503, "platform_auth_expired"),
    ],
)
def test_a_failing_marketplace_is_told_in_its_own_words(
    shop: Shop, fault: dict[str, str], status: int, code: str
) -> None:
    shop.market.control("faults", operation="search", **fault)

    answer = shop.search(q=f"lamp {json.dumps(fault)}")

    assert answer.status_code == status
    problem = answer.json()
    assert problem["code"] == code
    assert problem["upstream"]["platform"] == "sandbox"
    assert set(problem["upstream"]) == {"platform", "code", "message"}
    assert int(answer.headers["retry-after"]) == problem["retry_after"] >= 1

    shop.market.client.delete("/_control/faults")
    assert shop.search(q=f"lamp {json.dumps(fault)}").status_code == 200, "failures are not kept"


def test_a_product_has_variants_prices_and_pictures(shop: Shop) -> None:
    items = shop.search(platform="sandbox").json()["items"][0]

    answer = shop.product("sandbox", items["id"])

    assert answer.status_code == 200
    product = answer.json()
    assert set(product) == ITEM | {
        "skus",
        "price_ranges",
        "images",
        "description",
        "stock",
        "shipping",
        "attributes",
    }
    assert product["id"] == items["id"]
    assert product["title"] == items["title"]
    assert product["skus"]
    for sku in product["skus"]:
        assert set(sku) == {"id", "attributes", "price_cny", "stock", "image_url"}
    named = {each["name"]: each for each in product["attributes"]}
    assert all(set(each) == {"name", "value", "unit"} for each in product["attributes"])
    assert named["Weight"]["unit"] == "kg"
    assert (named["Ships within"]["value"], named["Ships within"]["unit"]) == ("48", "hours")
    assert product["images"]
    picture = shop.market.client.get(product["images"][0])
    assert picture.headers["content-type"].startswith("image/svg")


@pytest.mark.parametrize("platform", ["sandbox", "alibaba", "taobao"])
def test_a_product_that_does_not_exist(shop: Shop, platform: str) -> None:
    answer = shop.product(platform, "1")

    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
