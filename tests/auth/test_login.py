"""Logging in: right and wrong passwords, the limit per address and the throttle per e-mail."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from kit.metrics import counter
from kit.server import Server, ServerLauncher, free_port


def login(api: Server, email: str, password: str, **options: Any) -> httpx.Response:
    body = {"email": email, "password": password}
    return api.call("POST", "/v1/auth/login", json=body, **options)


def test_a_login_hands_out_a_pair_and_the_account(api: Server) -> None:
    person = api.person()

    answer = login(api, person.email, person.password)

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json()
    assert list(tokens) == ["access_token", "refresh_token", "token_type", "expires_in", "account"]
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 7_776_000
    assert tokens["account"]["id"] == person.id
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    assert set(claims) == {"iss", "aud", "sub", "sid", "iat", "nbf", "exp"}
    assert claims["sub"] == person.id
    assert claims["exp"] - claims["iat"] == 90 * 24 * 3600
    assert jwt.get_unverified_header(tokens["access_token"])["alg"] == "HS256"
    api.launcher.secrets |= {tokens["access_token"], tokens["refresh_token"]}


def test_case_and_blanks_around_the_email_do_not_matter(api: Server) -> None:
    person = api.person()

    assert login(api, f" {person.email.upper()} ", person.password).status_code == 200


def test_credentials_sent_along_are_ignored(api: Server) -> None:
    person = api.person()
    headers = {"x-api-key": "nonsense", "authorization": "Bearer nonsense"}

    assert login(api, person.email, person.password, headers=headers).status_code == 200


def test_unknown_and_known_emails_cannot_be_told_apart(launcher: ServerLauncher) -> None:
    metrics = free_port()
    with launcher.serving(
        workers=1, settings={"TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{metrics}"}
    ) as api:
        person = api.person()

        def observed(email: str) -> tuple[int, dict[str, str], dict[str, str], float, float]:
            """Status, body and headers of a wrong login, and the work that it cost."""
            hashes = counter(metrics, "tradewind_password_checks_total")
            before = api.fetch("SELECT count(*) FROM login_failure")[0][0]
            answer = login(api, email, "a wrong password")
            body = {k: v for k, v in answer.json().items() if k != "request_id"}
            kept = ("www-authenticate", "cache-control", "content-type", "content-length")
            headers = {name: answer.headers[name] for name in kept}
            work = counter(metrics, "tradewind_password_checks_total") - hashes
            rows = api.fetch("SELECT count(*) FROM login_failure")[0][0] - before
            return answer.status_code, body, headers, work, rows

        known = observed(person.email)
        unknown = observed("nobody@test.example")

    assert known == unknown
    assert known[0] == 401
    assert known[3] == 1, "exactly one password is hashed in both cases"
    assert known[4] == 1, "and one failure is written down"


@pytest.mark.parametrize("exists", [True, False])
def test_ten_failures_stop_logins_for_that_email_whether_or_not_it_exists(
    clock_api: Server, *, exists: bool
) -> None:
    person = clock_api.person()
    email = person.email if exists else "nobody@test.example"
    for _ in range(10):
        assert login(clock_api, email, "a wrong password").status_code == 401

    stopped = login(clock_api, email, person.password)

    assert stopped.status_code == 403
    assert stopped.json()["code"] == "account_locked"
    assert 890 <= int(stopped.headers["retry-after"]) <= 900
    assert stopped.json()["retry_after"] == int(stopped.headers["retry-after"])
    assert clock_api.call("GET", "/v1/me", by=person).status_code == 200, "keys work on"

    clock_api.move_clock(timedelta(minutes=15, seconds=1))
    expected = 200 if exists else 401
    assert login(clock_api, email, person.password).status_code == expected


def test_failures_older_than_15_minutes_do_not_count(clock_api: Server) -> None:
    person = clock_api.person()
    for _ in range(9):
        login(clock_api, person.email, "a wrong password")
    clock_api.move_clock(timedelta(minutes=15, seconds=1))
    for _ in range(9):
        assert login(clock_api, person.email, "a wrong password").status_code == 401

    assert login(clock_api, person.email, person.password).status_code == 200


def test_a_success_forgets_the_failures(api: Server) -> None:
    person = api.person()
    for _ in range(2):
        for _ in range(9):
            assert login(api, person.email, "a wrong password").status_code == 401
        assert login(api, person.email, person.password).status_code == 200


def test_right_logins_at_the_same_moment_stop_nobody(own_api: Server) -> None:
    person = own_api.person()

    with ThreadPoolExecutor(20) as threads:
        answers = list(
            threads.map(lambda _: login(own_api, person.email, person.password), range(40))
        )

    assert {answer.status_code for answer in answers} <= {200, 503}
    assert all("retry-after" in a.headers for a in answers if a.status_code == 503)
    assert login(own_api, person.email, person.password).status_code == 200
    counted = own_api.fetch("SELECT failed_at, tried_at, locked_until FROM login_failure")
    assert all(tuple(row) == ([], [], None) for row in counted)


def test_one_address_may_try_30_logins_a_minute(launcher: ServerLauncher) -> None:
    with launcher.serving(settings={"TRADEWIND_LOGIN_RATE": "30"}) as api:
        started = time.monotonic()
        answers: list[httpx.Response] = []
        while len(answers) < 60 and (not answers or answers[-1].status_code == 401):
            guess = f"guess-{len(answers)}@test.example"
            answers.append(login(api, guess, "a wrong password"))
        earned = (time.monotonic() - started) / 2

    rejected = answers.pop()
    assert rejected.status_code == 429
    assert rejected.json()["code"] == "rate_limited"
    assert 1 <= int(rejected.headers["retry-after"]) == rejected.json()["retry_after"] <= 2
    assert 30 <= len(answers) <= 30 + earned, "thirty at once, then one every two seconds"


def test_the_address_is_looked_at_before_the_email(launcher: ServerLauncher) -> None:
    with launcher.serving(workers=1, settings={"TRADEWIND_LOGIN_RATE": "11"}) as api:
        codes = [
            login(api, "guessed@test.example", "a wrong password").status_code for _ in range(12)
        ]

    assert codes == [401] * 10 + [403, 429]
