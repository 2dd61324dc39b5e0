"""The list of orders in a real browser: filters, search by any id, paging, live updates."""

import pytest
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import Visit
from tradewind import ids

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = "<img src=x onerror=document.title='owned'><b>bold</b>"
_PATIENCE = 10_000


def test_no_orders_yet(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer, then="/orders")

    expect(desk.page.get_by_role("heading", name="No orders yet")).to_be_visible()
    assert desk.serious() == []
    desk.page.get_by_role("link", name="Find a product").click()
    desk.page.wait_for_url("**/products")


def test_orders_are_filtered_and_found_by_any_id(desk: Visit, system: System) -> None:
    waiting = system.order(external_id=f"PO-1 <b> {system.buyer.id}", metadata={"team": HOSTILE})
    paid = system.paid(product="900000000020")
    shipped = system.advance(paid["id"], "shipped")
    number = shipped["shipments"][0]["tracking_number"]
    page = desk.page
    desk.sign_in(system.buyer, then="/orders")

    rows = page.locator("#orders tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(paid["id"])
    assert desk.serious() == []

    page.get_by_role("link", name="Awaiting payment").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(waiting["id"])
    assert desk.path == "/orders?status=pending_payment"

    page.get_by_role("link", name="All", exact=True).click()
    page.get_by_text("More filters").click()
    page.get_by_label("Partially refunded").check()
    page.get_by_label("Paid", exact=True).nth(1).check()
    page.get_by_label("Created from").fill("2020-01-01T00:00")
    assert desk.serious() == []
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(paid["id"])
    expect(page.get_by_label("Partially refunded")).to_be_checked()
    assert "payment_status=paid" in desk.path
    assert "created_after=2020-01-01T00%3A00" in desk.path

    for text in (waiting["id"], waiting["order_id"], waiting["external_id"]):
        desk.open("/orders")
        page.get_by_label("Search orders").fill(f" {text} ")
        page.get_by_label("Search orders").press("Enter")
        page.wait_for_url(f"**/orders/{waiting['id']}")
    expect(page.locator("dd", has_text=HOSTILE)).to_have_text(HOSTILE)
    desk.open("/orders")
    page.get_by_label("Search orders").fill(number)
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url(f"**/orders/{paid['id']}")

    desk.open("/orders")
    page.get_by_label("Search orders").fill("nothing has this id")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("heading", name="No matching orders")).to_be_visible()
    assert desk.serious() == []
    assert "owned" not in page.title()


def test_a_wrong_filter_is_said_beside_it(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer)

    assert desk.open("/orders?created_after=yesterday&status=paid") == 422
    expect(desk.page.get_by_label("Created from")).to_have_value("yesterday")
    expect(desk.page.locator("#error-created_after")).to_contain_text("time")
    expect(desk.page.get_by_label("Paid", exact=True).first).to_be_checked()
    assert desk.serious() == []
    assert desk.open("/orders?sort=price") == 422
    assert desk.open("/orders?cursor=none") == 400
    assert desk.open("/orders?sort=price&colour=red") == 422
    assert desk.open("/orders?colour=red") == 200


def test_many_orders_have_pages(desk: Visit, system: System) -> None:
    order = system.order()
    own = ids.ORDER.read(order["id"])
    columns = ", ".join(
        row["column_name"]
        for row in system.api.fetch(
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_name = 'purchase_order' AND column_name NOT IN ('id', 'external_id') "
            "AND is_generated = 'NEVER'"
        )
    )
    copy = f"""INSERT INTO purchase_order (id, {columns})
               SELECT tradewind_uuid7(), {columns} FROM purchase_order
                CROSS JOIN generate_series(1, 30) WHERE id = $1"""  # noqa: S608 - our own
    system.api.fetch(copy, own)
    desk.sign_in(system.buyer, then="/orders?status=pending_payment&sort=updated_at")
    rows = desk.page.locator("#orders tbody tr")
    expect(rows).to_have_count(25)
    seen = set(rows.locator(".goods-ids").all_text_contents())

    desk.page.get_by_role("link", name="Next page").click()
    expect(rows).to_have_count(6)
    assert not seen & set(rows.locator(".goods-ids").all_text_contents())
    assert "status=pending_payment" in desk.path
    expect(desk.page.get_by_role("link", name="Next page")).to_have_count(0)
    desk.page.get_by_role("link", name="First page").click()
    expect(rows).to_have_count(25)


def test_the_list_is_live(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer, then="/orders")
    expect(desk.page.get_by_text("No orders yet")).to_be_visible()

    order = system.order()

    expect(desk.page.locator("#orders")).to_contain_text(order["id"], timeout=_PATIENCE)
