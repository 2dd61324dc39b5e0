"""The pages that people see without the dashboard, in a real browser."""

from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.conftest import Visit
from kit.server import Server
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("browser")


def serious(visit: Visit) -> list[str]:
    """What an accessibility checker finds serious on the page."""
    found = Axe().run(visit.page).response["violations"]
    return [v["id"] for v in found if v["impact"] in {"serious", "critical"}]


def test_the_reference_works_offline(visit: Visit) -> None:
    visit.open("/docs")

    expect(visit.page.get_by_text("/v1/auth/login")).to_be_visible()
    expect(visit.page.get_by_text("/v1/admin/audit")).to_be_visible()
    visit.page.get_by_text("/v1/auth/login").click()
    expect(visit.page.get_by_text("Credentials sent along are ignored.")).to_be_visible()
    assert visit.complaints == []


def test_the_reference_can_try_a_request(visit: Visit, api: Server) -> None:
    person = api.person()
    visit.open("/docs")

    visit.page.get_by_role("button", name="Authorize").first.click()
    visit.page.get_by_label("apiKey-value").or_(
        visit.page.locator(".auth-container").nth(1).locator("input")
    ).first.fill(person.key)
    visit.page.locator(".auth-container").nth(1).get_by_role("button", name="Apply").or_(
        visit.page.locator(".auth-container").nth(1).get_by_role("button", name="Authorize")
    ).first.click()
    visit.page.get_by_role("button", name="Close").last.click()
    visit.page.get_by_text("/v1/me", exact=True).click()
    visit.page.get_by_role("button", name="Try it out").click()
    visit.page.get_by_role("button", name="Execute").click()

    expect(visit.page.get_by_text(person.email).first).to_be_visible()
    assert visit.complaints == []
    kept = visit.page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert person.key not in kept, "the key is forgotten with the page"


def test_a_person_chooses_a_password_by_a_link(visit: Visit, api: Server) -> None:
    person = api.person()
    made = api.call(
        "POST", f"/v1/admin/accounts/{person.id}/password-link", by=api.operator()
    ).json()
    link = urlsplit(made["url"])
    visit.open(f"{link.path}?{link.query}")
    assert serious(visit) == []

    visit.page.get_by_label("New password").fill("a longer, better one")
    visit.page.get_by_label("The same again").fill("something else altogether")
    visit.page.get_by_role("button", name="Set password").click()
    again = visit.page.get_by_label("The same again")
    expect(again).to_have_accessible_description("The two passwords are not the same.")
    expect(again).to_have_value("")

    visit.page.get_by_label("New password").fill("a longer, better one")
    visit.page.get_by_label("The same again").fill("a longer, better one")
    visit.page.get_by_role("button", name="Set password").click()
    expect(visit.page.get_by_role("heading")).to_have_text("Your password is set")

    visit.open(f"{link.path}?{link.query}")
    expect(visit.page.get_by_role("heading")).to_have_text("The link does not work any more")


def test_a_problem_explains_itself(visit: Visit) -> None:
    visit.open("/problems/rate_limited")

    expect(visit.page.get_by_role("heading")).to_have_text("Too many requests")
    assert serious(visit) == []
    visit.page.get_by_role("link", name="All problems").click()
    expect(visit.page.get_by_text("invalid_credentials")).to_be_visible()
    assert visit.complaints == []
