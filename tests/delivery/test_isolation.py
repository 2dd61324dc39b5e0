"""What one subscription suffers, others do not; and who lost a claim changes nothing."""

import threading
from datetime import timedelta

import asyncpg
import pytest
from kit.hooks import Received, Receiver, receiving
from kit.post import Post, until

from tradewind import clock, ids
from tradewind.delivery.watch import watch
from tradewind.storage.pool import Database

pytestmark = pytest.mark.xdist_group("post")


class Gate:
    """Holds back answers until it is opened."""

    def __init__(self, status: int = 200) -> None:
        self._open = threading.Event()
        self._status = status

    def __call__(self, _: Received) -> int:
        assert self._open.wait(9)
        return self._status

    def open(self) -> None:
        self._open.set()


def test_who_lost_a_claim_changes_no_delivery_and_its_attempt_is_logged(
    post: Post, receiver: Receiver
) -> None:
    gate = Gate()
    receiver.answer = gate
    hook = post.hook(receiver.url())
    post.emit()
    receiver.until(lambda got: len(got) == 1)
    second = ids.new()
    post.api.fetch(
        "UPDATE delivery_queue SET claim = claim + 1, delivery_id = $2 WHERE subscription_id = $1",
        hook.uuid,
        second,
    )

    gate.open()
    (late,) = post.logged(hook, 1)

    assert (late["id"], late["outcome"]) == (receiver.received[0].delivery, "delivered")
    rows = post.api.fetch(
        "SELECT delivery_id, attempt FROM delivery_queue WHERE subscription_id = $1", hook.uuid
    )
    assert [tuple(row) for row in rows] == [(second, 1)]
    post.call("DELETE", hook.path)


def test_a_delay_counts_from_the_end_of_the_attempt(post: Post, receiver: Receiver) -> None:
    gate = Gate(500)
    receiver.answer = gate
    hook = post.hook(receiver.url())
    post.emit()
    receiver.until(lambda got: len(got) == 1)
    began = post.now()
    until(post.now, lambda now: now - began > timedelta(seconds=1))
    gate.open()

    (attempt,) = post.tried(hook)

    assert attempt["duration_ms"] >= 1000
    (row,) = post.api.fetch(
        "SELECT next_attempt_at - started_at AS gap FROM delivery_attempt"
        " WHERE subscription_id = $1",
        hook.uuid,
    )
    pause = row["gap"] - timedelta(milliseconds=attempt["duration_ms"])
    assert timedelta(seconds=59.99) <= pause < timedelta(seconds=62)
    assert post.pending(hook)[0]["due_at"] == attempt["next_attempt_at"]


def test_what_was_under_way_when_its_subscription_was_deleted_is_logged_and_forgotten(
    post: Post, receiver: Receiver
) -> None:
    gate = Gate(500)
    receiver.answer = gate
    hook = post.hook(receiver.url())
    job = {"since": clock.show(post.now() - timedelta(hours=1)), "include": "all"}
    post.emit()
    receiver.until(lambda got: len(got) == 1)
    post.ok("POST", f"{hook.path}/recover", json=job)
    assert post.call("DELETE", hook.path).status_code == 204
    gate.open()

    def attempts() -> list[asyncpg.Record]:
        return post.api.fetch(
            "SELECT outcome, error_code FROM delivery_attempt"
            " WHERE subscription_id = $1 AND trigger = 'event' ORDER BY started_at",
            hook.uuid,
        )

    until(attempts, lambda rows: len(rows) == 1)
    post.pass_time(60)
    rows = until(attempts, lambda rows: len(rows) == 2)

    assert rows[0]["outcome"] == "http_error"
    assert tuple(rows[1]) == ("cancelled", "subscription_deleted")
    (ended,) = post.api.fetch(
        "SELECT status FROM recover_job WHERE subscription_id = $1", hook.uuid
    )
    assert ended["status"] in ("cancelled", "done")
    assert len(receiver.received) == 1


async def test_a_delivery_that_nobody_comes_back_from_is_put_aside(db: Database) -> None:
    insert = """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    due_at, lost, lease_until)
        VALUES ($1, $1, 1, $1, tradewind_now(), tradewind_now(), $2, tradewind_now() + $3)
    """
    past, future = timedelta(seconds=-1), timedelta(minutes=1)
    for lost, lease in ((4, past), (5, past), (5, future)):
        await db.execute(insert, ids.new(), lost, lease)

    await watch(db)

    rows = await db.fetch(
        "SELECT lost, due_at > tradewind_now() + interval '14 minutes' AS later,"
        " lease_until > tradewind_now() AS held FROM delivery_queue ORDER BY lost, held"
    )
    assert [tuple(row) for row in rows] == [
        (0, True, False),
        (4, False, False),
        (5, False, True),
    ]


def test_many_subscriptions_of_one_receiver_share_its_host(post: Post) -> None:
    """More than a lane each: every one of them gets something at once, none gets all."""
    gate = Gate()
    with receiving() as receiver:
        receiver.answer = gate
        hooks = [post.hook(receiver.url(f"/{number}")) for number in range(20)]
        post.emit(30)
        try:
            receiver.until(lambda got: len({one.path for one in got}) == len(hooks))
        finally:
            gate.open()
        receiver.until(lambda got: len(got) == 30 * len(hooks))
        for hook in hooks:
            post.call("DELETE", hook.path)
