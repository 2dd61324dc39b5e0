"""Search and detail: what is asked for, and what is read from the answer."""

import json
from decimal import Decimal

import pytest
from platforms.alibaba.payloads import BLUE, RED, payload

from tradewind.platforms.alibaba import products
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    Offer,
    PriceRange,
    Product,
    ProductAttribute,
    Query,
    SearchPage,
    Sku,
    Sort,
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            Query("T恤"),
            {"keyword": "T恤", "beginPage": 1, "pageSize": 20, "country": "en"},
        ),
        (
            Query("a", 3, 50, Sort.PRICE_ASC, 615, 100_000, "ja"),
            {
                "keyword": "a", "beginPage": 3, "pageSize": 50, "country": "ja",
                "sort": '{"price":"asc"}', "priceStart": "6.15", "priceEnd": "1000.00",
            },
        ),
        (
            Query("a", sort=Sort.PRICE_DESC),
            {"keyword": "a", "beginPage": 1, "pageSize": 20, "country": "en",
             "sort": '{"price":"desc"}'},
        ),
        (
            Query("a", sort=Sort.SALES_DESC),
            {"keyword": "a", "beginPage": 1, "pageSize": 20, "country": "en",
             "sort": '{"monthSold":"desc"}'},
        ),
    ],
)  # fmt: skip
def test_a_search_is_asked_for(query: Query, expected: dict[str, object]) -> None:
    assert json.loads(products.search_params(query)["offerQueryParam"]) == expected


def test_a_page_of_offers_without_those_that_have_no_id() -> None:
    result = products.search_page(payload("search"), Query("T恤"))

    assert result == SearchPage(
        offers=[
            Offer(
                id="610947572360",
                title="纯棉T恤",
                title_translated="Cotton T-shirt",
                url="https://detail.1688.com/offer/610947572360.html",
                image_url="https://cbu01.alicdn.com/img/ibank/1.jpg",
                price_fen=615,
                price_max_fen=None,
                min_order_quantity=2,
                sold=1234,
                repurchase_rate=0.35,
                seller_id=None,
                seller_name=None,
            ),
            Offer(
                id="610947572361",
                title="袜子",
                title_translated=None,
                url="https://detail.1688.com/offer/610947572361.html",
                image_url=None,
                price_fen=None,  # 0.045 yuan is no price that could be paid
                price_max_fen=None,
                min_order_quantity=None,
                sold=12,
                repurchase_rate=None,
                seller_id=None,
                seller_name=None,
            ),
        ],
        total=2001,
        page=1,
        size=20,
    )


def test_a_search_without_a_total_is_unreadable() -> None:
    with pytest.raises(UnreadableResponse):
        products.search_page({"result": {"success": True, "result": {}}}, Query("a"))


def test_a_product_lists_the_variants_that_can_be_ordered() -> None:
    product = products.product(payload("detail"))

    assert product == Product(
        offer=Offer(
            id="610947572360",
            title="纯棉T恤",
            title_translated="Cotton T-shirt",
            url="https://detail.1688.com/offer/610947572360.html",
            image_url="https://cbu01.alicdn.com/img/ibank/1.jpg",
            price_fen=1000,
            price_max_fen=1250,
            min_order_quantity=2,
            sold=1234,
            repurchase_rate=None,
            seller_id="BBBv5Z2jq",
            seller_name="义乌市鑫达服饰有限公司",
        ),
        images=[
            "https://cbu01.alicdn.com/img/ibank/1.jpg",
            "https://cbu01.alicdn.com/img/ibank/2.jpg",
        ],
        description="<p>纯棉T恤</p>",
        skus=[
            Sku(
                RED,
                {"Colour": "red", "Size": "M"},
                1000,
                100,
                "https://cbu01.alicdn.com/img/ibank/red.jpg",
            ),
            Sku(BLUE, {"Colour": "blue", "Size": "L"}, 1250, 0, None),
        ],
        price_ranges=[],
        stock=100,
        shipping={
            "sendGoodsAddressText": "浙江省义乌市",
            "weight": "0.25",
            "shippingTimeGuarantee": "shipIn48Hours",
        },
        attributes=[
            ProductAttribute("Weight", "0.25", "kg"),
            ProductAttribute("Ships from", "浙江省义乌市"),
            ProductAttribute("Ships within", "48", "hours"),
        ],
    )


def test_attributes_are_in_words_with_units() -> None:
    raw = {
        "offerId": 1,
        "productAttribute": [
            {"attributeName": "材质", "attributeNameTrans": "Material", "valueTrans": "cotton"},
            {"attributeName": "材质", "attributeNameTrans": "Material", "valueTrans": "linen"},
            {"attributeName": "材质", "attributeNameTrans": "Material", "valueTrans": "linen"},
            {"attributeName": "颜色", "value": "红色"},
            {"attributeName": "空", "value": ""},
        ],
        "productShippingInfo": {
            "weight": Decimal("0.350"),
            "length": 30,
            "width": "20.0",
            "height": Decimal("5.5"),
        },
    }

    product = products.product({"result": {"result": raw}})

    assert product is not None
    assert product.attributes == [
        ProductAttribute("Material", "cotton, linen"),
        ProductAttribute("颜色", "红色"),
        ProductAttribute("Weight", "0.35", "kg"),
        ProductAttribute("Package size", "30 x 20 x 5.5", "cm"),
    ]


@pytest.mark.parametrize("weight", [0, -1, "", "heavy", None, True, [], "1e999", "NaN", 10**9])
def test_a_weight_that_cannot_be_is_left_out(weight: object) -> None:
    raw = {"offerId": 1, "productShippingInfo": {"weight": weight, "shippingTimeGuarantee": "soon"}}

    product = products.product({"result": {"result": raw}})

    assert product is not None
    assert product.attributes == []


def test_a_picture_is_uploaded_and_searched_by() -> None:
    params = products.upload_params(b"\xff\xd8\xff")
    query = Query("", 2, 20, Sort.PRICE_ASC, 615, lang="ja", image_id="1048608196202797156")

    assert json.loads(params["uploadImageParam"]) == {"imageBase64": "/9j/"}
    assert products.uploaded_image({"result": {"success": "true", "result": "104"}}) == "104"
    assert json.loads(products.search_params(query)["offerQueryParam"]) == {
        "imageId": "1048608196202797156",
        "beginPage": 2,
        "pageSize": 20,
        "country": "ja",
        "sort": '{"price":"asc"}',
        "priceStart": "6.15",
    }


@pytest.mark.parametrize("result", [{}, {"result": None}, {"result": "0"}, {"result": {}}])
def test_a_picture_without_an_id_is_unreadable(result: dict[str, object]) -> None:
    with pytest.raises(UnreadableResponse):
        products.uploaded_image({"result": result})


def test_a_product_that_is_priced_by_quantity_has_ranges() -> None:
    product = products.product(payload("detail_by_quantity"))

    assert product is not None
    assert product.skus == []
    assert product.price_ranges == [PriceRange(1, 350), PriceRange(100, 290)]
    assert (product.offer.price_fen, product.offer.price_max_fen) == (290, 350)
    assert product.stock == 5000


def test_no_product_is_none() -> None:
    assert products.product({"result": {"success": True, "result": None}}) is None
