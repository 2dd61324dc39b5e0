"""A purchase as people make it: from a pasted link to a parcel, in two real browsers."""

import re
from collections.abc import Callable

import pytest
from kit.system import ADDRESS, PLAIN, System
from playwright.sync_api import expect

from browser.conftest import Visit

pytestmark = pytest.mark.xdist_group("browser")

_PATIENCE = 30_000


def test_from_a_pasted_link_to_a_parcel(open_desk: Callable[..., Visit], system: System) -> None:
    desk = open_desk()
    page = desk.page

    # The buyer saves an address from a copied text, and opens a product by its link.
    desk.sign_in(system.buyer, then="/addresses/new")
    copied = f"{ADDRESS['name']} {ADDRESS['phone']} 浙江省杭州市滨江区{ADDRESS['detail']}"
    page.get_by_label("Paste an address").fill(copied)
    page.get_by_role("button", name="Fill in").click()
    expect(page.get_by_label("Recipient")).to_have_value(ADDRESS["name"])
    page.get_by_role("button", name="Save address").click()
    page.get_by_role("searchbox").fill(f"看看这个 {system.market.url}/offer/{PLAIN}.html")
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url(f"**/products/sandbox/{PLAIN}")

    # Two variants, the cart with its live preview, and one order.
    page.get_by_label("red: pieces").fill("2")
    page.get_by_label("blue: pieces").fill("1")
    page.get_by_role("button", name="Add to cart").click()
    page.wait_for_url("**/cart")
    expect(page.locator(".cart-total dd")).to_have_text("CNY 35.00")
    page.get_by_role("button", name="Place 1 order · CNY 35.00").click()
    page.wait_for_url("**/cart/checkouts/chk_*")
    page.get_by_role("link", name=re.compile("^ORD")).click()
    page.wait_for_url("**/orders/ORD*")
    order_id = page.url.rpartition("/")[2]
    state = page.locator("#state")
    page.get_by_role("button", name="Request payment of CNY 35.00").click()
    expect(state).to_contain_text("Awaiting approval", timeout=_PATIENCE)

    # A colleague approves it on a phone, with the goods before their eyes.
    phone = open_desk(viewport={"width": 390, "height": 844})
    phone.sign_in(system.approver, then="/approvals?limit=100")
    phone.page.get_by_role("row", name=re.compile(system.buyer.email)).get_by_role(
        "link", name="Review"
    ).click()
    goods = phone.page.locator(".goods li")
    expect(goods).to_have_count(2)
    picture = goods.first.get_by_role("img")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    expect(goods.first).to_contain_text("2 \u00d7 CNY 10.00")
    assert (phone.too_wide(), phone.serious()) == (0, [])
    phone.page.get_by_role("button", name="Approve CNY 35.00").click()
    expect(phone.page.get_by_role("status")).to_contain_text("Approved CNY 35.00")

    # The buyer's page follows by itself: paid, shipped, and the whole story in the timeline.
    expect(state).to_contain_text("Waiting for the seller to ship", timeout=_PATIENCE)
    page.get_by_role("button", name="Ship", exact=True).click()
    expect(state).to_contain_text("Shipped", timeout=_PATIENCE)
    timeline = page.locator("#timeline")
    for text in ("Order accepted", "Payment requested", "Payment approved", "Shipped"):
        expect(timeline.get_by_text(text, exact=True).first).to_be_visible()
    assert desk.serious() == []
    order = system.look(order_id)
    assert [item["quantity"] for item in order["items"]] == [2, 1]
    assert all(item["title"] and item["image_url"] for item in order["items"])
    assert order["payment_status"] == "paid"
