"""Signing in and out, the frame of the pages, and who is not allowed, in a real browser."""

from collections.abc import Callable
from itertools import product
from uuid import UUID

import pytest
from kit.pages import COOKIE
from kit.server import Server
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import SignIn, Visit
from tradewind.dashboard.shell.session import csrf_token

pytestmark = pytest.mark.xdist_group("browser")


def test_a_person_signs_in_and_out(desk: Visit, system: System) -> None:
    desk.open("/")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sign in")

    desk.sign_in_by_form(system.buyer)
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Overview")
    old = desk.cookie(COOKIE)["value"]
    desk.page.get_by_label("Account menu").click()
    desk.page.get_by_role("button", name="Sign out").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    kept = [cookie["name"] for cookie in desk.page.context.cookies()]
    assert kept == ["tradewind_zone"]
    assert system.api.call("GET", "/v1/me", token=old).status_code == 401


def test_signing_in_leads_to_where_one_wanted_to_go(desk: Visit, system: System) -> None:
    desk.sign_in_by_form(system.buyer, then="/?from=mail%20link")

    assert desk.path == "/?from=mail%20link"


def test_signing_in_leads_nowhere_else(api: Server) -> None:
    person = api.person()
    form = {"email": person.email, "password": person.password}

    for elsewhere in (
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "evil",
        "/sign-out",
    ):
        response = api.call("POST", "/sign-in", data={**form, "next": elsewhere})

        assert (response.status_code, response.headers["location"]) == (303, "/"), elsewhere
        api.launcher.secrets.add(response.cookies[COOKIE])


def test_a_wrong_password_is_said_beside_the_form(desk: Visit, system: System) -> None:
    desk.open("/sign-in")
    desk.page.get_by_label("E-mail").fill(system.buyer.email)
    desk.page.get_by_label("Password").fill("not the password")
    desk.page.get_by_role("button", name="Sign in").click()

    expect(desk.page.get_by_role("alert")).to_have_text("The e-mail or the password is wrong.")
    expect(desk.page.get_by_label("E-mail")).to_have_value(system.buyer.email)
    expect(desk.page.get_by_label("Password")).to_have_value("")


def test_a_locked_account_is_told_so_and_is_out_at_once(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer)
    system.ok(
        "POST",
        f"/v1/admin/accounts/{system.buyer.id}/lock",
        by=system.api.operator(),
        json={"reason": "test"},
    )

    # In another tab, because the page that is open leaves by itself at the same time.
    page = desk.page.context.new_page()
    page.goto(desk.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.get_by_label("E-mail").fill(system.buyer.email)
    page.get_by_label("Password").fill(system.buyer.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("This account is locked")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sign in", timeout=15_000)


def test_an_open_page_notices_that_its_session_ended(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer)
    token = desk.cookie(COOKIE)["value"]

    assert system.api.call("POST", "/v1/auth/logout", token=token).status_code == 204

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sign in", timeout=15_000)


def test_the_cookie_and_the_page_are_guarded(api: Server, signed_in: SignIn) -> None:
    person = api.person()
    page = signed_in(person).get("/")

    again = api.call("POST", "/sign-in", data={"email": person.email, "password": person.password})
    api.launcher.secrets.add(again.cookies[COOKIE])

    flags = again.headers["set-cookie"].partition("; ")[2]
    assert flags == "Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax"
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert "ratelimit" not in page.headers


def test_neither_a_key_nor_a_bearer_token_opens_a_page(api: Server) -> None:
    person = api.person()
    token = api.login(person)["access_token"]

    for answer in (api.call("GET", "/", by=person), api.call("GET", "/", token=token)):
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


def test_a_cookie_does_not_open_the_api(api: Server, signed_in: SignIn) -> None:
    assert signed_in(api.person()).get("/v1/me").status_code == 401


def test_a_forged_form_changes_nothing(api: Server, signed_in: SignIn) -> None:
    pages = signed_in(api.person())
    right = pages.token
    of_another_session = csrf_token(api.launcher.keyring(), UUID(int=7))

    for token, headers in (
        ("", {}),
        ("00000000wrong", {}),
        (of_another_session, {}),
        (right, {"origin": "https://evil.example"}),
        (right, {"origin": "null"}),
        (right, {"sec-fetch-site": "cross-site"}),
        (right, {"sec-fetch-site": "same-site"}),
    ):
        response = pages.client.post("/sign-out", data={"csrf": token}, headers=headers)

        assert response.status_code == 403, (token, headers)
        assert "nothing was changed" in response.text.lower()
        assert pages.get("/").status_code == 200


def test_a_foreign_page_cannot_sign_anybody_in(api: Server) -> None:
    person = api.person()

    answer = api.call(
        "POST",
        "/sign-in",
        data={"email": person.email, "password": person.password},
        headers={"origin": "https://evil.example"},
    )

    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_what_is_refused_is_a_page_for_people_and_a_document_for_programs(
    desk: Visit, system: System
) -> None:
    assert desk.open("/no/such/page") == 404
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Page not found")
    assert desk.serious() == []

    answer = system.api.call("GET", "/no/such/page")
    assert answer.headers["content-type"] == "application/problem+json"
    answer = system.api.call("GET", "/v1/nothing", headers={"accept": "text/html"})
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_content_is_one_key_away(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer)
    desk.open("/")

    desk.page.keyboard.press("Tab")
    expect(desk.page.get_by_role("link", name="Skip to content")).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator("main")).to_be_focused()


def test_it_works_without_scripts(open_desk: Callable[..., Visit], system: System) -> None:
    desk = open_desk(java_script_enabled=False)

    desk.sign_in_by_form(system.buyer)
    desk.page.get_by_label("Account menu").click()
    desk.page.get_by_role("button", name="Sign out").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_everybody_can_use_the_shell(desk: Visit, system: System) -> None:
    looks = [*product(("light", "dark"), (390, 1280))]
    desk.open("/sign-in")
    for scheme, width in looks:
        desk.look(scheme, width)
        assert desk.serious() == [], (scheme, width)

    desk.sign_in(system.api.operator())
    desk.page.get_by_label("Account menu").click()
    for scheme, width in looks:
        desk.look(scheme, width)
        assert desk.serious() == [], (scheme, width)
        assert desk.too_wide() == 0, (scheme, width)
