"""The products page without a browser: pasted links, uploads, and forms that no page sends."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from kit import pictures
from kit.pages import Pages
from products.conftest import Shop

pytestmark = pytest.mark.xdist_group("shop")

PICTURE = pictures.png()


@pytest.fixture
def pages(shop: Shop) -> Iterator[Pages]:
    signed_in = Pages(shop.api, shop.buyer)
    yield signed_in
    signed_in.client.close()


def upload(pages: Pages, picture: bytes, csrf: str | None = None, **fields: str) -> httpx.Response:
    return pages.client.post(
        "/products/picture",
        data={"csrf": pages.token if csrf is None else csrf, "platform": "sandbox", **fields},
        files={"picture": ("../../etc/passwd\r\n.png", picture, "text/html")},
    )


def opened(pages: Pages, text: str, **fields: str) -> str:
    answer = pages.get(f"/products?{urlencode({'q': text, **fields})}")
    return str(answer.headers.get("location", answer.status_code))


def test_what_is_pasted_leads_to_the_product(shop: Shop, pages: Pages) -> None:
    item = shop.search(platform="taobao").json()["items"][0]["id"]

    assert opened(pages, f"看 https://detail.1688.com/offer/{item}.html") == (
        f"/products/alibaba/{item}"
    )
    assert opened(pages, f"{shop.market.url}/offer/{item}") == f"/products/sandbox/{item}"
    assert opened(pages, item, platform="taobao") == f"/products/taobao/{item}"
    assert opened(pages, item) == f"/products/sandbox/{item}"


def test_the_search_box_of_every_page_leads_to_the_product(shop: Shop, pages: Pages) -> None:
    item = shop.search().json()["items"][0]["id"]

    for text in (f"看 {shop.market.url}/offer/{item}.html?" + "x" * 500, item):
        result = pages.get(f"/search?{urlencode({'q': text})}")
        assert result.status_code == 303
        product = pages.get(result.headers["location"])
        assert product.headers["location"] == f"/products/sandbox/{item}"
    assert pages.get("/search?q=1234567890123456789").status_code == 200
    assert pages.get(f"/search?q={'x' * 4001}").status_code == 422


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("123456789012", "200"),  # an ID that no marketplace has is a text to search for
        ("https://1688.com.evil.example/offer/628000000001.html", "200"),
        ("https://a:b@detail.1688.com/offer/628000000001.html", "200"),
        ("https://m.tb.cn/h.5xyz", "422"),
        ("https://www.taobao.com/", "422"),
        ("x" * 201, "422"),
        ("https://detail.1688.com/" + "x" * 5000, "422"),
    ],
)
def test_what_leads_nowhere_stays_on_the_page(pages: Pages, text: str, status: str) -> None:
    assert opened(pages, text) == status


def test_the_results_of_a_picture_have_a_url_with_the_filters(shop: Shop, pages: Pages) -> None:
    answer = upload(pages, PICTURE, sort="price_asc", min_price_cny="1")

    assert answer.status_code == 303
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert query.keys() == {"image", "platform", "sort", "min_price_cny"}
    assert pages.get(answer.headers["location"]).status_code == 200
    other = Pages(shop.api, shop.api.person())
    stolen = other.get(answer.headers["location"])
    other.client.close()
    assert stolen.status_code == 422
    assert "no longer available" in stolen.text


@pytest.mark.parametrize(
    "picture",
    [
        b"",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        pictures.png_claiming(60_000, 60_000),
        PICTURE + bytes(10_000_000),
    ],
)
def test_a_file_that_is_no_usable_picture_is_told_so(
    shop: Shop, pages: Pages, picture: bytes
) -> None:
    uploads = shop.calls("upload_image")

    answer = upload(pages, picture, sort="price_desc")

    assert answer.status_code == 422
    assert 'id="error-picture"' in answer.text
    assert '<option value="price_desc" selected>' in answer.text
    assert "<script>alert" not in answer.text
    assert shop.calls("upload_image") == uploads


def test_a_polyglot_is_passed_on_and_never_shown(pages: Pages) -> None:
    answer = upload(pages, PICTURE + b"<script>alert(1)</script>")

    assert answer.status_code == 303
    assert "<script>alert" not in pages.get(answer.headers["location"]).text


def test_forms_that_no_page_sends(shop: Shop, pages: Pages) -> None:
    uploads = shop.calls("upload_image")
    path = "/products/picture"

    assert upload(pages, PICTURE, csrf="").status_code == 403
    assert upload(pages, PICTURE, csrf="0" * 40).status_code == 403
    assert upload(pages, PICTURE, colour="red").status_code == 422
    assert upload(pages, PICTURE, platform="x" * 300_000).status_code == 413
    assert upload(pages, bytes(12 * 1024 * 1024)).status_code == 413
    assert upload(pages, PICTURE, platform="nowhere").status_code == 422
    assert pages.post(path, platform="sandbox").status_code == 415
    malformed = {"content-type": "multipart/form-data; boundary=x"}
    assert pages.client.post(path, content=b"--x", headers=malformed).status_code == 422
    foreign = {"origin": "https://evil.example"}
    stolen = pages.client.post(
        path, data={"csrf": pages.token}, files={"picture": PICTURE}, headers=foreign
    )
    assert stolen.status_code == 403
    anonymous = httpx.post(shop.api.url + path, files={"picture": PICTURE})
    assert anonymous.status_code in {303, 401, 403}
    assert shop.calls("upload_image") == uploads


@pytest.mark.parametrize("path", ["/products", "/products/sandbox/900000000001", "/cart"])
def test_a_live_update_is_not_stored_in_place_of_the_page(pages: Pages, path: str) -> None:
    """A stored 204 would be the answer when the browser goes back: the page would not open."""
    answer = pages.get(path, headers={"x-tradewind-live": "1"})

    assert answer.status_code == 204
    assert answer.headers["cache-control"] == "no-store"
