"""API keys: shown once, listed without their secret, revoked for good, isolated by account."""

import time
from datetime import UTC, datetime, timedelta

from kit.server import Person, Server


def make(api: Server, person: Person, name: str = "sync") -> dict[str, str]:
    answer = api.call("POST", "/v1/api-keys", by=person, json={"name": name})
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    made: dict[str, str] = answer.json()
    api.launcher.secrets.add(made["key"])
    return made


def listed(api: Server, person: Person) -> list[dict[str, str]]:
    items: list[dict[str, str]] = api.call("GET", "/v1/api-keys", by=person).json()["items"]
    return items


def test_a_key_is_shown_once_and_works(api: Server) -> None:
    person = api.person()

    made = make(api, person)

    assert made["key"].startswith(made["prefix"])
    assert len(made["key"]) == len("twk_") + 38
    assert api.call("GET", "/v1/me", headers={"x-api-key": made["key"]}).json()["id"] == person.id
    shown = listed(api, person)[0]
    assert shown["id"] == made["id"]
    assert "key" not in shown
    times = {"created_at", "last_used_at", "revoked_at", "expires_at"}
    assert set(shown) == {"id", "name", "prefix", "scopes", "allowed_cidrs", *times}


def test_only_a_keyed_hash_is_stored(api: Server) -> None:
    made = make(api, api.person())

    row = api.fetch("SELECT * FROM api_key WHERE prefix = $1", made["prefix"])[0]

    assert made["key"] not in str(dict(row))
    assert len(row["hash"]) == 32


def test_a_revoked_key_is_rejected_and_stays_in_the_list(api: Server) -> None:
    person = api.person()
    made = make(api, person)

    assert api.call("DELETE", f"/v1/api-keys/{made['id']}", by=person).status_code == 204
    assert api.call("DELETE", f"/v1/api-keys/{made['id']}", by=person).status_code == 204, "again"

    rejected = api.call("GET", "/v1/me", headers={"x-api-key": made["key"]})
    assert rejected.status_code == 401
    assert "revoked" in rejected.json()["detail"]
    assert listed(api, person)[0]["revoked_at"] is not None
    actions = api.fetch("SELECT action FROM audit WHERE account_id = $1 ORDER BY id", person.uuid)
    assert [row["action"] for row in actions][-2:] == ["api_key.created", "api_key.revoked"]


def test_a_strangers_key_cannot_be_seen_or_revoked(api: Server) -> None:
    person, stranger = api.person(), api.person()
    made = make(api, person)

    answer = api.call("DELETE", f"/v1/api-keys/{made['id']}", by=stranger)
    missing = api.call("DELETE", "/v1/api-keys/key_00000000000000000000000000", by=stranger)

    assert answer.status_code == missing.status_code == 404
    assert answer.json()["detail"] == missing.json()["detail"]
    assert made["id"] not in str(listed(api, stranger))
    assert api.call("GET", "/v1/me", headers={"x-api-key": made["key"]}).status_code == 200


def test_the_last_use_is_exact_to_a_minute_without_a_write_per_request(clock_api: Server) -> None:
    person = clock_api.person()

    def last_use(after: datetime) -> datetime:
        """When the key was marked, which happens beside the response."""
        deadline = time.monotonic() + 10
        while True:
            moment: datetime | None = clock_api.fetch(
                "SELECT last_used_at FROM api_key WHERE account_id = $1", person.uuid
            )[0][0]
            if moment is not None and moment > after:
                return moment
            assert time.monotonic() < deadline, "it is never marked"

    clock_api.call("GET", "/v1/me", by=person)
    first = last_use(datetime.min.replace(tzinfo=UTC))
    xmin = "SELECT xmin FROM api_key WHERE account_id = $1"
    version = clock_api.fetch(xmin, person.uuid)[0][0]
    for _ in range(20):
        clock_api.call("GET", "/v1/me", by=person)
    assert clock_api.fetch(xmin, person.uuid)[0][0] == version, "no write within a minute"

    clock_api.move_clock(timedelta(seconds=61))
    clock_api.call("GET", "/v1/me", by=person)
    assert last_use(first) - first >= timedelta(seconds=61)


def test_names_are_checked(api: Server) -> None:
    person = api.person()

    for body in (
        *({}, {"name": ""}, {"name": "x" * 101}, {"name": 1}, {"name": "ok", "extra": 1}),
        *({"name": name} for name in (" ", "   ", "\t\n", "\u3000", "\u00a0 ")),
    ):
        answer = api.call("POST", "/v1/api-keys", by=person, json=body)
        assert answer.status_code == 422, body
    assert len(listed(api, person)) == 1


def test_keys_are_listed_page_by_page(api: Server) -> None:
    person = api.person()
    made = [make(api, person, f"key {number}")["id"] for number in range(5)]

    seen: list[str] = []
    cursor = ""
    while True:
        page = api.call("GET", f"/v1/api-keys?limit=2{cursor}", by=person).json()
        seen += [item["id"] for item in page["items"]]
        if not page["has_more"]:
            assert page["next_cursor"] is None
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert seen[:5] == list(reversed(made))
    assert len(seen) == 6
