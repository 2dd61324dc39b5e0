"""The operator pages in a real browser: accounts, orders, webhooks, marketplaces, the audit log."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from kit.system import System
from playwright.sync_api import expect

from browser.conftest import SignIn, Visit
from tradewind import ids
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("browser")

NASTY = "<img src=x onerror=alert(1)>"
PAGES = (
    "/accounts",
    "/accounts/new",
    "/admin/orders",
    "/endpoints",
    "/queue",
    "/performance",
    "/platforms",
    "/platforms/sandbox",
    "/audit",
)


def fresh_email() -> str:
    return f"{ids.new().hex}@new.example"


def test_an_operator_makes_an_account_and_its_owner_chooses_a_password(
    desk: Visit, system: System, open_desk: Callable[..., Visit]
) -> None:
    email = fresh_email()
    desk.sign_in(system.api.operator(), then="/accounts")
    assert desk.serious() == []
    desk.page.get_by_role("link", name="New account").click()
    assert desk.serious() == []
    desk.page.get_by_label("E-mail").fill("nobody at all")
    desk.page.get_by_label("Name").fill(NASTY)
    desk.page.get_by_role("button", name="Create account").click()
    expect(desk.page.get_by_text("Enter a valid e-mail address")).to_be_visible()
    expect(desk.page.get_by_label("Name")).to_have_value(NASTY)
    assert desk.serious() == []

    desk.page.get_by_label("E-mail").fill(system.buyer.email)
    desk.page.get_by_role("button", name="Create account").click()
    expect(desk.page.locator("#error-email")).to_contain_text("There is already an account")
    desk.page.get_by_label("E-mail").fill(email)
    desk.page.get_by_label("approver").check()
    desk.page.get_by_label("Plan").select_option("enterprise")
    desk.page.get_by_role("button", name="Create account").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text(email)
    link = desk.page.get_by_role("region", name="Shown once").locator("code").inner_text()
    system.api.launcher.secrets.add(parse_qs(urlsplit(link).query)["token"][0])
    assert "token" not in desk.path
    assert desk.serious() == []
    desk.page.reload()
    expect(desk.page.get_by_role("region", name="Shown once")).to_have_count(0)
    expect(desk.page.get_by_text("Not set", exact=True)).to_be_visible()
    expect(desk.page.get_by_text(NASTY).first).to_be_visible()
    owner = open_desk()
    at = urlsplit(link)
    owner.open(f"{at.path}?{at.query}")
    owner.page.get_by_label("New password").fill("a longer, better one")
    owner.page.get_by_label("Repeat password").fill("a longer, better one")
    owner.page.get_by_role("button", name="Set password").click()
    expect(owner.page.get_by_role("heading")).to_have_text("Password set")
    made = system.ok("GET", f"/v1/admin/accounts?email={email}", by=system.api.operator())["items"]
    assert (made[0]["roles"], made[0]["plan"]) == (["approver", "buyer"], "enterprise")


def test_an_account_is_locked_and_let_in_again(desk: Visit, system: System) -> None:
    desk.sign_in(system.api.operator(), then=f"/accounts?q={system.buyer.email[:10].upper()}")
    desk.page.get_by_role("link", name=system.buyer.email).click()

    desk.page.get_by_role("button", name="Lock account").click()
    expect(desk.page.locator("#error-reason")).to_be_visible()
    assert system.call("GET", "/v1/me").status_code == 200
    desk.page.get_by_label("Reason for locking").fill(NASTY)
    desk.page.get_by_role("button", name="Lock account").click()
    expect(desk.page.locator(".notice-bad")).to_contain_text(NASTY)
    assert desk.serious() == []
    system.refused("GET", "/v1/me", 403, "account_locked")
    desk.open("/accounts?locked=true")
    expect(desk.page.locator("tr", has_text=system.buyer.email)).to_contain_text(NASTY)

    desk.page.get_by_role("link", name=system.buyer.email).click()
    desk.page.get_by_role("button", name="Unlock").click()
    expect(desk.page.get_by_role("status")).to_contain_text("Account unlocked")
    assert system.call("GET", "/v1/me").status_code == 200


def test_roles_and_plan_are_changed_by_a_form(desk: Visit, system: System) -> None:
    operator = system.api.operator()
    desk.sign_in(operator, then=f"/accounts/{system.buyer.id}")

    desk.page.get_by_label("buyer").uncheck()
    desk.page.get_by_role("button", name="Change roles").click()
    expect(desk.page.locator("#error-roles")).to_have_text("Select at least one role.")
    desk.page.get_by_label("buyer").check()
    desk.page.get_by_label("approver").check()
    desk.page.get_by_role("button", name="Change roles").click()
    expect(desk.page.get_by_role("status")).to_have_text("Roles changed to approver, buyer.")
    desk.page.get_by_label("Plan").select_option("free")
    desk.page.get_by_role("button", name="Change plan").click()
    expect(desk.page.get_by_role("status")).to_have_text("Plan changed to free.")
    me = system.ok("GET", "/v1/me")
    assert (me["roles"], me["plan"]) == (["approver", "buyer"], "free")
    desk.page.get_by_role("button", name="Create password link").click()
    link = desk.page.get_by_role("region", name="Shown once").locator("code").inner_text()
    system.api.launcher.secrets.add(parse_qs(urlsplit(link).query)["token"][0])

    desk.open(f"/accounts/{operator.id}")
    expect(desk.page.get_by_role("button", name="Lock account")).to_have_count(0)
    desk.page.get_by_label("buyer").check()
    desk.page.get_by_label("operator").uncheck()
    desk.page.get_by_role("button", name="Change roles").click()
    expect(desk.page.locator("#error-roles")).to_contain_text("your own account")


def test_the_audit_log_tells_who_did_what_and_is_filtered(desk: Visit, system: System) -> None:
    operator = system.api.operator()
    system.ok(
        "POST", f"/v1/admin/accounts/{system.buyer.id}/lock", by=operator, json={"reason": NASTY}
    )
    desk.sign_in(operator, then="/audit")
    assert desk.serious() == []

    desk.page.get_by_label("Account (id or e-mail)").fill(system.buyer.email)
    desk.page.get_by_label("Action").select_option("account.locked")
    desk.page.get_by_role("button", name="Filter").click()

    rows = desk.page.locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(operator.email)
    expect(rows).to_contain_text(NASTY)
    expect(rows).to_contain_text("127.0.0.1")
    rows.get_by_text("Credential and request").click()
    rows.get_by_role("link", name="req_").click()
    expect(rows).to_have_count(1)
    desk.open("/audit?account=nobody@nowhere.example")
    expect(desk.page.get_by_text("There is no account with this id")).to_be_visible()
    desk.open("/audit?since=2020-01-01&until=2020-01-02")
    expect(desk.page.get_by_role("heading", name="No matching entries")).to_be_visible()
    desk.open("/audit?since=yesterday")
    expect(desk.page.locator("#error-since")).to_contain_text("Enter a time such as")
    expect(desk.page.locator("tbody tr")).to_have_count(0)
    desk.open("/audit?limit=1")
    desk.page.get_by_role("link", name="Next page").click()
    expect(desk.page.get_by_role("link", name="First page")).to_be_visible()


def test_failing_receivers_and_the_queue_are_seen_across_accounts(
    desk: Visit, system: System
) -> None:
    hook = system.ok(
        "POST",
        "/v1/webhooks",
        json={"url": "http://127.0.0.1:9/%3Cb%3E", "events": ["order.updated"]},
    )
    system.order()
    statement = "SELECT failing_since FROM subscription_health WHERE subscription_id = $1"
    uuid = ids.SUBSCRIPTION.read(hook["id"])
    desk.sign_in(system.api.operator(), then="/endpoints")
    for _ in range(100):
        if system.api.fetch(statement, uuid):
            break
        desk.page.wait_for_timeout(100)

    desk.page.reload()
    row = desk.page.locator("tr", has_text=hook["id"])
    expect(row).to_contain_text(system.buyer.email)
    expect(row).to_contain_text("Connection failed")
    assert desk.serious() == []
    desk.open("/queue")
    expect(desk.page.locator("tr", has_text=hook["id"])).to_contain_text(system.buyer.email)
    assert desk.serious() == []
    desk.page.get_by_role("link", name="By account").click()
    expect(desk.page.locator("tr", has_text=system.buyer.email)).to_be_visible()
    assert desk.serious() == []
    desk.open("/queue?only=failing")
    desk.page.locator("tr", has_text=hook["id"]).get_by_role("link", name="127.0.0.1:9").click()
    assert desk.path == f"/endpoints/{hook['id']}"
    expect(desk.page.locator("#state .notice")).to_contain_text("Connection failed since")


def test_the_performance_page_is_read_everywhere_and_updates_by_itself(
    open_desk: Callable[..., Visit], system: System
) -> None:
    system.paid()
    desk = open_desk()
    desk.page.clock.install()
    desk.sign_in(system.api.operator(), then="/performance")

    expect(desk.page.get_by_role("row").filter(has_text="PID").first).to_contain_text("Running")
    expect(desk.page.get_by_role("row").filter(has_text="Order to payment")).to_contain_text("s")
    published = desk.page.get_by_role("row").filter(has_text="Commit to arrival, published")
    expect(published).to_contain_text("one webhook, 60 events a second")
    for scheme, width in (("light", 1280), ("dark", 390)):
        desk.look(scheme, width)
        assert desk.serious() == [], (scheme, width)
        assert desk.too_wide() == 0, (scheme, width)
    desk.page.get_by_text("Show as table").click()
    with desk.page.expect_response(desk.url + "/performance") as updated:
        desk.page.clock.fast_forward(10_000)
    assert updated.value.status == 200
    expect(desk.page.get_by_role("table").first).to_be_visible()


def test_operators_look_at_every_order(desk: Visit, system: System) -> None:
    order = system.order(external_id=NASTY, remark=NASTY)
    desk.sign_in(system.api.operator(), then=f"/admin/orders?account={system.buyer.id}")
    assert desk.serious() == []

    row = desk.page.get_by_role("row").filter(has_text=order["id"])
    title = order["items"][0]["title_translated"]
    expect(row.get_by_role("img", name=title)).to_be_visible()
    row.get_by_role("link", name=title).click()

    expect(desk.page.get_by_role("heading", level=1)).to_contain_text(title)
    expect(desk.page.get_by_text(f"Order {order['id']}")).to_be_visible()
    expect(desk.page.get_by_text(NASTY)).to_have_count(2)
    expect(desk.page.get_by_role("cell", name="Order accepted")).to_be_visible()
    assert desk.serious() == []
    desk.open("/admin/orders?status=completed&platform=taobao")
    expect(desk.page.get_by_role("heading", name="No matching orders")).to_be_visible()


def test_a_marketplace_is_connected_by_a_code(desk: Visit, system: System) -> None:
    desk.sign_in(system.api.operator(), then="/platforms")
    assert desk.serious() == []
    desk.page.get_by_role("link", name="1688", exact=True).click()
    before = system.api.fetch("SELECT count(*) AS n FROM audit WHERE subject = 'alibaba'")[0]["n"]
    assert desk.serious() == []
    there = desk.page.get_by_role("link", name="Open in a new tab").get_attribute("href")
    state = parse_qs(urlsplit(str(there)).query)["state"][0]
    address = desk.page.get_by_label("Return URL")
    address.fill(f"https://elsewhere.example/?code=not-a-code&state={state}")
    desk.page.get_by_role("button", name="Authorise").click()
    expect(desk.page.locator("#error-returned")).to_contain_text("rejected this code")
    expect(address).to_have_value("")
    assert desk.serious() == []

    there = desk.page.get_by_role("link", name="Open in a new tab").get_attribute("href")
    back = urlsplit(httpx.get(str(there)).headers["location"])
    system.api.launcher.secrets.add(parse_qs(back.query)["code"][0])
    desk.page.goto(f"{system.api.url}/?{back.query}")
    assert desk.serious() == []
    desk.page.get_by_role("button", name="Connect 1688").click()

    expect(desk.page.get_by_role("status").first).to_contain_text("is connected")
    after = system.api.fetch("SELECT count(*) AS n FROM audit WHERE subject = 'alibaba'")[0]["n"]
    assert after == before + 1


def test_a_code_that_another_session_asked_for_connects_nothing(
    system: System, enter: SignIn
) -> None:
    page = enter(system.api.operator()).get("/platforms/alibaba").text
    state = re.findall(r"state=(alibaba\.[\w.-]+)", page)[0]

    answer = enter(system.api.operator()).post("/platforms/alibaba", code="theirs", state=state)

    assert answer.status_code == 422
    assert "started by another session" in answer.text


def test_credentials_are_set_and_never_shown_back(system: System, enter: SignIn) -> None:
    operator = enter(system.api.operator())
    page = operator.get("/platforms/taobao").text
    secret = f"wrong-{ids.new().hex}"
    system.api.launcher.secrets.add(secret)

    nothing = operator.post("/platforms/taobao")
    too_long = operator.post("/platforms/taobao", app_key="x" * 300, app_secret=secret)
    unknown = operator.get("/platforms/nowhere")

    assert "Stored, never shown" in page
    assert (nothing.status_code, "Enter something to save." in nothing.text) == (422, True)
    assert (too_long.status_code, 'id="error-app_key"' in too_long.text) == (422, True)
    assert secret not in too_long.text
    assert unknown.status_code == 404
    shown = system.ok("GET", "/v1/admin/platforms/taobao", by=system.api.operator())
    assert shown["app_key"] != "x" * 300


def test_nobody_else_reaches_these_pages(system: System, enter: SignIn) -> None:
    for person in (system.buyer, system.api.person(roles=(Role.APPROVER,))):
        pages = enter(person)
        for path in (*PAGES, f"/accounts/{person.id}"):
            answer = pages.get(path)
            assert answer.status_code == 403, path
            assert answer.headers["content-type"].startswith("text/html")
        for path, form in (
            (f"/accounts/{person.id}/roles", {"roles": "operator"}),
            (f"/accounts/{person.id}/plan", {"plan": "enterprise"}),
            ("/accounts/new", {"email": fresh_email(), "roles": "operator"}),
            (f"/accounts/{system.approver.id}/lock", {"reason": "because"}),
            (f"/accounts/{system.approver.id}/password-link", {}),
            ("/platforms/sandbox", {"app_key": "1", "app_secret": "2"}),
            ("/platforms/sandbox/disconnect", {}),
        ):
            assert pages.post(path, **form).status_code == 403, path
    assert system.ok("GET", "/v1/me")["roles"] == ["buyer"]
    assert system.call("GET", "/v1/me", by=system.approver).status_code == 200


def test_a_form_without_its_token_changes_nothing_and_a_missing_id_is_missing(
    system: System, enter: SignIn
) -> None:
    operator = enter(system.api.operator())
    for path, form in (
        (f"/accounts/{system.buyer.id}/lock", {"reason": "because"}),
        (f"/accounts/{system.buyer.id}/roles", {"roles": "operator"}),
        ("/platforms/sandbox/disconnect", {"csrf": ""}),
    ):
        assert operator.client.post(path, data=form).status_code == 403
    nobody = ids.ACCOUNT.show(ids.new())
    assert operator.get(f"/accounts/{nobody}").status_code == 404
    assert operator.post(f"/accounts/{nobody}/lock", reason="x").status_code == 404
    assert operator.get(f"/admin/orders/{ids.ORDER.show(ids.new())}").status_code == 404
    assert operator.get("/accounts/acc_nonsense").status_code == 404
    assert system.ok("GET", "/v1/me")["roles"] == ["buyer"]
    listed = system.ok("GET", "/v1/platforms")["items"]
    assert [item["configured"] for item in listed if item["platform"] == "sandbox"] == [True]
