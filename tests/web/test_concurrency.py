"""Expensive requests of one account: a few at once, without delaying other accounts."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import UUID

import httpx
import pytest
from kit import scorecard
from kit.server import Person, Server, ServerLauncher

from tradewind.web.concurrency import EXPENSIVE_AT_ONCE, ConcurrencyLimit, TooManyConcurrentRequests

pytestmark = pytest.mark.xdist_group("concurrency")

ANNA, BERT = UUID(int=1), UUID(int=2)
_SLOW_SECONDS = 0.3
_VERY_SLOW_SECONDS = 2.0
_CLIENTS = 16
_POOL = 10  # the default of TRADEWIND_DATABASE_POOL
_ROUNDS = 6
_REQUESTS = 20  # of each kind in a round
_MOST = 1.5
_SLOW_AUDIT = """
    CREATE TABLE slow AS SELECT 0::float8 AS seconds;
    ALTER TABLE audit RENAME TO stored_audit;
    CREATE VIEW audit AS
      WITH wait AS MATERIALIZED (SELECT pg_sleep(seconds) FROM slow)
    SELECT stored_audit.* FROM stored_audit, wait
"""
_SLEEPING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'PgSleep'
"""
_CONNECTIONS = """
    SELECT application_name, count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'tradewind api%'
     GROUP BY application_name
"""


async def test_a_few_run_at_once_and_the_others_wait_their_turn() -> None:
    limit = ConcurrencyLimit(2)
    running, most, order = 0, 0, []

    async def work(number: int) -> None:
        nonlocal running, most
        async with limit.slot(ANNA):
            running += 1
            most = max(most, running)
            order.append(number)
            await asyncio.sleep(0.01)
            running -= 1

    await asyncio.gather(*map(work, range(7)))

    assert most == 2
    assert order == list(range(7))


async def test_who_waits_in_vain_is_told_so_and_other_accounts_do_not_wait() -> None:
    limit = ConcurrencyLimit(1, wait_seconds=0.05)

    async with limit.slot(ANNA):
        with pytest.raises(TooManyConcurrentRequests) as rejected:
            async with limit.slot(ANNA):
                pytest.fail("two at once")
        async with limit.slot(BERT):
            pass
    async with limit.slot(ANNA):
        pass

    assert rejected.value.facts == {"retry_after": 1}
    assert "plan" not in rejected.value.detail


async def test_a_request_that_fails_or_goes_away_gives_its_slot_back() -> None:
    limit = ConcurrencyLimit(1)

    async def hold() -> None:
        async with limit.slot(ANNA):
            await asyncio.sleep(60)

    with pytest.raises(RuntimeError):
        async with limit.slot(ANNA):
            raise RuntimeError
    holding, waiting = asyncio.create_task(hold()), asyncio.create_task(hold())
    await asyncio.sleep(0)
    for task in (waiting, holding):
        task.cancel()
    await asyncio.gather(holding, waiting, return_exceptions=True)

    async with asyncio.timeout(1), limit.slot(ANNA):
        pass


@dataclass(frozen=True)
class Slow:
    """One API process, whose audit log takes a third of a second to read and holds a connection."""

    server: Server
    operators: Sequence[Person]
    other: Person


@pytest.fixture(scope="module")
def slow(launcher: ServerLauncher) -> Iterator[Slow]:
    with launcher.serving(workers=1) as server:
        made = Slow(server, [server.operator() for _ in range(3)], server.person())
        for statement in _SLOW_AUDIT.split(";"):
            server.fetch(statement)
        server.fetch("UPDATE slow SET seconds = $1", _SLOW_SECONDS)
        yield made


@asynccontextmanager
async def hammering(
    server: Server, people: Sequence[Person], *, held: int
) -> AsyncIterator[list[httpx.Response]]:
    """Accounts that read the audit log all the time, until the block ends: their answers.

    The block begins when their queries hold so many connections.
    """
    answers: list[httpx.Response] = []
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=server.url, timeout=30, limits=limits) as client:
        ended = False

        async def read(person: Person) -> None:
            while not ended:
                answers.append(await client.get("/v1/admin/audit", headers=person.headers))

        tasks = [asyncio.create_task(read(p)) for p in people for _ in range(_CLIENTS)]
        try:
            async with asyncio.timeout(30):
                while await sleeping(server) < held:  # noqa: ASYNC110 - the database has no event
                    await asyncio.sleep(0.02)
            yield answers
        finally:
            ended = True
            await asyncio.gather(*tasks)


async def sleeping(server: Server) -> int:
    """How many queries are in the middle of being slow."""
    rows = await asyncio.to_thread(server.fetch, _SLEEPING)
    return int(rows[0]["count"])


async def timed(
    server: Server, method: str, path: str, *, requests: int = _REQUESTS, **options: Any
) -> list[float]:
    """How long each of a few requests took, one after the other."""
    took = []
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        for _ in range(requests):
            started = time.monotonic()
            answer = await client.request(method, path, **options)
            took.append(time.monotonic() - started)
            assert answer.status_code == 200, answer.text
    return took


async def test_an_account_at_its_limit_does_not_slow_another(slow: Slow) -> None:
    """Of six rounds the calmest counts: other tests on this machine make single rounds slow.

    Requests that wait for a connection are slow in every round.
    """
    server, operator, other = slow.server, slow.operators[0], slow.other
    alone: list[float] = []
    beside: list[float] = []
    problems: list[str] = []
    at_once = 0
    statuses: Counter[int] = Counter()

    for _ in range(_ROUNDS):
        with scorecard.kept_for_later(problems):
            before = await timed(server, "GET", "/v1/api-keys", headers=other.headers)
            async with hammering(server, [operator], held=EXPENSIVE_AT_ONCE) as answers:
                at_once = max(at_once, await sleeping(server))
                during = await timed(server, "GET", "/v1/api-keys", headers=other.headers)
            statuses.update(answer.status_code for answer in answers)
            alone.append(median(before))
            beside.append(median(during))

    ratios = [bad / good for bad, good in zip(beside, alone, strict=True)]
    scorecard.record(
        22,
        _REQUESTS * len(ratios),
        violations=len(problems) + statuses.total() - statuses[200],
        most_at_once=at_once,
        calmest_round_ratio=min(ratios, default=0.0),
        median_ratio=median(ratios or [0.0]),
    )
    assert problems == []
    assert set(statuses) == {200}
    assert at_once <= EXPENSIVE_AT_ONCE
    assert min(ratios) < _MOST, ratios
    assert median(beside) < median(alone) + _SLOW_SECONDS / 3


async def test_admission_and_login_do_not_wait_for_a_pool_that_is_used_up(slow: Slow) -> None:
    server, other = slow.server, slow.other
    assert len(slow.operators) * EXPENSIVE_AT_ONCE > _POOL
    login = {"email": other.email, "password": other.password}

    async def measure() -> tuple[float, float]:
        admitted = await timed(server, "GET", "/v1/me", requests=7, headers=other.headers)
        logged_in = await timed(server, "POST", "/v1/auth/login", requests=7, json=login)
        return median(admitted), median(logged_in)

    before = await measure()
    server.fetch("UPDATE slow SET seconds = $1", _VERY_SLOW_SECONDS)
    async with hammering(server, slow.operators, held=_POOL):
        beside = await measure()
        opened = await asyncio.to_thread(server.fetch, _CONNECTIONS)
    server.fetch("UPDATE slow SET seconds = $1", _SLOW_SECONDS)
    after = await measure()

    # As many as docs/how-to/deploy.md says, and one that listens where a page is open.
    counts = {row["application_name"]: row["count"] for row in opened}
    assert counts["tradewind api"] == _POOL
    assert 1 <= counts["tradewind api gate"] <= 3
    assert 1 <= counts["tradewind api logins"] <= 2
    # Whoever shares the pool waits for a slow query to end, at each statement.
    for took, *alone in zip(beside, before, after, strict=True):
        assert took < max(alone) + _VERY_SLOW_SECONDS / 3


async def test_too_many_at_once_wait_for_a_while_and_are_then_rejected(slow: Slow) -> None:
    server, operator, other = slow.server, slow.operators[0], slow.other
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=server.url, timeout=30, limits=limits) as client:
        asked = [client.get("/v1/admin/audit", headers=operator.headers) for _ in range(120)]
        answers = await asyncio.gather(*asked)

    rejected = [answer for answer in answers if answer.status_code == 429]
    assert {answer.status_code for answer in answers} == {200, 429}
    for answer in rejected:
        assert answer.json()["code"] == "too_many_concurrent_requests"
        assert answer.headers["retry-after"] == "1"
        assert "plan" not in answer.json()["detail"]
        assert "ratelimit" in answer.headers
    assert len(answers) - len(rejected) >= EXPENSIVE_AT_ONCE
    assert (await asyncio.to_thread(server.call, "GET", "/v1/me", by=other)).status_code == 200
