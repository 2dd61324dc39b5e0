"""Account administration: what operators can do, who is not allowed, and the audit log of it."""

import pytest
from kit.server import Server

from tradewind.auth.model import Plan, Role


def test_only_operators_reach_the_admin_api(api: Server) -> None:
    buyer = api.person()
    approver = api.person(roles=(Role.APPROVER,))

    for person in (buyer, approver):
        answer = api.call("GET", "/v1/admin/accounts", by=person)
        assert answer.status_code == 403
        assert answer.json()["code"] == "insufficient_permissions"
        assert "ratelimit" in answer.headers
    assert api.call("GET", "/v1/admin/accounts").status_code == 401


def test_an_account_is_made_listed_and_found(api: Server) -> None:
    operator = api.operator()
    body = {"email": "New.Buyer@test.example", "name": "New", "plan": "free"}

    made = api.call("POST", "/v1/admin/accounts", by=operator, json=body)

    assert made.status_code == 201
    account = made.json()
    assert account["email"] == "new.buyer@test.example"
    assert account["roles"] == ["buyer"]
    assert account["plan"] == "free"
    assert account["locked_at"] is None
    result = api.call("GET", "/v1/admin/accounts?email=NEW.buyer@test.example", by=operator).json()
    assert result == {"items": [account], "has_more": False, "next_cursor": None}
    item = api.call("GET", f"/v1/admin/accounts/{account['id']}", by=operator)
    assert item.json() == account

    taken = api.call("POST", "/v1/admin/accounts", by=operator, json=body)
    assert taken.status_code == 409
    assert taken.json()["code"] == "email_taken"


def test_an_account_without_a_password_cannot_log_in(api: Server) -> None:
    email = "nopassword@test.example"
    api.call("POST", "/v1/admin/accounts", by=api.operator(), json={"email": email})

    answer = api.call("POST", "/v1/auth/login", json={"email": email, "password": ""})

    assert answer.status_code == 401


def test_a_locked_account_gets_403_with_every_credential(api: Server) -> None:
    operator, person = api.operator(), api.person()
    tokens = api.login(person)
    path = f"/v1/admin/accounts/{person.id}"

    locked = api.call("POST", f"{path}/lock", by=operator, json={"reason": "Unpaid invoices"})

    assert locked.status_code == 200
    assert locked.json()["lock_reason"] == "Unpaid invoices"
    for answer in (
        api.call("GET", "/v1/me", by=person),
        api.call("GET", "/v1/me", token=tokens["access_token"]),
        api.call("POST", "/v1/auth/refresh", json={"refresh_token": tokens["refresh_token"]}),
        api.call(
            "POST", "/v1/auth/login", json={"email": person.email, "password": person.password}
        ),
    ):
        assert answer.status_code == 403
        assert answer.json()["code"] == "account_locked"
        assert "retry_after" not in answer.json()
    wrong = {"email": person.email, "password": "a wrong password"}
    assert api.call("POST", "/v1/auth/login", json=wrong).status_code == 401

    unlocked = api.call("POST", f"{path}/unlock", by=operator)

    assert unlocked.json()["locked_at"] is None
    assert api.call("GET", "/v1/me", by=person).status_code == 200
    assert api.call("GET", "/v1/me", token=tokens["access_token"]).status_code == 401, "ended"


def test_a_plan_and_roles_count_from_the_next_request(api: Server) -> None:
    operator, person = api.operator(), api.person()
    path = f"/v1/admin/accounts/{person.id}"

    assert api.call("POST", f"{path}/plan", by=operator, json={"plan": "free"}).status_code == 200
    me = api.call("GET", "/v1/me", by=person)
    assert me.json()["usage"]["requests_per_minute"] == 120
    assert me.headers["ratelimit-policy"] == '"default";q=120;w=60'

    roles = {"roles": ["operator", "buyer"]}
    assert api.call("POST", f"{path}/roles", by=operator, json=roles).status_code == 200
    assert api.call("GET", "/v1/admin/accounts", by=person).status_code == 200


def test_an_operator_can_end_a_stop_after_failed_logins(api: Server) -> None:
    operator, person = api.operator(), api.person()
    body = {"email": person.email, "password": person.password}
    for _ in range(10):
        api.call("POST", "/v1/auth/login", json={**body, "password": "a wrong password"})
    assert api.call("POST", "/v1/auth/login", json=body).status_code == 403

    api.call("POST", f"/v1/admin/accounts/{person.id}/unlock", by=operator)

    assert api.call("POST", "/v1/auth/login", json=body).status_code == 200


def test_accounts_are_listed_by_several_values_of_a_filter(api: Server) -> None:
    operator = api.operator()
    free, pro = api.person(plan=Plan.FREE), api.person(plan=Plan.PRO)

    page = api.call("GET", "/v1/admin/accounts?plan=free,pro&limit=100", by=operator).json()

    listed = {item["id"]: item["plan"] for item in page["items"]}
    assert listed[free.id] == "free"
    assert listed[pro.id] == "pro"
    assert set(listed.values()) <= {"free", "pro"}
    assert api.call("GET", "/v1/admin/accounts?plan=gold", by=operator).status_code == 422


def test_the_audit_log_takes_no_unreadable_filter(api: Server) -> None:
    operator = api.operator()

    for query in (
        f"account={operator.id}%0A",
        "at_after=0001-01-01T00:00:00%2B23:59",
        "at_before=9999-12-31T23:59:59-23:59",
        "at_after=0",
        "at_after=2026-01-01T00:00:00",
        "limit=1e1",
    ):
        answer = api.call("GET", f"/v1/admin/audit?{query}", by=operator)
        assert answer.status_code == 422, query


def test_operators_cannot_lock_themselves_out(api: Server) -> None:
    operator = api.operator()
    path = f"/v1/admin/accounts/{operator.id}"

    lock = api.call("POST", f"{path}/lock", by=operator, json={"reason": "oops"})
    roles = api.call("POST", f"{path}/roles", by=operator, json={"roles": ["buyer"]})

    assert lock.status_code == roles.status_code == 409
    assert lock.json()["code"] == roles.json()["code"] == "own_account"
    assert api.call("GET", "/v1/admin/accounts", by=operator).status_code == 200


@pytest.mark.parametrize("account_id", ["acc_00000000000000000000000000", "acc_1", "nonsense"])
def test_an_unknown_account_is_not_found(api: Server, account_id: str) -> None:
    answer = api.call("GET", f"/v1/admin/accounts/{account_id}", by=api.operator())

    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
    assert answer.json()["detail"] == "There is no such account."


def test_the_audit_log_says_who_did_what_to_whom_and_from_where(api: Server) -> None:
    operator, person = api.operator(), api.person()
    path = f"/v1/admin/accounts/{person.id}"
    api.call("POST", f"{path}/lock", by=operator, json={"reason": "Unpaid"})
    api.call("POST", f"{path}/unlock", by=operator)
    api.call("POST", f"{path}/plan", by=operator, json={"plan": "free"})
    api.call("POST", f"{path}/plan", by=operator, json={"plan": "free"})

    log = api.call("GET", f"/v1/admin/audit?account={person.id}", by=operator).json()

    actions = [entry["action"] for entry in log["items"]]
    assert actions == [
        "account.plan_changed",
        "account.unlocked",
        "account.locked",
        "api_key.created",
        "account.created",
    ]
    locked = log["items"][2]
    assert locked["agent"] is None
    assert locked["actor"] == operator.email
    assert locked["actor_account"] == operator.id
    assert locked["credential"].startswith("key_")
    assert locked["address"] == "127.0.0.1"
    assert locked["request_id"].startswith("req_")
    assert locked["subject"] == person.id
    assert locked["details"] == {"reason": "Unpaid"}

    item = api.call(
        "GET", f"/v1/admin/audit?account={person.id}&action=account.locked", by=operator
    ).json()
    assert [entry["id"] for entry in item["items"]] == [locked["id"]]
