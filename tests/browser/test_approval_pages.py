"""Approvals and the search box in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from kit.pages import Pages
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import SignIn, Visit
from tradewind import ids
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("browser")

NASTY = "<img src=x onerror=alert(1)> too dear"


def request_payment(system: System, **more: Any) -> tuple[str, str]:
    """An order whose payment waits for a decision: the ids of both."""
    order = system.order(**more)
    return order["id"], system.request_payment(order["id"])["id"]


def status_of(system: System, payment_id: str) -> str:
    status: str = system.ok("GET", f"/v1/payments/{payment_id}", by=system.approver)["status"]
    return status


def test_an_approver_approves_the_amount_that_they_saw(desk: Visit, system: System) -> None:
    order_id, payment_id = request_payment(system, quantity=2, remark="<b>bold</b>")
    desk.sign_in(system.approver, then="/approvals?limit=100")
    row = desk.page.locator("tr", has_text=system.buyer.email)
    expect(row).to_contain_text("CNY 25.00")
    expect(row).to_contain_text("Sandbox item: ordinary")
    assert desk.serious() == []

    row.get_by_role("link", name="Review").click()
    expect(desk.page.get_by_text("No changes.")).to_be_visible()
    expect(desk.page.get_by_text("<b>bold</b>")).to_be_visible()
    assert desk.path == f"/approvals/{payment_id}"
    assert desk.serious() == []
    desk.page.get_by_role("button", name="Approve CNY 25.00").click()

    expect(desk.page.get_by_role("status")).to_contain_text("Approved CNY 25.00")
    system.until(order_id, lambda shown: shown["payment_status"] == "paid")
    desk.page.get_by_role("link", name="Decided", exact=True).click()
    decided = desk.page.locator("tr", has_text=system.buyer.email)
    expect(decided).to_contain_text(system.approver.email)
    assert desk.serious() == []


def test_an_approver_sees_the_goods_on_a_phone(
    open_desk: Callable[..., Visit], system: System
) -> None:
    order = system.order(quantity=2)
    body = {"note": "For the <b>pop-up</b> store."}
    payment = system.ok("POST", f"/v1/orders/{order['id']}/payment", json=body)
    phone = open_desk(viewport={"width": 390, "height": 844}, color_scheme="dark")
    phone.sign_in(system.approver, then=f"/approvals/{payment['id']}")
    page = phone.page

    goods = page.locator(".goods li")
    expect(goods).to_have_count(1)
    picture = goods.get_by_role("img", name="Sandbox item: ordinary")
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth > 0)")
    expect(goods).to_contain_text("2 \u00d7 CNY 10.00")
    expect(goods).to_contain_text("CNY 20.00")
    expect(page.get_by_text("For the <b>pop-up</b> store.")).to_be_visible()
    expect(page.get_by_text("网商路699号")).to_be_visible()
    expect(page.get_by_text("Paid for orders placed this month, less refunds")).to_be_visible()
    expect(page.get_by_text("Unchanged since the request")).to_be_visible()
    assert (phone.too_wide(), phone.serious()) == (0, [])
    page.get_by_role("button", name="Approve CNY 25.00").click()

    expect(page.get_by_role("status")).to_contain_text("Approved CNY 25.00")
    system.until(order["id"], lambda order: order["payment_status"] == "paid")


def test_several_payments_are_approved_by_keyboard(desk: Visit, system: System) -> None:
    pairs = [request_payment(system) for _ in range(3)]
    desk.sign_in(system.approver, then="/approvals?limit=100")
    page = desk.page
    mine = page.locator("tr[data-row]", has_text=system.buyer.email)
    expect(mine).to_have_count(3)
    rows = page.locator("tr[data-row]")
    positions = [
        number
        for number in range(rows.count())
        if system.buyer.email in rows.nth(number).inner_text()
    ]

    page.locator("h1").click()
    pressed = -1
    for position in positions[:2]:
        for _ in range(position - pressed):
            page.keyboard.press("j")
        pressed = position
        page.keyboard.press("x")
    button = page.get_by_role("button", name="Approve 2 selected (CNY 30.00)")
    expect(button).to_be_visible()
    assert desk.serious() == []
    page.keyboard.press("a")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")

    notice = page.locator("main .notice").first
    expect(notice).to_contain_text("Approved 2 payments, CNY 30.00 in total.")
    expect(mine).to_have_count(1)
    assert [status_of(system, payment) for _, payment in pairs].count("pending_approval") == 1


def test_the_queue_fills_by_itself(desk: Visit, system: System) -> None:
    desk.sign_in(system.approver, then="/approvals?limit=100")
    request_payment(system)

    expect(desk.page.locator("tr", has_text=system.buyer.email)).to_be_visible(timeout=15_000)


def test_a_rejection_needs_a_reason_and_shows_it_as_text(desk: Visit, system: System) -> None:
    _, payment_id = request_payment(system)
    desk.sign_in(system.approver, then=f"/approvals/{payment_id}")

    desk.page.get_by_role("button", name="Reject").click()
    expect(desk.page.get_by_text("Enter a reason. The requester sees it.")).to_be_visible()
    assert status_of(system, payment_id) == "pending_approval"
    assert desk.serious() == []
    desk.page.get_by_label("Reason for rejecting").fill(NASTY)
    desk.page.get_by_role("button", name="Reject").click()

    expect(desk.page.get_by_role("status")).to_contain_text("Rejected.")
    assert status_of(system, payment_id) == "rejected"
    desk.open("/approvals?show=decided&status=rejected")
    expect(desk.page.locator("tr", has_text=system.buyer.email)).to_contain_text(NASTY)
    desk.open(f"/approvals/{payment_id}")
    expect(desk.page.get_by_text(NASTY)).to_be_visible()
    expect(desk.page.get_by_role("button", name="Reject")).to_have_count(0)


def test_a_changed_amount_is_said_plainly_and_nothing_is_approved(
    desk: Visit, system: System, open_desk: Callable[..., Visit]
) -> None:
    order_id, payment_id = request_payment(system)
    still = open_desk(java_script_enabled=False)
    still.sign_in(system.approver, then=f"/approvals/{payment_id}")
    system.advance(order_id, "price_changed", total_cny=77.5)
    system.until(order_id, lambda shown: shown["total_amount_cny"] == 77.5)

    still.page.get_by_role("button", name="Approve CNY 15.00").click()

    expect(still.page.get_by_role("alert")).to_contain_text(
        "The amount changed: the order now costs CNY 77.50, CNY 15.00 was requested."
    )
    assert status_of(system, payment_id) == "superseded"
    assert system.look(order_id)["payment_status"] == "unpaid"
    again = system.request_payment(order_id)["id"]
    desk.sign_in(system.approver, then="/approvals?limit=100")
    row = desk.page.locator("tr", has_text=system.buyer.email)
    expect(row).to_contain_text("Earlier request: CNY 15.00")
    row.get_by_role("link", name="Review").click()
    assert desk.path == f"/approvals/{again}"
    expect(desk.page.get_by_text("Amount changed").first).to_be_visible()


def test_another_amount_than_the_request_is_refused(system: System, enter: SignIn) -> None:
    _, payment_id = request_payment(system)
    pages = enter(system.approver)

    answer = pages.post(f"/approvals/{payment_id}/approve", amount_cny="1.00")
    unseen = pages.post(f"/approvals/{payment_id}/approve")

    assert answer.status_code == 409
    assert "The amount is CNY 15.00, not CNY 1.00." in answer.text
    assert unseen.status_code == 422
    assert status_of(system, payment_id) == "pending_approval"


def test_an_order_that_changed_since_says_so(desk: Visit, system: System) -> None:
    order_id, payment_id = request_payment(system)
    system.call("POST", f"/v1/orders/{order_id}/cancel")
    system.force(order_id, pay_before=None)

    desk.sign_in(system.approver, then=f"/approvals/{payment_id}")

    # Whether the platform was quicker or not: it is no longer as it was.
    expect(desk.page.get_by_text("No changes.")).to_have_count(0)


def set_deadline(system: System, order_id: str, pay_before: str) -> None:
    """Say until when an order can be paid, and have nobody ask its platform about that."""
    statement = f"""
        UPDATE purchase_order
           SET pay_before = {pay_before}, next_sync_at = tradewind_now() + interval '1 day',
               lease_until = tradewind_now() + interval '1 day'
         WHERE id = $1
        """  # noqa: S608 - the test's own words
    system.api.fetch(statement, ids.ORDER.read(order_id))


def test_the_most_urgent_is_first_and_overdue_is_said(desk: Visit, system: System) -> None:
    first, _ = request_payment(system)
    second, _ = request_payment(system)
    desk.sign_in(system.approver, then="/approvals?limit=100")
    set_deadline(system, first, "NULL")
    set_deadline(system, second, "tradewind_now() - interval '1 hour'")

    desk.page.reload()

    expect(desk.page.locator("tbody tr").first).to_contain_text("Overdue")
    mine = desk.page.locator("tr", has_text=system.buyer.email)
    expect(mine).to_have_count(2)
    expect(mine.first).to_contain_text("Overdue")
    expect(mine.last).to_contain_text("No limit")


def test_nobody_decides_about_their_own_request(desk: Visit, system: System, enter: SignIn) -> None:
    both = system.api.person(roles=(Role.BUYER, Role.APPROVER))
    mine = System(system.api, system.market, both, system.approver, system.skus)
    _, payment_id = request_payment(mine)

    desk.sign_in(both, then=f"/approvals/{payment_id}")
    expect(desk.page.get_by_text("Another person must approve it")).to_be_visible()
    expect(desk.page.get_by_role("button", name="Approve")).to_have_count(0)
    pages = enter(both)
    for path, form in (("approve", {"amount_cny": "15"}), ("reject", {"reason": "no"})):
        answer = pages.post(f"/approvals/{payment_id}/{path}", **form)
        assert (answer.status_code, "another approver has to" in answer.text) == (409, True)
    assert status_of(system, payment_id) == "pending_approval"


def test_only_approvers_decide_and_only_with_their_own_form(system: System, enter: SignIn) -> None:
    _, payment_id = request_payment(system)
    buyer, approver = enter(system.buyer), enter(system.approver)

    assert buyer.get("/approvals").status_code == 403
    assert buyer.get(f"/approvals/{payment_id}").status_code == 403
    refused = buyer.post(f"/approvals/{payment_id}/approve", amount_cny="15")
    assert refused.status_code == 403
    forged = approver.client.post(f"/approvals/{payment_id}/approve", data={"amount_cny": "15"})
    assert forged.status_code == 403
    nothing = approver.get(f"/approvals/{ids.PAYMENT.show(ids.new())}")
    assert (nothing.status_code, nothing.headers["content-type"]) == (
        404,
        "text/html; charset=utf-8",
    )
    assert status_of(system, payment_id) == "pending_approval"


def search_target(pages: Pages, text: str) -> str | None:
    """Where the search box leads; None: it finds nothing."""
    answer = pages.get("/search", params={"q": text})
    if answer.status_code == 303:
        return answer.headers["location"]
    assert answer.status_code == 200
    return None if "No results for" in answer.text else "list"


def test_the_search_box_takes_any_id(system: System, enter: SignIn) -> None:
    order = system.paid(external_id=f"PO-{ids.ORDER.show(ids.new())}")
    system.advance(order["id"], "shipped")
    order = system.until(order["id"], lambda order: bool(order["shipments"]))
    refund = system.refund(order["id"], amount_cny=1.0)
    payment = system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"][0]
    event = system.events(order["id"])[0]
    hook = system.ok(
        "POST", "/v1/webhooks", json={"url": "http://127.0.0.1:9/", "events": ["order.updated"]}
    )
    key = system.ok("GET", "/v1/api-keys")["items"][0]
    operator, stranger = system.api.operator(), system.api.person()
    everybody = [enter(item) for item in (system.buyer, system.approver, operator, stranger)]
    own = f"/orders/{order['id']}"
    any_ = f"/admin/orders/{order['id']}"
    parcel = order["shipments"][0]["tracking_number"]
    for text, buyer, approver, operator_ in (
        (order["id"], own, f"/approvals/{payment['id']}", any_),
        (order["order_id"], own, None, any_),
        (order["external_id"], own, None, any_),
        (parcel, own, None, any_),
        (event["id"], own, None, any_),
        (payment["id"], own, f"/approvals/{payment['id']}", any_),
        (refund.json()["id"], own, None, any_),
        (hook["id"], f"/webhooks/{hook['id']}", None, f"/endpoints/{hook['id']}"),
        (key["id"], "/keys", None, f"/accounts/{system.buyer.id}"),
        (system.buyer.id, "/account", None, f"/accounts/{system.buyer.id}"),
        (system.buyer.email, None, None, f"/accounts/{system.buyer.id}"),
    ):
        targets = [search_target(pages, text) for pages in everybody]
        assert targets == [buyer, approver, operator_, None], text


def test_the_search_box_leads_to_a_delivery_and_to_a_request(system: System, enter: SignIn) -> None:
    hook = system.ok(
        "POST", "/v1/webhooks", json={"url": "http://127.0.0.1:9/", "events": ["order.updated"]}
    )
    tried = system.ok("POST", f"/v1/webhooks/{hook['id']}/test")
    log = system.ok("GET", f"/v1/webhooks/{hook['id']}/deliveries")["items"]
    operator = system.api.operator()
    locked = system.api.person()
    answer = system.api.call(
        "POST", f"/v1/admin/accounts/{locked.id}/lock", by=operator, json={"reason": "test"}
    )

    buyer, operator_pages = enter(system.buyer), enter(operator)
    assert tried["steps"]
    delivery = log[0]["id"]
    assert search_target(buyer, delivery) == f"/webhooks/{hook['id']}/deliveries/{delivery}"
    assert search_target(operator_pages, delivery) is None
    number = answer.headers["x-request-id"]
    assert search_target(operator_pages, number) == f"/audit?about={number}"
    assert search_target(buyer, number) is None


def test_a_search_that_finds_nothing_says_what_it_takes(
    desk: Visit, system: System, enter: SignIn
) -> None:
    desk.sign_in(system.buyer)

    desk.page.get_by_label("Search everything").fill("<script>alert(1)</script>")
    desk.page.keyboard.press("Enter")

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Search")
    expect(desk.page.get_by_text("No results for")).to_contain_text("<script>alert(1)</script>")
    expect(desk.page.get_by_text("Tracking number; a part")).to_be_visible()
    assert desk.serious() == []
    pages = enter(system.buyer)
    for nothing in (
        "",
        "evt_",
        "ORD" + "7" + "Z" * 25,
        "dlv_" + "7" + "Z" * 25,
        "%",
        "\u00e9" * 50,
    ):
        assert pages.get("/search", params={"q": nothing}).status_code == 200
