"""Rate limits: exact for each account across all processes, and shown in headers."""

import asyncio
import time

import httpx
import pytest
from kit.server import Server

from tradewind.auth.model import Plan


async def burst(api: Server, headers: dict[str, str], count: int) -> list[httpx.Response]:
    """Many requests at once, on many connections, so that both processes get some."""
    limits = httpx.Limits(max_connections=20)
    async with httpx.AsyncClient(base_url=api.url, limits=limits, timeout=20) as client:
        return await asyncio.gather(*(client.get("/v1/me", headers=headers) for _ in range(count)))


@pytest.mark.parametrize(
    ("plan", "per_minute", "at_once"), [(Plan.FREE, 120, 20), (Plan.PRO, 1200, 120)]
)
async def test_all_processes_share_one_exact_budget(
    api: Server, plan: Plan, per_minute: int, at_once: int
) -> None:
    person = api.person(plan=plan)
    started = time.monotonic()

    answers = await burst(api, person.headers, at_once + 60)

    earned = (time.monotonic() - started) * per_minute / 60
    granted = [answer for answer in answers if answer.status_code == 200]
    rejected = [answer for answer in answers if answer.status_code == 429]
    assert len(granted) + len(rejected) == at_once + 60
    assert at_once <= len(granted) <= at_once + earned + 1


async def test_a_rejection_says_when_to_come_back(api: Server) -> None:
    person = api.person(plan=Plan.FREE)

    answers = await burst(api, person.headers, 40)

    rejected = next(answer for answer in answers if answer.status_code == 429)
    problem = rejected.json()
    assert problem["code"] == "rate_limited"
    assert "120 requests a minute" in problem["detail"]
    assert "upgrade" in problem["detail"]
    assert int(rejected.headers["retry-after"]) == problem["retry_after"] == 1
    assert rejected.headers["ratelimit-policy"] == '"default";q=120;w=60'
    assert rejected.headers["ratelimit"].startswith('"default";r=0;t=')

    await asyncio.sleep(1)  # as the answer said
    assert api.call("GET", "/v1/me", by=person).status_code == 200


async def test_who_is_abused_can_still_end_the_abuse(api: Server) -> None:
    person = api.person(plan=Plan.FREE)
    token = {"authorization": f"Bearer {api.login(person)['access_token']}"}
    key = api.call("GET", "/v1/api-keys", by=person).json()["items"][0]["id"]
    thief = await burst(api, person.headers, 60)
    assert 429 in {answer.status_code for answer in thief}

    revoked = api.call("DELETE", f"/v1/api-keys/{key}", headers=token)
    logged_out = api.call("POST", "/v1/auth/logout", headers=token)

    assert revoked.status_code == 204
    assert logged_out.status_code == 204
    assert api.call("GET", "/v1/me", by=person).status_code == 401


def test_a_session_is_refreshed_so_often_and_no_more(api: Server) -> None:
    token = api.login(api.person())["refresh_token"]

    answers = [
        api.call("POST", "/v1/auth/refresh", json={"refresh_token": token}) for _ in range(40)
    ]

    assert answers[0].status_code == 200
    assert answers[-1].status_code == 429
    assert "retry-after" in answers[-1].headers


def test_every_authenticated_answer_tells_the_budget(api: Server) -> None:
    person = api.person(plan=Plan.PRO)

    for method, path, status in (
        ("GET", "/v1/me", 200),
        ("GET", "/v1/api-keys?limit=0", 422),
        ("GET", "/v1/admin/accounts", 403),
        ("DELETE", "/v1/api-keys/key_00000000000000000000000000", 404),
        ("POST", "/v1/api-keys", 415),
    ):
        answer = api.call(method, path, by=person)
        assert answer.status_code == status
        assert answer.headers["ratelimit-policy"] == '"default";q=1200;w=60'
        assert answer.headers["ratelimit"].startswith('"default";r=1')


def test_what_is_not_authenticated_does_not_count(api: Server) -> None:
    for path in ("/healthz", "/readyz", "/docs", "/openapi.json", "/problems/rate_limited"):
        answer = api.call("GET", path)
        assert answer.status_code == 200, path
        assert "ratelimit" not in answer.headers
    assert "ratelimit" not in api.call("GET", "/v1/me").headers


async def test_keys_and_sessions_of_one_account_spend_the_same_budget(api: Server) -> None:
    person = api.person(plan=Plan.FREE)
    token = {"authorization": f"Bearer {api.login(person)['access_token']}"}

    both = await asyncio.gather(burst(api, person.headers, 20), burst(api, token, 20))

    granted = sum(answer.status_code == 200 for answers in both for answer in answers)
    assert 20 <= granted <= 26
