"""What a review of all pages found: zones, dialogs, rows, messages, highlights, long texts."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from kit.system import System
from kit.webhook_endpoint import Received, Reply, WebhookEndpoint, running_endpoint
from kit.webhook_system import WebhookSystem
from playwright.sync_api import expect

from browser.conftest import SignIn, Visit
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("browser")

SOON = 15_000
SHANGHAI = {"timezone_id": "Asia/Shanghai", "locale": "en-GB"}
PRIVATE = b"a private answer of the endpoint"


@pytest.fixture
def endpoint() -> Iterator[WebhookEndpoint]:
    with running_endpoint() as made:
        yield made


@pytest.fixture
def webhooks(system: System) -> WebhookSystem:
    return WebhookSystem.of(system)


def failing(_: Received) -> Reply:
    return Reply(503, {"content-type": "text/plain"}, PRIVATE)


def test_filters_speak_the_zone_of_the_lists(
    open_desk: Callable[..., Visit], webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()
    [attempt] = webhooks.tried(hook)
    started = datetime.fromisoformat(attempt["started_at"])
    local = started + timedelta(hours=8)
    desk = open_desk(**SHANGHAI)
    page = desk.page
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/deliveries")
    expect(page.locator("#attempts tbody a").first).to_contain_text(f"{local:%H:%M:%S}")
    expect(page.locator(".zone")).to_have_text("Times in Asia/Shanghai (GMT+8)")

    page.get_by_text("More filters").click()
    after = page.get_by_label("Started at or after")
    expect(page.locator('label[for="field-started_after"]')).to_contain_text("GMT+8")
    later = local + timedelta(seconds=2)
    for typed, attempts in ((local - timedelta(seconds=2), 1), (later, 0)):
        after.fill(f"{typed:%Y-%m-%dT%H:%M:%S}")
        page.get_by_role("button", name="Filter").click()
        sent = typed - timedelta(hours=8)
        assert f"started_after={sent:%Y-%m-%dT%H%%3A%M%%3A%S}Z" in desk.path
        expect(page.locator("#attempts tbody tr")).to_have_count(attempts)
        expect(after).to_have_value(_field_value(typed))
    page.reload()
    expect(after).to_have_value(_field_value(later))


def _field_value(moment: datetime) -> str:
    """The value of a field for times, which leaves out seconds that are zero."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}".removesuffix(":00")


def test_without_javascript_lists_and_filters_are_utc(
    open_desk: Callable[..., Visit], webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    desk = open_desk(java_script_enabled=False, **SHANGHAI)
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/recover?since=2026-11-15T01:02:03Z")

    since = desk.page.get_by_label("Since")
    expect(since).to_have_value("2026-11-15T01:02:03")
    expect(desk.page.locator('label[for="field-since"]')).to_contain_text("UTC")


def test_a_replay_covers_the_time_that_was_typed(
    open_desk: Callable[..., Visit], webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    desk = open_desk(**SHANGHAI)
    page = desk.page
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/recover")
    page.get_by_label("Since").fill("2026-11-15T09:00:00")
    page.get_by_role("button", name="Preview").click()

    assert "since=2026-11-15T01%3A00%3A00Z" in desk.path
    expect(page.locator("#preview")).to_contain_text("No missed events")
    assert desk.serious() == []


def test_a_confirmation_is_a_dialog_that_moves_nothing(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    page = desk.page
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}")
    button = page.locator("summary", has_text="Delete")
    height = "document.documentElement.scrollHeight"
    button.scroll_into_view_if_needed()
    before = (button.bounding_box(), page.evaluate(height))

    for close in ("Escape", "Cancel", "beside"):
        button.click()
        dialog = page.get_by_role("dialog", name="Delete")
        expect(dialog).to_be_visible()
        expect(dialog).to_contain_text("This cannot be undone.")
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        assert (button.bounding_box(), page.evaluate(height)) == before
        assert desk.serious() == []
        if close == "beside":
            page.mouse.click(5, 5)
        elif close == "Escape":
            page.keyboard.press("Escape")
        else:
            dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
    button.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete webhook").click()
    expect(page.get_by_text("Webhook deleted.")).to_be_visible()


def test_a_confirmation_that_is_opened_again_at_once_stays_open(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}")
    summary = desk.page.locator("summary", has_text="Delete")
    summary.click()
    dialog = desk.page.get_by_role("dialog", name="Delete")
    expect(dialog).to_be_visible()

    # The browser reports that a dialog was closed in a task of its own, after this one.
    summary.evaluate(
        """async (summary) => {
             const closed = new Promise((done) => addEventListener("close", done, {capture: true}));
             summary.parentElement.querySelector("dialog").close();
             summary.click();
             await closed;
           }"""
    )

    dialog.get_by_role("button", name="Delete webhook").click(timeout=5_000)
    expect(desk.page.get_by_text("Webhook deleted.")).to_be_visible()


def test_without_javascript_the_question_unfolds(
    open_desk: Callable[..., Visit], webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    desk = open_desk(java_script_enabled=False)
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}")

    desk.page.locator("summary", has_text="Delete").click()
    desk.page.get_by_role("button", name="Delete webhook").click()

    expect(desk.page.get_by_text("Webhook deleted.")).to_be_visible()


def test_a_row_opens_its_page_and_its_controls_still_work(desk: Visit, system: System) -> None:
    order = system.order()
    page = desk.page
    desk.sign_in(system.buyer, then="/orders")
    row = page.locator("tbody tr").first

    row.locator("td").nth(4).click()
    page.wait_for_url(f"**/orders/{order['id']}")
    desk.open("/orders")
    row.locator("a").first.press("Enter")
    page.wait_for_url(f"**/orders/{order['id']}")


def test_a_message_ends_with_the_status_it_speaks_of(desk: Visit, system: System) -> None:
    order = system.order()
    page = desk.page
    desk.sign_in(system.buyer, then=f"/orders/{order['id']}")
    page.get_by_role("button", name="Request payment of").click()
    message = page.get_by_text("Another person must approve it")
    expect(message).to_be_visible()
    page.wait_for_timeout(3000)
    expect(message).to_be_visible()

    payment = system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"][0]
    system.approve(payment["id"])

    expect(message).to_have_count(0, timeout=SOON)
    expect(page.locator("#state")).to_contain_text("Waiting for the seller to ship", timeout=SOON)


def test_a_live_update_highlights_the_cells_that_changed(desk: Visit, system: System) -> None:
    changed, same = system.order(), system.order()
    page = desk.page
    desk.sign_in(system.buyer, then="/orders")
    page.evaluate(
        "window.marked = new Set();"
        "new MutationObserver(() => document.querySelectorAll('[data-changed]').forEach("
        "(cell) => marked.add(cell.closest('tr').textContent.match(/ORD\\w{26}/)[0] + '|'"
        " + cell.dataset.label))).observe(document.body, {subtree: true, childList: true})"
    )
    system.request_payment(changed["id"])

    row = page.locator("tbody tr").filter(has_text=changed["id"])
    expect(row).to_contain_text("Awaiting approval", timeout=SOON)
    marked = page.evaluate("[...marked]")
    assert f"{changed['id']}|Payment" in marked
    assert f"{changed['id']}|Total" not in marked
    assert not [cell for cell in marked if same["id"] in cell]


def test_a_webhook_that_was_never_tried_is_not_healthy(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint, enter: SignIn
) -> None:
    endpoint.answer = failing
    page = desk.page
    desk.sign_in(webhooks.buyer, then="/webhooks/new")
    expect(page.get_by_label("Replay missed events automatically")).to_be_checked()
    hook = webhooks.hook(endpoint.url())
    assert webhooks.ok("GET", hook.path)["catch_up"] is False
    desk.open(f"/webhooks/{hook.id}")
    expect(page.locator("#state")).to_contain_text("No deliveries yet")
    operator = enter(webhooks.api.operator())
    assert "No deliveries yet" in operator.get("/endpoints?health=ok").text

    webhooks.emit()
    webhooks.tried(hook)

    expect(page.locator("#state .notice")).to_contain_text("Failing: 503 since", timeout=SOON)
    expect(page.locator("#state")).not_to_contain_text("No deliveries yet")


def test_an_operator_opens_a_failing_webhook_and_sees_no_secret(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint, enter: SignIn
) -> None:
    endpoint.answer = failing
    hook = webhooks.hook(endpoint.url("/private"))
    webhooks.emit()
    webhooks.tried(hook)
    page = desk.page
    desk.sign_in(webhooks.api.operator(), then="/endpoints")
    page.get_by_role("link", name=endpoint.url("/private")).click()

    assert desk.path == f"/endpoints/{hook.id}"
    expect(page.locator("#state .notice")).to_contain_text("Failing: 503 since")
    expect(page.get_by_role("link", name=webhooks.buyer.email)).to_be_visible()
    assert desk.serious() == []
    html = page.content()
    for secret in (hook.secret, "whsec_", PRIVATE.decode(), "X-Service-Signature"):
        assert secret not in html
    assert page.locator("main form").count() == 0
    for width in (390, 1280):
        desk.look("dark", width)
        assert desk.too_wide() == 0, width
    stranger, buyer = enter(webhooks.api.person()), enter(webhooks.buyer)
    approver = enter(webhooks.api.person(roles=(Role.APPROVER,)))
    for pages in (stranger, buyer, approver):
        assert pages.get(f"/endpoints/{hook.id}").status_code == 403
    operator = enter(webhooks.api.operator())
    assert operator.get("/endpoints/whk_" + "0" * 26).status_code == 404


def test_long_texts_do_not_break_the_pages(desk: Visit, system: System) -> None:
    name = "x" * 60
    system.api.fetch(
        "UPDATE account SET email = $2, name = $3 WHERE id = $1",
        system.buyer.uuid,
        f"{name}.{system.buyer.id.lower()}@{'long-' * 20}example.com",
        name * 3,
    )
    system.request_payment(system.order(external_id="e" * 100)["id"])
    desk.sign_in(system.api.person(roles=(Role.BUYER, Role.APPROVER, Role.OPERATOR)))

    for path in ("/", "/approvals", "/accounts", "/admin/orders", "/audit", "/search?q=xxx"):
        desk.open(path)
        for width in (390, 1280):
            desk.look("light", width)
            assert desk.too_wide() == 0, (path, width)
