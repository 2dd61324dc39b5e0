"""Very large replays: counted up to a limit, queued in steps, and listed."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from delivery.events import journalled
from kit.pages import Pages
from kit.webhook_endpoint import WebhookEndpoint
from kit.webhook_system import WebhookSystem

from tradewind import clock, ids
from tradewind.delivery import replay, sql_replays
from tradewind.delivery.model import Replay, Total, Window
from tradewind.delivery.replay import feed_replays
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

pytestmark = pytest.mark.xdist_group("webhooks")

_HOUR = timedelta(hours=1)
_DELIVERED = """
    INSERT INTO delivery_attempt (id, account_id, subscription_id, event_id, event, attempt,
                                  trigger, outcome, final, started_at)
    SELECT gen_random_uuid(), account_id, $1, id, type, 1, 'event', 'delivered', true,
           tradewind_now()
      FROM event ORDER BY created_at, id LIMIT $2
"""


class Journal:
    """Events of one account, of which the first were delivered to its subscription."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.account, self.hook = ids.new(), ids.new()
        self.now = datetime.now(UTC)

    async def fill(self, delivered: int, missed: int) -> None:
        self.now = await journalled(self.db, self.account, self.hook, delivered + missed)
        await self.db.execute("DELETE FROM delivery_queue")
        await self.db.execute(_DELIVERED, self.hook, delivered)

    @property
    def span(self) -> Window:
        return Window(self.now - _HOUR, self.now + _HOUR)

    async def count(self, *, limit: int, examine: int, everything: bool = False) -> tuple[int, int]:
        return await sql_replays.count_missed(
            self.db,
            self.account,
            self.hook,
            replace(self.span, everything=everything),
            limit=limit,
            examine=examine,
        )

    async def job(self) -> Replay:
        [result] = await sql_replays.list_replays(
            self.db, self.account, self.hook, below=None, limit=2
        )
        return result


async def test_a_count_stops_at_its_limit_and_looks_no_further_than_it_may(db: Database) -> None:
    journal = Journal(db)
    await journal.fill(delivered=30, missed=5)

    assert await journal.count(limit=100, examine=100) == (5, 35)
    assert await journal.count(limit=3, examine=100) == (3, 35)
    assert await journal.count(limit=100, examine=32) == (2, 32)
    assert await journal.count(limit=100, examine=30) == (0, 30)
    assert await journal.count(limit=100, examine=100, everything=True) == (35, 35)


async def test_a_job_passes_over_what_was_delivered_in_steps(db: Database) -> None:
    journal = Journal(db)
    await journal.fill(delivered=30, missed=5)
    begun = await replay.begin(db, journal.account, journal.hook, journal.span)
    assert begun is not None

    steps = []
    while (job := await journal.job()).status == "running":
        async with transaction(db) as tx:
            fed = await sql_replays.feed(tx, job, limit=3, examine=10, spacing=timedelta(0))
        steps.append(fed)
        assert len(steps) < 10

    assert steps == [(0, False)] * 3 + [(3, False), (2, True)]
    assert (job.queued, job.total, job.total_is_exact) == (5, 5, True)
    assert await journal.count(limit=100, examine=100) == (0, 35)


async def test_more_than_is_counted_is_delivered_all_the_same(db: Database) -> None:
    journal = Journal(db)
    await journal.fill(delivered=0, missed=10_005)

    begun = await replay.begin(db, journal.account, journal.hook, journal.span)

    assert begun is not None
    assert begun[1] == Total(10_000, is_exact=False)
    job = await journal.job()
    assert (job.total, job.total_is_exact) == (10_000, False)
    while await feed_replays(db):
        await db.execute("DELETE FROM delivery_queue")
        await db.execute("UPDATE replay SET next_at = 'epoch'")
    job = await journal.job()
    assert (job.status, job.queued) == ("done", 10_005)
    assert (job.total, job.total_is_exact) == (10_005, True)


def test_a_preview_counts_up_to_10_000_and_says_that_there_are_more(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    webhooks.emit(10_001)
    hook = webhooks.hook(endpoint.url())
    since = clock.show(webhooks.now() - _HOUR)

    counted = webhooks.ok("POST", f"{hook.path}/recover", json={"since": since, "dry_run": True})
    pages = Pages(webhooks.api, webhooks.buyer)
    with closing(pages.client):
        shown = pages.get(f"/webhooks/{hook.id}/recover", params={"since": since}).text

    assert counted == {"id": None, "count": 10_000, "count_is_exact": False}
    assert "more than 10,000" in shown
    begun = webhooks.ok("POST", f"{hook.path}/recover", json={"since": since})
    assert (begun["count"], begun["count_is_exact"]) == (10_000, False)
    job = webhooks.ok("DELETE", f"{hook.path}/recover/{begun['id']}")
    assert (job["count"], job["count_is_exact"], job["status"]) == (10_000, False, "cancelled")


def test_recoveries_are_listed_newest_first(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    webhooks.emit(2)
    hook, other = webhooks.hook(endpoint.url()), webhooks.hook(endpoint.url())
    assert listed(webhooks, hook.path) == ([], None)
    made = []
    for _ in range(3):
        since = {"since": clock.show(webhooks.now() - _HOUR), "include": "all"}
        begun = webhooks.ok("POST", f"{hook.path}/recover", json=since)["id"]
        made.append(webhooks.ok("DELETE", f"{hook.path}/recover/{begun}"))

    first, cursor = listed(webhooks, f"{hook.path}", "?limit=2")
    rest, end = listed(webhooks, f"{hook.path}", f"?limit=2&cursor={cursor}")

    assert [item["id"] for item in [*first, *rest]] == [item["id"] for item in reversed(made)]
    assert end is None
    for item in [*first, *rest]:
        assert item == webhooks.ok("GET", f"{hook.path}/recover/{item['id']}")
    assert listed(webhooks, other.path) == ([], None)
    WebhookSystem.of(webhooks).refused("GET", f"{hook.path}/recover", 404, "not_found")
    webhooks.refused("GET", f"{hook.path}/recover?cursor=nonsense", 400, "malformed_cursor")


def listed(webhooks: WebhookSystem, path: str, query: str = "") -> tuple[list[Any], str | None]:
    page = webhooks.ok("GET", f"{path}/recover{query}")
    assert page["has_more"] is (page["next_cursor"] is not None)
    return page["items"], page["next_cursor"]
