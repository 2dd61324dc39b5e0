"""Credentials: API keys, access tokens, both and neither, on every process."""

from datetime import timedelta

import pytest
from kit.server import Server


def test_both_kinds_of_credentials_work_on_the_same_endpoint(api: Server) -> None:
    person = api.person()
    token = api.login(person)["access_token"]

    by_key = api.call("GET", "/v1/me", by=person)
    by_token = api.call("GET", "/v1/me", token=token)

    assert by_key.status_code == by_token.status_code == 200
    assert by_key.json()["id"] == by_token.json()["id"] == person.id


def test_both_credentials_of_one_account_at_once_are_one_caller(api: Server) -> None:
    person = api.person()
    token = api.login(person)["access_token"]

    answer = api.call("GET", "/v1/me", by=person, token=token)

    assert answer.status_code == 200
    assert answer.json()["usage"]["remaining"] >= 1


def test_credentials_of_two_accounts_at_once_are_rejected(api: Server) -> None:
    person, other = api.person(), api.person()
    token = api.login(other)["access_token"]

    answer = api.call("GET", "/v1/me", by=person, token=token)

    assert answer.status_code == 401
    assert answer.json()["code"] == "invalid_credentials"


def test_a_valid_key_does_not_make_up_for_an_invalid_token(api: Server) -> None:
    answer = api.call("GET", "/v1/me", by=api.person(), token="nonsense")

    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "credentials_missing"),
        ({"x-api-key": ""}, "invalid_credentials"),
        ({"x-api-key": "twk_short"}, "invalid_credentials"),
        ({"x-api-key": "twk_" + "0" * 38}, "invalid_credentials"),
        ({"authorization": "Bearer"}, "invalid_credentials"),
        ({"authorization": "Basic dTpw"}, "invalid_credentials"),
        ({"authorization": "Bearer a.b.c"}, "invalid_credentials"),
        ({"authorization": "Bearer eyJhbGciOiJub25lIn0.e30."}, "invalid_credentials"),
    ],
)
def test_missing_and_wrong_credentials_get_401(
    api: Server, headers: dict[str, str], code: str
) -> None:
    answer = api.call("GET", "/v1/me", headers=headers)

    assert answer.status_code == 401
    assert answer.json()["code"] == code
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_typo_in_a_key_is_told_from_an_unknown_key(api: Server) -> None:
    person = api.person()
    typo = person.key[:-1] + ("a" if person.key[-1] != "a" else "b")

    answer = api.call("GET", "/v1/me", headers={"x-api-key": typo})

    assert answer.status_code == 401
    assert "checksum" in answer.json()["detail"]


def test_an_access_token_is_valid_for_90_days_and_no_longer(clock_api: Server) -> None:
    person = clock_api.person()
    tokens = clock_api.login(person)
    token = tokens["access_token"]
    assert tokens["expires_in"] == 90 * 24 * 3600

    clock_api.move_clock(timedelta(days=90, seconds=-30))
    assert clock_api.call("GET", "/v1/me", token=token).status_code == 200

    clock_api.move_clock(timedelta(seconds=31))
    expired = clock_api.call("GET", "/v1/me", token=token)
    assert expired.status_code == 401
    assert clock_api.call("GET", "/v1/me", by=person).status_code == 200
