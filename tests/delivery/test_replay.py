"""Replay: missed events are sent at a limited rate, counted, and can be cancelled."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from kit.webhook_endpoint import WebhookEndpoint, assert_genuine
from kit.webhook_system import Webhook, WebhookSystem, until

from tradewind import clock, ids
from tradewind.delivery.engine import LEASE

pytestmark = pytest.mark.xdist_group("webhooks")

_HOUR = timedelta(hours=1)


def since(webhooks: WebhookSystem, ago: timedelta = _HOUR) -> str:
    return clock.show(webhooks.now() - ago)


def recover(webhooks: WebhookSystem, hook: Webhook, **more: Any) -> Any:
    wish = {"since": since(webhooks), **more}
    return webhooks.ok("POST", f"{hook.path}/recover", json=wish)


def job(webhooks: WebhookSystem, hook: Webhook, job_id: str) -> Any:
    return webhooks.ok("GET", f"{hook.path}/recover/{job_id}")


def over(webhooks: WebhookSystem, hook: Webhook, job_id: str) -> Any:
    """Wait until everything of a job is delivered or has failed."""
    return until(
        lambda: job(webhooks, hook, job_id),
        lambda shown: (
            shown["status"] == "done" and shown["delivered"] + shown["failed"] == shown["queued"]
        ),
    )


def missed(webhooks: WebhookSystem, hook: Webhook, count: int) -> list[str]:
    """Events that the subscription did not get, since it was off."""
    webhooks.change(hook, is_active=False)
    events = webhooks.emit(count)
    webhooks.change(hook, is_active=True)
    return events


def test_what_was_missed_is_counted_and_delivered_once(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    older = webhooks.emit(2)
    hook = webhooks.hook(endpoint.url())
    (got,) = webhooks.emit()
    webhooks.logged(hook, 1)
    lost = missed(webhooks, hook, 3)

    counted = recover(webhooks, hook, dry_run=True)
    assert counted == {"id": None, "count": 5, "count_is_exact": True}
    assert webhooks.log(hook, "outcome=delivered")[0]["event_id"] == got
    answer = webhooks.call("POST", f"{hook.path}/recover", json={"since": since(webhooks)})
    begun = answer.json()
    done = over(webhooks, hook, begun["id"])

    assert answer.status_code == 202
    assert begun["count"] == 5
    assert begun["id"].startswith("job_")
    assert (done["count"], done["queued"], done["delivered"], done["failed"]) == (5, 5, 5, 0)
    assert (done["status"], done["trigger"]) == ("done", "request")
    assert done["ended_at"] is not None
    assert sorted(request.event_id for request in endpoint.received) == sorted([got, *older, *lost])
    for request in endpoint.received:
        assert_genuine(request, hook.secret)
    triggers = {attempt["event_id"]: attempt["trigger"] for attempt in webhooks.log(hook)}
    assert triggers == {got: "event"} | dict.fromkeys([*older, *lost], "recover")
    assert recover(webhooks, hook, dry_run=True)["count"] == 0


def test_all_delivers_again_what_was_delivered(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    events = webhooks.emit(3)
    webhooks.logged(hook, 3)

    begun = recover(webhooks, hook, include="all")
    over(webhooks, hook, begun["id"])

    assert begun["count"] == 3
    assert sorted(request.event_id for request in endpoint.received) == sorted(events * 2)
    assert len({request.body for request in endpoint.received}) == 3


def test_a_recovery_of_one_order_and_of_a_window(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    order_id = ids.new()
    webhooks.emit(2, order_id=order_id)
    webhooks.emit(2)
    webhooks.emit(1, kind="payment.updated", order_id=order_id)
    hook = webhooks.hook(endpoint.url(), events=["order.updated"])

    one_order = recover(webhooks, hook, order=ids.ORDER.show(order_id), dry_run=True)
    before = recover(webhooks, hook, until=since(webhooks, timedelta(minutes=1)), dry_run=True)
    after = recover(webhooks, hook, since=clock.show(webhooks.now()), dry_run=True)

    assert one_order["count"] == 2
    assert (before["count"], after["count"]) == (0, 0)
    begun = recover(webhooks, hook, order=ids.ORDER.show(order_id))
    over(webhooks, hook, begun["id"])
    assert {request.json["data"]["order"]["id"] for request in endpoint.received} == {
        ids.ORDER.show(order_id)
    }


def test_what_is_about_to_be_delivered_is_not_missed(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()
    webhooks.tried(hook)

    assert recover(webhooks, hook, dry_run=True)["count"] == 0
    assert recover(webhooks, hook, include="all", dry_run=True)["count"] == 1


def test_what_failed_for_good_is_missed(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    webhooks.tried(hook)
    webhooks.pass_time(60)
    webhooks.tried(hook, 2)
    webhooks.pass_time(300)
    webhooks.tried(hook, 3)

    begun = recover(webhooks, hook)
    until(lambda: webhooks.log(hook), lambda log: len(log) == 4)

    assert begun["count"] == 1
    assert webhooks.log(hook)[0]["trigger"] == "recover"
    assert webhooks.log(hook)[0]["attempt"] == 1
    assert webhooks.verdict(hook, event_id) == "waiting"


def test_a_recovery_is_cancelled(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    """More than one portion: what is queued is taken back, and no more is fed."""
    webhooks.emit(400)
    hook = webhooks.hook(endpoint.url())
    begun = recover(webhooks, hook)
    endpoint.until(lambda got: len(got) >= 3)

    ended = webhooks.ok("DELETE", f"{hook.path}/recover/{begun['id']}")

    assert begun["count"] == 400
    assert ended["status"] == "cancelled"
    assert 0 < ended["queued"] < 400
    until(lambda: webhooks.pending(hook), lambda rows: rows == [])
    assert len(endpoint.received) < 400
    assert job(webhooks, hook, begun["id"])["status"] == "cancelled"
    (marker,) = webhooks.emit()
    endpoint.until(lambda got: any(item.event_id == marker for item in got))


def test_live_events_do_not_wait_behind_a_recovery(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    webhooks.emit(300)
    hook = webhooks.hook(endpoint.url())
    begun = recover(webhooks, hook)
    endpoint.until(lambda got: len(got) >= 3)

    (live,) = webhooks.emit()
    got = endpoint.until(lambda got: any(item.event_id == live for item in got))

    place = [item.event_id for item in got].index(live)
    assert place < 250, "it came before the recovery was over"
    webhooks.ok("DELETE", f"{hook.path}/recover/{begun['id']}")


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({}, "/since"),
        ({"since": "yesterday"}, "/since"),
        ({"since": "2026-11-15T01:02:03"}, "/since"),
        ({"since": "2026-11-15T01:02:03Z", "until": "2026-11-15T01:02:03Z"}, "/until"),
        ({"since": "2026-11-15T01:02:03Z", "include": "some"}, "/include"),
        ({"since": "2026-11-15T01:02:03Z", "order": "ORD1"}, "/order"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(
    webhooks: WebhookSystem, wish: dict[str, Any], pointer: str
) -> None:
    hook = webhooks.hook("http://127.0.0.1:9/")

    problem = webhooks.refused("POST", f"{hook.path}/recover", 422, "validation_failed", json=wish)

    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert webhooks.api.fetch("SELECT 1 FROM replay WHERE subscription_id=$1", hook.uuid) == []


def test_a_subscription_that_is_off_can_only_be_counted(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    webhooks.emit(2)
    hook = webhooks.hook(endpoint.url(), is_active=False)

    assert recover(webhooks, hook, dry_run=True)["count"] == 2
    wish = {"since": since(webhooks)}
    webhooks.refused("POST", f"{hook.path}/recover", 409, "subscription_inactive", json=wish)


def test_one_recovery_at_a_time(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    webhooks.emit(400)
    hook = webhooks.hook(endpoint.url())
    begun = recover(webhooks, hook)

    wish = {"since": since(webhooks)}
    webhooks.refused("POST", f"{hook.path}/recover", 409, "recovery_running", json=wish)

    assert recover(webhooks, hook, dry_run=True)["id"] is None
    rows = webhooks.api.fetch("SELECT id FROM replay WHERE subscription_id = $1", hook.uuid)
    assert [ids.JOB.show(row["id"]) for row in rows] == [begun["id"]]
    webhooks.ok("DELETE", f"{hook.path}/recover/{begun['id']}")
    later = recover(webhooks, hook)
    webhooks.ok("DELETE", f"{hook.path}/recover/{later['id']}")


@pytest.mark.parametrize(("include", "days"), [("undelivered", 30), ("all", 60)])
def test_what_is_undelivered_is_known_for_as_long_as_the_log_is_kept(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint, include: str, days: int
) -> None:
    hook = webhooks.hook(endpoint.url())
    asked = webhooks.now()

    wish = {"since": clock.show(asked - timedelta(days=60)), "include": include}
    begun = recover(webhooks, hook, **wish)

    reported = datetime.fromisoformat(job(webhooks, hook, begun["id"])["since"])
    assert abs(reported - (asked - timedelta(days=days))) < timedelta(minutes=1)


def test_a_receiver_that_is_back_catches_up_by_itself(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url(), catch_up=True)
    plain = webhooks.hook(endpoint.url("/plain"))
    lost = webhooks.emit(2)
    for tried, seconds in ((2, 60), (4, 300), (6, 1)):
        webhooks.tried(hook, tried)
        webhooks.tried(plain, tried)
        webhooks.pass_time(seconds)
    assert webhooks.pending(hook) == []
    endpoint.answer = lambda _: 200

    (first,) = webhooks.emit()
    endpoint.until(
        lambda got: (
            sum(item.path == "/hook" for item in got) == 6 + 1 + 2
            and sum(item.path == "/plain" for item in got) == 6 + 1
        )
    )

    log = webhooks.logged(hook, 9)
    assert {attempt["event_id"] for attempt in log if attempt["trigger"] == "recover"} == set(lost)
    assert {attempt["event_id"] for attempt in log if attempt["outcome"] == "delivered"} == {
        first,
        *lost,
    }
    rows = webhooks.api.fetch(
        "SELECT subscription_id, trigger, total FROM replay WHERE account_id = $1",
        webhooks.buyer.uuid,
    )
    assert [tuple(row) for row in rows] == [(hook.uuid, "catch_up", 2)]
    assert webhooks.health(hook)["failing_since"] is None


def test_a_worker_that_dies_uses_up_no_attempt(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """Its claim is left behind: the send is logged as unknown, and the same attempt made again."""
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    webhooks.tried(hook)
    left = ids.new()
    webhooks.api.fetch(
        "UPDATE delivery_queue SET delivery_id = $2,"
        " due_at = tradewind_now(), lease_until = tradewind_now() + $3 WHERE subscription_id = $1",
        hook.uuid, left, LEASE,
    )  # fmt: skip
    assert webhooks.verdict(hook, event_id) == "under_way"

    webhooks.pass_time(LEASE.total_seconds())
    log = webhooks.tried(hook, 3)

    by_id = {attempt["id"]: attempt for attempt in log}
    unknown = by_id.pop(ids.DELIVERY.show(left))
    assert (unknown["outcome"], unknown["attempt"], unknown["final"]) == ("unknown", 2, False)
    assert unknown["error"]["code"] == "worker_died"
    assert sorted((item["attempt"], item["outcome"]) for item in by_id.values()) == [
        (1, "http_error"), (2, "http_error"),
    ]  # fmt: skip
    assert webhooks.pending(hook)[0]["attempt"] == 3
