"""Isolation: one failing subscription does not affect others; an expired lease changes nothing."""

import threading
from datetime import timedelta

import asyncpg
import pytest
from kit.webhook_endpoint import Received, WebhookEndpoint, running_endpoint
from kit.webhook_system import WebhookSystem, until

from tradewind import clock
from tradewind.delivery.engine import LEASE
from tradewind.delivery.host_limits import FIRST

pytestmark = pytest.mark.xdist_group("webhooks")


def nothing_else_is_due(webhooks: WebhookSystem) -> None:
    """Wait until something was delivered that was done later: the rest had its chance."""
    other = WebhookSystem.of(webhooks)
    with running_endpoint() as witness:
        hook = other.hook(witness.url())
        other.emit()
        other.logged(hook, 1)


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


def test_who_lost_a_claim_changes_no_delivery(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """Its lease ended while it waited: another attempt is under way, and alone decides."""
    gates = [Gate(200), Gate(500)]
    order = iter(gates)

    def answer(request: Received) -> int:
        return next(order)(request)

    endpoint.answer = answer
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    endpoint.until(lambda got: len(got) == 1)
    webhooks.pass_time(LEASE.total_seconds())
    first, second = endpoint.until(lambda got: len(got) == 2)

    gates[0].open()
    nothing_else_is_due(webhooks)
    (pending,) = webhooks.pending(hook)
    assert (pending["event_id"], pending["attempt"], pending["under_way"]) == (event_id, 1, True)
    gates[1].open()
    log = until(
        lambda: webhooks.log(hook),
        lambda log: any(attempt["id"] == second.delivery for attempt in log),
    )

    assert first.delivery != second.delivery
    assert first.body == second.body
    assert {attempt["id"] for attempt in log} == {first.delivery, second.delivery}
    (decided,) = [attempt for attempt in log if attempt["id"] == second.delivery]
    assert (decided["attempt"], decided["outcome"], decided["final"]) == (1, "http_error", False)
    assert webhooks.pending(hook)[0]["attempt"] == 2
    reported = until(
        lambda: webhooks.ok("GET", f"{hook.path}/deliveries/{first.delivery}"),
        lambda shown: shown["late"],
    )
    assert (reported["outcome"], reported["final"], reported["response"]["status_code"]) == (
        "delivered", False, 200,
    )  # fmt: skip
    assert webhooks.log(hook, "result=delivered") == []
    health = until(lambda: webhooks.health(hook), lambda shown: shown["attempts"])
    assert (health["attempts"], health["success_rate"]) == (1, 0)


def test_a_delay_counts_from_the_end_of_the_attempt(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    gate = Gate(500)
    endpoint.answer = gate
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()
    endpoint.until(lambda got: len(got) == 1)
    began = webhooks.now()
    # The database's clock is adjusted now and then; the worker's own, which times attempts, is not.
    until(webhooks.now, lambda now: now - began > timedelta(seconds=1.1))
    gate.open()

    (attempt,) = webhooks.tried(hook)

    assert attempt["duration_ms"] >= 1000
    (row,) = webhooks.api.fetch(
        "SELECT next_attempt_at - started_at AS gap FROM delivery_attempt"
        " WHERE subscription_id = $1",
        hook.uuid,
    )
    pause = row["gap"] - timedelta(milliseconds=attempt["duration_ms"])
    assert timedelta(seconds=59.99) <= pause < timedelta(seconds=62)
    assert webhooks.pending(hook)[0]["due_at"] == attempt["next_attempt_at"]


def test_what_was_under_way_when_its_subscription_was_deleted_is_logged_and_forgotten(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    gate = Gate(500)
    endpoint.answer = gate
    hook = webhooks.hook(endpoint.url())
    job = {"since": clock.show(webhooks.now() - timedelta(hours=1)), "include": "all"}
    webhooks.emit()
    endpoint.until(lambda got: len(got) == 1)
    webhooks.ok("POST", f"{hook.path}/recover", json=job)
    assert webhooks.call("DELETE", hook.path).status_code == 204
    gate.open()

    def attempts() -> list[asyncpg.Record]:
        return webhooks.api.fetch(
            "SELECT outcome, error_code FROM delivery_attempt"
            " WHERE subscription_id = $1 AND trigger = 'event' ORDER BY started_at",
            hook.uuid,
        )

    until(attempts, lambda rows: len(rows) == 1)
    webhooks.pass_time(60)
    rows = until(attempts, lambda rows: len(rows) == 2)

    assert rows[0]["outcome"] == "http_error"
    assert tuple(rows[1]) == ("cancelled", "subscription_deleted")
    (ended,) = webhooks.api.fetch("SELECT status FROM replay WHERE subscription_id = $1", hook.uuid)
    assert ended["status"] in ("cancelled", "done")
    assert len(endpoint.received) == 1


def test_many_subscriptions_of_one_receiver_share_its_host(webhooks: WebhookSystem) -> None:
    """More than a lane each: every one of them gets something at once, none gets all."""
    gate = Gate()
    with running_endpoint() as endpoint:
        endpoint.answer = gate
        hooks = [webhooks.hook(endpoint.url(f"/{number}")) for number in range(20)]
        webhooks.emit(30)
        try:
            endpoint.until(lambda got: len({item.path for item in got}) == len(hooks))
        finally:
            gate.open()
        endpoint.until(lambda got: len(got) == 30 * len(hooks))
        for hook in hooks:
            webhooks.call("DELETE", hook.path)


def test_a_host_that_answers_is_sent_more_at_once(webhooks: WebhookSystem) -> None:
    with running_endpoint() as endpoint:
        hooks = [webhooks.hook(endpoint.url(f"/{number}")) for number in range(10)]
        webhooks.emit(10)
        endpoint.until(lambda got: len(got) == 100)
        gate = endpoint.answer = Gate()
        webhooks.emit(10)
        try:
            endpoint.until(lambda got: len(got) > 100 + 2 * FIRST)
        finally:
            gate.open()
        endpoint.until(lambda got: len(got) == 200)
        for hook in hooks:
            webhooks.call("DELETE", hook.path)


def test_the_worker_claims_and_records_over_connections_of_its_own(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()
    webhooks.logged(hook, 1)

    rows = webhooks.api.fetch(
        "SELECT application_name, query FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name LIKE 'tradewind %'"
    )

    said = {(row["application_name"], word) for row in rows for word in row["query"].split()}
    assert ("tradewind deliveries", "delivery_queue") in said
    assert ("tradewind worker", "picked") not in said
