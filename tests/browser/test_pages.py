"""The public pages in a real browser: API reference and error pages."""

from urllib.parse import urlsplit

import pytest
from kit.server import Server
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import Visit

pytestmark = pytest.mark.xdist_group("browser")


def test_the_reference_works_offline_and_can_try_a_request(visit: Visit, api: Server) -> None:
    person = api.person()
    page = visit.page
    visit.open("/docs")

    expect(page.get_by_text("/v1/auth/login")).to_be_visible()
    expect(page.get_by_text("/v1/admin/audit")).to_be_visible()
    page.get_by_text("/v1/auth/login").click()
    expect(page.get_by_text("Credentials sent along are ignored.")).to_be_visible()

    page.get_by_role("button", name="Authorize").first.click()
    page.get_by_label("apiKey-value").or_(
        page.locator(".auth-container").nth(1).locator("input")
    ).first.fill(person.key)
    page.locator(".auth-container").nth(1).get_by_role("button", name="Apply").or_(
        page.locator(".auth-container").nth(1).get_by_role("button", name="Authorize")
    ).first.click()
    page.get_by_role("button", name="Close").last.click()
    page.get_by_text("/v1/me", exact=True).click()
    operation = page.locator("#operations-Account-get_me")
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()

    expect(page.get_by_text(person.email).first).to_be_visible()
    assert visit.complaints == []
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert person.key not in kept, "the key is forgotten with the page"


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
    assert desk.path == "/orders"
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    assert desk.serious() == []
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="System").click()
    assert page.evaluate(ground) == light


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
