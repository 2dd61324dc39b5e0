"""Three attempts, one and five minutes apart, of the same bytes; and what decides at each."""

import json
from typing import Any

import pytest
from kit.system import System
from kit.webhook_endpoint import HANG_UP, Reply, WebhookEndpoint, assert_genuine, running_endpoint
from kit.webhook_system import Webhook, WebhookSystem, until

pytestmark = pytest.mark.xdist_group("webhooks")


def failing(endpoint: WebhookEndpoint, status: int = 500) -> None:
    endpoint.answer = lambda _: status


def first_attempt(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint, **more: Any
) -> tuple[Webhook, str]:
    """A subscription whose endpoint failed once; and the event."""
    failing(endpoint)
    hook = webhooks.hook(endpoint.url(), **more)
    (event_id,) = webhooks.emit()
    endpoint.until(lambda got: len(got) == 1)
    webhooks.tried(hook)
    return hook, event_id


def nothing_else_is_due(webhooks: WebhookSystem) -> None:
    """Wait until something was delivered that became due just now: the rest had its chance."""
    other = WebhookSystem.of(webhooks)
    with running_endpoint() as witness:
        hook = other.hook(witness.url())
        other.emit()
        other.logged(hook, 1)


def outcomes(log: list[Any]) -> list[tuple[int, str, bool]]:
    return [(attempt["attempt"], attempt["outcome"], attempt["final"]) for attempt in log]


def test_every_event_of_an_order_arrives_as_the_contract_says(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())

    order = webhooks.paid()
    journal = webhooks.events(order["id"])
    got = endpoint.until(lambda got: len(got) >= len(journal))

    assert len(journal) >= 5
    assert {item.event_id: item.json for item in got} == {item["id"]: item for item in journal}
    assert len(got) == len(journal)
    for item in got:
        assert_genuine(item, hook.secret)
    assert len({item.delivery for item in got}) == len(got)
    assert {item["outcome"] for item in webhooks.logged(hook, len(journal))} == {"delivered"}
    assert webhooks.pending(hook) == []


def test_three_attempts_and_no_fourth(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    hook, event_id = first_attempt(webhooks, endpoint)
    (pending,) = webhooks.pending(hook)
    (first,) = webhooks.log(hook)
    assert (pending["event_id"], pending["attempt"], pending["under_way"]) == (event_id, 2, False)
    assert pending["due_at"] == first["next_attempt_at"]

    webhooks.pass_time(57)
    nothing_else_is_due(webhooks)
    assert len(endpoint.received) == 1
    assert webhooks.pending(hook)[0]["attempt"] == 2
    webhooks.pass_time(3)
    endpoint.until(lambda got: len(got) == 2)
    webhooks.tried(hook, 2)
    webhooks.pass_time(297)
    nothing_else_is_due(webhooks)
    assert len(endpoint.received) == 2
    webhooks.pass_time(3)
    got = endpoint.until(lambda got: len(got) == 3)
    log = webhooks.tried(hook, 3)
    webhooks.pass_time(310)
    (marker,) = webhooks.emit()
    got = endpoint.until(lambda got: any(item.event_id == marker for item in got))

    attempts = [item for item in got if item.event_id == event_id]
    assert len(attempts) == 3
    assert outcomes(log) == [
        (3, "http_error", True), (2, "http_error", False), (1, "http_error", False),
    ]  # fmt: skip
    assert [attempt["next_attempt_at"] is None for attempt in log] == [True, False, False]
    assert {attempt["status_code"] for attempt in log} == {500}
    assert len({attempt.body for attempt in attempts}) == 1
    assert len({attempt.delivery for attempt in attempts}) == 3
    assert [attempt.delivery for attempt in attempts] == [
        attempt["id"] for attempt in reversed(log)
    ]
    for attempt in attempts:
        assert_genuine(attempt, hook.secret)
    assert webhooks.verdict(hook, event_id) == "failed"


def test_an_endpoint_that_closes_kept_connections_gets_three_posts(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """It reads the request and closes: three attempts, each sent once with an id of its own.

    Only the first uses a kept connection, so that an innocent close costs one attempt at the most.
    """
    endpoint.answer = lambda request: 200 if request.path == "/other" else HANG_UP
    other = WebhookSystem.of(webhooks)
    others = other.hook(endpoint.url("/other"))
    hook = webhooks.hook(endpoint.url())
    for number, seconds in enumerate((0, 60, 300), start=1):
        other.emit(10)
        other.logged(others, 10 * number)  # now there are kept connections to this endpoint
        if number == 1:
            (event_id,) = webhooks.emit()
        webhooks.pass_time(seconds)
        webhooks.tried(hook, number)

    log = webhooks.log(hook, "outcome=connection_closed")
    got = endpoint.at("/hook")

    assert outcomes(log) == [
        (3, "connection_closed", True), (2, "connection_closed", False),
        (1, "connection_closed", False),
    ]  # fmt: skip
    assert {attempt["error"]["code"] for attempt in log} == {"connection_closed"}
    assert [item.delivery for item in got] == [attempt["id"] for attempt in reversed(log)]
    assert webhooks.verdict(hook, event_id) == "failed"
    kept = {item.client_port for item in endpoint.at("/other")}
    assert not kept & {item.client_port for item in got[1:]}
    assert {attempt["outcome"] for attempt in other.log(others)} == {"delivered"}


def test_attempts_are_never_early_and_hardly_late(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """On the real clock: from just before the moment on, the attempt comes within two seconds."""
    hook, _ = first_attempt(webhooks, endpoint)
    (due,) = webhooks.api.fetch(
        "SELECT due_at FROM delivery_queue WHERE subscription_id = $1", hook.uuid
    )
    left = (due["due_at"] - webhooks.now()).total_seconds()
    webhooks.pass_time(left - 1.0)

    endpoint.until(lambda got: len(got) == 2)
    second = webhooks.tried(hook, 2)[0]
    (row,) = webhooks.api.fetch(
        "SELECT started_at FROM delivery_attempt WHERE subscription_id = $1 AND attempt = 2",
        hook.uuid,
    )

    late = (row["started_at"] - due["due_at"]).total_seconds()
    assert 0 <= late < 2
    assert second["attempt"] == 2


def test_a_success_ends_the_attempts(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    hook, event_id = first_attempt(webhooks, endpoint)
    assert webhooks.verdict(hook, event_id) == "waiting"
    failing(endpoint, 204)
    webhooks.pass_time(60)

    log = webhooks.logged(hook, 2)

    assert outcomes(log) == [(2, "delivered", True), (1, "http_error", False)]
    assert webhooks.pending(hook) == []
    assert webhooks.verdict(hook, event_id) == "delivered"


def test_a_rotation_counts_from_its_answer_on(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, _ = first_attempt(webhooks, endpoint)

    rotated = webhooks.rotated(hook)
    webhooks.pass_time(60)
    first, second = endpoint.until(lambda got: len(got) == 2)

    assert rotated.secret != hook.secret
    assert_genuine(first, hook.secret)
    assert_genuine(second, rotated.secret)
    with pytest.raises(AssertionError):
        assert_genuine(second, hook.secret)


def test_a_new_url_counts_from_its_answer_on(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, _ = first_attempt(webhooks, endpoint)

    webhooks.change(hook, url=endpoint.url("/new"))
    webhooks.pass_time(60)
    first, second = endpoint.until(lambda got: len(got) == 2)

    assert [first.path, second.path] == ["/hook", "/new"]
    assert first.body == second.body


def test_events_that_are_wanted_no_longer_are_cancelled(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, event_id = first_attempt(webhooks, endpoint)

    webhooks.change(hook, events=["payment.updated"])
    webhooks.pass_time(60)
    log = webhooks.logged(hook, 2)

    assert outcomes(log) == [(2, "cancelled", True), (1, "http_error", False)]
    assert log[0]["error"]["code"] == "event_no_longer_wanted"
    assert (log[0]["status_code"], log[0]["duration_ms"]) == (None, None)
    assert len(endpoint.received) == 1
    assert webhooks.verdict(hook, event_id) == "cancelled"


def test_switching_off_cancels_and_switching_on_resurrects_nothing(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, event_id = first_attempt(webhooks, endpoint)

    webhooks.change(hook, is_active=False)
    webhooks.emit()
    webhooks.change(hook, is_active=True)
    failing(endpoint, 200)
    webhooks.pass_time(60)
    log = webhooks.logged(hook, 2)
    (later,) = webhooks.emit()
    got = endpoint.until(lambda got: any(item.event_id == later for item in got))

    assert outcomes(log) == [(2, "cancelled", True), (1, "http_error", False)]
    assert log[0]["error"]["code"] == "subscription_inactive"
    assert [item.event_id for item in got] == [event_id, later]


def test_what_is_pending_is_cancelled_while_it_is_off(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, event_id = first_attempt(webhooks, endpoint)
    webhooks.change(hook, is_active=False)
    webhooks.pass_time(60)

    log = webhooks.logged(hook, 2)

    assert outcomes(log)[0] == (2, "cancelled", True)
    assert webhooks.pending(hook) == []
    assert webhooks.log(hook, "result=cancelled") == log[:1]
    assert webhooks.verdict(hook, event_id) == "cancelled"
    assert len(endpoint.received) == 1


def test_deleting_cancels_what_is_pending(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, _ = first_attempt(webhooks, endpoint)
    assert webhooks.call("DELETE", hook.path).status_code == 204
    webhooks.pass_time(60)

    rows = until(
        lambda: webhooks.api.fetch(
            "SELECT outcome, error_code, final FROM delivery_attempt"
            " WHERE subscription_id = $1 ORDER BY started_at DESC",
            hook.uuid,
        ),
        lambda rows: len(rows) == 2,
    )

    assert tuple(rows[0]) == ("cancelled", "subscription_deleted", True)
    assert len(endpoint.received) == 1
    left = webhooks.api.fetch("SELECT 1 FROM delivery_queue WHERE subscription_id = $1", hook.uuid)
    assert left == []


def test_a_redelivery_has_the_same_bytes_and_three_attempts_of_its_own(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    failing(endpoint, 200)
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    (first,) = webhooks.logged(hook, 1)
    failing(endpoint, 503)

    answer = webhooks.call("POST", f"{hook.path}/deliveries/{first['id']}/redeliver")
    webhooks.tried(hook, 2)
    for seconds, tried in ((60, 3), (300, 4)):
        webhooks.pass_time(seconds)
        webhooks.tried(hook, tried)
    webhooks.pass_time(310)
    log = webhooks.log(hook)

    assert answer.status_code == 202
    reported = answer.json()
    assert (reported["event_id"], reported["attempt"], reported["trigger"]) == (
        event_id,
        1,
        "redeliver",
    )
    assert [(attempt["attempt"], attempt["trigger"], attempt["outcome"]) for attempt in log] == [
        (3, "redeliver", "http_error"),
        (2, "redeliver", "http_error"),
        (1, "redeliver", "http_error"),
        (1, "event", "delivered"),
    ]
    assert len({request.body for request in endpoint.received}) == 1
    assert len({request.delivery for request in endpoint.received}) == 4


def test_a_redelivery_is_answered_with_its_own_entry_whatever_else_is_pending(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """The same event waits for its second attempt, which is due: the answer is not about that."""
    failing(endpoint, 503)
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    (first,) = webhooks.tried(hook)
    webhooks.api.fetch(
        "UPDATE delivery_queue SET due_at = tradewind_now() - interval '1 minute',"
        " lease_until = tradewind_now() + interval '1 minute' WHERE subscription_id = $1",
        hook.uuid,
    )

    reported = webhooks.ok("POST", f"{hook.path}/deliveries/{first['id']}/redeliver")

    assert (reported["event_id"], reported["attempt"], reported["trigger"]) == (
        event_id,
        1,
        "redeliver",
    )
    assert (reported["event"], reported["order"]) == (first["event"], first["order"])
    assert reported["under_way"] is False


def test_a_redelivery_to_a_subscription_that_is_off_is_refused(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook, _ = first_attempt(webhooks, endpoint)
    (attempt,) = webhooks.log(hook)
    webhooks.change(hook, is_active=False)

    webhooks.refused(
        "POST", f"{hook.path}/deliveries/{attempt['id']}/redeliver", 409, "subscription_inactive"
    )

    rows = webhooks.api.fetch(
        "SELECT trigger FROM delivery_queue WHERE subscription_id=$1", hook.uuid
    )
    assert all(row["trigger"] == "event" for row in rows)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint, status: int
) -> None:
    endpoint.answer = lambda _: Reply(status, {"location": endpoint.url("/elsewhere")})
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()

    (attempt,) = webhooks.tried(hook)

    assert (attempt["outcome"], attempt["status_code"]) == ("http_error", status)
    assert [request.path for request in endpoint.received] == ["/hook"]


def test_a_receiver_that_cannot_be_reached_is_tried_again(webhooks: WebhookSystem) -> None:
    hook = webhooks.hook("http://127.0.0.1:9/hook")
    webhooks.emit()

    (attempt,) = webhooks.tried(hook)

    assert (attempt["outcome"], attempt["status_code"]) == ("connect_failed", None)
    assert attempt["error"]["message"]
    assert webhooks.pending(hook)[0]["attempt"] == 2


def test_each_subscription_gets_the_events_it_lists_and_no_stranger_gets_any(
    webhooks: WebhookSystem, webhook_system: System, endpoint: WebhookEndpoint
) -> None:
    stranger = WebhookSystem.of(webhook_system)
    stranger.hook(endpoint.url("/stranger"))
    orders = webhooks.hook(endpoint.url("/orders"), events=["order.updated"])
    payments = webhooks.hook(endpoint.url("/payments"), events=["payment.updated"])
    webhooks.hook(endpoint.url("/off"), is_active=False)

    webhooks.paid()
    journal = webhooks.events()
    endpoint.until(lambda got: len(got) >= len(journal))

    for hook, path, kind in (
        (orders, "/orders", "order.updated"),
        (payments, "/payments", "payment.updated"),
    ):
        got = endpoint.at(path)
        assert sorted(item.event_id for item in got) == sorted(
            item["id"] for item in journal if item["event"] == kind
        )
        for item in got:
            assert_genuine(item, hook.secret)
    assert {request.path for request in endpoint.received} == {"/orders", "/payments"}


def test_two_subscriptions_with_one_url_are_told_apart_by_their_signatures(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hooks = [webhooks.hook(endpoint.url()), webhooks.hook(endpoint.url())]
    (event_id,) = webhooks.emit()

    got = endpoint.until(lambda got: len(got) == 2)

    assert {item.event_id for item in got} == {event_id}
    by_id = {webhooks.logged(hook, 1)[0]["id"]: hook for hook in hooks}
    assert {item.delivery for item in got} == set(by_id)
    for item in got:
        assert_genuine(item, by_id[item.delivery].secret)
    assert json.loads(got[0].body) == json.loads(got[1].body)
