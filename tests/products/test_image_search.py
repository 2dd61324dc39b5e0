"""Search by picture over HTTP: both dialects, pages by the image's ID, and hostile files."""

import base64
from typing import Any

import httpx
import pytest
from kit import pictures
from kit.server import Person, Server
from products.conftest import Shop

pytestmark = pytest.mark.xdist_group("shop")

PICTURE = pictures.png()
PLATFORMS = ["sandbox", "alibaba", "taobao"]


def search(shop: Shop, *, by: Person | None = None, **body: Any) -> httpx.Response:
    body = {"platform": "sandbox", **body}
    return shop.api.call("POST", "/v1/products/image-search", by=by or shop.buyer, json=body)


def encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_picture_finds_products_and_the_same_ones_again(shop: Shop, platform: str) -> None:
    answer = search(shop, platform=platform, image=encoded(PICTURE))
    again = search(shop, platform=platform, image=encoded(PICTURE))

    assert answer.status_code == 200, answer.text
    result = answer.json()
    assert set(result) == {"items", "paginate", "image_id"}
    assert result["items"]
    assert {item["platform"] for item in result["items"]} == {platform}
    assert all(item["price_cny"] > 0 for item in result["items"])
    assert again.json()["items"] == result["items"]
    assert shop.product(platform, result["items"][0]["id"]).status_code == 200


def test_pictures_differ(shop: Shop) -> None:
    result = [
        search(shop, image=encoded(picture)).json()["items"]
        for picture in (
            PICTURE,
            pictures.png(colour=b"abc"),
            pictures.jpeg(),
            pictures.webp_lossy(),
        )
    ]

    assert len({items[0]["id"] for items in result}) > 1


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_image_id_pages_sorts_and_filters(shop: Shop, platform: str) -> None:
    first = search(shop, platform=platform, image=encoded(PICTURE), size=4).json()
    image_id = first["image_id"]

    second = search(shop, platform=platform, image_id=image_id, size=4, page=2).json()
    cheap = search(shop, platform=platform, image_id=image_id, sort="price_asc").json()
    prices = [item["price_cny"] for item in cheap["items"]]
    limit = prices[len(prices) // 2]
    within = search(shop, platform=platform, image_id=image_id, max_price_cny=limit).json()

    ids = [item["id"] for item in first["items"] + second["items"]]
    assert len(set(ids)) == len(ids) == 8
    assert second["paginate"]["current"] == 2
    assert second["image_id"] == image_id
    assert prices == sorted(prices)
    assert all(item["price_cny"] <= limit for item in within["items"])
    assert within["paginate"]["total"] < first["paginate"]["total"]


def test_an_image_id_belongs_to_an_account_and_a_marketplace(shop: Shop) -> None:
    image_id = search(shop, image=encoded(PICTURE)).json()["image_id"]
    other = shop.api.person()

    answers = [
        search(shop, by=other, image_id=image_id),
        search(shop, platform="alibaba", image_id=image_id),
        search(shop, image_id="1048608196202797156"),
        search(shop, image_id=image_id[:-4] + "AAAA"),
        search(shop, image_id="裙"),
        search(shop, image_id=""),
    ]

    for answer in answers:
        assert answer.status_code == 422
        assert answer.json()["errors"] == [
            {
                "pointer": "/image_id",
                "code": "invalid",
                "message": "Must be an image_id of your account at this marketplace. Send the "
                "image again.",
            }
        ]


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/image"),
        ({"image": "x"}, "/image"),
        ({"image": "data:image/png;base64," + encoded(PICTURE)}, "/image"),
        ({"image": ""}, "/image"),
        ({"image": encoded(SVG)}, "/image"),
        ({"image": encoded(SVG + PICTURE)}, "/image"),
        ({"image": encoded(pictures.png_claiming(60_000, 60_000))}, "/image"),
        ({"image": encoded(PICTURE + bytes(3 * 1024 * 1024))}, "/image"),
        ({"image": encoded(PICTURE), "image_id": "x"}, "/image_id"),
        ({"image": encoded(PICTURE), "size": 51}, "/size"),
        ({"image": encoded(PICTURE), "min_price_cny": 2, "max_price_cny": 1}, "/max_price_cny"),
        ({"image": encoded(PICTURE), "q": "dress"}, "/q"),
        ({"image": 7}, "/image"),
    ],
)
def test_a_wrong_field_is_named(shop: Shop, body: dict[str, Any], pointer: str) -> None:
    uploads = shop.calls("upload_image")

    answer = search(shop, **body)

    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert shop.calls("upload_image") == uploads


def test_the_largest_picture_passes_and_ten_megabytes_do_not(shop: Shop) -> None:
    noise = bytes(range(256)) * (3 * 1024 * 4)
    largest = PICTURE + noise[len(PICTURE) :]
    assert len(largest) == 3 * 1024 * 1024

    assert search(shop, image=encoded(largest)).status_code == 200
    assert search(shop, image=encoded(largest * 3)).status_code == 413


@pytest.mark.parametrize("operation", ["upload_image", "image_search"])
def test_a_failing_marketplace(shop: Shop, operation: str) -> None:
    shop.market.control("faults", operation=operation, mode="http500")
    picture = encoded(pictures.png(colour=operation[:3].encode()))

    assert search(shop, image=picture).status_code == 502

    shop.market.client.delete("/_control/faults")
    assert search(shop, image=picture).status_code == 200


@pytest.mark.parametrize(
    ("operation", "pointer", "code"),
    [("upload_image", "/image", "rejected"), ("image_search", "/image_id", "expired")],
)
def test_a_picture_that_the_marketplace_rejects(
    shop: Shop, operation: str, pointer: str, code: str
) -> None:
    shop.market.control("faults", operation=operation, mode="error", code="400")

    answer = search(shop, image=encoded(pictures.png(colour=code[:3].encode())))

    assert answer.status_code == 422
    error = answer.json()["errors"][0]
    assert (error["pointer"], error["code"]) == (pointer, code)


def test_who_may_not(shop: Shop, api: Server) -> None:
    body = {"platform": "sandbox", "image": encoded(PICTURE)}

    assert shop.api.call("POST", "/v1/products/image-search", json=body).status_code == 401
    missing = api.call("POST", "/v1/products/image-search", by=api.person(), json=body)
    assert missing.json()["code"] == "platform_not_configured"
