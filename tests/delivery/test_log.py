"""The delivery log: filters, paging, and one attempt exactly as it was sent."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from kit.pages import Pages
from kit.system import System
from kit.webhook_endpoint import Received, Reply, WebhookEndpoint, running_endpoint
from kit.webhook_system import Webhook, WebhookSystem

from tradewind import ids
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED, EventKind

pytestmark = pytest.mark.xdist_group("webhooks")


@dataclass(frozen=True)
class Varied:
    """A subscription with three attempts: one delivered, one refused, one answered 503."""

    webhooks: WebhookSystem
    hook: Webhook
    orders: list[str]


@pytest.fixture(scope="module")
def varied(webhook_system: System) -> Iterator[Varied]:
    webhooks = WebhookSystem.of(webhook_system)
    kinds: list[EventKind] = [ORDER_UPDATED, PAYMENT_UPDATED, ORDER_UPDATED]
    statuses = iter([200, 400, 503])
    orders = [ids.new() for _ in kinds]
    with running_endpoint() as endpoint:
        endpoint.answer = lambda _: next(statuses)
        hook = webhooks.hook(endpoint.url())
        for number, (kind, order_id) in enumerate(zip(kinds, orders, strict=True), 1):
            webhooks.emit(kind=kind, order_id=order_id)
            webhooks.tried(hook, number)
    # No retry adds to it, however long the tests take.
    webhooks.api.fetch("DELETE FROM delivery_queue WHERE subscription_id = $1", hook.uuid)
    yield Varied(webhooks, hook, [ids.ORDER.show(order) for order in orders])
    webhooks.call("DELETE", hook.path)


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("", [503, 400, 200]),
        ("outcome=delivered", [200]),
        ("outcome=http_error", [503, 400]),
        ("outcome=http_error,delivered", [503, 400, 200]),
        ("outcome=timeout", []),
        ("result=delivered", [200]),
        ("result=failed", []),
        ("result=delivered,cancelled", [200]),
        ("event=order.updated", [503, 200]),
        ("event=payment.updated", [400]),
        ("status_code=503", [503]),
        ("status_code=400,200", [400, 200]),
        ("order={busy}", [503]),
        ("order={nobody}", []),
        ("event_id={event}", [400]),
        ("started_after={middle}", [503, 400]),
        ("started_before={middle}", [200]),
        ("started_after={middle}&outcome=http_error&event=payment.updated", [400]),
    ],
)
def test_the_log_is_filtered(varied: Varied, query: str, codes: list[int]) -> None:
    webhooks, hook = varied.webhooks, varied.hook
    middle = webhooks.log(hook, f"order={varied.orders[1]}")[0]
    asked = query.format(
        busy=varied.orders[2],
        nobody=ids.ORDER.show(ids.new()),
        event=middle["event_id"],
        middle=middle["started_at"],
    )

    assert [attempt["status_code"] for attempt in webhooks.log(hook, asked)] == codes


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("outcome=lost", 422, "validation_failed"),
        ("result=http_error", 422, "validation_failed"),
        ("event=order.lost", 422, "validation_failed"),
        ("order=ORD1", 422, "validation_failed"),
        ("status_code=abc", 422, "validation_failed"),
        ("status_code=99", 422, "validation_failed"),
        ("started_after=yesterday", 422, "validation_failed"),
        ("started_after=2026-11-15T01:02:03", 422, "validation_failed"),
        ("limit=101", 422, "validation_failed"),
        ("limit=0", 422, "validation_failed"),
        ("cursor=nonsense", 400, "malformed_cursor"),
        ("colour=red", 422, "validation_failed"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(
    webhooks: WebhookSystem, query: str, status: int, code: str
) -> None:
    hook = webhooks.hook("http://127.0.0.1:9/")
    webhooks.refused("GET", f"{hook.path}/deliveries?{query}", status, code)


def test_the_log_comes_in_pages(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    hook = webhooks.hook(endpoint.url())
    webhooks.emit(7)
    whole = webhooks.logged(hook, 7)

    pages: list[Any] = []
    cursor = ""
    while not pages or pages[-1]["has_more"]:
        pages.append(webhooks.ok("GET", f"{hook.path}/deliveries?limit=3{cursor}"))
        cursor = f"&cursor={pages[-1]['next_cursor']}"

    assert [item for page in pages for item in page["items"]] == whole
    assert [len(page["items"]) for page in pages] == [3, 3, 1]
    times = [row["started_at"] for row in whole]
    assert times == sorted(times, reverse=True)


def test_pages_stay_as_they_were_when_attempts_are_added(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url())
    webhooks.emit(4)
    whole = webhooks.logged(hook, 4)
    first = webhooks.ok("GET", f"{hook.path}/deliveries?limit=2")

    webhooks.emit(3)
    webhooks.logged(hook, 7)
    second = webhooks.ok("GET", f"{hook.path}/deliveries?limit=2&cursor={first['next_cursor']}")

    assert first["items"] + second["items"] == whole


def test_one_attempt_is_shown_as_the_receiver_saw_it(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    long = b"x" * 5000
    endpoint.answer = lambda _: Reply(202, {"x-shop": "yes", "content-type": "text/plain"}, long)
    hook = webhooks.hook(endpoint.url("/in?shop=1"))
    (event_id,) = webhooks.emit()
    (short,) = webhooks.logged(hook, 1)

    detail = webhooks.ok("GET", f"{hook.path}/deliveries/{short['id']}")

    (seen,) = endpoint.received
    assert {name: detail[name] for name in short} == short
    assert set(detail) - set(short) == {"request", "response"}
    request, response = detail["request"], detail["response"]
    assert request["url"] == endpoint.url("/in?shop=1")
    assert request["body"].encode() == seen.body
    assert {header["name"].lower(): header["value"] for header in request["headers"]} == {
        name: value
        for name, value in seen.headers.items()
        if name not in ("host", "accept", "accept-encoding", "content-length")
    }
    assert response["status_code"] == 202
    assert {"name": "x-shop", "value": "yes"} in response["headers"]
    assert response["body"] == "x" * 4096
    assert (short["event_id"], short["id"]) == (event_id, seen.delivery)
    assert set(short) == {
        "id", "event_id", "event", "order", "attempt", "trigger", "outcome", "final", "late",
        "status_code", "error", "started_at", "duration_ms", "next_attempt_at",
    }  # fmt: skip
    assert short["order"] == seen.json["data"]["order"]["id"]
    assert (short["trigger"], short["error"], short["final"]) == ("event", None, True)
    assert hook.secret not in str(detail)


def test_the_page_of_an_attempt_shows_every_header_that_was_sent_and_answered(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: Reply(202, {"x-shop": "yes"})
    hook = webhooks.hook(endpoint.url())
    tested = webhooks.ok("POST", f"{hook.path}/test")
    pages = Pages(webhooks.api, webhooks.buyer)

    with closing(pages.client):
        attempt = pages.get(f"/webhooks/{hook.id}/deliveries/{tested['delivery_id']}")
        test = pages.get(f"/webhooks/{hook.id}/test?delivery={tested['delivery_id']}")

    sent = {header["name"]: header["value"] for header in tested["request"]["headers"]}
    for page in (attempt, test):
        assert page.status_code == 200
        assert all(value in page.text for value in sent.values())
        assert "x-shop" in page.text
    assert f"{sent['X-Service-Timestamp']}." in attempt.text


def test_an_attempt_that_reached_nobody_has_no_response(webhooks: WebhookSystem) -> None:
    hook = webhooks.hook("http://127.0.0.1:9/hook")
    webhooks.emit()
    (short,) = webhooks.tried(hook)

    detail = webhooks.ok("GET", f"{hook.path}/deliveries/{short['id']}")

    assert detail["response"] is None
    sent = {"name": "X-Service-Delivery", "value": short["id"]}
    assert sent in detail["request"]["headers"]
    assert short["error"]["code"]


def test_an_attempt_is_found_under_its_own_subscription_alone(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    stranger = WebhookSystem.of(webhooks)
    hook, other = webhooks.hook(endpoint.url()), webhooks.hook(endpoint.url())
    foreign = stranger.hook(endpoint.url())
    webhooks.emit()
    (attempt,) = webhooks.logged(hook, 1)
    started = {"since": attempt["started_at"]}
    job = webhooks.ok("POST", f"{hook.path}/recover", json=started)["id"]

    for rest in (f"deliveries/{attempt['id']}", f"recover/{job}"):
        assert webhooks.call("GET", f"{hook.path}/{rest}").status_code == 200
        webhooks.refused("GET", f"{other.path}/{rest}", 404, "not_found")
        stranger.refused("GET", f"{foreign.path}/{rest}", 404, "not_found")
        stranger.refused("GET", f"{hook.path}/{rest}", 404, "not_found")
    again = f"deliveries/{attempt['id']}/redeliver"
    webhooks.refused("POST", f"{other.path}/{again}", 404, "not_found")
    stranger.refused("POST", f"{foreign.path}/{again}", 404, "not_found")
    stranger.refused("DELETE", f"{foreign.path}/recover/{job}", 404, "not_found")
    stranger.refused("GET", f"{foreign.path}/explain?event={attempt['event_id']}", 404, "not_found")


def test_what_is_pending_is_listed_in_pages_that_first_which_is_due_first(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    events = [webhooks.emit()[0] for _ in range(3)]
    webhooks.tried(hook, 3)

    whole = webhooks.pending(hook)
    first = webhooks.ok("GET", f"{hook.path}/pending?limit=2")
    rest = webhooks.ok("GET", f"{hook.path}/pending?limit=2&cursor={first['next_cursor']}")

    assert sorted(row["event_id"] for row in whole) == sorted(events)
    assert [row["due_at"] for row in whole] == sorted(row["due_at"] for row in whole)
    assert first["items"] + rest["items"] == whole
    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert {(row["attempt"], row["trigger"], row["under_way"]) for row in whole} == {
        (2, "event", False)
    }


def test_what_is_being_sent_is_under_way(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    seen: list[tuple[Any, str]] = []

    def look(request: Received) -> int:
        (pending,) = webhooks.pending(hook)
        seen.append((pending, webhooks.verdict(hook, request.event_id)))
        return 200

    endpoint.answer = look
    hook = webhooks.hook(endpoint.url())
    webhooks.emit()
    webhooks.logged(hook, 1)

    ((pending, verdict),) = seen
    assert (pending["under_way"], pending["attempt"], verdict) == (True, 1, "under_way")


def test_an_event_says_why_it_was_never_queued(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    (early,) = webhooks.emit()
    hook = webhooks.hook(endpoint.url(), events=["order.updated"], is_active=False)
    (off,) = webhooks.emit()
    (other,) = webhooks.emit(kind="payment.updated")

    assert webhooks.verdict(hook, early) == "created_later"
    assert webhooks.verdict(hook, off) == "inactive"
    assert webhooks.verdict(hook, other) == "filtered"
    webhooks.change(hook, is_active=True)
    assert webhooks.verdict(hook, off) == "not_queued"
    for unknown in (ids.EVENT.show(ids.new()), "evt_1", ""):
        webhooks.refused("GET", f"{hook.path}/explain?event={unknown}", 404, "not_found")
    webhooks.refused("GET", f"{hook.path}/explain", 422, "validation_failed")


def test_an_explanation_lists_the_attempts(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())
    (event_id,) = webhooks.emit()
    log = webhooks.tried(hook)

    why = webhooks.ok("GET", f"{hook.path}/explain?event={event_id}")

    assert why["verdict"] == "waiting"
    assert webhooks.pending(hook)[0]["due_at"] in why["explanation"]
    assert why["attempts"] == log
    assert why["event_id"] == event_id
