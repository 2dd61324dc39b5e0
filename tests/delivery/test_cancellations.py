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
from kit.pages import Pages
from kit.webhook_endpoint import Received, WebhookEndpoint
from kit.webhook_system import Webhook, WebhookSystem, until

from tradewind import ids
from tradewind.delivery import sql
from tradewind.delivery.model import Cancelled, Destination
from tradewind.delivery.retry_policy import reason_not_to_send
from tradewind.storage.pool import Database

pytestmark = pytest.mark.xdist_group("webhooks")

_OFF, _OFF_AND_ON, _NARROWED = "switched off", "switched off and on", "lists fewer events"


def waiting_for_a_retry(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> tuple[Webhook, str]:
    """A subscription with one delivery whose second attempt is due in a minute."""
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    webhooks.tried(hook)
    return hook, event_id


def switch_off(webhooks: WebhookSystem, hook: Webhook) -> None:
    webhooks.change(hook, is_active=False)


def switch_off_and_on(webhooks: WebhookSystem, hook: Webhook) -> None:
    webhooks.change(hook, is_active=False)
    webhooks.change(hook, is_active=True)


def narrow(webhooks: WebhookSystem, hook: Webhook) -> None:
    webhooks.change(hook, events=["payment.updated"])


def in_operators_queue(webhooks: WebhookSystem, hook: Webhook) -> list[Any]:
    items = webhooks.ok("GET", "/v1/admin/queue", by=webhooks.api.operator())["items"]
    return [row for row in items if row["subscription_id"] == hook.id]


def attempts_in_log(webhooks: WebhookSystem, hook: Webhook) -> list[asyncpg.Record]:
    return webhooks.api.fetch(
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
    webhooks: WebhookSystem,
    endpoint: WebhookEndpoint,
    change: Callable[[WebhookSystem, Webhook], None],
    code: str,
) -> None:
    hook, event_id = waiting_for_a_retry(webhooks, endpoint)
    assert webhooks.verdict(hook, event_id) == "waiting"
    assert in_operators_queue(webhooks, hook)[0]["pending"] == 1

    change(webhooks, hook)

    assert webhooks.pending(hook) == []
    assert webhooks.verdict(hook, event_id) == "cancelled"
    health = webhooks.health(hook)
    assert (health["pending"], health["oldest_due_seconds"]) == (0, None)
    assert in_operators_queue(webhooks, hook) == []
    page = Pages(webhooks.api, webhooks.buyer)
    with closing(page.client):
        assert event_id not in page.get(f"/webhooks/{hook.id}/pending").text
    # The clock stands still: nothing of it is due, and it reaches the log all the same.
    log = webhooks.logged(hook, 2)
    assert [(attempt["attempt"], attempt["outcome"], attempt["final"]) for attempt in log] == [
        (2, "cancelled", True), (1, "http_error", False),
    ]  # fmt: skip
    assert log[0]["error"]["code"] == code
    assert (log[0]["status_code"], log[0]["duration_ms"]) == (None, None)
    assert webhooks.verdict(hook, event_id) == "cancelled"
    assert len(endpoint.received) == 1


def test_what_happens_after_it_was_switched_on_again_is_delivered(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, cancelled = waiting_for_a_retry(webhooks, endpoint)
    endpoint.answer = lambda _: 200
    switch_off_and_on(webhooks, hook)

    (delivered,) = webhooks.emit()
    webhooks.logged(hook, 3)

    assert webhooks.verdict(hook, cancelled) == "cancelled"
    assert webhooks.verdict(hook, delivered) == "delivered"
    assert [request.event_id for request in endpoint.received] == [cancelled, delivered]


def test_a_deleted_subscription_has_nothing_pending_from_the_answer_on(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, _ = waiting_for_a_retry(webhooks, endpoint)

    assert webhooks.call("DELETE", hook.path).status_code == 204

    assert in_operators_queue(webhooks, hook) == []
    rows = until(lambda: attempts_in_log(webhooks, hook), lambda rows: len(rows) == 2)
    assert tuple(rows[1])[:4] == (2, "cancelled", True, "subscription_deleted")
    assert (
        webhooks.api.fetch("SELECT 1 FROM cancellation WHERE subscription_id = $1", hook.uuid) == []
    )


def test_an_operator_sees_no_cancelled_delivery_in_the_queue(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, _ = waiting_for_a_retry(webhooks, endpoint)
    pages = Pages(webhooks.api, webhooks.api.operator())
    with closing(pages.client):
        assert hook.id in pages.get("/queue").text
        before = queue_depth(pages)

        switch_off(webhooks, hook)

        assert hook.id not in pages.get("/queue").text
        assert queue_depth(pages) < before


def queue_depth(pages: Pages) -> int:
    result = re.search(r">Queued<.*?>([\d,]+)<", pages.get("/queue").text, re.DOTALL)
    assert result
    return int(result[1].replace(",", ""))


def test_what_is_being_sent_is_not_cancelled_and_what_it_leaves_behind_is(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """It fails after the switch: the retry that it would have had is cancelled, and soon."""
    seen: list[tuple[list[Any], str]] = []

    def switch_off_meanwhile(request: Received) -> int:
        switch_off(webhooks, hook)
        seen.append((webhooks.pending(hook), webhooks.verdict(hook, request.event_id)))
        return 500

    endpoint.answer = switch_off_meanwhile
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()

    log = webhooks.logged(hook, 2)

    ((pending, verdict),) = seen
    assert [(item["event_id"], item["under_way"]) for item in pending] == [(event_id, True)]
    assert verdict == "under_way"
    assert [(attempt["attempt"], attempt["outcome"]) for attempt in log] == [
        (2, "cancelled"),
        (1, "http_error"),
    ]
    assert webhooks.verdict(hook, event_id) == "cancelled"
    until(
        lambda: webhooks.api.fetch(
            "SELECT 1 FROM cancellation WHERE subscription_id = $1", hook.uuid
        ),
        lambda rows: rows == [],
    )


def test_a_send_that_nobody_told_of_is_logged_before_its_delivery_is_cancelled(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """A worker died in the second attempt, and its lease is over when the rest is cancelled."""
    hook, event_id = waiting_for_a_retry(webhooks, endpoint)
    lost = ids.new()
    webhooks.api.fetch(
        "UPDATE delivery_queue SET delivery_id = $2, lease_until = tradewind_now()"
        " WHERE subscription_id = $1",
        hook.uuid,
        lost,
    )

    switch_off(webhooks, hook)

    rows = until(lambda: attempts_in_log(webhooks, hook), lambda rows: len(rows) == 3)
    assert {tuple(row)[:4] for row in rows} == {
        (1, "http_error", False, "http_status"),
        (2, "unknown", False, "worker_died"),
        (2, "cancelled", True, "subscription_inactive"),
    }
    (reported,) = webhooks.log(hook, "outcome=unknown")
    assert (reported["id"], reported["event_id"]) == (ids.DELIVERY.show(lost), event_id)


def test_a_long_backlog_is_cancelled_and_the_requests_wait_for_none_of_it(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """30,000 rows of which none is due: the change and every reader answer at once."""
    hook = webhooks.hook(endpoint.url(), events=["payment.updated"])
    webhooks.api.fetch(
        """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    event, purchase_order_id, due_at)
        SELECT $1, $2, 1, gen_random_uuid(), tradewind_now(), 'payment.updated', gen_random_uuid(),
               tradewind_now() + interval '1 hour'
          FROM generate_series(1, 30000)
        """,
        webhooks.buyer.uuid,
        hook.uuid,
    )
    assert webhooks.health(hook)["pending"] == 10_001
    began = webhooks.now()

    switch_off_and_on(webhooks, hook)
    assert webhooks.now() - began < timedelta(seconds=5)

    assert webhooks.pending(hook) == []
    assert webhooks.health(hook)["pending"] == 0
    endpoint.answer = lambda _: 200
    (live,) = webhooks.emit(kind="payment.updated")
    endpoint.until(lambda got: [item.event_id for item in got] == [live])
    rows = until_cancelled(webhooks, hook)
    assert [tuple(row) for row in rows] == [("cancelled", 30_000), ("delivered", 1)]


def until_cancelled(webhooks: WebhookSystem, hook: Webhook) -> list[asyncpg.Record]:
    """Wait until nothing is left to cancel; how the attempts ended."""
    for _ in range(5):  # each waits 20 seconds at the most
        try:
            until(
                lambda: webhooks.api.fetch(
                    "SELECT 1 FROM cancellation WHERE subscription_id = $1", hook.uuid
                ),
                lambda rows: rows == [],
            )
            break
        except AssertionError:
            continue
    return webhooks.api.fetch(
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


@pytest.mark.parametrize(
    ("filter_text", "is_applied", "reason"),
    [
        ('{"statuses": ["shipped"]}', True, "event_filtered_out"),
        # What is queued was accepted by the filter of then, so nobody reads its body again.
        ('{"statuses": ["shipped"]}', False, None),
        ('{"statuses": ["paid"]}', True, None),
        (None, True, None),
    ],
)
async def test_people_read_what_a_filter_cancels_while_it_is_being_applied(
    db: Database, filter_text: str | None, is_applied: bool, reason: str | None
) -> None:
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook)
    body = b'{"data": {"order": {"platform": "sandbox", "status": "paid"}}}'
    await db.execute("UPDATE event SET body = $1", body)
    await db.execute("UPDATE webhook_subscription SET filter = $1::text::jsonb", filter_text)
    if is_applied:
        await db.execute(
            "INSERT INTO cancellation (subscription_id, next_at) VALUES ($1, now())", hook
        )

    row = await db.fetchrow("SELECT cancel_reason, is_pending FROM queued_delivery")

    assert row is not None
    assert (row["cancel_reason"], row["is_pending"]) == (reason, reason is None)


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


async def test_a_claim_says_which_version_of_its_subscription_it_saw(db: Database) -> None:
    account, hook = ids.new(), ids.new()
    await journalled(db, account, hook)

    async def versions() -> tuple[int | None, int | None]:
        """The version by a claim, and by a look at the subscription."""
        await db.execute("UPDATE delivery_queue SET lease_until = 'epoch', delivery_id = NULL")
        (claim,) = await sql.claim(db, {hook: 1}, lease=timedelta(seconds=20))
        changed, now = await sql.load_changed_destinations(db, {hook: 0})
        assert abs(claim.leased_at - now.timestamp()) < 1
        destination = changed[hook]
        return claim.version, None if destination is None else destination.version

    first, known = await versions()
    assert first == known
    await db.execute("UPDATE webhook_subscription SET url = 'http://127.0.0.1:1/other'")
    second, known = await versions()
    assert second == known != first
    await db.execute("DELETE FROM webhook_subscription")
    assert await versions() == (None, None)
