"""Products in a real browser: search with images, and a command that places a real order."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from kit import pictures
from kit.pages import Pages
from kit.system import ADDRESS, PLAIN, System
from playwright.sync_api import FilePayload, expect

from browser.conftest import Visit

pytestmark = pytest.mark.xdist_group("browser")


_BASH = shutil.which("bash") or "/bin/bash"


@pytest.fixture
def shop(desk: Visit, system: System) -> Iterator[Visit]:
    """A browser that may also load the pictures of the simulated marketplace, and nothing else."""
    visit = desk
    yield visit
    pictures = f"asked for {system.market.url}/images/"
    assert all(complaint.startswith(pictures) for complaint in visit.complaints), visit.complaints
    visit.complaints.clear()


def test_products_are_searched_with_pictures_and_prices(shop: Visit, system: System) -> None:
    page = shop.page
    shop.sign_in(system.buyer, then="/products")
    assert shop.serious() == []
    page.get_by_role("searchbox", name="Search", exact=True).fill("dress")
    page.get_by_label("Sort by").select_option("price_asc")
    page.get_by_role("button", name="Search", exact=True).click()

    offers = page.locator(".offers li")
    expect(offers).to_have_count(24)
    picture = offers.first.locator("img")
    assert picture.get_attribute("referrerpolicy") == "no-referrer"
    assert picture.get_attribute("loading") == "lazy"
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth > 0)")
    expect(offers.first).to_contain_text("CNY")
    assert "sort=price_asc" in shop.path
    assert shop.serious() == []

    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_text("page 2 of")).to_be_visible()
    assert "page=2" in shop.path
    page.get_by_role("link", name="Previous page").click()
    expect(page.get_by_text("page 1 of")).to_be_visible()

    page.get_by_label("Minimum price (CNY)").fill("a few")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("#error-min_price_cny")).to_contain_text("such as 128.5")
    expect(page.get_by_label("Minimum price (CNY)")).to_have_value("a few")
    assert shop.serious() == []
    page.get_by_label("Minimum price (CNY)").fill("90")
    page.get_by_label("Maximum price (CNY)").fill("80")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("#error-max_price_cny")).to_contain_text("below the minimum")

    page.get_by_label("Minimum price (CNY)").fill("999998")
    page.get_by_label("Maximum price (CNY)").fill("999999")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("heading", name="No products found")).to_be_visible()


def test_what_is_pasted_opens_the_product(shop: Visit, system: System) -> None:
    page = shop.page
    shop.sign_in(system.buyer, then="/products")
    search = page.get_by_role("searchbox", name="Search", exact=True)
    for pasted in (f"看看这个 {system.market.url}/offer/{PLAIN}.html。很好", PLAIN):
        search.fill(pasted)
        search.press("Enter")
        expect(page.get_by_role("region", name="Variants")).to_be_visible()
        assert shop.path.startswith(f"/products/sandbox/{PLAIN}")
        expect(page.locator(".attributes")).to_contain_text(re.compile(r"Weight\s*[0-9.]+ kg"))
        page.go_back()

    search.fill("【淘宝】https://m.tb.cn/h.5xyz?tk=ab12 「裙」")
    search.press("Enter")
    expect(page.locator("#error-q")).to_contain_text("does not contain the product's ID")
    expect(search).to_have_value("【淘宝】https://m.tb.cn/h.5xyz?tk=ab12 「裙」")
    assert shop.serious() == []


def test_a_picture_finds_products_and_filters_stay(shop: Visit, system: System) -> None:
    page = shop.page
    shop.sign_in(system.buyer, then="/products")
    picture = page.get_by_label("Picture", exact=True)
    upload: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": pictures.png()}
    picture.set_input_files(upload)
    offers = page.locator(".offers li")
    expect(page.get_by_text("Products that look like your picture.")).to_be_visible()
    first = offers.first.inner_text()
    assert "image=" in shop.path
    assert shop.serious() == []

    page.get_by_label("Sort by").select_option("price_desc")
    page.get_by_label("Minimum price (CNY)").fill("1")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("link", name="Clear filters")).to_be_visible()
    expect(page.get_by_label("Sort by")).to_have_value("price_desc")
    expect(page.get_by_label("Minimum price (CNY)")).to_have_value("1")
    assert "image=" in shop.path
    offers.first.get_by_role("link").click()
    expect(page.get_by_role("region", name="Variants")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Sort by")).to_have_value("price_desc")
    offers.first.get_by_role("link").click()
    page.locator(".crumbs").get_by_role("link", name="Products").click()
    expect(page.get_by_label("Sort by")).to_have_value("price_desc")
    page.get_by_role("link", name="Clear filters").click()
    expect(offers.first).to_have_text(first, use_inner_text=True)

    page.get_by_role("link", name="Clear the picture").click()
    page.wait_for_url(lambda url: "image=" not in url)  # and until its scripts have run
    script: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": b"<svg><script/>"}
    picture.set_input_files(script)
    expect(page.locator("#error-picture")).to_contain_text("JPEG, PNG or WebP")
    assert shop.serious() == []


def test_a_marketplace_that_fails_leaves_the_form(shop: Visit, system: System) -> None:
    shop.sign_in(system.buyer)
    system.market.fault("search", "error", code="400", message="no <b>")

    status = shop.open("/products?q=never-searched-before&platform=sandbox")

    assert status >= 400
    expect(shop.page.get_by_role("alert")).to_be_visible()
    expect(shop.page.get_by_role("searchbox", name="Search", exact=True)).to_have_value(
        "never-searched-before"
    )
    assert shop.open("/products?q=x&platform=nowhere") == 422
    assert shop.open("/products?q=x&page=0") == 422


def test_a_product_is_ordered_by_the_code_on_its_page(shop: Visit, system: System) -> None:
    page = shop.page
    address = {**ADDRESS, "name": "李四"}
    system.ok("POST", "/v1/addresses", json=address)
    shop.sign_in(system.buyer, then=f"/products/sandbox/{PLAIN}")
    expect(page.get_by_role("region", name="Variants").locator("tbody tr")).to_have_count(2)
    link = page.get_by_role("link", name="Open at marketplace")
    assert link.get_attribute("href", timeout=1000).startswith("http")  # type: ignore[union-attr]
    assert link.get_attribute("rel") == "noreferrer noopener"

    page.get_by_label("red: pieces").fill("3")
    page.get_by_role("button", name="Generate code").click()
    page.wait_for_url("**#code")
    expect(page.get_by_label("red: pieces")).to_have_value("3")
    preview, order, python, node = page.locator("#code pre").all_inner_texts()
    assert shop.serious() == []

    env = {**os.environ, "TRADEWIND_API_KEY": system.buyer.key}
    reported = subprocess.run([_BASH, "-c", preview], env=env, capture_output=True, check=True)
    assert b'"total_amount_cny"' in reported.stdout
    for _ in range(2):  # the key in the line makes it one order
        made = subprocess.run([_BASH, "-c", order], env=env, capture_output=True, check=True)
    assert b'"status"' in made.stdout, made
    (placed,) = system.ok("GET", "/v1/orders")["items"]
    (item,) = placed["items"]
    assert (item["product_id"], item["sku_id"], item["quantity"]) == (PLAIN, system.sku(), 3)
    assert placed["address"]["name"] == "李四"
    for code in (python, node):
        assert (system.sku() in code, "TRADEWIND_API_KEY" in code) == (True, True)
    compile(python, "code", "exec")

    shop.open(f"/products/sandbox/{PLAIN}?pieces[{system.sku()}]=many")
    expect(page.get_by_role("alert")).to_contain_text("whole number")
    assert shop.serious() == []


def test_a_product_says_what_it_asks_for(shop: Visit, system: System) -> None:
    page = shop.page
    shop.sign_in(system.buyer, then="/products/alibaba/900000000016")
    page.get_by_label("red: pieces").fill("5")
    expect(page.locator("[data-total]")).to_contain_text("95 more for the minimum order of 100")

    shop.open(f"/products/taobao/{PLAIN}?code=1")
    expect(page.locator("#code pre").first).to_contain_text('"platform": "taobao"')
    assert shop.open("/products/sandbox/1") == 404
    assert shop.open("/products/nowhere/1") == 422


def test_pictures_are_allowed_on_pages_with_goods_only(system: System) -> None:
    pages = Pages(system.api, system.buyer)

    allowed = pages.get("/products", params={"q": "dress"}).headers["content-security-policy"]
    orders = pages.get("/orders").headers["content-security-policy"]
    usual = pages.get("/keys").headers["content-security-policy"]
    quick = pages.get("/products", params={"q": "dress"}, headers={"x-tradewind-live": "1"})

    assert f"img-src 'self' data: {system.market.url};" in allowed
    assert f"img-src 'self' data: {system.market.url};" in orders
    assert "img-src 'self' data:;" in usual
    assert (quick.status_code, quick.content) == (204, b"")
    pages.client.close()
