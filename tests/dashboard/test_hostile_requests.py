"""Requests that no browser of a person sends: each is refused in a page, and none is an error."""

import httpx
import pytest
from kit.server import Server

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
