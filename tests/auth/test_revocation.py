"""Revocation: effective on every process once it was answered, also under load."""

import asyncio
import time

import httpx
import pytest
from kit import scorecard
from kit.server import Server

_CLIENTS = 16
_REQUESTS = 200
_PATIENCE = 20


class Hammer:
    """Many clients that ask again and again, and note when each request was sent."""

    def __init__(self, client: httpx.AsyncClient, headers: dict[str, str]) -> None:
        self._client = client
        self._headers = headers
        self._going = True
        self.seen: list[tuple[float, int]] = []

    async def strike(self) -> None:
        while self._going:
            sent = time.monotonic()
            answer = await self._client.get("/v1/me", headers=self._headers)
            self.seen.append((sent, answer.status_code))

    async def until(self, count: int) -> None:
        async with asyncio.timeout(_PATIENCE):
            while len(self.seen) < count:  # noqa: ASYNC110 - a bounded poll
                await asyncio.sleep(0.01)

    def stop(self) -> None:
        self._going = False


@pytest.mark.parametrize("how", ["revoke", "logout", "lock"])
async def test_nothing_sent_after_the_answer_is_accepted(api: Server, how: str) -> None:
    person, operator = api.person(), api.operator()
    token = {"authorization": f"Bearer {api.login(person)['access_token']}"}
    key = api.call("GET", "/v1/api-keys", by=person).json()["items"][0]["id"]
    lock = f"/v1/admin/accounts/{person.id}/lock"
    used, method, path, headers, body, rejected = {
        "revoke": (person.headers, "DELETE", f"/v1/api-keys/{key}", token, None, 401),
        "logout": (token, "POST", "/v1/auth/logout", token, None, 401),
        "lock": (person.headers, "POST", lock, operator.headers, {"reason": "test"}, 403),
    }[how]
    limits = httpx.Limits(max_connections=_CLIENTS + 1)

    async with httpx.AsyncClient(base_url=api.url, limits=limits, timeout=_PATIENCE) as client:
        hammer = Hammer(client, used)
        clients = [asyncio.create_task(hammer.strike()) for _ in range(_CLIENTS)]
        await hammer.until(_REQUESTS)
        answer = await client.request(method, path, headers=headers, json=body)
        answered = time.monotonic()
        await hammer.until(len(hammer.seen) + _REQUESTS)
        hammer.stop()
        await asyncio.gather(*clients)

    after = [status for sent, status in hammer.seen if sent >= answered]
    accepted = sum(status == 200 for status in after)
    scorecard.record(16, len(hammer.seen), violations=accepted, sent_after_the_answer=len(after))
    assert answer.status_code in {200, 204}
    assert {status for _, status in hammer.seen[:_REQUESTS]} == {200}, "it worked before"
    assert len(after) > _CLIENTS
    assert set(after) == {rejected}
