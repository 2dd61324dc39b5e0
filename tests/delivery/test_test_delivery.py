"""Test deliveries: sent at once, reported step by step, logged, and not counted."""

import socket
from typing import Any

import pytest
from kit.webhook_endpoint import Reply, WebhookEndpoint, assert_genuine
from kit.webhook_system import Webhook, WebhookSystem

pytestmark = pytest.mark.xdist_group("webhooks")


def trial(webhooks: WebhookSystem, hook: Webhook, **options: Any) -> Any:
    return webhooks.ok("POST", f"{hook.path}/test", **options)


def signs(result: Any) -> str:
    word = {True: "+", False: "-", None: "?"}
    return " ".join(step["step"] + word[step["ok"]] for step in result["steps"])


def test_a_test_is_delivered_signed_and_shown(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: Reply(200, {"x-shop": "yes"}, b"thanks")
    hook = webhooks.hook(endpoint.url())

    result = trial(webhooks, hook)

    (got,) = endpoint.received
    assert_genuine(got, hook.secret)
    assert got.event_id.startswith("evt_test_")
    assert got.json["data"]["order"]["id"].startswith("ORDTEST")
    assert (result["delivered"], result["outcome"], result["status_code"]) == (
        True, "delivered", 200,
    )  # fmt: skip
    assert result["delivery_id"] == got.delivery
    assert result["error"] is None
    assert signs(result) == "dns+ connect+ http+"
    took = [step["took_ms"] for step in result["steps"]]
    assert took == sorted(took)
    assert 0 <= result["duration_ms"] < 10_000
    assert result["request"]["url"] == endpoint.url()
    assert result["request"]["body"].encode() == got.body
    assert {header["name"].lower(): header["value"] for header in result["request"]["headers"]} == {
        name: value
        for name, value in got.headers.items()
        if name not in ("host", "accept", "accept-encoding", "content-length")
    }
    assert result["response"]["status_code"] == 200
    assert result["response"]["body"] == "thanks"
    assert {"name": "x-shop", "value": "yes"} in result["response"]["headers"]
    logged = webhooks.ok("GET", f"{hook.path}/deliveries/{result['delivery_id']}")
    assert (logged["request"], logged["response"]) == (result["request"], result["response"])
    assert hook.secret not in str(result)


def test_a_test_is_logged_and_counted_nowhere(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: 500
    hook = webhooks.hook(endpoint.url())

    result = trial(webhooks, hook)

    (logged,) = webhooks.log(hook)
    assert (logged["id"], logged["trigger"], logged["final"]) == (
        result["delivery_id"], "test", True,
    )  # fmt: skip
    assert logged["event_id"] == endpoint.received[0].event_id
    assert (logged["outcome"], logged["status_code"]) == ("http_error", 500)
    detail = webhooks.ok("GET", f"{hook.path}/deliveries/{logged['id']}")
    assert "X-Service-Signature" in [header["name"] for header in detail["request"]["headers"]]
    assert detail["request"]["body"].encode() == endpoint.received[0].body
    assert webhooks.pending(hook) == []
    health = webhooks.health(hook)
    assert (health["attempts"], health["health"], health["last_failure_at"]) == (0, "ok", None)
    assert webhooks.events() == []
    webhooks.refused("POST", f"{hook.path}/deliveries/{logged['id']}/redeliver", 404, "not_found")


def test_a_test_that_fails_is_answered_all_the_same(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    endpoint.answer = lambda _: Reply(500, body=b"no")
    hook = webhooks.hook(endpoint.url())

    result = trial(webhooks, hook)

    assert (result["delivered"], result["outcome"], result["status_code"]) == (
        False, "http_error", 500,
    )  # fmt: skip
    assert signs(result) == "dns+ connect+ http-"
    assert result["error"]["code"]
    assert result["response"]["body"] == "no"


def test_a_test_to_a_port_that_refuses_says_so(webhooks: WebhookSystem) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        hook = webhooks.hook(f"http://127.0.0.1:{taken.getsockname()[1]}/")

        result = trial(webhooks, hook)

    assert (result["delivered"], result["outcome"]) == (False, "connect_failed")
    assert (result["status_code"], result["response"]) == (None, None)
    assert signs(result) == "dns+ connect- http?"
    assert result["steps"][1]["note"] == result["error"]["message"]


def test_a_test_reaches_a_subscription_that_is_off(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url(), is_active=False)

    assert trial(webhooks, hook)["delivered"] is True
    assert len(endpoint.received) == 1


@pytest.mark.parametrize(
    ("events", "asked", "sent"),
    [
        (["order.updated", "payment.updated"], None, "order.updated"),
        (["payment.updated", "order.updated"], None, "payment.updated"),
        (["payment.updated"], None, "payment.updated"),
        (["payment.updated"], "order.updated", "order.updated"),
        (["order.updated"], "payment.updated", "payment.updated"),
    ],
)
def test_the_event_is_the_one_asked_for_else_the_first(
    webhooks: WebhookSystem,
    endpoint: WebhookEndpoint,
    events: list[str],
    asked: str | None,
    sent: str,
) -> None:
    hook = webhooks.hook(endpoint.url(), events=events)

    trial(webhooks, hook, json={"event": asked} if asked else {})

    (got,) = endpoint.received
    assert got.headers["x-service-event"] == got.json["event"] == sent


def test_an_unknown_event_is_refused(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    hook = webhooks.hook(endpoint.url())

    webhooks.refused("POST", f"{hook.path}/test", 422, "validation_failed", json={"event": "x"})

    assert endpoint.received == []


def test_ten_tests_a_minute_and_no_more(webhooks: WebhookSystem, endpoint: WebhookEndpoint) -> None:
    hook, other = webhooks.hook(endpoint.url()), webhooks.hook(endpoint.url("/other"))

    answers = [webhooks.call("POST", f"{hook.path}/test") for _ in range(11)]

    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0
    problem = answers[-1].json()
    assert problem["code"] == "test_deliveries_limited"
    assert "limited to 10 a minute per subscription" in problem["detail"]
    assert problem["retry_after"] == int(answers[-1].headers["retry-after"])
    assert "plan" not in problem["detail"]
    assert len(endpoint.at("/hook")) == 10
    assert trial(webhooks, other)["delivered"] is True
