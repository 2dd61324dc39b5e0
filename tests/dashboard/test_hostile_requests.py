"""Requests that no browser sends: each gets an error page, and none a server error."""

import httpx
import pytest
from kit.pages import Pages
from kit.server import Server, ServerLauncher
from kit.system import System

from tradewind.auth.model import Plan
from tradewind.web.sql import take_from_budgets

FORM = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}

# As many pages as fit, and a second's more.
_SPEND = take_from_budgets("SELECT $1::text AS subject, 310 AS asked, 100000 AS step, 310 AS burst")


@pytest.mark.parametrize("referer", ["http://[", "http://a.example//["])
def test_a_referrer_that_is_no_url_leads_to_the_start(api: Server, referer: str) -> None:
    answer = httpx.post(f"{api.url}/sign-out", headers={**FORM, "referer": referer})

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


def test_an_origin_that_is_no_url_is_not_ours(api: Server) -> None:
    answer = httpx.post(f"{api.url}/sign-in", headers={**FORM, "origin": "http://["})

    assert answer.status_code == 403
    assert "forged_form" in answer.text


def test_a_way_back_that_is_no_path_is_not_taken(api: Server) -> None:
    assert httpx.get(f"{api.url}/sign-in?next=//[", headers=FORM).status_code == 200


def test_a_neighbour_cannot_plant_a_session(launcher: ServerLauncher) -> None:
    settings = {"TRADEWIND_PUBLIC_URL": "https://api.tradewind.example.com"}
    with launcher.serving(workers=1, settings=settings) as api:
        mallory = api.person()
        form = {"email": mallory.email, "password": mallory.password}
        answer = httpx.post(f"{api.url}/sign-in", data=form)
        ours, _, rest = answer.headers["set-cookie"].partition("=")
        token = rest.partition(";")[0]
        launcher.secrets.add(token)

        # A site beside ours, or a network without TLS, can set any cookie but those of this lead.
        planted = httpx.get(f"{api.url}/keys", headers={"cookie": f"tradewind_session={token}"})
        own = httpx.get(f"{api.url}/keys", headers={"cookie": f"{ours}={token}"})

    assert ours == "__Host-tradewind_session"
    assert rest.endswith("; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure")
    assert (planted.status_code, own.status_code) == (303, 200)


def test_pages_ask_a_marketplace_as_often_as_the_api_and_spend_nothing_of_it(
    system: System,
) -> None:
    buyer = system.api.person(plan=Plan.FREE)
    pages = Pages(system.api, buyer)

    looked = [pages.get("/products/sandbox/900000000001") for _ in range(40)]
    # A request more is granted every half second, perhaps just now.
    called = [system.call("GET", "/v1/webhooks", by=buyer) for _ in range(5)]
    searched = [pages.get("/products?platform=sandbox&q=dress") for _ in range(5)]
    others = pages.get("/keys")
    pages.client.close()

    assert looked[0].status_code == 200
    refused = [answer for answer in looked if answer.status_code == 429]
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    for answers in (looked, searched):
        assert 429 in {answer.status_code for answer in answers}, "it is one budget"
    assert {answer.status_code for answer in called} == {200}
    assert others.status_code == 200


def test_a_session_opens_so_many_pages_and_the_other_ones_are_free(api: Server) -> None:
    buyer = api.person()
    item = Pages(api, buyer)
    first = item.get("/keys")
    (row,) = api.fetch("SELECT id FROM session WHERE account_id = $1", buyer.uuid)
    other = Pages(api, buyer)

    api.fetch(_SPEND, f"pages:{row['id']}")
    seen = {item.get("/keys").status_code for _ in range(20)}
    freed = other.post("/account/sessions/end-others")
    for pages in (item, other):
        pages.client.close()

    assert first.status_code == 200
    assert 429 in seen
    assert freed.status_code == 303
