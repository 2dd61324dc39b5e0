"""Cancelled deliveries: shown as cancelled at once, and logged soon after."""

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from delivery.events import journalled
from kit.hooks import Received, Receiver
from kit.pages import Pages
from kit.post import Hook, Post, until

from tradewind import ids
from tradewind.delivery import sql
from tradewind.delivery.model import Cancelled, Destination
from tradewind.delivery.retry_policy import reason_not_to_send
from tradewind.storage.pool import Database

pytestmark = pytest.mark.xdist_group("post")

_OFF, _OFF_AND_ON, _NARROWED = "switched off", "switched off and on", "lists fewer events"


def waiting_for_a_retry(post: Post, receiver: Receiver) -> tuple[Hook, str]:
    """A subscription with one delivery whose second attempt is due in a minute."""
    receiver.answer = lambda _: 500
    hook = post.hook(receiver.url())
    (event_id,) = post.emit()
    post.tried(hook)
    return hook, event_id


def switch_off(post: Post, hook: Hook) -> None:
    post.change(hook, is_active=False)


def switch_off_and_on(post: Post, hook: Hook) -> None:
    post.change(hook, is_active=False)
    post.change(hook, is_active=True)


def narrow(post: Post, hook: Hook) -> None:
    post.change(hook, events=["payment.updated"])


def in_operators_queue(post: Post, hook: Hook) -> list[Any]:
    items = post.ok("GET", "/v1/admin/queue", by=post.api.operator())["items"]
    return [row for row in items if row["subscription_id"] == hook.id]


def attempts_in_log(post: Post, hook: Hook) -> list[asyncpg.Record]:
    return post.api.fetch(
        "SELECT attempt, outcome, final, error_code, error_message, status_code, duration_ms"
        "  FROM delivery_attempt WHERE subscription_id = $1 ORDER BY started_at, outcome DESC",
        hook.uuid,
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(switch_off, "subscription_inactive", id=_OFF),
        pytest.param(switch_off_and_on, "subscription_inactive", id=_OFF_AND_ON),
        pytest.param(narrow, "event_no_longer_wanted", id=_NARROWED),
    ],
)
def test_a_change_cancels_what_is_pending_from_its_answer_on(
    post: Post, receiver: Receiver, change: Callable[[Post, Hook], None], code: str
) -> None:
    hook, event_id = waiting_for_a_retry(post, receiver)
    assert post.verdict(hook, event_id) == "waiting"
    assert in_operators_queue(post, hook)[0]["pending"] == 1

    change(post, hook)

    assert post.pending(hook) == []
    assert post.verdict(hook, event_id) == "cancelled"
    health = post.health(hook)
    assert (health["pending"], health["oldest_due_seconds"]) == (0, None)
    assert in_operators_queue(post, hook) == []
    page = Pages(post.api, post.buyer)
    with closing(page.client):
        assert event_id not in page.get(f"/webhooks/{hook.id}/pending").text
    # The clock stands still: nothing of it is due, and it reaches the log all the same.
    log = post.logged(hook, 2)
    assert [(one["attempt"], one["outcome"], one["final"]) for one in log] == [
        (2, "cancelled", True), (1, "http_error", False),
    ]  # fmt: skip
    assert log[0]["error"]["code"] == code
    assert (log[0]["status_code"], log[0]["duration_ms"]) == (None, None)
    assert post.verdict(hook, event_id) == "cancelled"
    assert len(receiver.received) == 1


def test_what_happens_after_it_was_switched_on_again_is_delivered(
    post: Post, receiver: Receiver
) -> None:
    hook, cancelled = waiting_for_a_retry(post, receiver)
    receiver.answer = lambda _: 200
    switch_off_and_on(post, hook)

    (delivered,) = post.emit()
    post.logged(hook, 3)

    assert post.verdict(hook, cancelled) == "cancelled"
    assert post.verdict(hook, delivered) == "delivered"
    assert [one.event_id for one in receiver.received] == [cancelled, delivered]


def test_a_deleted_subscription_has_nothing_pending_from_the_answer_on(
    post: Post, receiver: Receiver
) -> None:
    hook, _ = waiting_for_a_retry(post, receiver)

    assert post.call("DELETE", hook.path).status_code == 204

    assert in_operators_queue(post, hook) == []
    rows = until(lambda: attempts_in_log(post, hook), lambda rows: len(rows) == 2)
    assert tuple(rows[1])[:4] == (2, "cancelled", True, "subscription_deleted")
    assert post.api.fetch("SELECT 1 FROM cancellation WHERE subscription_id = $1", hook.uuid) == []


def test_an_operator_sees_no_cancelled_delivery_in_the_queue(
    post: Post, receiver: Receiver
) -> None:
    hook, _ = waiting_for_a_retry(post, receiver)
    pages = Pages(post.api, post.api.operator())
    with closing(pages.client):
        assert hook.id in pages.get("/queue").text
        before = queue_depth(pages)

        switch_off(post, hook)

        assert hook.id not in pages.get("/queue").text
        assert queue_depth(pages) < before


def queue_depth(pages: Pages) -> int:
    found = re.search(r">Queued<.*?>([\d,]+)<", pages.get("/queue").text, re.DOTALL)
    assert found
    return int(found[1].replace(",", ""))


def test_what_is_being_sent_is_not_cancelled_and_what_it_leaves_behind_is(
    post: Post, receiver: Receiver
) -> None:
    """It fails after the switch: the retry that it would have had is cancelled, and soon."""
    seen: list[tuple[list[Any], str]] = []

    def switch_off_meanwhile(request: Received) -> int:
        switch_off(post, hook)
        seen.append((post.pending(hook), post.verdict(hook, request.event_id)))
        return 500

    receiver.answer = switch_off_meanwhile
    hook = post.hook(receiver.url())
    (event_id,) = post.emit()

    log = post.logged(hook, 2)

    ((pending, verdict),) = seen
    assert [(one["event_id"], one["under_way"]) for one in pending] == [(event_id, True)]
    assert verdict == "under_way"
    assert [(one["attempt"], one["outcome"]) for one in log] == [
        (2, "cancelled"),
        (1, "http_error"),
    ]
    assert post.verdict(hook, event_id) == "cancelled"
    until(
        lambda: post.api.fetch("SELECT 1 FROM cancellation WHERE subscription_id = $1", hook.uuid),
        lambda rows: rows == [],
    )


def test_a_send_that_nobody_told_of_is_logged_before_its_delivery_is_cancelled(
    post: Post, receiver: Receiver
) -> None:
    """A worker died in the second attempt, and its lease is over when the rest is cancelled."""
    hook, event_id = waiting_for_a_retry(post, receiver)
    lost = ids.new()
    post.api.fetch(
        "UPDATE delivery_queue SET delivery_id = $2, lease_until = tradewind_now()"
        " WHERE subscription_id = $1",
        hook.uuid,
        lost,
    )

    switch_off(post, hook)

    rows = until(lambda: attempts_in_log(post, hook), lambda rows: len(rows) == 3)
    assert {tuple(row)[:4] for row in rows} == {
        (1, "http_error", False, "http_status"),
        (2, "unknown", False, "worker_died"),
        (2, "cancelled", True, "subscription_inactive"),
    }
    (told,) = post.log(hook, "outcome=unknown")
    assert (told["id"], told["event_id"]) == (ids.DELIVERY.show(lost), event_id)


def test_a_long_backlog_is_cancelled_and_the_requests_wait_for_none_of_it(
    post: Post, receiver: Receiver
) -> None:
    """30,000 rows of which none is due: the change and every reader answer at once."""
    hook = post.hook(receiver.url(), events=["payment.updated"])
    post.api.fetch(
        """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    event, purchase_order_id, due_at)
        SELECT $1, $2, 1, gen_random_uuid(), tradewind_now(), 'payment.updated', gen_random_uuid(),
               tradewind_now() + interval '1 hour'
          FROM generate_series(1, 30000)
        """,
        post.buyer.uuid,
        hook.uuid,
    )
    assert post.health(hook)["pending"] == 10_001
    began = post.now()

    switch_off_and_on(post, hook)
    assert post.now() - began < timedelta(seconds=5)

    assert post.pending(hook) == []
    assert post.health(hook)["pending"] == 0
    receiver.answer = lambda _: 200
    (live,) = post.emit(kind="payment.updated")
    receiver.until(lambda got: [one.event_id for one in got] == [live])
    rows = until_cancelled(post, hook)
    assert [tuple(row) for row in rows] == [("cancelled", 30_000), ("delivered", 1)]


def until_cancelled(post: Post, hook: Hook) -> list[asyncpg.Record]:
    """Wait until nothing is left to cancel; how the attempts ended."""
    for _ in range(5):  # each waits 20 seconds at the most
        try:
            until(
                lambda: post.api.fetch(
                    "SELECT 1 FROM cancellation WHERE subscription_id = $1", hook.uuid
                ),
                lambda rows: rows == [],
            )
            break
        except AssertionError:
            continue
    return post.api.fetch(
        "SELECT outcome, count(*) FROM delivery_attempt WHERE subscription_id = $1"
        " GROUP BY outcome ORDER BY outcome",
        hook.uuid,
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("SELECT 1", None),
        (
            "UPDATE webhook_subscription SET is_active = false, generation = 2",
            Cancelled.SWITCHED_OFF,
        ),
        ("UPDATE webhook_subscription SET generation = 2", Cancelled.SWITCHED_OFF),
        ("UPDATE webhook_subscription SET events = '{payment.updated}'", Cancelled.NOT_WANTED),
        ("DELETE FROM webhook_subscription", Cancelled.DELETED),
    ],
)
async def test_people_read_what_the_engine_would_decide(
    db: Database, change: str, reason: Cancelled | None
) -> None:
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook)
    await db.execute(change)

    row = await db.fetchrow("SELECT cancel_reason, is_pending FROM queued_delivery")
    (claim,) = await sql.claim(db, {hook: 1}, lease=timedelta(seconds=20))
    changed, _ = await sql.load_changed_destinations(db, {hook: 0})
    decided = reason_not_to_send(claim, changed[hook])

    assert row is not None
    assert (row["cancel_reason"], row["is_pending"]) == (reason, reason is None)
    assert decided is reason


async def test_a_subscription_is_read_again_once_it_was_changed(db: Database) -> None:
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook)

    async def load(version: int) -> Mapping[UUID, Destination | None]:
        changed, _ = await sql.load_changed_destinations(db, {hook: version})
        return changed

    first = (await load(0))[hook]
    assert first is not None
    assert await load(first.version) == {}
    await db.execute("UPDATE webhook_subscription SET url = 'http://127.0.0.1:1/other'")
    second = (await load(first.version))[hook]
    assert second is not None
    assert second.url == "http://127.0.0.1:1/other"
    await db.execute("DELETE FROM webhook_subscription")
    assert await load(second.version) == {hook: None}
