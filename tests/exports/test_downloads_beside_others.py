"""Downloads of one account: they leave the process to others between their pieces."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import mean, median, quantiles
from time import perf_counter, process_time

import httpx
from kit import scorecard
from kit.server import ServerLauncher
from kit.system import System, running_system

from tradewind.web.concurrency import EXPENSIVE_AT_ONCE, ConcurrencyLimit

_ORDERS = 3_000
_ROUNDS = 8
_REQUESTS = 40
_MOST = 1.5


@asynccontextmanager
async def downloading(system: System) -> AsyncIterator[list[int]]:
    """As many downloads as an account may have at once, until the block ends: their statuses."""
    statuses: list[int] = []
    async with httpx.AsyncClient(base_url=system.api.url, timeout=30) as client:

        async def download() -> None:
            while True:
                headers = system.buyer.headers
                async with client.stream("GET", "/v1/exports/orders", headers=headers) as answer:
                    statuses.append(answer.status_code)
                    async for _ in answer.aiter_raw():
                        pass

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(download()) for _ in range(EXPENSIVE_AT_ONCE)]
            async with asyncio.timeout(30):
                while len(statuses) < EXPENSIVE_AT_ONCE:  # noqa: ASYNC110 - a client has no event
                    await asyncio.sleep(0.02)
            yield statuses
            for task in tasks:
                task.cancel()


async def mean_time(system: System, headers: dict[str, str]) -> float:
    took = []
    async with httpx.AsyncClient(base_url=system.api.url, timeout=30) as client:
        for _ in range(_REQUESTS):
            began = perf_counter()
            answer = await client.get("/v1/api-keys", headers=headers)
            took.append(perf_counter() - began)
            assert answer.status_code == 200, answer.text
    return mean(took)


async def test_downloads_of_one_account_do_not_slow_another(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    """The lower quartile of eight rounds counts: other tests here make single rounds slow."""
    alone, beside, statuses = [], [], set()
    with running_system(launcher, tmp_path, api_processes=1) as system:
        system.copy_order(system.order(), _ORDERS)
        other = system.api.person().headers
        await mean_time(system, other)
        for _ in range(_ROUNDS):
            alone.append(await mean_time(system, other))
            async with downloading(system) as downloads:
                beside.append(await mean_time(system, other))
            statuses.update(downloads)

    ratios = [bad / good for bad, good in zip(beside, alone, strict=True)]
    calm = quantiles(ratios, n=4)[0]
    scorecard.record(
        22,
        _REQUESTS * _ROUNDS,
        calm_ratio_beside_downloads=calm,
        median_ratio_beside_downloads=median(ratios),
    )
    assert statuses == {200}
    assert calm < _MOST, ratios


async def test_downloads_together_use_half_of_a_process_at_most() -> None:
    limit = ConcurrencyLimit()

    async def pieces() -> AsyncGenerator[bytes, None]:
        while True:
            until = process_time() + 0.002
            while process_time() < until:
                pass
            yield b"piece"

    async def download(until: float) -> None:
        async for _ in limit.paced(pieces()):
            if perf_counter() > until:
                return

    began, cpu_before = perf_counter(), process_time()
    await asyncio.gather(*(download(began + 1) for _ in range(4)))

    assert process_time() - cpu_before < 0.65 * (perf_counter() - began)
