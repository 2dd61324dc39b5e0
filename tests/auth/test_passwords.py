"""Passwords: changed with the old one, or once with a password link."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
from kit.server import Person, Server

from tradewind.auth import passwords

NEW = "a longer, better one"


def change(api: Server, person: Person, current: str, new: str) -> httpx.Response:
    body = {"current_password": current, "new_password": new}
    return api.call("POST", "/v1/me/password", by=person, json=body)


def can_log_in(api: Server, person: Person, password: str) -> bool:
    body = {"email": person.email, "password": password}
    return api.call("POST", "/v1/auth/login", json=body).status_code == 200


def make_link(api: Server, person: Person) -> str:
    path = f"/v1/admin/accounts/{person.id}/password-link"
    answer = api.call("POST", path, by=api.operator())
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    url: str = answer.json()["url"]
    token = parse_qs(urlsplit(url).query)["token"][0]
    api.launcher.secrets.add(token)
    return token


def choose(api: Server, token: str, password: str, again: str | None = None) -> httpx.Response:
    form = {"token": token, "password": password, "again": again or password}
    return api.call("POST", "/password", data=form)


def test_a_changed_password_ends_every_session_and_no_key(api: Server) -> None:
    person = api.person()
    tokens = [api.login(person)["access_token"] for _ in range(2)]

    answer = change(api, person, person.password, NEW)

    assert answer.status_code == 204
    for token in tokens:
        assert api.call("GET", "/v1/me", token=token).status_code == 401
    assert api.call("GET", "/v1/me", by=person).status_code == 200
    assert can_log_in(api, person, NEW)
    assert not can_log_in(api, person, person.password)


def test_the_current_password_is_asked_for(api: Server) -> None:
    person = api.person()

    answer = change(api, person, "not the password", NEW)

    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {
            "pointer": "/current_password",
            "code": "wrong_password",
            "message": "This is not your password.",
        }
    ]
    assert can_log_in(api, person, person.password)


def test_guessing_by_a_stolen_key_stops_after_ten(clock_api: Server) -> None:
    person = clock_api.person()
    for _ in range(10):
        assert change(clock_api, person, "not the password", NEW).status_code == 422

    stopped = change(clock_api, person, person.password, NEW)

    assert stopped.status_code == 403
    assert stopped.json()["code"] == "account_locked"
    assert "retry-after" in stopped.headers


def test_of_two_changes_at_once_one_is_too_late(api: Server) -> None:
    person = api.person()

    with ThreadPoolExecutor(4) as threads:
        answers = list(
            threads.map(
                lambda number: change(api, person, person.password, f"{NEW} {number}").status_code,
                range(4),
            )
        )

    assert sorted(answers) == [204, 422, 422, 422]


def test_a_changed_password_ends_the_links_that_were_made_before(api: Server) -> None:
    person = api.person()
    token = make_link(api, person)

    assert change(api, person, person.password, NEW).status_code == 204

    assert choose(api, token, "yet another password").status_code == 410


def test_a_short_password_is_rejected(api: Server) -> None:
    answer = change(api, api.person(), "whatever it is", "only eleven")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/new_password"


def test_a_link_sets_a_password_once(api: Server) -> None:
    person = api.person()
    session = api.login(person)["access_token"]
    token = make_link(api, person)
    assert "Choose a password" in api.call("GET", f"/password?token={token}").text

    done = choose(api, token, NEW)

    assert done.status_code == 200
    assert can_log_in(api, person, NEW)
    assert api.call("GET", "/v1/me", token=session).status_code == 401
    assert choose(api, token, "yet another password").status_code == 410
    assert api.call("GET", f"/password?token={token}").status_code == 410
    assert can_log_in(api, person, NEW)


def test_of_two_who_hold_a_link_one_may_use_it(api: Server) -> None:
    token = make_link(api, api.person())

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: choose(api, token, NEW).status_code, range(4)))

    assert sorted(answers) == [200, 410, 410, 410]


def test_a_rejected_password_does_not_use_the_link_up(api: Server) -> None:
    person = api.person()
    token = make_link(api, person)

    assert choose(api, token, "short").status_code == 422
    assert choose(api, token, NEW, "something else").status_code == 422
    assert choose(api, token, NEW).status_code == 200


def test_a_link_works_for_a_day_and_a_newer_one_replaces_it(clock_api: Server) -> None:
    person = clock_api.person()
    older = make_link(clock_api, person)
    newer = make_link(clock_api, person)
    assert clock_api.call("GET", f"/password?token={older}").status_code == 410
    assert clock_api.call("GET", f"/password?token={newer}").status_code == 200

    clock_api.move_clock(timedelta(hours=24, seconds=1))

    assert choose(clock_api, newer, NEW).status_code == 410


def test_a_token_with_markup_in_it_is_shown_as_text(api: Server) -> None:
    answer = choose(api, '"><script>alert(1)</script>', "short")

    assert "<script>" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_without_an_account_a_password_costs_the_same_work() -> None:
    assert not passwords.HASHER.check_needs_rehash(passwords.DUMMY_HASH)
