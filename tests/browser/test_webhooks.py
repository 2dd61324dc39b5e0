"""Webhooks and deliveries in a real browser, on the whole system."""

import re
import subprocess
from collections.abc import Callable, Iterator

import pytest
from kit.system import System
from kit.webhook_endpoint import Received, Reply, WebhookEndpoint, assert_genuine, running_endpoint
from kit.webhook_system import WebhookSystem
from playwright.sync_api import Page, expect
from standardwebhooks import Webhook as Verifier

from browser.conftest import Visit

pytestmark = pytest.mark.xdist_group("browser")

HTML = b"<!doctype html><h1>Oops</h1><script>alert(1)</script><img src=x onerror=alert(2)>"
DONE = 15_000


@pytest.fixture
def endpoint() -> Iterator[WebhookEndpoint]:
    with running_endpoint() as made:
        yield made


@pytest.fixture
def webhooks(system: System) -> WebhookSystem:
    return WebhookSystem.of(system)


def failing(_: Received) -> Reply:
    return Reply(500, {"content-type": "text/html"}, HTML)


def secret_of(page: Page, webhooks: WebhookSystem) -> str:
    """The secret that the page shows, this once."""
    shown = page.get_by_role("region", name="Shown once").locator("pre").first.inner_text()
    assert re.fullmatch(r"whsec_[\w-]{43}", shown)
    webhooks.api.launcher.secrets.add(shown)
    return shown


def confirm(page: Page, label: str, button: str) -> None:
    page.locator("summary", has_text=label).click()
    page.get_by_role("button", name=button).click()


def test_a_webhook_from_its_making_to_its_end(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    desk.sign_in(webhooks.buyer, then="/webhooks")
    page.get_by_role("link", name="Create a webhook").click()

    # A refused URL says why beside the field, and what was typed is kept.
    page.get_by_label("URL").fill("ftp://nowhere.example/hook")
    page.get_by_label("Description").fill("订单系统 <b>bold</b>")
    page.get_by_label("payment.updated").uncheck()
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("#error-url")).to_have_text("The URL must begin with https://.")
    expect(page.get_by_label("URL")).to_have_value("ftp://nowhere.example/hook")
    expect(page.get_by_label("payment.updated")).not_to_be_checked()
    page.get_by_label("order.updated").uncheck()
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("#error-events")).to_have_text("Select at least one event type.")
    assert webhooks.ok("GET", "/v1/webhooks")["items"] == []

    # The secret is shown once, and is the one that signs.
    page.get_by_label("URL").fill(endpoint.url("/hook"))
    page.get_by_label("order.updated").check()
    page.get_by_role("button", name="Create webhook").click()
    secret = secret_of(page, webhooks)
    expect(page.get_by_text("from tradewind_sdk.webhooks import")).to_be_visible()
    expect(page.get_by_text("订单系统 <b>bold</b>")).to_be_visible()
    assert secret not in page.url
    assert desk.serious() == []
    page.reload()
    expect(page.get_by_role("region", name="Shown once")).to_have_count(0)
    assert secret not in page.content()
    webhooks.emit()
    assert_genuine(endpoint.until(lambda got: len(got) == 1)[0], secret)
    expect(page.locator("#attempts").get_by_text("Delivered")).to_be_visible(timeout=DONE)

    # Another address and more events.
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("URL")).to_have_value(endpoint.url("/hook"))
    page.get_by_label("URL").fill(endpoint.url("/other"))
    page.get_by_label("payment.updated").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(endpoint.url("/other"))
    expect(page.get_by_text("order.updated, payment.updated")).to_be_visible()

    # A new secret, after a confirmation.
    confirm(page, "Rotate secret", "Rotate now")
    rotated = secret_of(page, webhooks)
    assert rotated != secret
    webhooks.emit()
    assert_genuine(endpoint.until(lambda got: len(got) == 2)[1], rotated)

    # Off, on, gone.
    confirm(page, "Disable", "Disable webhook")
    expect(page.get_by_text("Disabled: nothing is delivered")).to_be_visible()
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_text("Webhook enabled.")).to_be_visible()
    confirm(page, "Delete", "Delete webhook")
    expect(page.get_by_role("heading", name="No webhooks yet")).to_be_visible()
    assert webhooks.ok("GET", "/v1/webhooks")["items"] == []


def test_a_test_tells_its_steps_and_shows_html_as_text(
    open_desk: Callable[..., Visit], webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    desk = open_desk()
    page = desk.page
    page.on("dialog", lambda dialog: desk.complaints.append(dialog.message))
    endpoint.answer = failing
    hook = webhooks.hook(endpoint.url("/hook"))
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}")

    page.get_by_role("link", name="Send a test").first.click()
    page.get_by_label("Event type").select_option("payment.updated")
    page.get_by_role("button", name="Send a test").click()

    steps = page.locator(".test-steps > li")
    expect(steps).to_have_count(3)
    expect(steps.nth(0)).to_contain_text(re.compile(r"Passed:.*dns.*\d ms", re.DOTALL))
    expect(steps.nth(2)).to_contain_text("The endpoint answered 500")
    expect(page.get_by_text("Check its log at the time")).to_be_visible()
    expect(page.locator("pre", has_text="<script>alert(1)</script>")).to_be_visible()
    assert endpoint.received[0].headers["x-service-event"] == "payment.updated"
    assert desk.serious() == []

    page.get_by_role("link", name="Show this attempt in the log").click()
    expect(page.locator("pre", has_text="<img src=x onerror=alert(2)>")).to_be_visible()
    assert page.locator("main script, main img").count() == 0
    expect(page.get_by_role("button", name="Resend event")).to_have_count(0)
    page.go_back()
    page.reload()
    expect(page.get_by_text("shown only once, right after the test")).to_be_visible()
    assert len(endpoint.received) == 1


def test_an_attempt_is_inspected_and_sent_again_by_hand(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    hook = webhooks.hook(endpoint.url("/hook"))
    (event,) = webhooks.emit()
    attempt = webhooks.logged(hook, 1)[0]
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/deliveries/{attempt['id']}")

    sent = endpoint.received[0]
    raw = page.get_by_role("region", name="Raw body")
    page.locator("summary", has_text="Raw body").click()
    expect(raw).to_have_text(sent.body.decode())
    signed = page.get_by_role("region", name="Signed string")
    expect(signed).to_have_text(f"{sent.headers['x-service-timestamp']}.{sent.body.decode()}")
    expect(page.locator("main")).to_contain_text(sent.headers["x-service-signature"])
    assert hook.secret not in page.content()
    assert desk.serious() == []

    # The command, as it is copied, works once the secret is put in.
    page.get_by_role("button", name="Copy curl, signed when run").click()
    command = page.evaluate("navigator.clipboard.readText()")
    assert "whsec_…" in command
    subprocess.run(
        ["/bin/bash", "-euc", command.replace("whsec_…", hook.secret)],
        capture_output=True,
        check=True,
    )
    by_hand = endpoint.until(lambda got: len(got) == 2)[1]
    assert_genuine(by_hand, hook.secret)
    assert by_hand.body == sent.body

    page.get_by_role("button", name="Resend event").click()
    expect(page.get_by_text("The event is being resent.")).to_be_visible()
    assert endpoint.until(lambda got: len(got) == 3)[2].event_id == event
    expect(page.locator("#same").get_by_text("Resend")).to_be_visible(timeout=DONE)


def test_the_log_is_filtered_turned_over_and_picked_from(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    hook = webhooks.hook(endpoint.url("/hook"))
    endpoint.answer = failing
    failed = webhooks.emit(2)
    webhooks.tried(hook, 2)
    endpoint.answer = lambda _: 200
    webhooks.emit(26)
    webhooks.logged(hook, 28)
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/deliveries")
    rows = page.locator("#attempts tbody tr")

    expect(rows).to_have_count(25)
    page.get_by_role("link", name="Next page").click()
    expect(rows).to_have_count(3)
    page.get_by_role("link", name="First page").click()
    expect(rows).to_have_count(25)

    page.get_by_text("More filters").click()
    page.get_by_label("HTTP error").check()
    page.get_by_label("Status codes").fill("503, 500")
    page.get_by_label("Started at or after").fill("2020-01-01T00:00:00")
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(2)
    for part in ("outcome=http_error", "status_code=503%2C+500", "started_after=2020-01-01T00"):
        assert part in desk.path
    expect(page.get_by_label("HTTP error")).to_be_checked()
    filtered = desk.path

    page.get_by_role("button", name="Resend selected").click()
    expect(page.get_by_text("Select at least one attempt.")).to_be_visible()
    everything = page.get_by_role("checkbox", name="Select all")
    everything.check()
    expect(rows.get_by_role("checkbox", checked=True)).to_have_count(2)
    rows.first.get_by_role("checkbox").uncheck()
    expect(everything).not_to_be_checked()
    rows.first.get_by_role("checkbox").check()
    expect(everything).to_be_checked()
    page.get_by_role("button", name="Resend selected").click()
    expect(page.get_by_text("2 events are being resent.")).to_be_visible()
    assert desk.path == filtered
    again = endpoint.until(lambda got: len(got) >= 30)[28:30]
    assert {item.event_id for item in again} == set(failed)

    page.get_by_label("Status codes").fill("many")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#error-status_code")).to_have_text("Enter status codes such as 503.")
    expect(page.get_by_label("Status codes")).to_have_value("many")
    page.get_by_role("link", name="Clear").click()
    page.get_by_label("Order ID", exact=True).fill("ORD01M7F65KGCERNSRTKZRJPMX343")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("heading", name="No matching attempts")).to_be_visible()


def test_what_was_missed_is_counted_first_and_then_delivered(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    missed = webhooks.emit(3)
    hook = webhooks.hook(endpoint.url("/hook"))
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/deliveries")

    page.get_by_role("link", name="Replay…").click()
    page.get_by_label("Since").fill("2020-01-01T00:00:00")
    page.get_by_label("Until").fill("2019-01-01T00:00:00")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#error-until")).to_have_text("Must be after since.")
    page.get_by_role("link", name="Last hour").click()
    expect(page.locator("#preview")).to_contain_text("3 events")
    assert desk.serious() == []
    assert endpoint.received == []

    page.get_by_role("button", name="Replay 3 events").click()
    expect(page.get_by_text("Replay started: 3 events.")).to_be_visible()
    expect(page.locator("#replays-list")).to_contain_text("3 of 3 done: 3 delivered", timeout=DONE)
    assert {request.event_id for request in endpoint.received} == set(missed)
    page.get_by_role("link", name="Last hour").click()
    expect(page.locator("#preview")).to_contain_text("No missed events")


def test_a_recovery_is_cancelled_half_way(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    webhooks.emit(400)
    hook = webhooks.hook(endpoint.url("/hook"))
    desk.sign_in(webhooks.buyer, then=f"/webhooks/{hook.id}/recover?since=2020-01-01T00:00:00Z")

    page.get_by_role("button", name="Replay 400 events").click()
    confirm(page, "Cancel", "Cancel replay")

    expect(page.get_by_text("Replay cancelled")).to_be_visible()
    expect(page.locator("#replays-list").get_by_text("Cancelled", exact=True)).to_be_visible()
    assert len(endpoint.received) < 400


def test_why_an_event_was_not_delivered(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    (early,) = webhooks.emit()
    hook = webhooks.hook(endpoint.url("/hook"))
    narrow = webhooks.hook(endpoint.url("/payments"), events=["payment.updated"])
    (event,) = webhooks.emit()
    webhooks.logged(hook, 1)
    desk.sign_in(webhooks.buyer, then="/webhooks")

    page.get_by_label("Event id").fill(event)
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("It was delivered at")).to_be_visible()
    expect(page.get_by_text("The subscription does not list order.updated.")).to_be_visible()
    assert desk.serious() == []

    desk.open(f"/webhooks/{narrow.id}/explain")
    page.get_by_label("Event id").fill(early)
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("The subscription was created later")).to_be_visible()
    page.get_by_label("Event id").fill("evt_nonsense")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#error-event")).to_contain_text("There is no event with this ID")
    expect(page.get_by_label("Event id")).to_have_value("evt_nonsense")


def test_it_works_without_scripts(
    open_desk: Callable[..., Visit], webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    desk = open_desk(java_script_enabled=False)
    page = desk.page
    desk.sign_in(webhooks.buyer, then="/webhooks/new")

    page.get_by_label("URL").fill(endpoint.url("/hook"))
    page.get_by_role("button", name="Create webhook").click()
    secret_of(page, webhooks)
    webhooks.emit()
    endpoint.until(lambda got: len(got) == 1)
    page.get_by_role("link", name="Deliveries").click()
    page.locator("#attempts").get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Resend selected").click()
    expect(page.get_by_text("1 event is being resent.")).to_be_visible()
    endpoint.until(lambda got: len(got) == 2)
    page.get_by_role("link", name="Overview").last.click()
    confirm(page, "Delete", "Delete webhook")
    expect(page.get_by_role("heading", name="No webhooks yet")).to_be_visible()


def test_everybody_can_use_every_page(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = failing
    hook = webhooks.hook(endpoint.url("/" + "long" * 100), description="仓库管理系统" * 40)
    (event,) = webhooks.emit()
    attempt = webhooks.tried(hook, 1)[0]
    webhooks.ok(
        "POST", f"{hook.path}/recover", json={"since": "2026-01-01T00:00:00Z", "include": "all"}
    )
    desk.sign_in(webhooks.buyer, then="/webhooks")

    findings = {}
    for path in (
        "",
        "/new",
        f"/explain?event={event}",
        *(
            f"/{hook.id}{rest}"
            for rest in (
                "",
                "/edit",
                "/test",
                "/deliveries?outcome=http_error",
                f"/deliveries/{attempt['id']}",
                "/pending",
                "/recover?since=2026-01-01T00:00:00Z&include=all",
                f"/explain?event={event}",
            )
        ),
    ):
        assert desk.open(f"/webhooks{path}") == 200
        for scheme, width in (("dark", 390), ("light", 1280)):
            desk.look(scheme, width)
            findings[path, scheme] = (desk.serious(), desk.too_wide())

    assert {page: result for page, result in findings.items() if result != ([], 0)} == {}


def test_options_of_a_webhook_are_set_and_kept_by_the_form(
    desk: Visit, webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    page = desk.page
    desk.sign_in(webhooks.buyer, then="/webhooks/new")
    page.get_by_label("URL").fill(endpoint.url("/hook"))
    page.get_by_text("Filter and headers").click()
    page.get_by_label("Shipped", exact=True).check()
    page.get_by_label("Headers", exact=True).fill("Authorization: Bearer abc\nHost: evil")
    page.get_by_label("Send the headers of Standard Webhooks").check()
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("#error-headers")).to_contain_text("Host: Its name must be")
    expect(page.get_by_label("Shipped", exact=True)).to_be_checked()
    assert desk.serious() == []

    page.get_by_label("Headers", exact=True).fill("Authorization: Bearer abc\n")
    page.get_by_role("button", name="Create webhook").click()
    once = page.get_by_role("region", name="Shown once")
    secret, standard = (once.locator("pre").nth(index).inner_text() for index in (0, 1))
    webhooks.api.launcher.secrets |= {secret, standard}
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", standard)
    expect(page.get_by_text("Standard Webhooks headers")).to_be_visible()
    assert "Bearer abc" not in page.content()

    # Saved as it is, the form keeps the value that it does not show.
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Headers", exact=True)).to_have_value("Authorization: ********")
    page.get_by_label("Description").fill("changed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("changed")).to_be_visible()
    webhooks.emit(status="paid")
    webhooks.emit(status="shipped")
    (received,) = endpoint.until(lambda got: len(got) == 1)
    assert received.json["data"]["order"]["status"] == "shipped"
    assert received.headers["authorization"] == "Bearer abc"
    Verifier(standard).verify(received.body, received.headers)
    assert desk.complaints == []
