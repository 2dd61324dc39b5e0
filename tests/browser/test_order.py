"""The page of one order in a real browser: its timeline and all of its actions."""

from collections.abc import Callable
from typing import Any

import pytest
from kit.pages import Pages
from kit.system import System
from kit.webhook_endpoint import running_endpoint
from playwright.sync_api import Page, expect

from browser.conftest import Visit
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = "<img src=x onerror=document.title='owned'><b>bold</b>"
_PATIENCE = 10_000


def expect_notice(page: Page, text: str) -> None:
    """The notice on the page contains this text."""
    expect(page.locator("main .notice").first).to_contain_text(text, timeout=_PATIENCE)


def form_fields(page: Page, action: str) -> dict[str, str]:
    """The hidden fields of a form, as the page has them."""
    fields: dict[str, str] = page.locator(f'form[action$="{action}"]').first.evaluate(
        "form => Object.fromEntries(new FormData(form))"
    )
    return fields


def payments(system: System, order_id: str) -> list[Any]:
    requests: list[Any] = system.ok("GET", f"/v1/orders/{order_id}/payments")["items"]
    return requests


def test_the_whole_story_is_played_by_clicking(desk: Visit, system: System) -> None:
    order = system.order(quantity=3, external_id=f"story-{system.buyer.id}")
    page = desk.page
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")
    state = page.locator("#state")
    expect(state).to_contain_text("Payment not requested yet")
    expect(page.get_by_role("button", name="Submit refund request")).to_have_count(0)
    assert desk.serious() == []

    page.get_by_role("button", name="Request payment of").click()
    expect_notice(page, "Payment requested")
    expect(state).to_contain_text("Waiting for approval")
    expect(page.get_by_role("button", name="Request payment of")).to_have_count(0)

    page.get_by_text("Withdraw payment request").click()
    page.get_by_role("button", name="Withdraw", exact=True).click()
    expect_notice(page, "withdrawn")
    expect(page.locator("#facts")).to_contain_text(f"Withdrawn by {system.buyer.email}")
    page.get_by_role("button", name="Request payment of").click()
    expect_notice(page, "Payment requested")
    requests = payments(system, order["id"])
    assert [request["status"] for request in requests] == ["pending_approval", "withdrawn"]

    system.approve(requests[0]["id"])
    expect(state).to_contain_text("Waiting for the seller to ship", timeout=_PATIENCE)
    assert page.locator("#actions").get_by_text("Cancel order").count() == 0
    page.get_by_role("button", name="Ship partially").click()
    expect_notice(page, "Event simulated")
    page.get_by_role("button", name="Ship the rest").click()
    expect(page.locator("#facts li .ident")).to_have_count(2)
    page.get_by_role("button", name="Mark as received").click()
    expect(state).to_contain_text("Waiting for the marketplace to complete it")

    page.get_by_text("Request refund").click()
    page.get_by_label("Goods amount (CNY)").fill("5")
    page.get_by_label("Reason").fill(HOSTILE)
    page.get_by_role("button", name="Submit refund request").click()
    expect_notice(page, "Refund requested")
    expect(page.locator("#facts")).to_contain_text(HOSTILE)
    page.get_by_role("button", name="Approve refund").click()
    expect(state).to_contain_text("Partially refunded", timeout=_PATIENCE)
    expect(page.locator(".sums")).to_contain_text("Net paid")
    assert desk.serious() == []

    page.get_by_role("button", name="Complete").click()
    expect(state).to_contain_text("the order is completed")
    timeline = page.locator("#timeline")
    for text in (
        "Order accepted",
        "Payment requested",
        "Payment request withdrawn",
        "Payment approved",
        "Partially shipped",
        "Refund requested",
    ):
        expect(timeline.get_by_text(text, exact=True).first).to_be_visible()
    assert "owned" not in page.title()
    done = system.look(order["id"])
    amounts = ("goods_amount_cny", "freight_cny", "discount_cny", "total_amount_cny")
    for name in amounts:
        expect(page.locator(".sums")).to_contain_text(f"CNY {done[name]:,.2f}")


def test_a_refund_is_refused_beside_its_field(desk: Visit, system: System) -> None:
    order = system.paid()
    page = desk.page
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")

    for amount, said in (("a lot", "such as 12.50"), ("1.234", "such as 12.50"), ("99999", "left")):
        if not page.get_by_label("Reason").is_visible():
            page.get_by_text("Request refund").click()
        page.get_by_label("Goods amount (CNY)").fill(amount)
        page.get_by_label("Reason").fill("broken")
        page.get_by_role("button", name="Submit refund request").click()
        expect(page.locator("#error-amount_cny")).to_contain_text(said)
        expect(page.get_by_label("Goods amount (CNY)")).to_have_value(amount)
        expect(page.get_by_label("Reason")).to_have_value("broken")
    assert desk.serious() == []
    page.get_by_label("Goods amount (CNY)").fill("")
    page.get_by_label("Reason").fill("   ")
    page.get_by_role("button", name="Submit refund request").click()
    expect(page.locator("#error-reason")).to_have_text("Enter a reason.")
    assert system.look(order["id"])["refunds"] == []


def test_the_same_page_asks_once(system: System, desk: Visit) -> None:
    order = system.paid(quantity=2)
    for step in ("shipped", "received"):
        system.advance(order["id"], step)
    where = f"/orders/{order['id']}"
    pages = Pages(system.api, system.buyer)
    desk.sign_in(system.buyer, then=where)
    form = form_fields(desk.page, "/refunds") | {"reason": "damaged", "amount_cny": "3"}

    first = pages.client.post(f"{where}/refunds", data=form | {"csrf": pages.token})
    again = pages.client.post(f"{where}/refunds", data=form | {"csrf": pages.token})
    other = pages.client.post(
        f"{where}/refunds", data=form | {"csrf": pages.token, "amount_cny": "4"}
    )

    assert [item.status_code for item in (first, again, other)] == [303, 303, 303]
    assert "already sent a different request" in pages.get(where).text
    assert [refund["amount_cny"] for refund in system.look(order["id"])["refunds"]] == [3.0]
    pages.client.close()


def test_two_presses_of_a_button_request_one_payment(desk: Visit, system: System) -> None:
    order = system.order()
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")

    desk.page.get_by_role("button", name="Request payment of").dblclick()

    expect_notice(desk.page, "Payment requested")
    assert len(payments(system, order["id"])) == 1


def test_an_order_is_cancelled_after_a_question(desk: Visit, system: System) -> None:
    order = system.order()
    page = desk.page
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")

    page.get_by_text("Cancel order", exact=True).click()
    assert system.stored(order["id"])["cancel_requested"] is False
    page.get_by_role("button", name="Confirm cancellation").click()

    # A marketplace may take its time: until it says so, the order waits for that.
    expect(page.locator("main .notice").first).to_contain_text("Cancel")
    expect(page.get_by_text("Cancel order", exact=True)).to_have_count(0)
    system.until(order["id"], lambda order: order["status"] == "cancelled")
    expect(page.locator("#state")).to_contain_text(
        "None: the order is cancelled", timeout=_PATIENCE
    )
    expect(page.locator("#actions").get_by_role("button")).to_have_count(0, timeout=_PATIENCE)


def test_who_comes_too_late_is_eventin_plain_words(
    open_desk: Callable[..., Visit], system: System
) -> None:
    order = system.order()
    desk = open_desk(java_script_enabled=False)
    page = desk.page
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")

    system.advance(order["id"], "price_changed", total_cny=77.7)
    page.get_by_role("button", name="Request payment of").click()
    expect_notice(page, "The amount is now CNY 77.70")
    assert payments(system, order["id"]) == []

    page.get_by_text("Cancel order", exact=True).click()
    system.advance(order["id"], "paid")
    page.get_by_role("button", name="Confirm cancellation").click()
    expect_notice(page, "Not possible: the status is now “Paid”")
    expect(page.locator("#state")).to_contain_text("without an approval in Tradewind")
    assert system.look(order["id"])["status"] == "paid"


def test_only_refresh_asks_the_marketplace(desk: Visit, quiet: System) -> None:
    order = quiet.order()
    page = desk.page
    quiet.market.advance(order["order_id"], "pay")
    desk.sign_in(quiet.buyer, then=f"/orders/{order['id']}")
    expect(page.locator("#state")).to_contain_text("Awaiting payment")
    expect(page.locator(".sync-state")).to_contain_text("Synced")

    page.get_by_role("button", name="Sync now").click()
    expect_notice(page, "Synced with the marketplace")
    expect(page.locator("#state")).to_contain_text("Waiting for the seller to ship")

    quiet.market.fault("*", "http500")
    page.get_by_role("button", name="Sync now").click()
    expect_notice(page, "did not respond in time")


def test_each_event_tells_where_it_was_delivered(desk: Visit, system: System) -> None:
    with running_endpoint() as endpoint:
        good = system.ok(
            "POST",
            "/v1/webhooks",
            json={"url": endpoint.url("/good"), "events": ["order.updated"]},
        )
        endpoint.answer = lambda request: 500 if request.path == "/bad" else 200
        bad = system.ok(
            "POST",
            "/v1/webhooks",
            json={"url": endpoint.url("/bad"), "events": ["order.updated"]},
        )
        order = system.order()
        endpoint.until(lambda all_: {item.path for item in all_} >= {"/good", "/bad"})
        delivery = endpoint.at("/good")[0].delivery
        desk.sign_in(system.buyer, then=f"/orders/{order['id']}")
        event = desk.page.locator(".event-deliveries").first
        summary = event.locator("summary")
        expect(summary).to_have_text("2 webhooks: 1 delivered, 1 retrying", timeout=_PATIENCE)
        expect(event.get_by_role("link")).to_have_count(0)
        summary.click()

        expect(event).to_contain_text("Attempt 2 scheduled", timeout=_PATIENCE)
        expect(event).to_contain_text("Delivered", timeout=_PATIENCE)
        link = event.get_by_role("link", name=good["url"])
        assert link.get_attribute("href") == f"/webhooks/{good['id']}/deliveries/{delivery}"
        failed = event.get_by_role("link", name=bad["url"]).get_attribute("href") or ""
        assert failed.startswith(f"/webhooks/{bad['id']}/deliveries/dlv_")
        assert desk.serious() == []


def test_a_split_order_and_a_failed_one(desk: Visit, system: System) -> None:
    split = system.paid(product="900000000007", quantity=2)
    failing = system.order(product="900000000004")
    system.approve(system.request_payment(failing["id"])["id"])
    system.until(failing["id"], lambda order: order["payment_status"] == "failed")
    page = desk.page
    desk.sign_in(system.buyer, then=f"/orders/{split['id']}")

    for part in split["platform_orders"]:
        expect(page.locator("#facts")).to_contain_text(part["order_id"])
    page.get_by_text("Request refund").click()
    page.get_by_label("Reason").fill("broken")
    page.get_by_role("button", name="Submit refund request").click()
    expect(page.locator("#error-order_id")).to_contain_text("Is required")
    page.get_by_label("Marketplace order ID").select_option(split["platform_orders"][1]["order_id"])
    page.get_by_role("button", name="Submit refund request").click()
    expect_notice(page, "Refund requested")

    desk.open(f"/orders/{failing['id']}")
    expect(page.locator("#facts .bad")).to_be_visible()
    expect(page.get_by_role("button", name="Request payment of")).to_be_visible()
    assert desk.serious() == []


def test_strangers_and_forged_forms_change_nothing(system: System) -> None:
    order = system.order()
    where = f"/orders/{order['id']}"
    before = system.facts(order["id"])
    stranger = Pages(system.api, system.api.person())
    mine = Pages(system.api, system.buyer)
    steps = ("refresh", "cancel", "payment", "payment/withdraw", "refunds", "advance")
    form = {"submit_token": "k", "reason": "r", "to": "paid", "amount_cny": "15.00"}
    fields = {
        "refresh": (),
        "cancel": ("submit_token",),
        "payment": ("submit_token", "amount_cny"),
        "payment/withdraw": ("submit_token",),
        "refunds": ("submit_token", "reason"),
        "advance": ("to",),
    }

    assert stranger.get(where).status_code == 404
    assert where not in stranger.get("/orders", params={"q": order["id"]}).text
    for step in steps:
        sent = {name: form[name] for name in fields[step]}
        assert stranger.post(f"{where}/{step}", **sent).status_code == 404, step
        assert mine.client.post(f"{where}/{step}", data={"csrf": "", **sent}).status_code == 403, (
            step
        )
    assert mine.post(f"{where}/cancel").status_code == 400  # no page of ours has no key
    assert mine.get("/orders/ORDnone").status_code == 404
    nobody = Pages(system.api, system.api.person(roles=(Role.APPROVER,)))
    assert nobody.get("/orders").status_code == 403
    assert nobody.get(where).status_code == 403
    assert nobody.post(f"{where}/refresh").status_code == 403
    assert system.facts(order["id"]) == before
    for item in (stranger, mine, nobody):
        item.client.close()


def test_a_long_story_has_pages(desk: Visit, system: System) -> None:
    order = system.order()
    for _ in range(18):
        system.request_payment(order["id"])
        system.ok("DELETE", f"/v1/orders/{order['id']}/payment")
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")
    entries = desk.page.locator(".order-timeline > li")
    expect(entries).to_have_count(30)

    desk.page.get_by_role("link", name="Next page").click()
    expect(desk.page.get_by_text("Order accepted", exact=True)).to_be_visible()
