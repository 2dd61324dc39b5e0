"""Headers of a subscription's own, Standard Webhooks, and filters: on request, breaking nothing."""

from typing import Any, get_args

import pytest
from delivery.samples import a_claim, a_destination
from kit.webhook_endpoint import WebhookEndpoint, assert_genuine
from kit.webhook_system import Webhook as WebhookRecord
from kit.webhook_system import WebhookSystem, until
from standardwebhooks import Webhook, WebhookVerificationError

from tradewind import ids
from tradewind.delivery.model import Cancelled
from tradewind.delivery.retry_policy import reason_not_to_send
from tradewind.delivery.test_delivery import body_of
from tradewind.orders.model import OrderStatus
from tradewind.webhooks import secret as secrets
from tradewind.webhooks.headers import is_reserved
from tradewind.webhooks.model import EventFilter
from tradewind.webhooks.wire import OrderStatusName

pytestmark = pytest.mark.xdist_group("webhooks")

MASK = "********"


def hook_with_options(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> tuple[str, Any, WebhookRecord]:
    """A webhook with a token in its headers, and with the headers of Standard Webhooks."""
    token = f"Bearer tok-{ids.new().hex}"
    made = webhooks.ok(
        "POST",
        "/v1/webhooks",
        json={
            "url": endpoint.url(),
            "headers": {"Authorization": token, "X-Env": "a b"},
            "standard_webhooks": True,
        },
    )
    return token, made, webhooks.known(made["id"], made["secret"])


def test_own_headers_and_standard_webhooks_are_sent_and_never_shown(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    token, made, hook = hook_with_options(webhooks, endpoint)
    standard = Webhook(made["standard_webhooks_secret"])
    assert made["headers"] == {"Authorization": MASK, "X-Env": MASK}
    endpoint.answer = lambda _: 500 if len(endpoint.received) == 1 else 200

    (event_id,) = webhooks.emit()
    webhooks.tried(hook)
    webhooks.pass_time(61)
    first, second = endpoint.until(lambda got: len(got) == 2)

    for received in (first, second):
        assert_genuine(received, hook.secret)
        assert received.headers["authorization"] == token
        assert received.headers["x-env"] == "a b"
        assert received.headers["webhook-id"] == event_id
        assert standard.verify(received.body, received.headers)["id"] == event_id
        with pytest.raises(WebhookVerificationError):
            standard.verify(received.body + b" ", received.headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(secrets.standard_form(secrets.make())).verify(received.body, received.headers)
    assert first.delivery != second.delivery
    # The log has them, with masks in place of the values.
    attempt = webhooks.logged(hook, 2)[0]
    detail = webhooks.ok("GET", f"{hook.path}/deliveries/{attempt['id']}")
    shown = {line["name"].lower(): line["value"] for line in detail["request"]["headers"]}
    assert shown["authorization"] == shown["x-env"] == MASK
    assert shown["webhook-signature"] == second.headers["webhook-signature"]
    # A test sends them too.
    trial = webhooks.ok("POST", f"{hook.path}/test")
    *_, tested = endpoint.until(lambda got: len(got) == 3)
    assert tested.headers["authorization"] == token
    assert standard.verify(tested.body, tested.headers)["id"].startswith("evt_test_")
    assert token not in str(trial)
    assert MASK in str(trial["request"])
    assert token not in webhooks.call("GET", "/v1/webhooks").text
    stored = webhooks.api.fetch(
        "SELECT s::text FROM webhook_subscription AS s WHERE id = $1", hook.uuid
    )
    assert token not in str(stored)
    assert token.encode().hex() not in str(stored)
    assert not [
        log for log in webhooks.api.launcher.folder.glob("*.log") if token in log.read_text()
    ]


def test_options_are_changed_from_the_answer_on_and_a_mask_keeps_its_value(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    token, _, hook = hook_with_options(webhooks, endpoint)
    # Masks keep their values, whatever their case; a name that is left out is gone.
    changed = webhooks.change(hook, headers={"authorization": MASK, "X-New": "new"})
    assert changed["headers"] == {"authorization": MASK, "X-New": MASK}
    rotated = webhooks.ok("POST", f"{hook.path}/rotate-secret")
    webhooks.known(rotated["id"], rotated["secret"])
    webhooks.emit()
    (third,) = endpoint.until(lambda got: len(got) == 1)
    assert third.headers["authorization"] == token
    assert third.headers["x-new"] == "new"
    assert "x-env" not in third.headers
    Webhook(rotated["standard_webhooks_secret"]).verify(third.body, third.headers)
    problem = webhooks.refused(
        "PATCH", hook.path, 422, "validation_failed", json={"headers": {"X-Env": MASK}}
    )
    assert problem["errors"][0]["pointer"] == "/headers/X-Env"
    # Off again: a plain delivery, and a plain answer.
    plain = webhooks.change(hook, headers={}, standard_webhooks=False)
    assert (plain["headers"], plain["standard_webhooks"]) == ({}, False)
    assert set(webhooks.ok("POST", f"{hook.path}/rotate-secret")) == {"id", "secret", "rotated_at"}
    webhooks.emit()
    *_, last = endpoint.until(lambda got: len(got) == 2)
    assert not {"authorization", "x-new", "webhook-id", "webhook-signature"} & set(last.headers)
    audit = webhooks.api.fetch(
        "SELECT details::text AS text FROM audit WHERE subject = $1", hook.id
    )
    assert token not in str(audit)
    assert "X-New" in str(audit)


def test_the_standard_form_of_any_secret_verifies_with_the_library_as_it_is() -> None:
    made = [secrets.make() for _ in range(200)]
    assert any("-" in secret or "_" in secret.removeprefix("whsec_") for secret in made)
    for secret in made:
        form = secrets.standard_form(secret)
        assert len(form) == len("whsec_") + 44
        assert Webhook(form)._whsecret == secrets.standard_key(secret)  # noqa: SLF001 - its key
        assert len(secrets.standard_key(secret)) == 32


@pytest.mark.parametrize(
    "name",
    [
        "Host", "content-type", "Content-Length", "USER-AGENT", "X-Service-Signature",
        "x-service-anything", "webhook-id", "Connection", "Transfer-Encoding", "TE", "Upgrade",
        "Keep-Alive", "Proxy-Authorization", "Trailer", "Expect", "Cookie", "X-Forwarded-For",
        "Accept-Encoding", "Forwarded", "Via",
    ],
)  # fmt: skip
def test_headers_of_the_delivery_and_of_the_connection_are_reserved(name: str) -> None:
    assert is_reserved(name)


def test_wrong_options_are_all_named_at_once_and_change_nothing(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    hook = webhooks.hook(endpoint.url(), headers={"X-Ok": "1"})
    bad_headers = {
        "Host": "evil.example",
        "X-Inject": "a\r\nX-Service-Event: forged",
        "X Space": "1",
        "X-Empty": "",
        "X-Letter": "é",
        "X-Trailing": "a ",
        "X-Long": "a" * 2049,
    }
    cases: list[tuple[dict[str, Any], set[str]]] = [
        (
            {
                "headers": bad_headers,
                "url": 1,
                "standard_webhooks": "yes",
                "filter": {"statuses": []},
            },
            {f"/headers/{name}" for name in bad_headers}
            | {"/url", "/standard_webhooks", "/filter/statuses"},
        ),
        ({"headers": {"content-type": "text/plain"}}, {"/headers/content-type"}),
        ({"headers": {"X-Line\n": "1", "Host\n": "1"}}, {"/headers/X-Line\n", "/headers/Host\n"}),
        ({"headers": {"X-Line": "1\n"}}, {"/headers/X-Line"}),
        ({"headers": {"X-A": "1", "x-a": "2"}}, {"/headers"}),
        ({"headers": {f"X-{n}": "1" for n in range(11)}}, {"/headers"}),
        ({"headers": {f"X-{n}": "a" * 1024 for n in range(4)}}, {"/headers"}),
        ({"headers": {"X-A": MASK}}, {"/headers/X-A"}),
        ({"filter": {"statuses": ["paid", "sold"]}}, {"/filter/statuses/1"}),
        ({"filter": {"platforms": ["sandbox", "ebay"]}}, {"/filter/platforms/1"}),
        ({"filter": {"platform": ["sandbox"]}}, {"/filter/platform"}),
    ]
    before = webhooks.ok("GET", hook.path)
    for wish, pointers in cases:
        problem = webhooks.refused("PATCH", hook.path, 422, "validation_failed", json=wish)
        assert {error["pointer"] for error in problem["errors"]} == pointers, problem
        assert all(
            "must" in e["message"].lower() or "not" in e["message"] or "no" in e["message"]
            for e in problem["errors"]
        )
    assert webhooks.ok("GET", hook.path) == before
    # What a client reads can be sent back.
    readable = {name: before[name] for name in ("headers", "standard_webhooks", "url", "events")}
    assert webhooks.change(hook, **readable)["headers"] == {"X-Ok": MASK}


def test_a_filter_decides_what_is_queued_replayed_and_explained(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    began = webhooks.now().isoformat()
    some = webhooks.hook(
        endpoint.url("/some"), filter={"platforms": ["sandbox", "1688"], "statuses": ["shipped"]}
    )
    every = webhooks.hook(endpoint.url("/all"))
    assert webhooks.ok("GET", some.path)["filter"] == {
        "platforms": ["sandbox", "alibaba"],
        "statuses": ["shipped"],
    }

    (paid,) = webhooks.emit(status="paid")
    (elsewhere,) = webhooks.emit(status="shipped", platform="taobao")
    (shipped,) = webhooks.emit(status="shipped", platform="alibaba")
    endpoint.until(lambda got: len(got) == 4)
    webhooks.logged(some, 1)

    assert [received.event_id for received in endpoint.at("/some")] == [shipped]
    assert {received.event_id for received in endpoint.at("/all")} == {paid, elsewhere, shipped}
    assert webhooks.verdict(some, paid) == webhooks.verdict(some, elsewhere) == "filtered"
    explained = webhooks.ok("GET", f"{some.path}/explain?event={paid}")["explanation"]
    assert "status paid is not one of shipped" in explained
    count = {"since": began, "dry_run": True}
    assert webhooks.ok("POST", f"{some.path}/recover", json=count)["count"] == 0
    everything = {**count, "include": "all"}
    assert webhooks.ok("POST", f"{some.path}/recover", json=everything)["count"] == 1
    # A test is sent whatever the filter says.
    assert webhooks.ok("POST", f"{some.path}/test")["delivered"]

    # Without the filter, what it left out was missed.
    assert webhooks.change(some, filter={})["filter"] is None
    assert webhooks.ok("POST", f"{some.path}/recover", json=count)["count"] == 2
    # A filter that leaves out what is pending cancels it.
    endpoint.answer = lambda _: 500
    (late,) = webhooks.emit(status="received")
    webhooks.tried(some, attempts=3)
    assert [row["event_id"] for row in webhooks.pending(some)] == [late]
    webhooks.change(some, filter={"statuses": ["paid"]})
    assert webhooks.pending(some) == []
    assert webhooks.verdict(some, late) == "cancelled"
    log = until(lambda: webhooks.log(some), lambda rows: rows[0]["outcome"] == "cancelled")
    assert log[0]["error"]["code"] == "event_filtered_out"
    assert [row["event_id"] for row in webhooks.pending(every)] == [late]


def test_the_engine_checks_the_filter_right_before_the_send() -> None:
    body = body_of(ids.new(), "order.updated")  # of an order on sandbox that is paid
    for event_filter, reason in [
        (None, None),
        (EventFilter(["sandbox"], ["paid", "shipped"]), None),
        (EventFilter(["sandbox"], ["shipped"]), Cancelled.FILTERED_OUT),
        (EventFilter(["taobao"]), Cancelled.FILTERED_OUT),
    ]:
        delivery = a_claim(body=body)
        assert reason_not_to_send(delivery, a_destination(filter=event_filter)) is reason


def test_the_statuses_of_filters_are_those_of_orders() -> None:
    assert get_args(OrderStatusName) == tuple(OrderStatus)
