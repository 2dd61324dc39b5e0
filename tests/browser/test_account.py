"""The account page and API keys in a real browser: sessions, the password, keys shown once."""

from collections.abc import Callable
from typing import Any

import pytest
from kit.server import Person, Server
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import SignIn, Visit
from tradewind import ids

pytestmark = pytest.mark.xdist_group("browser")

NEW = "a longer, better one"
EVIL = "<img src=x onerror=alert(1)> 仓库同步"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0"


def audited(api: Server, person: Person) -> list[str]:
    rows = api.fetch("SELECT action FROM audit WHERE account_id = $1 ORDER BY id", person.uuid)
    return [row["action"] for row in rows]


def live_sessions(api: Server, person: Person) -> int:
    return len(
        api.fetch("SELECT id FROM session WHERE account_id = $1 AND ended_at IS NULL", person.uuid)
    )


def test_a_key_is_made_shown_once_used_and_revoked(desk: Visit, system: System) -> None:
    page = desk.page
    desk.sign_in(system.buyer, then="/keys")
    page.get_by_label("Name", exact=True).fill(EVIL)
    page.get_by_role("button", name="Create API key").click()

    once = page.get_by_role("region", name="Shown once")
    expect(once).to_contain_text(EVIL)
    key = once.locator("pre").first.inner_text().strip()
    system.api.launcher.secrets.add(key)
    assert desk.path == "/keys"
    assert desk.serious() == []
    once.get_by_role("button", name="Copy code").click()
    expect(once.get_by_role("button", name="Copy code")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == key
    once.get_by_role("button", name="Copy Shell command").click()
    expect(once.get_by_role("button", name="Copy Shell command")).to_have_text("Copied")
    line = page.evaluate("navigator.clipboard.readText()")
    assert line.startswith(f"curl -H 'x-api-key: {key}' http")
    assert line.endswith("/v1/me")

    with_it = {"x-api-key": key}
    row = page.get_by_role("row").filter(has_text=EVIL)
    expect(row).to_contain_text("Never")
    assert system.api.call("GET", "/v1/me", headers=with_it).status_code == 200
    page.reload()
    expect(once).to_have_count(0)
    assert key not in page.content()
    expect(row).not_to_contain_text("Never")

    row.get_by_text("Revoke", exact=True).click()
    assert desk.serious() == []
    row.get_by_role("button", name="Revoke API key").click()
    expect(page.get_by_role("status")).to_contain_text("API key revoked")
    assert system.api.call("GET", "/v1/me", headers=with_it).status_code == 401
    expect(row).to_contain_text("Revoked")
    expect(row.get_by_text("Revoke", exact=True)).to_have_count(0)
    assert audited(system.api, system.buyer)[-2:] == ["api_key.created", "api_key.revoked"]

    page.reload()
    expect(page.get_by_role("status")).to_have_count(0)
    page.get_by_role("link", name="Active").click()
    expect(row).to_have_count(0)
    page.get_by_role("link", name="Revoked").click()
    expect(row).to_be_visible()


def test_keys_work_without_scripts(open_desk: Callable[..., Visit], system: System) -> None:
    desk = open_desk(java_script_enabled=False)
    desk.sign_in(system.buyer, then="/keys")

    desk.page.get_by_label("Name", exact=True).fill("plain")
    desk.page.get_by_role("button", name="Create API key").click()

    key = desk.page.locator(".once pre").first.inner_text().strip()
    system.api.launcher.secrets.add(key)
    expect(desk.page.locator(".once .copy").first).to_be_hidden()
    row = desk.page.get_by_role("row").filter(has_text="plain")
    row.get_by_text("Revoke", exact=True).click()
    row.get_by_role("button", name="Revoke API key").click()
    expect(row).to_contain_text("Revoked")


def test_a_wrong_name_is_said_beside_the_field(api: Server, signed_in: SignIn) -> None:
    person = api.person()
    pages = signed_in(person)

    for name in ("", "   ", "x" * 101):
        answer = pages.post("/keys", name=name)
        assert answer.status_code == 422
        assert 'id="error-name"' in answer.text
        assert f'value="{name}"' in answer.text
    api.fetch(
        "INSERT INTO api_key (id, account_id, name, prefix, hash, key_id, created_at)"
        " SELECT gen_random_uuid(), $1, 'k' || n, 'twk_', decode(md5(random()::text), 'hex'),"
        " 'x', now() FROM generate_series(1, 99) n",
        person.uuid,
    )
    full = pages.post("/keys", name="one too many")

    assert full.status_code == 409
    assert "revoke one first" in full.text
    assert 'value="one too many"' in full.text
    first = pages.get("/keys?state=working").text
    assert first.count("Revoke API key") == 25
    assert 'rel="next"' in first


def test_keys_of_others_and_forged_forms_are_left_alone(api: Server, signed_in: SignIn) -> None:
    mine, other = api.person(), api.person()
    pages = signed_in(mine)
    theirs = api.fetch("SELECT id FROM api_key WHERE account_id = $1", other.uuid)[0]["id"]
    own = api.fetch("SELECT id FROM api_key WHERE account_id = $1", mine.uuid)[0]["id"]

    stranger = pages.post(f"/keys/{ids.API_KEY.show(theirs)}/revoke")
    forged = pages.client.post(f"/keys/{ids.API_KEY.show(own)}/revoke", data={"csrf": ""})
    made = pages.client.post("/keys", data={"name": "forged"})

    assert (stranger.status_code, forged.status_code, made.status_code) == (404, 403, 403)
    assert pages.post("/keys/nonsense/revoke").status_code == 404
    assert api.call("GET", "/v1/me", by=other).status_code == 200
    assert api.call("GET", "/v1/me", by=mine).status_code == 200
    assert audited(api, mine) == ["account.created", "api_key.created"]


def test_sessions_are_ended_one_by_one_or_all_others(
    open_desk: Callable[..., Visit], system: System
) -> None:
    desk, other = open_desk(), open_desk(user_agent=FIREFOX)
    token = system.api.login(system.buyer)["access_token"]
    other.sign_in_by_form(system.buyer)
    desk.sign_in_by_form(system.buyer, then="/account")
    rows = desk.page.locator("#sessions tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.locator(".badge", has_text="This session")).to_have_count(1)
    expect(rows.filter(has_text="python-httpx")).to_have_count(1)
    assert desk.serious() == []

    firefox = rows.filter(has_text="Firefox on Windows")
    firefox.get_by_text("End", exact=True).click()
    firefox.get_by_role("button", name="End session").click()

    expect(desk.page.get_by_role("status")).to_have_text("Session ended.")
    expect(rows).to_have_count(2)
    other.open("/")
    expect(other.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert system.api.call("GET", "/v1/me", token=token).status_code == 200

    desk.page.get_by_text("End all other sessions").first.click()
    desk.page.get_by_role("button", name="End all other sessions").click()
    expect(desk.page.get_by_role("status")).to_have_text("1 other session ended.")
    for _ in range(4):  # whichever process answers
        assert system.api.call("GET", "/v1/me", token=token).status_code == 401
    assert audited(system.api, system.buyer)[-2:] == ["session.ended", "session.ended"]
    expect(desk.page.get_by_text("End all other sessions")).to_have_count(0)


def test_sessions_of_others_and_forged_forms_are_left_alone(api: Server, signed_in: SignIn) -> None:
    mine, other = api.person(), api.person()
    pages, theirs = signed_in(mine), signed_in(other)
    api.login(mine)
    row = api.fetch("SELECT id FROM session WHERE account_id = $1", other.uuid)[0]
    path = f"/account/sessions/{ids.SESSION.show(row['id'])}/end"

    assert pages.post(path).status_code == 404
    assert theirs.client.post(path, data={"csrf": ""}).status_code == 403
    assert pages.client.post("/account/sessions/end-others", data={"csrf": ""}).status_code == 403

    assert theirs.get("/").status_code == 200
    assert live_sessions(api, mine) == 2
    ended = theirs.post(path)
    assert (ended.status_code, ended.headers["location"]) == (303, "/sign-in")
    assert theirs.get("/").status_code == 303


def test_a_password_is_changed(open_desk: Callable[..., Visit], system: System) -> None:
    desk, other = open_desk(), open_desk()
    page = desk.page
    other.sign_in(system.buyer)
    desk.sign_in(system.buyer, then="/account")

    def change(current: str, new: str, again: str) -> None:
        page.get_by_label("Current password").fill(current)
        page.get_by_label("New password", exact=True).fill(new)
        page.get_by_label("Repeat password").fill(again)
        page.get_by_role("button", name="Change password").click()

    def said_at(label: str, text: str) -> None:
        field = page.get_by_label(label, exact=True)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page.locator(f"#error-{field.get_attribute('name')}")).to_contain_text(text)
        expect(field).to_have_value("")

    change("not the password", NEW, NEW)
    said_at("Current password", "This is not your password.")
    change(system.buyer.password, "short", "short")
    said_at("New password", "12")
    change(system.buyer.password, NEW, "something else")
    said_at("Repeat password", "The passwords do not match.")
    assert desk.serious() == []
    assert live_sessions(system.api, system.buyer) == 2

    change(system.buyer.password, NEW, NEW)

    expect(page.get_by_role("status")).to_contain_text("sign in with the new password.")
    assert desk.path == "/sign-in?changed=true"
    other.open("/")
    expect(other.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert system.api.call("GET", "/v1/me", by=system.buyer).status_code == 200
    page.get_by_label("E-mail").fill(system.buyer.email)
    page.get_by_label("Password").fill(NEW)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    system.api.launcher.secrets |= {NEW, desk.cookie("tradewind_session")["value"]}


def test_guesses_of_the_password_are_stopped(api: Server, signed_in: SignIn) -> None:
    person = api.person()
    pages = signed_in(person)
    form: dict[str, Any] = {"current_password": "wrong", "new_password": NEW, "again": NEW}
    token = pages.token

    for _ in range(10):
        assert (
            pages.client.post("/account/password", data={"csrf": token, **form}).status_code == 422
        )
    stopped = pages.client.post("/account/password", data={"csrf": token, **form})

    assert stopped.status_code == 403
    assert "Too many logins failed" in stopped.text
    assert pages.client.post("/account/password", data=form).status_code == 403


def test_everybody_can_use_the_pages(desk: Visit, system: System) -> None:
    desk.sign_in(system.buyer)
    for path in ("/account", "/keys", "/problems", "/no/such/page"):
        desk.open(path)
        for scheme in ("light", "dark"):
            desk.look(scheme, 390)
            expect(desk.page.get_by_role("navigation", name="Pages")).to_be_visible()
            assert desk.serious() == [], (path, scheme)
            assert desk.too_wide() == 0, (path, scheme)
