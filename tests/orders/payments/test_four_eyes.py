"""Four eyes: an operator cannot approve through an account that they gained in 24 hours."""

import asyncio
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest
from kit.pages import Pages
from kit.server import Person
from kit.system import System

from tradewind import ids
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("system")

NOT_INDEPENDENT = "approver_not_independent"
# As if the last day had passed, without moving the clock of a system that tests share.
_LATER = """
    UPDATE account_grant SET granted_at = granted_at - interval '24 hours' WHERE account_id = $1
"""
_HOLD = """
    SELECT 1 FROM purchase_order
     WHERE id = (SELECT purchase_order_id FROM payment_request WHERE id = $1) FOR UPDATE
"""


@pytest.fixture
def mallory(system: System) -> Person:
    """An operator who also buys."""
    return system.api.person(roles=(Role.BUYER, Role.OPERATOR))


def requested(system: System, by: Person) -> str:
    """The path of a payment that somebody requested."""
    placed = system.place(system.order_body(), by=by)
    assert placed.status_code == 201, placed.text
    order_id = placed.json()["id"]
    payment = system.ok("POST", f"/v1/orders/{order_id}/payment", by=by)
    return f"/v1/payments/{payment['id']}"


def made(system: System, by: Person, *roles: str) -> Person:
    """An account that an operator made over HTTP, whose password they know."""
    password, email = secrets.token_urlsafe(12), f"{secrets.token_hex(6)}@test.example"
    system.api.launcher.secrets.add(password)
    body = {"email": email, "password": password, "roles": list(roles)}
    account_id = system.ok("POST", "/v1/admin/accounts", by=by, json=body)["id"]
    return with_key(system, account_id, email, password)


def with_key(system: System, account_id: str, email: str, password: str) -> Person:
    """Somebody who signed in with a password and made a key."""
    login = {"email": email, "password": password}
    tokens = system.api.call("POST", "/v1/auth/login", json=login).json()
    system.api.launcher.secrets |= {tokens["access_token"], tokens["refresh_token"]}
    key = system.api.call(
        "POST", "/v1/api-keys", token=tokens["access_token"], json={"name": "a"}
    ).json()["key"]
    system.api.launcher.secrets.add(key)
    (row,) = system.api.fetch("SELECT id FROM account WHERE email = $1", email)
    return Person(account_id, row["id"], email, password, key)


def link_to(system: System, operator: Person, account: Person) -> str:
    """The token of a link that an operator made for choosing the password of an account."""
    path = f"/v1/admin/accounts/{account.id}/password-link"
    url = system.ok("POST", path, by=operator)["url"]
    token: str = parse_qs(urlsplit(url).query)["token"][0]
    system.api.launcher.secrets.add(token)
    return token


def taken_over(system: System, account: Person, token: str) -> Person:
    """The account in the hands of whoever used the link."""
    password = secrets.token_urlsafe(12)
    system.api.launcher.secrets.add(password)
    form = {"token": token, "password": password, "again": password}
    assert system.api.call("POST", "/password", data=form).status_code == 200
    return with_key(system, account.id, account.email, password)


def set_roles(system: System, by: Person, account: Person, *roles: str) -> None:
    path = f"/v1/admin/accounts/{account.id}/roles"
    system.ok("POST", path, by=by, json={"roles": list(roles)})


def refuses(system: System, path: str, approver: Person) -> Any:
    problem = system.refused("POST", f"{path}/approve", 409, NOT_INDEPENDENT, by=approver)
    stored = system.ok("GET", path, by=system.approver)
    assert (stored["status"], stored["decided_by"]) == ("pending_approval", None)
    return problem


def test_an_operator_cannot_use_the_approver_that_they_made(
    system: System, mallory: Person
) -> None:
    path = requested(system, mallory)
    puppet = made(system, mallory, "approver")

    problem = refuses(system, path, puppet)

    assert mallory.email in problem["detail"]
    assert problem["until"] in problem["detail"]
    others = requested(system, system.buyer)
    assert system.call("POST", f"{others}/approve", by=puppet).status_code == 200
    system.api.fetch(_LATER, puppet.uuid)
    assert system.call("POST", f"{path}/approve", by=puppet).status_code == 200


def test_nor_one_whom_they_gave_the_role_or_unlocked(system: System, mallory: Person) -> None:
    path = requested(system, mallory)
    promoted, locked = system.api.person(), system.api.person(roles=(Role.APPROVER,))
    set_roles(system, mallory, promoted, "buyer", "approver")
    at = f"/v1/admin/accounts/{locked.id}"
    system.ok("POST", f"{at}/lock", by=system.api.operator(), json={"reason": "Left the company"})
    system.ok("POST", f"{at}/unlock", by=mallory)

    refuses(system, path, promoted)
    refuses(system, path, locked)

    set_roles(system, mallory, promoted, "buyer")  # taking a role away and giving it back counts
    system.api.fetch(_LATER, promoted.uuid)
    set_roles(system, mallory, promoted, "buyer", "approver")
    refuses(system, path, promoted)


def test_nor_one_whose_password_they_reset_counted_from_the_use_of_the_link(
    system: System, mallory: Person
) -> None:
    path = requested(system, mallory)
    approver = system.api.person(roles=(Role.APPROVER,))
    token = link_to(system, mallory, approver)
    refuses(system, path, approver)
    system.api.fetch(_LATER, approver.uuid)

    puppet = taken_over(system, approver, token)

    refuses(system, path, puppet)
    system.api.fetch(_LATER, approver.uuid)
    assert system.call("POST", f"{path}/approve", by=puppet).status_code == 200


def test_nor_through_a_second_operator_that_they_made(system: System, mallory: Person) -> None:
    path = requested(system, mallory)
    second = made(system, mallory, "operator")
    puppet = made(system, second, "approver")
    old_friend = system.api.person(roles=(Role.BUYER,))
    set_roles(system, mallory, old_friend, "operator")
    promoted = system.api.person()
    set_roles(system, old_friend, promoted, "approver")

    refuses(system, path, puppet)
    refuses(system, path, promoted)


def test_nor_by_requesting_as_a_buyer_that_they_made(system: System, mallory: Person) -> None:
    path = requested(system, made(system, mallory, "buyer"))
    puppet = made(system, mallory, "approver")

    problem = refuses(system, path, puppet)

    assert problem["detail"].startswith(f"{mallory.email} set up your account's access and that of")
    assert system.call("POST", f"{path}/approve", by=system.approver).status_code == 200


def test_nor_by_making_themselves_an_approver(system: System, mallory: Person) -> None:
    buyer = taken_over(system, system.buyer, link_to(system, mallory, system.buyer))
    path, unrelated = requested(system, buyer), requested(system, system.api.person())
    set_roles(system, mallory, mallory, "operator", "approver")

    problem = refuses(system, path, mallory)

    assert problem["detail"].startswith("Your account got its own access or role, and set up")
    assert system.call("POST", f"{unrelated}/approve", by=mallory).status_code == 200


def test_nor_by_what_an_approver_does_whom_they_took_over_or_unlocked(
    system: System, mallory: Person
) -> None:
    """What such an account does, mallory may be doing: sign up a buyer, request, approve."""
    victim, dormant = (system.api.person(roles=(Role.APPROVER, Role.OPERATOR)) for _ in range(2))
    puppet = taken_over(system, victim, link_to(system, mallory, victim))
    at = f"/v1/admin/accounts/{dormant.id}"
    system.ok("POST", f"{at}/lock", by=system.api.operator(), json={"reason": "Left the company"})
    system.ok("POST", f"{at}/unlock", by=mallory)

    refuses(system, requested(system, made(system, puppet, "buyer")), puppet)
    refuses(system, requested(system, made(system, dormant, "buyer")), dormant)


def test_who_was_an_approver_before_approves_for_accounts_that_they_make(system: System) -> None:
    desk = system.api.person(roles=(Role.APPROVER, Role.OPERATOR))
    link_to(system, desk, desk)  # a link to one's own account gives nothing that one has not
    path = requested(system, made(system, desk, "buyer"))

    assert system.call("POST", f"{path}/approve", by=desk).status_code == 200


def test_an_approver_of_the_command_line_is_independent_of_operators(
    system: System, mallory: Person
) -> None:
    path = requested(system, mallory)

    approver = system.api.person(roles=(Role.APPROVER,))  # made as the command line makes it

    assert system.call("POST", f"{path}/approve", by=approver).status_code == 200


def test_a_request_that_is_not_independent_can_be_rejected(system: System, mallory: Person) -> None:
    path = requested(system, mallory)
    puppet = made(system, mallory, "approver")

    answer = system.call("POST", f"{path}/reject", by=puppet, json={"reason": "No."})

    assert answer.status_code == 200


@pytest.fixture
def puppet_desk(system: System, mallory: Person) -> Iterator[Pages]:
    pages = Pages(system.api, made(system, mallory, "approver"))
    yield pages
    pages.client.close()


def test_the_dashboard_says_why_there_is_no_button(
    system: System, mallory: Person, puppet_desk: Pages
) -> None:
    path = requested(system, mallory).replace("/v1/payments/", "/approvals/")

    page = puppet_desk.get(path).text
    refused = puppet_desk.post(f"{path}/approve", amount_cny="15")

    assert f"You cannot approve this payment. {mallory.email} requested this payment" in page
    assert f"{path}/approve" not in page
    assert f"{path}/reject" in page
    assert refused.status_code == 409
    listed = puppet_desk.get("/approvals?limit=100").text
    row = listed.partition(f'href="{path}"')[2].partition("</tr>")[0]
    assert "Not allowed" in row


@pytest.mark.parametrize(
    ("act", "body", "expected"),
    [
        ("lock", {"reason": "Left."}, (403, "account_locked")),
        ("roles", {"roles": ["buyer"]}, (403, "insufficient_permissions")),
    ],
)
async def test_an_approval_under_way_ends_with_the_approvers_lock_or_role(
    system: System, act: str, body: dict[str, Any], expected: tuple[int, str]
) -> None:
    approver, operator = system.api.person(roles=(Role.APPROVER,)), system.api.operator()
    path = requested(system, system.buyer)
    connection = await asyncpg.connect(system.api.database_url)
    try:
        async with connection.transaction():
            # The approval is let in, and then waits for its order.
            payment = ids.PAYMENT.read(path.rpartition("/")[2])
            await connection.execute(_HOLD, payment)
            approving = asyncio.create_task(
                asyncio.to_thread(system.call, "POST", f"{path}/approve", by=approver)
            )
            await until_one_waits(connection)
            at = f"/v1/admin/accounts/{approver.id}/{act}"
            await asyncio.to_thread(system.ok, "POST", at, by=operator, json=body)
        answer = await approving
    finally:
        await connection.close()

    assert (answer.status_code, answer.json()["code"]) == expected
    assert system.ok("GET", path, by=system.approver)["status"] == "pending_approval"


async def until_one_waits(connection: asyncpg.Connection) -> None:
    query = """
        SELECT 1 FROM pg_locks AS held
          JOIN pg_locks AS waiting ON waiting.transactionid = held.transactionid
         WHERE held.pid = pg_backend_pid() AND held.granted AND NOT waiting.granted
    """
    async with asyncio.timeout(20):
        while not await connection.fetchval(query):  # noqa: ASYNC110 - PostgreSQL sets no event
            await asyncio.sleep(0.01)
