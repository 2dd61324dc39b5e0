"""The public pages in a real browser: API reference and error pages."""

import json
from urllib.parse import urlsplit

import pytest
from kit.server import Server
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import Visit

pytestmark = pytest.mark.xdist_group("browser")


def test_the_reference_finds_an_operation_and_tries_it_with_a_key_in_memory(
    visit: Visit, api: Server
) -> None:
    person = api.person()
    page = visit.page
    visit.open("/docs")
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search the reference")
    expect(search).to_be_focused()
    search.fill("get /v1/me")
    expect(page.get_by_text("1 found")).to_be_visible()
    expect(page.locator('.tree a[href$="#login"]')).to_be_hidden()
    page.locator(".tree details a:visible").click()
    operation = page.locator("#get_me")
    expect(operation.get_by_role("heading", level=2)).to_be_in_viewport()
    expect(operation.get_by_text("curl http")).to_be_visible()
    operation.get_by_role("button", name="Python").click()
    expect(operation.get_by_text("client.me.get()")).to_be_visible()

    page.get_by_label("API key").fill(person.key)
    operation.get_by_text("Try it").click()
    operation.get_by_role("button", name="Send request").click()
    expect(operation.get_by_text(person.email)).to_be_visible()
    expect(operation.get_by_text("200 OK")).to_be_visible()

    # Another page of the reference, with the key of before; a body, a path and its error.
    search.fill("")
    page.locator(".tree").get_by_text("Webhooks", exact=True).click()
    page.locator('.tree a[href="/docs/webhooks#create_webhook"]').click()
    create = page.locator("#create_webhook")
    create.get_by_text("Try it").click()
    create.get_by_role("button", name="Send request").click()
    expect(create.get_by_text("201 Created")).to_be_visible()
    secret = json.loads(create.get_by_role("region", name="Response", exact=True).inner_text())[
        "secret"
    ]
    api.launcher.secrets.add(secret)
    page.locator('.tree a[href="/docs/webhooks#get_webhook"]').click()
    look = page.locator("#get_webhook")
    look.get_by_text("Try it").click()
    look.get_by_role("button", name="Send request").click()
    expect(look.get_by_text("There is no such subscription.")).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page.locator("#get_me")).to_be_visible()

    assert page.get_by_label("API key").input_value() == person.key
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert person.key not in kept
    page.reload()
    assert page.get_by_label("API key").input_value() == ""
    assert person.key not in page.content()
    # The 404 that was asked for is an error to the browser.
    assert [text for text in visit.complaints if "404" not in text] == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_the_reference_can_be_read_by_everybody(visit: Visit, scheme: str, width: int) -> None:
    visit.look(scheme, width)
    for path in ("/docs", "/docs/orders", "/docs/webhooks", "/docs/event-types", "/docs/errors"):
        assert visit.open(path) == 200
        assert visit.too_wide() == 0, path
        # The check takes seconds on the longest page, whose elements are on the others, too.
        if (path, scheme) != ("/docs/orders", "dark"):
            assert visit.serious() == [], path
    assert visit.complaints == []


def test_a_person_chooses_a_password_by_a_link(visit: Visit, api: Server) -> None:
    person = api.person()
    made = api.call(
        "POST", f"/v1/admin/accounts/{person.id}/password-link", by=api.operator()
    ).json()
    link = urlsplit(made["url"])
    visit.open(f"{link.path}?{link.query}")
    assert visit.serious() == []

    visit.page.get_by_label("New password").fill("a longer, better one")
    visit.page.get_by_label("Repeat password").fill("something else altogether")
    visit.page.get_by_role("button", name="Set password").click()
    again = visit.page.get_by_label("Repeat password")
    expect(again).to_have_accessible_description("The passwords do not match.")
    expect(again).to_have_value("")

    visit.page.get_by_label("New password").fill("a longer, better one")
    visit.page.get_by_label("Repeat password").fill("a longer, better one")
    visit.page.get_by_role("button", name="Set password").click()
    expect(visit.page.get_by_role("heading")).to_have_text("Password set")

    visit.open(f"{link.path}?{link.query}")
    expect(visit.page.get_by_role("heading")).to_have_text("The link does not work any more")


def test_a_problem_explains_itself(visit: Visit) -> None:
    visit.open("/problems/rate_limited")

    expect(visit.page.get_by_role("heading")).to_have_text("Too many requests")
    assert visit.serious() == []
    visit.page.get_by_role("link", name="All errors").click()
    expect(visit.page.get_by_text("invalid_credentials")).to_be_visible()
    assert visit.complaints == []


def test_the_theme_is_chosen_in_the_account_menu_and_kept(desk: Visit, system: System) -> None:
    page = desk.page
    desk.sign_in(system.buyer, then="/orders")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)

    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("body")).not_to_have_css("background-color", light)
    page.wait_for_load_state()
    assert desk.path == "/orders"
    dark = page.evaluate(ground)
    page.reload()
    assert page.evaluate(ground) == dark
    assert desk.serious() == []
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="System").click()
    expect(page.locator("body")).to_have_css("background-color", light)


def test_a_slash_and_ctrl_k_go_to_the_search(desk: Visit, system: System) -> None:
    page = desk.page
    desk.sign_in(system.buyer, then="/orders")
    search = page.get_by_role("searchbox", name="Search everything")
    for keys in ("/", "Control+k"):
        page.locator("h1").click()
        page.keyboard.press(keys)
        expect(search).to_be_focused()
        expect(search).to_have_value("")
        search.blur()


def test_everybody_can_read_the_guides(visit: Visit) -> None:
    for path in ("/guides", "/guides/reference/webhooks"):
        visit.open(path)
        for scheme, width in (("light", 1280), ("dark", 390)):
            visit.look(scheme, width)
            assert visit.serious() == [], (path, scheme)
            assert visit.too_wide() == 0, (path, width)
    assert visit.complaints == []
