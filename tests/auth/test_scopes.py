"""Restricted API keys: scopes on every route, an end, allowed networks, and no way around them."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any

import httpx
import pytest
from kit.api_document import Document
from kit.pages import Pages
from kit.server import Person, Server, ServerLauncher

from tradewind.auth.model import Plan, Role
from tradewind.runtime.api import endpoints, reference
from tradewind.web.scopes import ANY_SCOPE, FULL_ACCESS, Scope

ID = "06EJ4KQZC5T9XN4R5ZJ2V7M8QW"
# No change of scopes may ever open these.
NEVER = {
    *("approve_payment", "reject_payment", "list_api_keys", "create_api_key", "revoke_api_key"),
    *("change_password", "rotate_webhook_secret", "export_audit"),
}
# These show or end the credential itself, so each key may call them.
ALWAYS = {"get_me", "logout"}


@pytest.fixture(scope="module")
def proxied(launcher: ServerLauncher) -> Iterator[Server]:
    """A server behind a proxy of its own, so that a request can come from anywhere."""
    settings = {"TRADEWIND_TRUSTED_PROXIES": "127.0.0.1"}
    with launcher.serving(workers=1, settings=settings) as server:
        yield server


def create(api: Server, person: Person, **limits: Any) -> dict[str, Any]:
    answer = api.call("POST", "/v1/api-keys", by=person, json={"name": "limited", **limits})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    api.launcher.secrets.add(created["key"])
    return created


def use(api: Server, key: str, path: str = "/v1/me", **headers: str) -> httpx.Response:
    return api.client.get(path, headers={"x-api-key": key, **headers})


def test_every_route_requires_one_scope_or_full_access() -> None:
    """A new route without a `scope` fails here, and is closed to keys with scopes until then."""
    routes = [endpoint for endpoint in endpoints() if endpoint.is_api and endpoint.caller]
    document = reference()["paths"]

    assert [
        e.handler.__name__ for e in routes if e.scope not in {*Scope, FULL_ACCESS, ANY_SCOPE}
    ] == []
    closed = {e.handler.__name__ for e in routes if e.scope == FULL_ACCESS}
    admin = {e.handler.__name__ for e in routes if e.path.startswith("/v1/admin")}
    assert closed == NEVER | admin
    assert {e.handler.__name__ for e in routes if e.scope == ANY_SCOPE} == ALWAYS
    changing = [e for e in routes if e.scope is Scope.READ and e.method not in ("GET", "POST")]
    assert changing == []
    for endpoint in routes:
        described = document[endpoint.path][endpoint.method.lower()]
        assert described["x-required-scope"] == endpoint.scope
        sentences = {
            FULL_ACCESS: "Not for API keys with scopes.",
            ANY_SCOPE: "Scope: any.",
        }
        expected = sentences.get(endpoint.scope or "", f"Scope: `{endpoint.scope}`.")
        assert expected in described["description"]


def test_a_key_with_scopes_opens_its_routes_and_no_others(api: Server) -> None:
    """Every operation, with ids of nothing and without a body, so that nothing changes."""
    person = api.person(roles=tuple(Role))
    for scopes in (["read"], ["webhooks", "order", "pay_request"]):
        key = create(api, person, scopes=scopes)["key"]
        for operation in Document().operations():
            if operation.role is None and operation.name in {"login", "refresh", "receive_notice"}:
                continue
            kinds = {slot.name: f"{slot.kind}{ID}" for slot in operation.path_slots}
            path = operation.path
            for name in ("id", "dlv", "job", "platform"):
                path = path.replace(f"{{{name}}}", kinds.get(name, "sandbox"))
            required = reference_scope(operation.method, operation.path)
            answer = api.client.request(operation.method, path, headers={"x-api-key": key})
            if required in {None, ANY_SCOPE, *scopes}:
                assert answer.status_code not in (401, 403), (operation.name, answer.text)
                continue
            problem = answer.json()
            assert (answer.status_code, problem["code"]) == (403, "insufficient_permissions")
            named = "key without scopes" if required == FULL_ACCESS else f"the scope {required},"
            assert named in problem["detail"], operation.name
            assert "ratelimit" in answer.headers


def reference_scope(method: str, path: str, known: dict[str, Any] = {}) -> str | None:  # noqa: B006
    known.update(known or reference()["paths"])
    scope: str | None = known[path][method.lower()].get("x-required-scope")
    return scope


def test_a_session_beside_a_limited_key_gives_it_nothing(api: Server) -> None:
    person = api.person()
    key = create(api, person, scopes=["read"])["key"]
    token = api.login(person)["access_token"]

    both = {"x-api-key": key, "authorization": f"Bearer {token}"}
    answer = api.call("POST", "/v1/api-keys", headers=both, json={"name": "more"})
    password = api.call("POST", "/v1/me/password", headers=both, json={})

    assert (answer.status_code, password.status_code) == (403, 403)
    assert use(api, key).json()["api_key"]["scopes"] == ["read"]
    assert api.call("GET", "/v1/me", token=token).json()["api_key"] is None
    unlimited = api.call("GET", "/v1/me", by=person).json()["api_key"]
    assert [unlimited[name] for name in ("scopes", "expires_at", "allowed_cidrs")] == [None] * 3


def test_a_key_with_any_scope_says_who_it_is_and_has_no_session_to_end(api: Server) -> None:
    """Also without `read`, and a refused logout leaves the key as it was."""
    person = api.person()
    key = create(api, person, scopes=["webhooks"])["key"]

    refused = api.call("POST", "/v1/auth/logout", headers={"x-api-key": key})
    me = use(api, key)

    assert (refused.status_code, refused.json()["code"]) == (422, "no_session")
    assert me.status_code == 200
    assert (me.json()["id"], me.json()["api_key"]["scopes"]) == (person.id, ["webhooks"])
    token = api.login(person)["access_token"]
    both = {"x-api-key": key, "authorization": f"Bearer {token}"}
    assert api.call("POST", "/v1/auth/logout", headers=both).status_code == 204
    assert api.call("GET", "/v1/me", token=token).status_code == 401
    assert use(api, key).status_code == 200


def test_limits_are_shown_in_their_canonical_form_and_audited(api: Server) -> None:
    person = api.person()
    networks = ["203.0.113.7", "2001:DB8:0::/32", "203.0.113.7/32", "10.0.0.0/255.0.0.0"]

    made = create(
        api,
        person,
        scopes=["webhooks", "read", "read"],
        expires_at="2046-01-01T08:00:00+08:00",
        allowed_cidrs=networks,
    )

    shown = {
        "scopes": ["read", "webhooks"],
        "expires_at": "2046-01-01T00:00:00.000Z",
        "allowed_cidrs": ["203.0.113.7/32", "2001:db8::/32", "10.0.0.0/8"],
    }
    listed = api.call("GET", "/v1/api-keys", by=person).json()["items"][0]
    assert {name: made[name] for name in shown} == shown
    assert {name: listed[name] for name in shown} == shown
    details = api.fetch("SELECT details FROM audit WHERE subject = $1", made["id"])[0]["details"]
    assert all(word in details for word in ("webhooks", "2046", "10.0.0.0/8"))


WRONG: Sequence[tuple[str, Any]] = (
    *(("scopes", value) for value in ([], ["admin"], ["full_access"], "read", [None], 1)),
    *(("expires_at", value) for value in ("2020-01-01T00:00:00Z", "2046-01-01T00:00:00", "soon")),
    *(("allowed_cidrs", value) for value in ([], "10.0.0.0/8", [7], [""], ["10.0.0.1/8"])),
    *(("allowed_cidrs", [text]) for text in ("10.0.0.0/33", "::ffff:10.0.0.0/104", "fe80::1%eth0")),
    *(("allowed_cidrs", [text]) for text in ("localhost", " 10.0.0.0/8", "10.0.0.0/8\n", "9" * 50)),
    ("allowed_cidrs", [f"10.0.0.{n}" for n in range(21)]),
)


def test_wrong_limits_make_no_key(api: Server) -> None:
    person = api.person()
    for field, value in WRONG:
        answer = api.client.post(
            "/v1/api-keys", headers=person.headers, json={"name": "wrong", field: value}
        )
        assert answer.status_code == 422, (field, value)
        assert answer.json()["errors"][0]["pointer"].startswith(f"/{field}"), answer.text
    several = {"name": "", "scopes": ["all"], "expires_at": "soon", "allowed_cidrs": ["x"]}
    answer = api.client.post("/v1/api-keys", headers=person.headers, json=several)

    assert [error["pointer"] for error in answer.json()["errors"]] == [
        *("/name", "/scopes/0", "/expires_at", "/allowed_cidrs/0")
    ]
    assert len(api.call("GET", "/v1/api-keys", by=person).json()["items"]) == 1


def test_an_expired_key_is_rejected_with_its_own_sentence(clock_api: Server) -> None:
    person = clock_api.person()
    now = clock_api.fetch("SELECT tradewind_now()")[0][0]
    made = create(clock_api, person, expires_at=(now + timedelta(hours=1)).isoformat())
    assert use(clock_api, made["key"]).status_code == 200

    clock_api.move_clock(timedelta(minutes=61))
    answer = use(clock_api, made["key"])

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_credentials")
    assert f"expired at {made['expires_at']}" in answer.json()["detail"]
    assert "www-authenticate" in answer.headers
    both = {"x-api-key": made["key"], "authorization": "Bearer x"}
    assert clock_api.call("GET", "/v1/me", headers=both).status_code == 401
    used = clock_api.fetch("SELECT last_used_at FROM api_key WHERE prefix = $1", made["prefix"])
    assert used[0][0] < now + timedelta(minutes=30)
    assert use(clock_api, person.key).status_code == 200


def test_a_key_works_from_its_networks_only_and_a_thief_spends_nothing(proxied: Server) -> None:
    person = proxied.person(plan=Plan.FREE)
    made = create(proxied, person, allowed_cidrs=["203.0.113.0/24", "2001:db8::/32"])

    def from_(addresses: str) -> int:
        headers = {"x-forwarded-for": addresses}
        return use(proxied, made["key"], **headers).status_code

    inside = ("203.0.113.9", "2001:db8::7", "::ffff:203.0.113.9", "198.51.100.1, 203.0.113.1")
    assert [from_(address) for address in inside] == [200] * 4
    outside = ("198.51.100.1", "203.0.113.9, 198.51.100.1", "::1", "nonsense", "203.0.113.9%1", "")
    assert [from_(address) for address in outside] == [403] * 6
    # Three times the burst of this plan, and the owner still has all of it.
    assert {from_("198.51.100.1") for _ in range(60)} == {403}
    allowed = use(proxied, made["key"], **{"x-forwarded-for": "203.0.113.9"})
    assert allowed.status_code == 200
    refused = use(proxied, made["key"], **{"x-forwarded-for": "198.51.100.1"}).json()
    assert refused["code"] == "insufficient_permissions"
    assert "198.51.100.1" in refused["detail"]


def test_a_limited_key_is_made_and_shown_on_the_page(api: Server) -> None:
    person = api.person()
    pages = Pages(api, person)
    form = {
        "name": "buying agent",
        "scopes": ["read", "order"],
        "expires_at": "2046-01-01T00:00",
        "allowed_cidrs": "0.0.0.0/0, 2001:db8::/32\n::/0",
    }

    with closing(pages.client):
        wrong = pages.post("/keys", **{**form, "allowed_cidrs": "everywhere", "scopes": ["all"]})
        assert wrong.status_code == 422
        assert 'id="error-scopes"' in wrong.text
        assert 'id="error-allowed_cidrs"' in wrong.text
        assert "buying agent" in wrong.text
        made = pages.post("/keys", **form)
        assert made.status_code == 303
        shown = pages.get("/keys").text

    assert "read, order" in shown
    assert "From 0.0.0.0/0, 2001:db8::/32, ::/0" in shown
    listed = api.call("GET", "/v1/api-keys", by=person).json()["items"]
    assert [key["scopes"] for key in listed] == [["read", "order"], None]
    assert "limited" not in shown


def test_a_key_for_webhooks_gets_no_secret_of_a_webhook_that_it_did_not_create(
    api: Server,
) -> None:
    person = api.person()
    here, elsewhere = "http://127.0.0.1:9/hook", "http://127.0.0.1:9/thief"
    hidden = {"authorization": "Bearer hush-hush"}
    hook = api.call("POST", "/v1/webhooks", by=person, json={"url": here, "headers": hidden}).json()
    api.launcher.secrets |= {hook["secret"], "hush-hush"}
    key = {"x-api-key": create(api, person, scopes=["read", "webhooks"])["key"]}
    path = f"/v1/webhooks/{hook['id']}"

    def patch(**changes: Any) -> int:
        return api.call("PATCH", path, headers=key, json=changes).status_code

    tried = api.call("POST", f"{path}/test", headers=key)
    assert tried.status_code == 200
    shown = [tried.text, api.call("GET", path, headers=key).text]
    shown.append(api.call("GET", f"{path}/deliveries", headers=key).text)
    delivery = tried.json()["delivery_id"]
    shown.append(api.call("GET", f"{path}/deliveries/{delivery}", headers=key).text)
    assert [text for text in shown if "hush" in text or hook["secret"] in text] == []
    masked = {"authorization": "********"}
    assert api.call("POST", f"{path}/rotate-secret", headers=key).status_code == 403
    assert [patch(url=elsewhere), patch(url=elsewhere, headers=masked)] == [403, 403]
    stored = api.fetch("SELECT url FROM webhook_subscription WHERE account_id = $1", person.uuid)
    assert [row["url"] for row in stored] == [here]
    assert [patch(url=here, description="same"), patch(headers=masked)] == [200, 200]
    assert patch(url=elsewhere, headers={"authorization": "mine"}) == 200
    created = api.call("POST", "/v1/webhooks", headers=key, json={"url": here})
    assert created.status_code == 201
    api.launcher.secrets.add(created.json()["secret"])


def test_many_addresses_and_keys_share_statements_and_stay_apart(api: Server) -> None:
    """Keys with different limits in the same moment: each request gets the answer of its key."""
    person = api.person()
    here = create(api, person, allowed_cidrs=["127.0.0.0/8"], scopes=["read"])["key"]
    elsewhere = create(api, person, allowed_cidrs=["192.0.2.0/24"])["key"]
    ended = create(api, person, expires_at="2046-01-01T00:00:00Z")
    past = "UPDATE api_key SET expires_at = now() - interval '1 s' WHERE prefix = $1"
    api.fetch(past, ended["prefix"])
    keys = {here: 200, elsewhere: 403, ended["key"]: 401, person.key: 200}

    async def all_at_once() -> list[tuple[str, int]]:
        async with httpx.AsyncClient(base_url=api.url) as client:
            wanted = list(itertools.islice(itertools.cycle(keys), 80))
            answers = await asyncio.gather(
                *(client.get("/v1/me", headers={"x-api-key": key}) for key in wanted)
            )
        return [(key, answer.status_code) for key, answer in zip(wanted, answers, strict=True)]

    assert {*asyncio.run(all_at_once())} == set(keys.items())
