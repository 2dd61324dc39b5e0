"""The product that a text names, over HTTP."""

from typing import Any

import httpx
import pytest
from kit.server import Server
from products.conftest import Shop

pytestmark = pytest.mark.xdist_group("shop")

ID = "628000000001"


def resolve(shop: Shop, text: Any, **body: Any) -> httpx.Response:
    return shop.api.call("POST", "/v1/products/resolve", by=shop.buyer, json={"text": text, **body})


def test_a_shared_text_names_its_product(shop: Shop) -> None:
    text = f"【包邮】夏季连衣裙 https://detail.1688.com/offer/{ID}.html?spm=1。复制打开"

    answer = resolve(shop, text)

    assert answer.status_code == 200
    assert answer.json() == {
        "platform": "alibaba",
        "product_id": ID,
        "url": f"{shop.market.url}/offer/{ID}.html",
        "candidates": [],
    }


def test_a_marketplace_that_is_not_connected_has_its_own_page(api: Server) -> None:
    body = {"text": f"https://detail.m.tmall.com/item.htm?id={ID}"}

    result = api.call("POST", "/v1/products/resolve", by=api.person(), json=body).json()

    assert result["platform"] == "taobao"
    assert result["url"] == f"https://item.taobao.com/item.htm?id={ID}"


def test_the_link_of_a_product_leads_to_it(shop: Shop) -> None:
    item = shop.search(platform="taobao").json()["items"][0]

    result = resolve(shop, item["url"], platform="taobao").json()

    assert (result["platform"], result["product_id"]) == ("taobao", item["id"])
    assert shop.product(result["platform"], result["product_id"]).status_code == 200
    assert shop.market.client.get(result["url"]).status_code == 200


def test_an_id_alone_may_be_of_any_marketplace(shop: Shop) -> None:
    several = resolve(shop, f" {ID} ").json()
    single = resolve(shop, ID, platform="1688").json()

    assert (several["platform"], several["product_id"], several["url"]) == (None, ID, None)
    assert [each["platform"] for each in several["candidates"]] == ["sandbox", "alibaba", "taobao"]
    assert {each["product_id"] for each in several["candidates"]} == {ID}
    assert (single["platform"], single["candidates"]) == ("alibaba", [])


def test_an_id_without_any_marketplace(api: Server) -> None:
    answer = api.call("POST", "/v1/products/resolve", by=api.person(), json={"text": ID})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/platform"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("https://m.tb.cn/h.5xyz?tk=1", "short_link"),
        ("https://www.taobao.com/", "not_a_product"),
        (f"https://1688.com.evil.example/offer/{ID}.html", "no_product"),
        (f"https://a:b@detail.1688.com/offer/{ID}.html", "no_product"),
        ("12345678901234567890", "no_product"),
        ("", "invalid"),
        ("  ", "invalid"),
        ("x" * 4001, "invalid"),
        (7, "invalid"),
    ],
)
def test_what_names_no_product(shop: Shop, text: Any, code: str) -> None:
    answer = resolve(shop, text)

    assert answer.status_code == 422
    error = answer.json()["errors"][0]
    assert (error["pointer"], error["code"]) == ("/text", code)


def test_a_megabyte_of_text(shop: Shop) -> None:
    assert resolve(shop, "https://" * 131_072).status_code == 413
