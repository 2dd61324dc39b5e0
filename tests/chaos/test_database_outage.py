"""The database goes away under load and comes back: meanwhile 503, and never a hang."""

import asyncio
import os
import signal
import time
from pathlib import Path

import httpx
import pytest
from kit.processes import family_of
from kit.server import Server, Workshop

from tradewind.accounts.model import Plan, Role
from tradewind.storage import embedded
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

_CLIENTS = 8
_LONGEST_ANSWER = 5.0
_LONGEST_RECOVERY = 5.0


async def _migrate(url: str) -> None:
    db = Database(url, size=1, name="test")
    await db.open()
    await migrate(db)
    await db.close()


class Watch:
    """Asks all the time and writes down what came back, when, and how long it took."""

    def __init__(self, api: Server, headers: dict[str, str]) -> None:
        self._client = httpx.AsyncClient(base_url=api.url, headers=headers, timeout=20)
        self._going = True
        self.answers: list[tuple[float, float, httpx.Response]] = []

    async def ask(self) -> None:
        while self._going:
            sent = time.monotonic()
            answer = await self._client.get("/v1/me")
            self.answers.append((sent, time.monotonic() - sent, answer))
            await asyncio.sleep(0.005)

    async def until(self, status: int, since: float, patience: float) -> float:
        """Wait until a request sent after `since` got `status`; how long after it was sent."""
        async with asyncio.timeout(patience):
            while True:
                for sent, took, answer in self.answers:
                    if sent >= since and answer.status_code == status:
                        return sent + took - since
                await asyncio.sleep(0.02)

    async def stop(self, tasks: list[asyncio.Task[None]]) -> None:
        self._going = False
        await asyncio.gather(*tasks)
        await self._client.aclose()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
async def test_only_503_while_it_is_away_and_200_soon_after(
    workshop: Workshop, tmp_path: Path, how: signal.Signals
) -> None:
    async with embedded.running(tmp_path / "data") as first:
        url = first.url()
        await _migrate(url)
        person = await workshop.make_person(url, (Role.BUYER,), Plan.ENTERPRISE)
        stack = workshop.serving_on(url)
        api = await asyncio.to_thread(stack.__enter__)
        watch = Watch(api, person.headers)
        tasks = [asyncio.create_task(watch.ask()) for _ in range(_CLIENTS)]
        await watch.until(200, 0, 10)
        os.kill(first.pid, how)
        down = time.monotonic()
        await watch.until(503, down, 10)
        not_ready = await asyncio.to_thread(api.call, "GET", "/readyz")
    try:
        async with embedded.running(tmp_path / "data") as second:
            assert second.url() == url
            recovery = await watch.until(200, time.monotonic(), 15)
            await watch.stop(tasks)
    finally:
        await asyncio.to_thread(stack.__exit__, None, None, None)

    assert not_ready.status_code == 503
    assert {answer.status_code for _, _, answer in watch.answers} == {200, 503}
    for _, took, answer in watch.answers:
        assert took < _LONGEST_ANSWER
        if answer.status_code == 503:
            assert answer.json()["code"] == "database_unavailable"
            assert int(answer.headers["retry-after"]) >= 1
    assert recovery < _LONGEST_RECOVERY


async def test_a_database_that_hangs_is_told_in_time(workshop: Workshop, tmp_path: Path) -> None:
    async with embedded.running(tmp_path / "data") as server:
        await _migrate(server.url())
        person = await workshop.make_person(server.url(), (Role.BUYER,), Plan.ENTERPRISE)
        stack = workshop.serving_on(server.url())
        api = await asyncio.to_thread(stack.__enter__)
        watch = Watch(api, person.headers)
        tasks = [asyncio.create_task(watch.ask()) for _ in range(_CLIENTS)]
        await watch.until(200, 0, 10)
        frozen = [server.pid, *family_of(server.pid)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            await watch.until(503, time.monotonic(), 10)
            not_ready = await asyncio.to_thread(api.call, "GET", "/readyz")
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        await watch.until(200, time.monotonic(), 15)
        await watch.stop(tasks)
        await asyncio.to_thread(stack.__exit__, None, None, None)

    assert not_ready.status_code == 503
    assert {answer.status_code for _, _, answer in watch.answers} == {200, 503}
    assert max(took for _, took, _ in watch.answers) < _LONGEST_ANSWER
