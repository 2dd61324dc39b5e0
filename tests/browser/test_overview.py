"""The overview in a real browser: what each role sees, and live updates."""

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from kit.pages import Pages
from kit.server import Server
from kit.system import System
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from kit.webhook_system import WebhookSystem
from playwright.sync_api import Locator, Route, expect

from browser.conftest import SignIn, Visit
from tradewind import ids
from tradewind.auth.model import Role
from tradewind.dashboard.shell.render import LIVE_HEADER

pytestmark = pytest.mark.xdist_group("browser")

EVIL = "https://evil.example/<img src=x onerror=alert(1)>"
# The stream looks every two seconds; a busy machine needs longer.
SOON = 15_000


@pytest.fixture
def endpoint() -> Iterator[WebhookEndpoint]:
    with running_endpoint() as made:
        yield made


def step(desk: Visit, title: str) -> Locator:
    return desk.page.locator(".steps li").filter(has_text=title)


def test_first_steps_tick_themselves_off_and_then_go(
    desk: Visit, system: System, endpoint: WebhookEndpoint
) -> None:
    desk.sign_in(system.buyer)
    expect(step(desk, "Create an API key")).to_contain_text("Done:")
    expect(step(desk, "Call the API")).to_contain_text("To do:")

    webhooks = WebhookSystem(system.api, system.market, system.buyer, system.approver, system.skus)
    webhooks.hook(endpoint.url())
    desk.open("/")
    expect(step(desk, "Call the API")).to_contain_text("Done:")
    expect(step(desk, "Create a webhook")).to_contain_text("Done:")
    expect(step(desk, "Receive an event")).to_contain_text("To do:")
    order = system.order()
    expect(step(desk, "Place an order")).to_contain_text("Done:", timeout=SOON)
    expect(step(desk, "Receive an event")).to_contain_text("Done:", timeout=SOON)
    system.approve(system.request_payment(order["id"])["id"])

    desk.open("/")
    expect(desk.page.get_by_role("heading", name="Getting started")).to_have_count(0)


def test_first_steps_are_dismissed_for_good(
    open_desk: Callable[..., Visit], system: System
) -> None:
    desk = open_desk(java_script_enabled=False)
    desk.sign_in(system.buyer)

    desk.page.get_by_role("button", name="Dismiss").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(desk.page.get_by_role("heading", name="Getting started")).to_have_count(0)
    other = open_desk()
    other.sign_in(system.buyer)
    expect(other.page.get_by_role("heading", name="Getting started")).to_have_count(0)


def test_deliveries_are_charted_by_outcome(
    desk: Visit, system: System, endpoint: WebhookEndpoint
) -> None:
    webhooks = WebhookSystem(system.api, system.market, system.buyer, system.approver, system.skus)
    good, bad = webhooks.hook(endpoint.url("/good")), webhooks.hook(endpoint.url("/bad"))
    endpoint.answer = lambda request: 500 if request.path == "/bad" else 200
    webhooks.emit(3)
    webhooks.tried(good, 3)
    webhooks.tried(bad, 3)
    system.api.fetch("UPDATE webhook_subscription SET url = $2 WHERE id = $1", bad.uuid, EVIL)

    desk.sign_in(system.buyer)
    deliveries = desk.page.locator("#deliveries")
    expect(deliveries.get_by_text("6 attempts", exact=True)).to_be_visible(timeout=SOON)
    expect(deliveries).to_contain_text("50 %")
    expect(deliveries.get_by_role("img", name="24 hours, by outcome")).to_be_visible()
    deliveries.get_by_text("Show as table").click()
    latest = deliveries.locator("figure tbody tr").first
    assert latest.locator("td").all_inner_texts()[1:] == ["3", "3", "0", "0", "6"]
    expect(deliveries.get_by_text("HTTP error", exact=True).last).to_be_visible()
    need = desk.page.locator("#needs li").filter(has_text=EVIL)
    expect(need).to_contain_text("Webhook failing: 500 since")
    expect(need).to_contain_text("Failing")

    deliveries.get_by_role("link", name="7 days").click()
    assert desk.path == "/?span=week"
    expect(deliveries).to_contain_text("6 attempts")
    assert desk.serious() == []
    stranger = Pages(system.api, system.api.person())
    assert "No webhooks yet" in stranger.get("/").text
    stranger.client.close()


def test_a_region_is_swapped_in_place_when_something_changed(desk: Visit, system: System) -> None:
    hook = ids.new()
    system.api.fetch(
        "INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,"
        " created_at, updated_at) VALUES ($1, $2, 'https://a.example', '{payment.updated}', true,"
        " '', now(), now())",
        hook,
        system.buyer.uuid,
    )
    system.api.fetch(
        "INSERT INTO subscription_hour VALUES ($1, date_trunc('hour', tradewind_now()), 1, 0,"
        " '{0,1}', '{1}')",
        hook,
    )
    desk.sign_in(system.buyer)
    table = desk.page.locator("#deliveries figure details")
    table.locator("summary").click()
    desk.page.evaluate("window.untouched = true")
    search = desk.page.get_by_label("Search everything")
    search.fill("half of a thou")

    system.order()
    system.api.fetch(
        "UPDATE subscription_hour SET outcomes = '{41}' WHERE subscription_id = $1", hook
    )

    waiting = desk.page.locator("#orders").get_by_role("link", name="1 orders: Awaiting payment")
    expect(waiting).to_be_visible(timeout=SOON)
    system.order()
    expect(desk.page.locator("#orders .num a")).to_have_text("2", timeout=SOON)
    expect(desk.page.locator("#deliveries")).to_contain_text("41 attempts")
    expect(table).to_have_attribute("open", "")
    expect(search).to_have_value("half of a thou")
    expect(search).to_be_focused()
    assert desk.page.evaluate("window.untouched"), "the page was loaded anew"


def reject_payments(system: System) -> None:
    """The overview shows the few that are most urgent: other tests must not have left those."""
    for pending in system.ok("GET", "/v1/payments?limit=100", by=system.approver)["items"]:
        path = f"/v1/payments/{pending['id']}/reject"
        system.ok("POST", path, by=system.approver, json={"reason": "left by another test"})


def test_payments_wait_for_the_buyer_and_for_the_approver(
    open_desk: Callable[..., Visit], system: System
) -> None:
    reject_payments(system)
    order = system.order()
    approver = system.api.person(roles=(Role.APPROVER,))
    desk = open_desk()
    desk.sign_in(approver)
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(desk.page.get_by_role("heading", name="Orders by status")).to_have_count(0)

    system.request_payment(order["id"])

    row = desk.page.locator("#needs li").filter(has_text=system.buyer.email)
    expect(row).to_contain_text("Approve CNY", timeout=SOON)
    expect(row).to_contain_text("pay by")
    expect(desk.page.get_by_role("link", name="Approvals")).to_contain_text("1", timeout=SOON)
    assert desk.serious() == []
    buyer = open_desk()
    buyer.sign_in(system.buyer)
    awaiting = buyer.page.locator("#figures .stat").filter(has_text="Awaiting approval")
    expect(awaiting.locator("dd")).to_contain_text("1")
    expect(buyer.page.locator("#needs")).not_to_contain_text("Approve")
    system.ok("DELETE", f"/v1/orders/{order['id']}/payment")
    expect(row).to_have_count(0, timeout=SOON)


def test_an_update_that_failed_is_tried_again(desk: Visit, system: System) -> None:
    reject_payments(system)
    order = system.order()
    with desk.page.expect_response(lambda response: LIVE_HEADER in response.request.headers):
        desk.sign_in(system.api.person(roles=(Role.APPROVER,)))
    failures: list[str] = []

    def fail_once(route: Route) -> None:
        if LIVE_HEADER in route.request.headers and not failures:
            failures.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    desk.page.route(f"{desk.url}/", fail_once)
    system.request_payment(order["id"])

    row = desk.page.locator("#needs li").filter(has_text=system.buyer.email)
    expect(row).to_contain_text("Approve CNY", timeout=SOON)
    assert len(failures) == 1
    desk.complaints.clear()


def test_nobody_is_shown_a_payment_that_only_others_may_approve(system: System) -> None:
    both = system.api.person(roles=(Role.BUYER, Role.APPROVER))
    placed = system.place(system.order_body(), by=both).json()
    own = System(system.api, system.market, both, system.approver, system.skus)
    own.until(placed["id"], lambda order: order["status"] != "creating")
    payment = own.request_payment(placed["id"])

    pages = Pages(system.api, both)
    html = pages.get("/").text
    pages.client.close()

    assert placed["id"] not in html
    assert "<dt>Awaiting approval</dt><dd>1<" in html
    assert payment["id"] not in html


def test_operators_see_the_whole_system(desk: Visit, system: System) -> None:
    desk.sign_in(system.api.operator())

    expect(desk.page.get_by_role("heading", name="System")).to_be_visible()
    expect(desk.page.locator("#operating")).to_contain_text("Queued")
    expect(desk.page.get_by_role("heading", name="Getting started")).to_have_count(0)
    assert desk.serious() == []


def test_everybody_can_use_the_overview(desk: Visit, system: System) -> None:
    system.order()
    desk.sign_in(system.buyer)

    for scheme, width in product(("light", "dark"), (390, 1280)):
        desk.look(scheme, width)
        assert desk.serious() == [], (scheme, width)
        assert desk.too_wide() == 0, (scheme, width)


def test_a_marketplace_leads_back_to_a_page_with_its_code(api: Server, signed_in: SignIn) -> None:
    back = "/?code=abc%3Cb%3E123&state=taobao.1.forged.signature"
    operator = signed_in(api.person(roles=(Role.OPERATOR,))).get(back)
    buyer = signed_in(api.person()).get(back)
    refused = signed_in(api.person(roles=(Role.OPERATOR,))).get("/?error=no&state=elsewhere")

    assert (operator.status_code, buyer.status_code, refused.status_code) == (200, 200, 200)
    assert 'name="code" value="abc&lt;b&gt;123"' in operator.text
    assert 'action="/platforms/taobao"' in operator.text
    assert "abc" not in buyer.text.partition("<main")[2]
    assert "Authorisation failed" in refused.text
    assert 'class="button" href="/platforms"' in refused.text


def test_no_row_needs_scrolling_sideways_on_a_narrow_screen(
    open_desk: Callable[..., Visit], system: System
) -> None:
    system.order()
    desk = open_desk(viewport={"width": 390, "height": 900})
    desk.sign_in(system.buyer)
    for path in ("/orders", "/keys", "/account"):
        desk.open(path)
        over = "[...document.querySelectorAll('.cards')].map((o) => o.scrollWidth - o.clientWidth)"
        result = desk.page.evaluate(over)
        assert result, path
        assert max(result) <= 0, path
        here = desk.page.locator(".side [aria-current]")
        if here.count():
            expect(here).to_be_in_viewport(ratio=0.9)


def test_what_cannot_be_asked_for_is_refused(api: Server, signed_in: SignIn) -> None:
    buyer, approver = api.person(), api.person(roles=(Role.APPROVER,))
    pages = signed_in(buyer)

    assert pages.get("/?span=year").status_code == 422
    assert pages.client.post("/first-steps/dismiss", data={"csrf": ""}).status_code == 403
    assert signed_in(approver).post("/first-steps/dismiss").status_code == 403

    rows = api.fetch(
        "SELECT id FROM account WHERE steps_dismissed_at IS NOT NULL AND id = ANY ($1)",
        [buyer.uuid, approver.uuid],
    )
    assert rows == []
    assert "Getting started" in pages.get("/").text
