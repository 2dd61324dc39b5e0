"""The cart in a real browser: from variants to orders, and however often the button is pressed."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kit.pages import Pages
from kit.system import ADDRESS, PLAIN, System
from playwright.sync_api import expect

from browser.conftest import SignIn, Visit
from tradewind import ids

pytestmark = pytest.mark.xdist_group("browser")

OTHER_SELLER, SOLD_OUT = "900000000020", "900000000002"


@pytest.fixture
def shop(open_desk: Callable[..., Visit], system: System) -> Iterator[Callable[..., Visit]]:
    """Opens browsers that may also load the pictures of the simulated marketplace."""
    visits: list[Visit] = []

    def open_shop(**options: Any) -> Visit:
        visits.append(open_desk(**options))
        return visits[-1]

    yield open_shop
    pictures = f"asked for {system.market.url}/images/"
    for visit in visits:
        assert all(complaint.startswith(pictures) for complaint in visit.complaints), (
            visit.complaints
        )
        visit.complaints.clear()


def add(system: System, product: str, quantity: int = 1, platform: str = "sandbox") -> None:
    item = {"product_id": product, "sku_id": system.sku(product, platform), "quantity": quantity}
    system.ok("POST", "/v1/cart/items", json={"platform": platform, **item})


def orders(system: System) -> list[Any]:
    result: list[Any] = system.ok("GET", "/v1/orders?limit=100")["items"]
    return result


def form_of(pages: Pages) -> dict[str, str]:
    """The fields of the form that places the orders."""
    html = pages.get("/cart").text
    form = html[html.index('action="/cart/order"') :]
    names = ("submit_token", "address", "lines", "expected")
    return {name: found_value(form, name) for name in names}


def found_value(html: str, name: str) -> str:
    match = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert match, name
    return match[1]


def test_from_variants_to_orders(shop: Callable[..., Visit], system: System) -> None:
    system.ok("POST", "/v1/addresses", json={**ADDRESS, "label": "Warehouse"})
    visit = shop()
    page = visit.page
    visit.sign_in(system.buyer, then=f"/products/sandbox/{PLAIN}")
    red, blue = (page.get_by_label(f"{colour}: pieces") for colour in ("red", "blue"))
    red.fill("12")
    blue.fill("6")
    expect(page.locator("[data-total]")).to_have_text("18 pieces · CNY 180.00 before freight")
    assert visit.serious() == []
    page.get_by_role("button", name="Add to cart").click()

    page.wait_for_url("**/cart")
    expect(page.get_by_role("status")).to_have_text("Added 18 pieces to the cart.")
    expect(page.get_by_role("link", name="Cart 2")).to_be_visible()
    visit.open(f"/products/sandbox/{OTHER_SELLER}")
    page.get_by_label("red: pieces").fill("10")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cart")
    add(system, SOLD_OUT)
    visit.open("/cart")
    expect(page.get_by_text("Out of stock: not enough")).to_be_visible()
    expect(page.get_by_text("What cannot be ordered now stays in the cart.")).to_be_visible()
    groups = page.locator(".cart-group")
    expect(groups).to_have_count(2)
    assert visit.serious() == []

    quantity = groups.first.get_by_label(re.compile("Quantity of .*blue"))
    quantity.fill("8")
    quantity.press("Tab")
    place = page.get_by_role("button", name=re.compile("^Place 2 orders"))
    # 20 pieces for 200.00 and 7.00 freight; 10 pieces for 90.00 and 8.00 freight.
    expect(page.locator(".cart-total dd")).to_have_text("CNY 305.00")
    groups.last.get_by_role("button", name=re.compile("^Remove")).click()
    expect(page.get_by_text("Removed from the cart.")).to_be_visible()
    expect(groups).to_have_count(1)
    visit.look("dark", 390)
    assert (visit.too_wide(), visit.serious()) == (0, [])
    page.get_by_role("button", name=re.compile("^Place 1 order")).dblclick()

    page.wait_for_url("**/cart/checkouts/chk_*")
    expect(page.get_by_role("heading", level=1)).to_have_text("1 order placed")
    assert (visit.too_wide(), visit.serious()) == (0, [])
    (order,) = orders(system)
    expect(page.get_by_role("link", name=order["id"])).to_be_visible()
    assert sum(item["quantity"] for item in order["items"]) == 20
    visit.open("/cart")
    expect(groups).to_have_count(1)
    expect(page.get_by_text("Nothing in the cart can be ordered now.")).to_be_visible()
    assert place.count() == 0


def test_a_cart_without_script_and_without_an_address(
    shop: Callable[..., Visit], system: System
) -> None:
    visit = shop(java_script_enabled=False)
    page = visit.page
    visit.sign_in(system.buyer, then="/cart")
    expect(page.get_by_role("heading", name="Your cart is empty")).to_be_visible()
    visit.open(f"/products/sandbox/{PLAIN}")
    page.get_by_label("red: pieces").fill("3")
    page.get_by_role("button", name="Show total").click()
    expect(page.locator("[data-total]")).to_contain_text("3 pieces · CNY 30.00")
    page.get_by_role("button", name="Add to cart").click()
    page.wait_for_url("**/cart")
    expect(page.get_by_role("link", name="Add an address")).to_be_visible()

    system.ok("POST", "/v1/addresses", json=ADDRESS)
    other = system.ok("POST", "/v1/addresses", json={**ADDRESS, "label": "Second"})
    visit.open("/cart")
    page.get_by_label("Address", exact=True).select_option(other["id"])
    page.get_by_role("button", name="Choose").click()
    page.get_by_label(re.compile("Quantity of")).fill("5")
    page.get_by_role("button", name="Update").click()
    expect(page.locator(".cart-total dd")).to_have_text("CNY 55.00")
    assert f"address={other['id']}" in visit.path
    page.get_by_role("button", name=re.compile("^Place 1 order")).click()
    page.wait_for_url("**/cart/checkouts/chk_*")
    assert [order["total_amount_cny"] for order in orders(system)] == [55]


def test_a_wrong_quantity_stays_in_its_field(shop: Callable[..., Visit], system: System) -> None:
    visit = shop()
    page = visit.page
    visit.sign_in(system.buyer, then=f"/products/sandbox/{PLAIN}")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.get_by_role("alert")).to_have_text("Enter a quantity for at least one variant.")
    page.get_by_label("red: pieces").fill("a few")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.get_by_role("alert")).to_contain_text("whole numbers from 1 to 1,000,000")
    expect(page.get_by_label("red: pieces")).to_have_value("a few")
    assert visit.serious() == []
    assert system.ok("GET", "/v1/cart")["items"] == []


def test_the_button_pressed_twenty_times_at_once(enter: SignIn, system: System) -> None:
    system.ok("POST", "/v1/addresses", json=ADDRESS)
    add(system, PLAIN, 2)
    add(system, OTHER_SELLER, 2)
    pages = enter(system.buyer)
    form, token = form_of(pages), pages.token

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: pages.post("/cart/order", **form), range(20)))

    assert token
    assert {answer.status_code for answer in answers} == {303}
    (path,) = {answer.headers["location"] for answer in answers}
    assert path.startswith("/cart/checkouts/chk_")
    assert len(orders(system)) == 2
    assert system.ok("GET", "/v1/cart")["items"] == []
    assert "2 orders placed" in pages.get(path).text
    stranger = enter(system.api.person())
    assert stranger.get(path).status_code == 404


def test_two_pages_of_one_cart_order_it_once(enter: SignIn, system: System) -> None:
    system.ok("POST", "/v1/addresses", json=ADDRESS)
    add(system, PLAIN, 2)
    pages = enter(system.buyer)
    first, second = form_of(pages), form_of(pages)

    assert pages.post("/cart/order", **first).headers["location"].startswith("/cart/checkouts/")
    later = pages.post("/cart/order", **second)

    assert later.headers["location"].startswith("/cart?address=")
    assert len(orders(system)) == 1


def test_a_price_that_changed_since_the_page_was_shown(enter: SignIn, system: System) -> None:
    system.ok("POST", "/v1/addresses", json=ADDRESS)
    add(system, PLAIN, 2)
    pages = enter(system.buyer)
    form = form_of(pages)

    path = pages.post("/cart/order", **{**form, "expected": "1"}).headers["location"]

    assert "0 of 1 order placed" in pages.get(path).text
    assert "The price has changed" in pages.get(path).text
    assert orders(system) == []
    assert len(system.ok("GET", "/v1/cart")["items"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"lines": ""},
        {"lines": "x" * 5000},
        {"expected": ""},
        {"expected": "9" * 400},
        {"expected": "-1,x"},
        {"address": "adr_x"},
        {"address": ids.ADDRESS.show(ids.new())},
    ],
)
def test_a_form_that_was_tampered_with_orders_nothing(
    enter: SignIn, system: System, change: dict[str, str]
) -> None:
    system.ok("POST", "/v1/addresses", json=ADDRESS)
    add(system, PLAIN, 2)
    pages = enter(system.buyer)
    form = form_of(pages)

    answer = pages.post("/cart/order", **{**form, **change})

    assert answer.status_code in (303, 422), answer.text
    assert orders(system) == []
    assert len(system.ok("GET", "/v1/cart")["items"]) == 1


def test_lines_of_others_and_odd_quantities(enter: SignIn, system: System) -> None:
    add(system, PLAIN, 2)
    (line,) = system.ok("GET", "/v1/cart")["items"]
    path = f"/cart/lines/{line['id']}"
    stranger = enter(system.api.person())

    for foreign in (path, f"/cart/lines/{ids.CART_LINE.show(ids.new())}"):
        assert stranger.post(foreign, quantity="9").headers["location"] == "/cart"
        assert stranger.post(f"{foreign}/remove").headers["location"] == "/cart"
    pages = enter(system.buyer)
    for quantity in ("", "-1", "1.5", "1000000000000", "x"):
        assert pages.post(path, quantity=quantity).status_code == 303
    assert system.ok("GET", "/v1/cart")["items"] == [line]
    assert pages.post(path, quantity="0").status_code == 303
    assert system.ok("GET", "/v1/cart")["items"] == []


def test_an_approver_has_no_cart(enter: SignIn, system: System) -> None:
    pages = enter(system.approver)

    assert pages.get("/cart").status_code == 403
    product = pages.get(f"/products/sandbox/{PLAIN}")
    assert "Generate code" in product.text
    assert "Add to cart" not in product.text
