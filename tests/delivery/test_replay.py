"""Replay: missed events are sent at a limited rate, counted, and can be cancelled."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from kit.hooks import Receiver, assert_genuine
from kit.post import Hook, Post, until

from tradewind import clock, ids
from tradewind.delivery.engine import LEASE

pytestmark = pytest.mark.xdist_group("post")

_HOUR = timedelta(hours=1)


def since(post: Post, ago: timedelta = _HOUR) -> str:
    return clock.show(post.now() - ago)


def recover(post: Post, hook: Hook, **more: Any) -> Any:
    wish = {"since": since(post), **more}
    return post.ok("POST", f"{hook.path}/recover", json=wish)


def job(post: Post, hook: Hook, job_id: str) -> Any:
    return post.ok("GET", f"{hook.path}/recover/{job_id}")


def over(post: Post, hook: Hook, job_id: str) -> Any:
    """Wait until everything of a job is delivered or has failed."""
    return until(
        lambda: job(post, hook, job_id),
        lambda one: one["status"] == "done" and one["delivered"] + one["failed"] == one["queued"],
    )


def missed(post: Post, hook: Hook, count: int) -> list[str]:
    """Events that the subscription did not get, since it was off."""
    post.change(hook, is_active=False)
    events = post.emit(count)
    post.change(hook, is_active=True)
    return events


def test_what_was_missed_is_counted_and_delivered_once(post: Post, receiver: Receiver) -> None:
    older = post.emit(2)
    hook = post.hook(receiver.url())
    (got,) = post.emit()
    post.logged(hook, 1)
    lost = missed(post, hook, 3)

    counted = recover(post, hook, dry_run=True)
    assert counted == {"id": None, "count": 5, "count_is_exact": True}
    assert post.log(hook, "outcome=delivered")[0]["event_id"] == got
    answer = post.call("POST", f"{hook.path}/recover", json={"since": since(post)})
    begun = answer.json()
    done = over(post, hook, begun["id"])

    assert answer.status_code == 202
    assert begun["count"] == 5
    assert begun["id"].startswith("job_")
    assert (done["count"], done["queued"], done["delivered"], done["failed"]) == (5, 5, 5, 0)
    assert (done["status"], done["trigger"]) == ("done", "request")
    assert done["ended_at"] is not None
    assert sorted(one.event_id for one in receiver.received) == sorted([got, *older, *lost])
    for one in receiver.received:
        assert_genuine(one, hook.secret)
    triggers = {one["event_id"]: one["trigger"] for one in post.log(hook)}
    assert triggers == {got: "event"} | dict.fromkeys([*older, *lost], "recover")
    assert recover(post, hook, dry_run=True)["count"] == 0


def test_all_delivers_again_what_was_delivered(post: Post, receiver: Receiver) -> None:
    hook = post.hook(receiver.url())
    events = post.emit(3)
    post.logged(hook, 3)

    begun = recover(post, hook, include="all")
    over(post, hook, begun["id"])

    assert begun["count"] == 3
    assert sorted(one.event_id for one in receiver.received) == sorted(events * 2)
    assert len({one.body for one in receiver.received}) == 3


def test_a_recovery_of_one_order_and_of_a_window(post: Post, receiver: Receiver) -> None:
    order_id = ids.new()
    post.emit(2, order_id=order_id)
    post.emit(2)
    post.emit(1, kind="payment.updated", order_id=order_id)
    hook = post.hook(receiver.url(), events=["order.updated"])

    one_order = recover(post, hook, order=ids.ORDER.show(order_id), dry_run=True)
    before = recover(post, hook, until=since(post, timedelta(minutes=1)), dry_run=True)
    after = recover(post, hook, since=clock.show(post.now()), dry_run=True)

    assert one_order["count"] == 2
    assert (before["count"], after["count"]) == (0, 0)
    begun = recover(post, hook, order=ids.ORDER.show(order_id))
    over(post, hook, begun["id"])
    assert {one.json["data"]["order"]["id"] for one in receiver.received} == {
        ids.ORDER.show(order_id)
    }


def test_what_is_about_to_be_delivered_is_not_missed(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: 500
    hook = post.hook(receiver.url())
    post.emit()
    post.tried(hook)

    assert recover(post, hook, dry_run=True)["count"] == 0
    assert recover(post, hook, include="all", dry_run=True)["count"] == 1


def test_what_failed_for_good_is_missed(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: 500
    hook = post.hook(receiver.url())
    (event_id,) = post.emit()
    post.tried(hook)
    post.pass_time(60)
    post.tried(hook, 2)
    post.pass_time(300)
    post.tried(hook, 3)

    begun = recover(post, hook)
    until(lambda: post.log(hook), lambda log: len(log) == 4)

    assert begun["count"] == 1
    assert post.log(hook)[0]["trigger"] == "recover"
    assert post.log(hook)[0]["attempt"] == 1
    assert post.verdict(hook, event_id) == "waiting"


def test_a_recovery_is_cancelled(post: Post, receiver: Receiver) -> None:
    """More than one portion: what is queued is taken back, and no more is fed."""
    post.emit(400)
    hook = post.hook(receiver.url())
    begun = recover(post, hook)
    receiver.until(lambda got: len(got) >= 3)

    ended = post.ok("DELETE", f"{hook.path}/recover/{begun['id']}")

    assert begun["count"] == 400
    assert ended["status"] == "cancelled"
    assert 0 < ended["queued"] < 400
    until(lambda: post.pending(hook), lambda rows: rows == [])
    assert len(receiver.received) < 400
    assert job(post, hook, begun["id"])["status"] == "cancelled"
    (marker,) = post.emit()
    receiver.until(lambda got: any(one.event_id == marker for one in got))


def test_live_events_do_not_wait_behind_a_recovery(post: Post, receiver: Receiver) -> None:
    post.emit(300)
    hook = post.hook(receiver.url())
    begun = recover(post, hook)
    receiver.until(lambda got: len(got) >= 3)

    (live,) = post.emit()
    got = receiver.until(lambda got: any(one.event_id == live for one in got))

    place = [one.event_id for one in got].index(live)
    assert place < 250, "it came before the recovery was over"
    post.ok("DELETE", f"{hook.path}/recover/{begun['id']}")


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
    post: Post, wish: dict[str, Any], pointer: str
) -> None:
    hook = post.hook("http://127.0.0.1:9/")

    problem = post.refused("POST", f"{hook.path}/recover", 422, "validation_failed", json=wish)

    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert post.api.fetch("SELECT 1 FROM replay WHERE subscription_id=$1", hook.uuid) == []


def test_a_subscription_that_is_off_can_only_be_counted(post: Post, receiver: Receiver) -> None:
    post.emit(2)
    hook = post.hook(receiver.url(), is_active=False)

    assert recover(post, hook, dry_run=True)["count"] == 2
    wish = {"since": since(post)}
    post.refused("POST", f"{hook.path}/recover", 409, "subscription_inactive", json=wish)


def test_one_recovery_at_a_time(post: Post, receiver: Receiver) -> None:
    post.emit(400)
    hook = post.hook(receiver.url())
    begun = recover(post, hook)

    wish = {"since": since(post)}
    post.refused("POST", f"{hook.path}/recover", 409, "recovery_running", json=wish)

    assert recover(post, hook, dry_run=True)["id"] is None
    rows = post.api.fetch("SELECT id FROM replay WHERE subscription_id = $1", hook.uuid)
    assert [ids.JOB.show(row["id"]) for row in rows] == [begun["id"]]
    post.ok("DELETE", f"{hook.path}/recover/{begun['id']}")
    later = recover(post, hook)
    post.ok("DELETE", f"{hook.path}/recover/{later['id']}")


@pytest.mark.parametrize(("include", "days"), [("undelivered", 30), ("all", 60)])
def test_what_is_undelivered_is_known_for_as_long_as_the_log_is_kept(
    post: Post, receiver: Receiver, include: str, days: int
) -> None:
    hook = post.hook(receiver.url())
    asked = post.now()

    wish = {"since": clock.show(asked - timedelta(days=60)), "include": include}
    begun = recover(post, hook, **wish)

    told = datetime.fromisoformat(job(post, hook, begun["id"])["since"])
    assert abs(told - (asked - timedelta(days=days))) < timedelta(minutes=1)


def test_a_receiver_that_is_back_catches_up_by_itself(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: 500
    hook = post.hook(receiver.url(), catch_up=True)
    plain = post.hook(receiver.url("/plain"))
    lost = post.emit(2)
    for tried, seconds in ((2, 60), (4, 300), (6, 1)):
        post.tried(hook, tried)
        post.tried(plain, tried)
        post.pass_time(seconds)
    assert post.pending(hook) == []
    receiver.answer = lambda _: 200

    (first,) = post.emit()
    receiver.until(
        lambda got: (
            sum(one.path == "/hook" for one in got) == 6 + 1 + 2
            and sum(one.path == "/plain" for one in got) == 6 + 1
        )
    )

    log = post.logged(hook, 9)
    assert {one["event_id"] for one in log if one["trigger"] == "recover"} == set(lost)
    assert {one["event_id"] for one in log if one["outcome"] == "delivered"} == {first, *lost}
    rows = post.api.fetch(
        "SELECT subscription_id, trigger, total FROM replay WHERE account_id = $1",
        post.buyer.uuid,
    )
    assert [tuple(row) for row in rows] == [(hook.uuid, "catch_up", 2)]
    assert post.health(hook)["failing_since"] is None


def test_a_worker_that_dies_uses_up_no_attempt(post: Post, receiver: Receiver) -> None:
    """Its claim is left behind: the send is logged as unknown, and the same attempt made again."""
    receiver.answer = lambda _: 500
    hook = post.hook(receiver.url())
    (event_id,) = post.emit()
    post.tried(hook)
    left = ids.new()
    post.api.fetch(
        "UPDATE delivery_queue SET delivery_id = $2,"
        " due_at = tradewind_now(), lease_until = tradewind_now() + $3 WHERE subscription_id = $1",
        hook.uuid, left, LEASE,
    )  # fmt: skip
    assert post.verdict(hook, event_id) == "under_way"

    post.pass_time(LEASE.total_seconds())
    log = post.tried(hook, 3)

    by_id = {one["id"]: one for one in log}
    unknown = by_id.pop(ids.DELIVERY.show(left))
    assert (unknown["outcome"], unknown["attempt"], unknown["final"]) == ("unknown", 2, False)
    assert unknown["error"]["code"] == "worker_died"
    assert sorted((one["attempt"], one["outcome"]) for one in by_id.values()) == [
        (1, "http_error"), (2, "http_error"),
    ]  # fmt: skip
    assert post.pending(hook)[0]["attempt"] == 3
