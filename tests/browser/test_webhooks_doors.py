"""Access to the webhook pages: who is not allowed, and that an error changes nothing."""

from typing import Any

import pytest
from kit.server import Person, Server

from browser.conftest import SignIn
from tradewind import ids
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("browser")

DELIVERY = ids.DELIVERY.show(ids.new())
JOB = ids.JOB.show(ids.new())
SEEN = (
    "",
    "/edit",
    "/test",
    "/deliveries",
    f"/deliveries/{DELIVERY}",
    "/pending",
    "/recover",
    "/explain",
)
DONE: tuple[tuple[str, dict[str, str]], ...] = (
    ("/edit", {"url": "http://127.0.0.1:9/evil", "events": "order.updated"}),
    ("/rotate", {}),
    ("/switch", {"on": "false"}),
    ("/delete", {}),
    ("/test", {}),
    ("/redeliver", {"delivery": DELIVERY}),
    (f"/deliveries/{DELIVERY}/redeliver", {}),
    ("/recover", {"since": "2026-01-01T00:00:00Z"}),
    (f"/recover/{JOB}/cancel", {}),
)


def create_webhook(api: Server, person: Person) -> str:
    answer = api.call("POST", "/v1/webhooks", by=person, json={"url": "http://127.0.0.1:9/"})
    assert answer.status_code == 201, answer.text
    api.launcher.secrets.add(answer.json()["secret"])
    webhook_id: str = answer.json()["id"]
    return webhook_id


def state(api: Server, hook: str) -> list[Any]:
    """All that a form could change about it."""
    key = ids.SUBSCRIPTION.read(hook)
    return [
        api.fetch("SELECT * FROM webhook_subscription WHERE id = $1", key),
        api.fetch("SELECT * FROM replay WHERE subscription_id = $1", key),
        api.fetch("SELECT * FROM delivery_attempt WHERE subscription_id = $1", key),
        api.fetch("SELECT * FROM delivery_queue WHERE subscription_id = $1", key),
    ]


def test_a_stranger_finds_nothing_and_changes_nothing(api: Server, signed_in: SignIn) -> None:
    hook = create_webhook(api, api.person())
    before = state(api, hook)
    stranger = signed_in(api.person())

    seen = {rest: stranger.get(f"/webhooks/{hook}{rest}") for rest in SEEN}
    done = {rest: stranger.post(f"/webhooks/{hook}{rest}", **form) for rest, form in DONE}

    answers = {**seen, **done}
    assert {
        rest: answer.status_code for rest, answer in answers.items() if answer.status_code != 404
    } == {}
    assert all("text/html" in answer.headers["content-type"] for answer in answers.values())
    assert state(api, hook) == before


def test_who_is_no_buyer_is_told_so(api: Server, signed_in: SignIn) -> None:
    hook = create_webhook(api, api.person())
    before = state(api, hook)
    approver = signed_in(api.person(roles=(Role.APPROVER,)))

    answers = [approver.get(path) for path in ("/webhooks", "/webhooks/new", "/webhooks/explain")]
    answers += [approver.get(f"/webhooks/{hook}{rest}") for rest in SEEN]
    answers += [approver.post(f"/webhooks/{hook}{rest}", **form) for rest, form in DONE]
    answers += [approver.post("/webhooks/new", url="http://127.0.0.1:9/", events="order.updated")]

    assert {answer.status_code for answer in answers} == {403}
    assert state(api, hook) == before


def test_a_forged_form_changes_nothing(api: Server, signed_in: SignIn) -> None:
    owner = api.person()
    hook = create_webhook(api, owner)
    before = state(api, hook)
    pages = signed_in(owner)

    answers = [
        pages.client.post(f"/webhooks/{hook}{rest}", data={**form, "csrf": ""})
        for rest, form in DONE
    ]
    answers += [pages.client.post("/webhooks/new", data={"url": "http://127.0.0.1:9/x"})]

    assert {answer.status_code for answer in answers} == {403}
    assert state(api, hook) == before
    assert len(api.call("GET", "/v1/webhooks", by=owner).json()["items"]) == 1


def test_a_form_is_in_the_audit_log_under_whose_it_was(api: Server, signed_in: SignIn) -> None:
    owner = api.person()
    hook = create_webhook(api, owner)
    pages = signed_in(owner)

    assert pages.post(f"/webhooks/{hook}/switch", on="false").status_code == 303
    assert pages.post(f"/webhooks/{hook}/delete").status_code == 303

    rows = api.fetch(
        "SELECT action, actor_id, credential FROM audit WHERE subject = $1 ORDER BY id", hook
    )
    assert [row["action"] for row in rows] == [
        "webhook.created",
        "webhook.changed",
        "webhook.deleted",
    ]
    assert {row["actor_id"] for row in rows} == {owner.uuid}
    assert rows[1]["credential"].startswith("ses_")


def test_a_filter_that_cannot_be_read_is_said_beside_it(api: Server, signed_in: SignIn) -> None:
    owner = api.person()
    hook = create_webhook(api, owner)
    pages = signed_in(owner)

    for query in (
        "outcome=nonsense",
        "result=nonsense",
        "event=nonsense",
        "order=nonsense",
        "event_id=nonsense",
        "status_code=7",
        "status_code=%D9%A5%D9%A0%D9%A0",
        "started_after=nonsense",
        "started_before=0001-01-01T00:00",
        "limit=51",
    ):
        answer = pages.get(f"/webhooks/{hook}/deliveries?{query}")

        assert answer.status_code == 422, query
        name = query.partition("=")[0]
        assert name == "limit" or f'id="error-{name}"' in answer.text


def test_a_rejected_form_shows_its_errors_and_changes_nothing(
    api: Server, signed_in: SignIn
) -> None:
    owner = api.person()
    hook = create_webhook(api, owner)
    before = state(api, hook)
    pages = signed_in(owner)

    for path, form, name in (
        (f"/webhooks/{hook}/recover", {"since": ""}, "since"),
        (f"/webhooks/{hook}/recover", {"since": "soon"}, "since"),
        (f"/webhooks/{hook}/recover", {"since": "2026-01-01", "order": "ORD1"}, "order"),
        (f"/webhooks/{hook}/edit", {"url": " ", "events": "order.updated"}, "url"),
        (f"/webhooks/{hook}/edit", {"url": "http://127.0.0.1:9/"}, "events"),
        ("/webhooks/new", {"url": "nonsense", "events": "order.updated"}, "url"),
    ):
        answer = pages.post(path, **form)

        assert answer.status_code == 422, (path, form)
        assert f'id="error-{name}"' in answer.text, (path, form)
        assert all(value in answer.text for value in form.values()), "what was typed stays"
    assert state(api, hook) == before


def test_there_are_ten_tests_a_minute(api: Server, signed_in: SignIn) -> None:
    owner = api.person()
    hook = create_webhook(api, owner)
    pages = signed_in(owner)
    token = pages.token

    answers = [pages.client.post(f"/webhooks/{hook}/test", data={"csrf": token}) for _ in range(11)]

    assert {answer.status_code for answer in answers} == {303}
    assert "?delivery=" in answers[9].headers["location"]
    assert "?" not in answers[10].headers["location"]
    assert "limited to 10 a minute per subscription" in pages.get(f"/webhooks/{hook}/test").text
