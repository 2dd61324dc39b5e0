"""Requests that no browser of a person sends: each is refused in a page, and none is an error."""

import httpx
import pytest
from kit.server import Server, Workshop

FORM = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}


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


def test_a_neighbour_cannot_plant_a_session(workshop: Workshop) -> None:
    settings = {"TRADEWIND_PUBLIC_URL": "https://api.tradewind.example.com"}
    with workshop.serving(workers=1, settings=settings) as api:
        mallory = api.person()
        form = {"email": mallory.email, "password": mallory.password}
        answer = httpx.post(f"{api.url}/sign-in", data=form)
        ours, _, rest = answer.headers["set-cookie"].partition("=")
        token = rest.partition(";")[0]
        workshop.secrets.add(token)

        # A site beside ours, or a network without TLS, can set any cookie but those of this lead.
        planted = httpx.get(f"{api.url}/keys", headers={"cookie": f"tradewind_session={token}"})
        own = httpx.get(f"{api.url}/keys", headers={"cookie": f"{ours}={token}"})

    assert ours == "__Host-tradewind_session"
    assert rest.endswith("; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure")
    assert (planted.status_code, own.status_code) == (303, 200)
