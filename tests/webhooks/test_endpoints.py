"""Subscriptions over HTTP: created, listed, changed, rotated and deleted by their owner only."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from kit.server import Person, Server

from tradewind import ids
from tradewind.auth.model import Role

URL = "http://127.0.0.1:9/hook"
_SECRET = re.compile(r"whsec_[A-Za-z0-9_-]{43}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_RECORD = {
    "id", "url", "events", "is_active", "description", "catch_up", "disabled_reason", "health",
    "failing_since", "created_at", "updated_at", "secret_rotated_at", "headers",
    "standard_webhooks", "filter",
}  # fmt: skip


def create(api: Server, by: Person, **body: Any) -> Any:
    answer = api.call("POST", "/v1/webhooks", by=by, json={"url": URL, **body})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    api.launcher.secrets.add(made["secret"])
    return made


def problem(answer: httpx.Response, status: int, code: str) -> Any:
    assert answer.headers["content-type"] == "application/problem+json"
    reported = answer.json()
    assert (answer.status_code, reported["status"], reported["code"]) == (status, status, code), (
        reported
    )
    return reported


def pointers(told: Any) -> list[str]:
    return [error["pointer"] for error in told["errors"]]


def count(api: Server, person: Person) -> int:
    rows = api.fetch("SELECT 1 FROM webhook_subscription WHERE account_id = $1", person.uuid)
    return len(rows)


def audit(api: Server, person: Person) -> list[tuple[str, str]]:
    rows = api.fetch(
        "SELECT action, details::text AS details FROM audit"
        " WHERE account_id = $1 AND action LIKE 'webhook.%' ORDER BY at, id",
        person.uuid,
    )
    return [(row["action"], row["details"]) for row in rows]


def test_a_subscription_is_made_with_its_defaults_and_its_secret_is_shown_once(
    api: Server,
) -> None:
    buyer = api.person()

    answer = api.call("POST", "/v1/webhooks", by=buyer, json={"url": URL})

    made = answer.json()
    api.launcher.secrets.add(made["secret"])
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/v1/webhooks/{made['id']}"
    assert answer.headers["cache-control"] == "no-store"
    assert set(made) == _RECORD | {"secret"}
    assert ids.SUBSCRIPTION.read(made["id"]) is not None
    assert _SECRET.fullmatch(made["secret"])
    assert made["events"] == ["order.updated", "payment.updated"]
    assert (made["url"], made["is_active"], made["catch_up"]) == (URL, True, False)
    assert (made["description"], made["health"]) == ("", "ok")
    assert made["disabled_reason"] is made["failing_since"] is made["secret_rotated_at"] is None
    assert _TIME.fullmatch(made["created_at"])
    assert made["updated_at"] == made["created_at"]
    shown = {name: value for name, value in made.items() if name != "secret"}
    path = f"/v1/webhooks/{made['id']}"
    for again in (
        api.call("GET", path, by=buyer),
        api.call("PATCH", path, by=buyer, json={"description": ""}),
    ):
        assert again.status_code == 200
        assert again.json() | {"updated_at": shown["updated_at"]} == shown
        assert made["secret"] not in again.text
    listed = api.call("GET", "/v1/webhooks", by=buyer)
    assert [item["id"] for item in listed.json()["items"]] == [made["id"]]
    assert set(listed.json()["items"][0]) == _RECORD
    assert made["secret"] not in listed.text


def test_a_secret_is_not_stored_as_it_is(api: Server) -> None:
    made = create(api, api.person())

    (row,) = api.fetch(
        "SELECT secret FROM webhook_subscription WHERE id = $1",
        ids.SUBSCRIPTION.read(made["id"]),
    )

    assert made["secret"].encode() not in row["secret"]
    assert made["secret"].removeprefix("whsec_").encode() not in row["secret"]


def test_a_subscription_is_made_as_it_is_wanted(api: Server) -> None:
    wish = {
        "url": "http://localhost:9/in?shop=1",
        "events": ["payment.updated", "payment.updated"],
        "is_active": False,
        "description": "The shop's page.",
        "catch_up": True,
    }

    made = create(api, api.person(), **wish)

    assert {name: made[name] for name in wish} == wish | {"events": ["payment.updated"]}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/url"),
        ({"url": None}, "/url"),
        ({"url": 5}, "/url"),
        ({"url": ""}, "/url"),
        ({"url": "http://127.0.0.1/" + "x" * 2048}, "/url"),
        ({"url": URL, "events": []}, "/events"),
        ({"url": URL, "events": ["order.created"]}, "/events/0"),
        ({"url": URL, "events": ["order.updated", "*"]}, "/events/1"),
        ({"url": URL, "events": "order.updated"}, "/events"),
        ({"url": URL, "is_active": "yes"}, "/is_active"),
        ({"url": URL, "description": "x" * 501}, "/description"),
        ({"url": URL, "description": "   "}, "/description"),
        ({"url": URL, "description": "\n"}, "/description"),
        ({"url": URL, "colour": "red"}, "/colour"),
        ({"url": URL, "secret": "whsec_mine"}, "/secret"),
    ],
)
def test_what_cannot_be_read_is_refused_and_nothing_is_made(
    api: Server, body: dict[str, Any], pointer: str
) -> None:
    buyer = api.person()

    answer = api.call("POST", "/v1/webhooks", by=buyer, json=body)

    assert pointers(problem(answer, 422, "validation_failed")) == [pointer]
    assert count(api, buyer) == 0


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/", "http://u:p@127.0.0.1/", "http://10.0.0.1/", "nonsense", "//a"]
)
def test_a_url_that_may_not_be_called_is_rejected(api: Server, url: str) -> None:
    buyer = api.person()
    made = create(api, buyer)

    answers = [
        api.call("POST", "/v1/webhooks", by=buyer, json={"url": url}),
        api.call("PATCH", f"/v1/webhooks/{made['id']}", by=buyer, json={"url": url}),
    ]

    for answer in answers:
        reported = problem(answer, 422, "webhook_url_rejected")
        assert pointers(reported) == ["/url"]
        assert reported["errors"][0]["code"] == "webhook_url_rejected"
    assert count(api, buyer) == 1
    assert api.call("GET", f"/v1/webhooks/{made['id']}", by=buyer).json()["url"] == URL


def test_twenty_subscriptions_and_no_more_however_many_ask_at_once(api: Server) -> None:
    buyer = api.person()

    def ask(_: int) -> httpx.Response:
        return api.call("POST", "/v1/webhooks", by=buyer, json={"url": URL})

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(ask, range(30)))

    codes = sorted(answer.status_code for answer in answers)
    assert codes == [201] * 20 + [409] * 10
    api.launcher.secrets |= {
        answer.json()["secret"] for answer in answers if answer.status_code == 201
    }
    reported = problem(ask(0), 409, "subscription_limit_reached")
    assert reported["limit"] == 20
    assert count(api, buyer) == 20
    made = next(answer.json() for answer in answers if answer.status_code == 201)
    assert api.call("DELETE", f"/v1/webhooks/{made['id']}", by=buyer).status_code == 204
    create(api, buyer)


def test_a_change_changes_what_it_names(api: Server) -> None:
    buyer = api.person()
    made = create(api, buyer)
    path = f"/v1/webhooks/{made['id']}"
    expected = {name: value for name, value in made.items() if name != "secret"}

    for wish in (
        {"url": "http://127.0.0.1:9/new"},
        {"events": ["payment.updated"]},
        {"is_active": False},
        {"description": "New."},
        {"catch_up": True},
        {"url": URL, "is_active": True},
    ):
        answer = api.call("PATCH", path, by=buyer, json=wish)
        expected |= wish
        assert answer.status_code == 200
        assert answer.json() | {"updated_at": expected["updated_at"]} == expected
        assert answer.json()["updated_at"] >= expected["updated_at"]
    (row,) = api.fetch(
        "SELECT generation FROM webhook_subscription WHERE id = $1",
        ids.SUBSCRIPTION.read(made["id"]),
    )
    assert row["generation"] == 2


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({}, ""),
        ({"events": []}, "/events"),
        ({"events": ["order.lost"]}, "/events/0"),
        ({"is_active": 1}, "/is_active"),
        ({"secret": "whsec_mine"}, "/secret"),
        ({"id": "whk_1"}, "/id"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(
    api: Server, wish: dict[str, Any], pointer: str
) -> None:
    buyer = api.person()
    made = create(api, buyer)
    path = f"/v1/webhooks/{made['id']}"
    before = api.call("GET", path, by=buyer).json()

    reported = problem(api.call("PATCH", path, by=buyer, json=wish), 422, "validation_failed")

    assert pointers(reported) == [pointer]
    assert api.call("GET", path, by=buyer).json() == before


def test_a_new_secret_is_shown_once(api: Server) -> None:
    buyer = api.person()
    made = create(api, buyer)
    path = f"/v1/webhooks/{made['id']}"

    answer = api.call("POST", f"{path}/rotate-secret", by=buyer)

    reported = answer.json()
    api.launcher.secrets.add(reported["secret"])
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert set(reported) == {"id", "secret", "rotated_at"}
    assert reported["id"] == made["id"]
    assert _SECRET.fullmatch(reported["secret"])
    assert reported["secret"] != made["secret"]
    seen = api.call("GET", path, by=buyer)
    assert seen.json()["secret_rotated_at"] == reported["rotated_at"]
    assert reported["secret"] not in seen.text


def test_a_deleted_subscription_is_gone(api: Server) -> None:
    buyer = api.person()
    made = create(api, buyer)
    path = f"/v1/webhooks/{made['id']}"

    answer = api.call("DELETE", path, by=buyer)

    assert (answer.status_code, answer.content) == (204, b"")
    for method in ("GET", "DELETE"):
        problem(api.call(method, path, by=buyer), 404, "not_found")
    assert api.call("GET", "/v1/webhooks", by=buyer).json()["items"] == []


def test_subscriptions_are_listed_in_pages_newest_first(api: Server) -> None:
    buyer = api.person()
    made = [create(api, buyer)["id"] for _ in range(5)]

    pages: list[Any] = []
    cursor = ""
    while not pages or pages[-1]["has_more"]:
        answer = api.call("GET", f"/v1/webhooks?limit=2{cursor}", by=buyer)
        pages.append(answer.json())
        cursor = f"&cursor={pages[-1]['next_cursor']}"

    assert [item["id"] for page in pages for item in page["items"]] == made[::-1]
    assert [len(page["items"]) for page in pages] == [2, 2, 1]
    problem(api.call("GET", "/v1/webhooks?cursor=x", by=buyer), 400, "malformed_cursor")
    problem(api.call("GET", "/v1/webhooks?limit=0", by=buyer), 422, "validation_failed")


_ROUTES: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("PATCH", "", {"is_active": False}),
    ("DELETE", "", None),
    ("POST", "/rotate-secret", None),
    ("POST", "/test", None),
    ("GET", "/deliveries", None),
    ("GET", "/deliveries/{dlv}", None),
    ("POST", "/deliveries/{dlv}/redeliver", None),
    ("GET", "/pending", None),
    ("POST", "/recover", {"since": "2026-11-15T01:02:03Z"}),
    ("GET", "/recover/{job}", None),
    ("DELETE", "/recover/{job}", None),
    ("GET", "/health", None),
    ("GET", "/explain?event={evt}", None),
]


@pytest.mark.parametrize(("method", "path", "body"), _ROUTES)
def test_a_foreign_subscription_is_an_unknown_one(
    api: Server, method: str, path: str, body: Any
) -> None:
    owner, stranger = api.person(), api.person()
    made = create(api, owner)
    before = api.call("GET", f"/v1/webhooks/{made['id']}", by=owner).json()
    path = path.format(
        dlv=ids.DELIVERY.show(ids.new()), job=ids.JOB.show(ids.new()), evt=ids.EVENT.show(ids.new())
    )
    unknown = ids.SUBSCRIPTION.show(ids.new())

    def ask(hook_id: str, by: Person | None) -> httpx.Response:
        return api.call(method, f"/v1/webhooks/{hook_id}{path}", by=by, json=body)

    answers = [ask(made["id"], stranger), ask(unknown, stranger)]
    reported = [problem(answer, 404, "not_found") for answer in answers]
    assert reported[0]["detail"] == reported[1]["detail"]
    problem(ask("whk_1", stranger), 404, "not_found")
    assert ask(made["id"], None).status_code == 401
    approver = api.person(roles=(Role.APPROVER,))
    problem(ask(made["id"], approver), 403, "insufficient_permissions")
    assert api.call("GET", f"/v1/webhooks/{made['id']}", by=owner).json() == before


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_approver_who_buys_nothing_has_no_subscriptions(api: Server, method: str) -> None:
    approver = api.person(roles=(Role.APPROVER,))

    answer = api.call(method, "/v1/webhooks", by=approver, json={"url": URL})

    problem(answer, 403, "insufficient_permissions")
    assert count(api, approver) == 0


def test_who_changed_what_is_on_record_and_no_secret_is(api: Server) -> None:
    buyer = api.person()
    made = create(api, buyer)
    path = f"/v1/webhooks/{made['id']}"
    api.call("PATCH", path, by=buyer, json={"is_active": False})
    secret = api.call("POST", f"{path}/rotate-secret", by=buyer).json()["secret"]
    api.launcher.secrets.add(secret)
    api.call("DELETE", path, by=buyer)

    noted = audit(api, buyer)

    assert [action for action, _ in noted] == [
        "webhook.created", "webhook.changed", "webhook.secret_rotated", "webhook.deleted",
    ]  # fmt: skip
    assert secret not in str(noted)
    assert made["secret"] not in str(noted)


def test_the_audit_log_keeps_no_query_of_a_url(api: Server) -> None:
    buyer = api.person()
    made = create(api, buyer, url="http://localhost:9/in?token=create-token")
    url = "http://127.0.0.1:9/other/path?token=change-token"
    api.launcher.secrets |= {"create-token", "change-token"}
    changed = api.call("PATCH", f"/v1/webhooks/{made['id']}", by=buyer, json={"url": url})

    noted = [json.loads(details) for _, details in audit(api, buyer)]

    assert changed.json()["url"] == url
    assert noted == [{"url": "http://localhost:9/in"}, {"url": "http://127.0.0.1:9/other/path"}]


def test_an_idempotency_key_never_brings_a_secret_back(api: Server) -> None:
    buyer = api.person()
    headers = {"idempotency-key": "once"}

    answers = [
        api.call("POST", "/v1/webhooks", by=buyer, json={"url": URL}, headers=headers)
        for _ in range(2)
    ]

    api.launcher.secrets |= {answer.json()["secret"] for answer in answers}
    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.json()["secret"] for answer in answers}) == 2
    assert count(api, buyer) == 2
