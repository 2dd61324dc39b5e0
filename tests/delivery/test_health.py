"""The health of endpoints: figures, automatic disabling, and the operators' view."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from kit.postgres import Postgres
from kit.webhook_endpoint import Reply, WebhookEndpoint
from kit.webhook_system import Webhook, WebhookSystem, until

from tradewind.storage.pool import Database
from tradewind.webhooks.disable import switch_off_failing

pytestmark = pytest.mark.xdist_group("webhooks")


def switch_off(webhooks: WebhookSystem) -> None:
    """The chore, as the worker does it every minute."""

    async def work() -> None:
        db = Database(webhooks.api.database_url, size=1, name="test")
        await db.open()
        try:
            await switch_off_failing(db)
        finally:
            await db.close()

    Postgres.run(work())


def said(webhooks: WebhookSystem, hook: Webhook) -> Any:
    return webhooks.ok("GET", hook.path)


def fail_for(webhooks: WebhookSystem, hook: Webhook, ago: timedelta, failed: int) -> None:
    """Make the endpoint have failed since then, and so often for good."""
    webhooks.api.fetch(
        "INSERT INTO subscription_health"
        " (subscription_id, failing_since, failed, last_failure_at, updated_at)"
        " VALUES ($1, tradewind_now() - $2::interval, $3, tradewind_now(), tradewind_now())"
        " ON CONFLICT (subscription_id) DO UPDATE"
        " SET failing_since = excluded.failing_since, failed = excluded.failed,"
        " last_failure_at = excluded.last_failure_at",
        hook.uuid,
        ago,
        failed,
    )


def audit(webhooks: WebhookSystem, hook: Webhook) -> list[tuple[str, str]]:
    rows = webhooks.api.fetch(
        "SELECT action, actor FROM audit WHERE subject = $1 ORDER BY id", hook.id
    )
    return [(row["action"], row["actor"]) for row in rows]


def test_a_receiver_that_nothing_was_sent_to_is_well(webhooks: WebhookSystem) -> None:
    hook = webhooks.hook("http://127.0.0.1:9/")

    assert webhooks.health(hook) == {
        "health": "ok",
        "failing_since": None,
        "disabled_reason": None,
        "success_rate": None,
        "attempts": 0,
        "p50_ms": None,
        "p99_ms": None,
        "concurrency": 16,
        "pending": 0,
        "oldest_due_seconds": None,
        "last_success_at": None,
        "last_failure_at": None,
    }


def test_the_figures_of_a_receiver(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    hook = webhooks.hook(endpoint.url())
    statuses = iter([200, 200, 200, 503])
    endpoint.answer = lambda _: next(statuses)
    for number in range(1, 5):
        webhooks.emit()
        webhooks.tried(hook, number)

    health = until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 4)

    longest = max(attempt["duration_ms"] for attempt in webhooks.log(hook))
    assert (health["health"], health["success_rate"], health["pending"]) == ("failing", 0.75, 1)
    assert health["p50_ms"] <= health["p99_ms"]
    assert longest < health["p99_ms"] <= max(1, 2 * longest)
    assert health["oldest_due_seconds"] is None
    assert 1 <= health["concurrency"] < 19
    # Both are as of the flush that counted them, which may be the same.
    assert health["failing_since"] == health["last_failure_at"] >= health["last_success_at"]
    assert said(webhooks, hook)["health"] == "failing"
    assert said(webhooks, hook)["failing_since"] == health["failing_since"]


def test_failing_since_is_the_first_failure_and_ends_with_the_next_success(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()
    webhooks.tried(hook)
    first = until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 1)
    webhooks.pass_time(60)
    webhooks.tried(hook, 2)
    second = until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 2)

    assert first["failing_since"] == second["failing_since"] == first["last_failure_at"]
    assert second["last_failure_at"] > first["last_failure_at"]
    endpoint.answer = lambda _: 200
    webhooks.pass_time(300)
    webhooks.tried(hook, 3)
    third = until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 3)
    assert (third["health"], third["failing_since"]) == ("ok", None)
    assert third["success_rate"] == 0.3333
    assert third["last_failure_at"] == second["last_failure_at"]


def test_a_good_receiver_gets_more_at_once(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    webhooks.emit(20)
    webhooks.logged(hook, 20)

    health = until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 20)

    assert health["concurrency"] > 16
    assert health["success_rate"] == 1


def test_five_days_and_twenty_events_of_nothing_but_failure_switch_a_subscription_off(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    off = webhooks.hook(endpoint.url())
    short, few = webhooks.hook(endpoint.url("/short")), webhooks.hook(endpoint.url("/few"))
    endpoint.answer = lambda _: 500
    (event_id,) = webhooks.emit()
    for hook in (off, short, few):
        webhooks.tried(hook)
        until(partial(webhooks.health, hook), lambda health: health["attempts"] == 1)
    fail_for(webhooks, off, timedelta(days=5, seconds=1), 20)
    fail_for(webhooks, short, timedelta(days=5, seconds=-60), 100)
    fail_for(webhooks, few, timedelta(days=50), 19)

    switch_off(webhooks)

    reported = said(webhooks, off)
    assert (reported["is_active"], reported["disabled_reason"], reported["health"]) == (
        False, "failing", "disabled",
    )  # fmt: skip
    assert reported["failing_since"] is not None
    assert webhooks.health(off)["disabled_reason"] == "failing"
    for hook in (short, few):
        assert (said(webhooks, hook)["is_active"], said(webhooks, hook)["health"]) == (
            True,
            "failing",
        )
    assert audit(webhooks, off)[-1] == ("webhook.switched_off", "tradewind")
    webhooks.pass_time(60)
    log = webhooks.logged(off, 2)
    assert (log[0]["outcome"], log[0]["error"]["code"]) == ("cancelled", "subscription_inactive")
    assert webhooks.verdict(off, event_id) == "cancelled"


def test_switching_it_on_again_forgets_its_failures(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    fail_for(webhooks, hook, timedelta(days=6), 30)
    switch_off(webhooks)

    on = webhooks.change(hook, is_active=True)
    switch_off(webhooks)

    assert (on["is_active"], on["disabled_reason"]) == (True, None)
    assert (on["health"], on["failing_since"]) == ("ok", None)
    assert said(webhooks, hook) == on
    webhooks.emit()
    webhooks.logged(hook, 1)


def test_a_failed_event_counts_once_however_often_it_was_tried(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: Reply(500)
    hook = webhooks.hook(endpoint.url())
    webhooks.emit(2)
    for tried, seconds in ((2, 60), (4, 300), (6, 0)):
        webhooks.tried(hook, tried)
        webhooks.pass_time(seconds)
    until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 6)

    (row,) = webhooks.api.fetch(
        "SELECT failed FROM subscription_health WHERE subscription_id = $1", hook.uuid
    )

    assert row["failed"] == 2


def test_operators_see_which_receivers_fail(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    operator = webhooks.api.operator()
    well, failing, off = (webhooks.hook(endpoint.url(f"/{name}")) for name in ("a", "b", "c"))
    fail_for(webhooks, failing, timedelta(days=1), 3)
    fail_for(webhooks, off, timedelta(days=6), 30)
    switch_off(webhooks)

    def seen(query: str) -> dict[str, str]:
        items: list[Any] = []
        cursor = ""
        while True:
            page = webhooks.ok("GET", f"/v1/admin/webhooks?limit=100{query}{cursor}", by=operator)
            items += page["items"]
            if not page["has_more"]:
                break
            cursor = f"&cursor={page['next_cursor']}"
        assert all("secret" not in item for item in items)
        return {
            item["id"]: item["health"] for item in items if item["account_id"] == webhooks.buyer.id
        }

    everything = {well.id: "ok", failing.id: "failing", off.id: "disabled"}
    assert seen("") == everything
    for word in ("ok", "failing", "disabled"):
        assert seen(f"&health={word}") == {k: v for k, v in everything.items() if v == word}
    assert seen("&health=failing,disabled") == {failing.id: "failing", off.id: "disabled"}
    webhooks.refused("GET", "/v1/admin/webhooks", 403, "insufficient_permissions")
    webhooks.refused("GET", "/v1/admin/queue", 403, "insufficient_permissions")
    webhooks.refused("GET", "/v1/admin/webhooks?health=ill", 422, "validation_failed", by=operator)


def test_operators_see_what_waits(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    operator = webhooks.api.operator()
    endpoint.answer = lambda _: 500
    hook, gone = webhooks.hook(endpoint.url()), webhooks.hook(endpoint.url("/gone"))
    webhooks.emit(2)
    webhooks.tried(hook, 2)
    webhooks.tried(gone, 2)
    until(lambda: webhooks.health(hook), lambda health: health["attempts"] == 2)
    first_due = webhooks.pending(hook)[0]["due_at"]
    webhooks.call("DELETE", gone.path)

    queue = webhooks.ok("GET", "/v1/admin/queue", by=operator)["items"]

    rows = {item["subscription_id"]: item for item in queue}
    assert (rows[hook.id]["pending"], rows[hook.id]["account_id"]) == (2, webhooks.buyer.id)
    assert (rows[hook.id]["url"], rows[hook.id]["first_due_at"]) == (endpoint.url(), first_due)
    assert rows[hook.id]["failing_since"] is not None
    assert gone.id not in rows
